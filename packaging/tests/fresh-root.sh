#!/usr/bin/env bash
# Installs the .deb of the folder DIST into a fresh Debian, and uses it there as an ordinary user does; the pictures that
# it takes come to DIST/pictures. Needs root, debootstrap, and the mirror that this machine uses.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: fresh-root.sh DIST [SUITE]}" && pwd)
suite=${2:-bookworm}
cache=${KVASIR_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/kvasir}

fail() {
    echo "package-test: $*" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || fail "a fresh system can only be made by root: 'sudo make package-test'."
missing=
for tool in debootstrap unshare dpkg-deb; do command -v "$tool" >/dev/null || missing="$missing $tool"; done
[ -z "$missing" ] || fail "needs$missing: 'sudo apt install debootstrap util-linux dpkg'."
packages=("$dist"/kvasir_*.deb)
[ -e "${packages[0]}" ] || fail "there is no .deb in $dist: 'make package' makes it."
deb=${packages[0]}
(cd "$dist" && sha256sum --quiet --check SHA256SUMS) || fail "the packages are not those that SHA256SUMS tells of."

# The system without Kvasir is made once a week; its packages come from wherever this machine gets its own.
base=$cache/fresh-$suite.tar
if [ -z "$(find "$base" -mtime -7 2>/dev/null)" ]; then
    mkdir -p "$cache"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mirror=$(apt-get indextargets --format '$(SITE) $(REPO_URI)' 'Created-By: Packages' |
        sed -n '/security/!s/^[^ ]* //p' | head -n 1)
    echo "Making a fresh Debian ($suite)."
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$work/root" "${mirror:?no mirror of Debian is known here}" \
        >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; fail "debootstrap could not make the system."; }
    tar -C "$work/root" -cf "$base.new" .
    mv "$base.new" "$base"
    rm -rf "$work"
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tar -C "$root" -xf "$base"
cp "$deb" "$root/kvasir.deb"
cp "$dist"/kvasir-*.tar.xz "$root/" 2>/dev/null || true
cp "$here/in-fresh-root.sh" "$root/"
# The next version is the same program with another number.
dpkg-deb --raw-extract "$deb" "$root/next"
sed -i 's/^Version: .*/&+next/' "$root/next/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$root/next" "$root/next.deb" >/dev/null
rm -rf "$root/next"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
mkdir -p "$root/pictures"

# Processes, mounts and names of its own: whatever is started in there ends with it, and nothing is mounted here.
status=0
unshare --mount --pid --ipc --fork --kill-child -- sh -euc '
    mount --make-rprivate /
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/dev/shm" 2>/dev/null || { mkdir -p "$1/dev/shm"; mount -t tmpfs tmpfs "$1/dev/shm"; }
    exec chroot "$1" /bin/bash /in-fresh-root.sh' sh "$root" || status=$?
mkdir -p "$dist/pictures"
cp "$root"/pictures/* "$dist/pictures/" 2>/dev/null || true
[ "$status" = 0 ] || fail "the package does not work in a fresh Debian."
echo "The package works in a fresh Debian ($suite); pictures are in $dist/pictures."
