#!/bin/bash
# Runs inside the fresh Debian, as its root: installs Kvasir and uses it as the ordinary user "somebody".
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
unset XDG_CACHE_HOME XDG_DATA_HOME XDG_CONFIG_HOME DISPLAY WAYLAND_DISPLAY
inside=/usr/lib/kvasir/_internal
backends=$inside/bin

step() { echo "== $* ($SECONDS s)"; }
fail() {
    echo "FAILED: $*" >&2
    tail -n 30 /home/somebody/.local/state/kvasir/log/*.log 2>/dev/null >&2 || true
    exit 1
}
as_user() { runuser -u somebody -- env -C /home/somebody HOME=/home/somebody PATH=/usr/bin:/bin "$@"; }
# Chats without the network: a new network namespace has none.
offline() { unshare --net -- runuser -u somebody -- env -C /home/somebody HOME=/home/somebody PATH=/usr/bin:/bin "$@"; }
chat() { echo 'What is the capital of France?' | offline timeout 300 kvasir-engine chat starter --json --temperature 0 "$@"; }
# The engine's processes of the window.
engines() { pgrep -u somebody -f -- --multiprocessing-fork; }
wait_for() { # SECONDS COMMAND...
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 0.2
    done
}

useradd --create-home somebody
archive=$(find / -maxdepth 1 -name 'kvasir-*.tar.xz')
if [ -n "$archive" ]; then
    step "the archive, on a system with nothing installed for it but what every desktop has"
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends xz-utils libexpat1 >/tmp/apt.log 2>&1
    mkdir "/home/somebody/any folder"
    tar -C "/home/somebody/any folder" -xf "$archive" --strip-components 1
    echo Hello | offline timeout 300 "/home/somebody/any folder/kvasir-engine" chat starter --json --max-tokens 4 >/tmp/archive.jsonl ||
        fail "the archive: $(tail -n 3 /tmp/archive.jsonl)"
    as_user "/home/somebody/any folder/menu.sh" add
    grep -q '^Exec="/home/somebody/any folder/kvasir" %f$' /home/somebody/.local/share/applications/kvasir.desktop || fail "menu.sh add"
    as_user "/home/somebody/any folder/menu.sh" remove
    [ -z "$(find /home/somebody/.local -name '*kvasir*' -type f)" ] || fail "menu.sh remove"
    rm -r "/home/somebody/any folder" "$archive"
fi

step "install"
apt-get update -qq
apt-get install -y -qq --no-install-recommends /kvasir.deb >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; fail "it can't be installed"; }
for tool in python3 pip make gcc; do ! command -v "$tool" >/dev/null || fail "$tool came with it"; done
missing=$(find "$inside" -name '*.so*' -type f ! -name '*ggml-vulkan*' ! -name '*ggml-cuda*' -exec ldd {} + 2>/dev/null | grep 'not found' |
    grep -v -e libggml -e libllama || true)
[ -z "$missing" ] || fail "libraries are missing: $missing"
apt-get install -y -qq --no-install-recommends xvfb procps shared-mime-info desktop-file-utils >/tmp/apt.log 2>&1

step "the command line, without a network and without a GPU driver"
[ "$(as_user kvasir --version)" = "$(as_user kvasir-engine --version)" ] || fail "two versions"
as_user kvasir-engine inspect starter --json | grep -q '"architecture"' || fail "inspect"
chat --max-tokens 24 >/tmp/chat.jsonl || fail "chat: $(tail -n 3 /tmp/chat.jsonl)"
grep '"Finished"' /tmp/chat.jsonl | grep -q '"n_generated": *[1-9]' || fail "no answer: $(tail -n 3 /tmp/chat.jsonl)"
grep '"Finished"' /tmp/chat.jsonl | grep -q '"text": "[^"]* [^"]* ' || fail "the answer is no words: $(tail -n 1 /tmp/chat.jsonl)"

step "the window: chat, picture"
as_user Xvfb :7 -screen 0 1360x860x24 -nolisten tcp >/tmp/xvfb.log 2>&1 &
wait_for 20 test -S /tmp/.X11-unix/X7 || fail "no virtual screen"
export DISPLAY=:7
offline timeout 300 kvasir --send 'What is the capital of France?' --screenshot /home/somebody/chat.png 2>/tmp/window.log ||
    fail "the window: $(cat /tmp/window.log)"
[ "$(stat -c %s /home/somebody/chat.png)" -gt 20000 ] || fail "the picture is empty"
cp /home/somebody/chat.png /pictures/
grep -q 'application/x-gguf=kvasir.desktop' /usr/share/applications/mimeinfo.cache || fail "no program for .gguf"
grep -q 'application/x-gguf:\*.gguf' /usr/share/mime/globs || fail "no type of .gguf files"

step "the engine crashes, and is started again; but not for ever"
offline kvasir 2>/tmp/window.log &
wait_for 60 engines >/dev/null || fail "no engine"
window=$(pgrep -u somebody -x kvasir -o)
restarts=0
while first=$(engines | head -n 1); do
    sleep 2
    kill -SEGV "$first" 2>/dev/null || true
    wait_for 15 sh -c "! kill -0 $first 2>/dev/null" || fail "the engine does not end"
    wait_for 8 engines >/dev/null || break
    restarts=$((restarts + 1))
    [ "$restarts" -lt 20 ] || fail "the engine is started for ever"
done
[ "$restarts" -ge 1 ] || fail "the engine was not started again"
kill -0 "$window" 2>/dev/null || fail "the window went down with the engine"
echo "started again $restarts times, then left alone; the window stayed"
kill "$window"
wait_for 20 sh -c "! kill -0 $window 2>/dev/null" || fail "the window does not close"

step "Vulkan, on Mesa's driver"
apt-get install -y -qq --no-install-recommends libvulkan1 mesa-vulkan-drivers >/tmp/apt.log 2>&1
export GGML_VK_VISIBLE_DEVICES=0
chat --max-tokens 4 --n-gpu-layers 99 --n-ctx 512 >/tmp/vulkan.jsonl || fail "chat on Vulkan: $(tail -n 3 /tmp/vulkan.jsonl)"
grep -q 'Vulkan0' /tmp/vulkan.jsonl || fail "Vulkan was not used: $(head -n 3 /tmp/vulkan.jsonl)"
unset GGML_VK_VISIBLE_DEVICES

step "a damaged back end, then a missing one"
cp -r "$backends" /tmp/backends
truncate -s 100000 "$backends/libggml-vulkan.so"
chat --max-tokens 4 >/tmp/damaged.jsonl 2>/tmp/damaged.err || fail "a damaged GPU back end: $(cat /tmp/damaged.err)"
grep -q 'libggml-vulkan.so of Kvasir is damaged' /tmp/damaged.jsonl || fail "the damaged file is not named"
rm "$backends"/libggml-cpu-*.so
if chat --max-tokens 4 >/tmp/missing.jsonl 2>/tmp/missing.err; then fail "it works without CPU code?"; fi
[ "$(wc -l </tmp/missing.err)" = 1 ] || fail "not one sentence: $(cat /tmp/missing.err)"
cat /tmp/missing.err
rm -r "$backends"
mv /tmp/backends "$backends"

step "upgrade"
before=$(find /home/somebody -path '*kvasir*' -type f | wc -l)
[ "$before" -gt 0 ] || fail "the user has no files"
apt-get install -y -qq --no-install-recommends /next.deb >/tmp/apt.log 2>&1 || { tail /tmp/apt.log; fail "the upgrade"; }
dpkg-query -W kvasir | grep -q next || fail "not upgraded"
dpkg --verify kvasir
chat --max-tokens 4 >/tmp/chat.jsonl || fail "after the upgrade"

step "remove"
apt-get purge -y -qq kvasir >/tmp/apt.log 2>&1 || fail "the removal"
left=$(find / -xdev \( -path /proc -o -path /tmp -o -path /home -o -path /pictures \) -prune -o -name '*kvasir*' -print | grep -v -e '^/kvasir.deb$' -e ^/var/cache -e ^/var/log || true)
[ -z "$left" ] || fail "left behind: $left"
[ "$(find /home/somebody -path '*kvasir*' -type f | wc -l)" -ge "$before" ] || fail "the user's files are gone"
step "done"
