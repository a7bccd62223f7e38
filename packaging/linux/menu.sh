#!/bin/sh
# Puts Kvasir into this user's menu, as the program for GGUF files too: `menu.sh add`, or `menu.sh remove`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
share=${XDG_DATA_HOME:-$HOME/.local/share}
desktop=$share/applications/kvasir.desktop
mime=$share/mime/packages/kvasir.xml
icon=$share/icons/hicolor/scalable/apps/kvasir.svg

case "${1:-}" in
add)
    mkdir -p "${desktop%/*}" "${mime%/*}" "${icon%/*}"
    # In a desktop file a quoted path may hold anything but these.
    case "$here" in *[\"\`\$\\%]*)
        echo "menu.sh: move Kvasir to a folder whose name has none of the characters \" \` \$ \\ %" >&2
        exit 1 ;;
    esac
    while IFS= read -r line; do
        case "$line" in
        Exec=*) printf 'Exec="%s/kvasir" %%f\n' "$here" ;;
        Icon=*) printf 'Icon=%s/share/kvasir.svg\n' "$here" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$here/share/kvasir.desktop" >"$desktop"
    cp "$here/share/kvasir-mime.xml" "$mime"
    cp "$here/share/kvasir.svg" "$icon"
    ;;
remove)
    rm -f "$desktop" "$mime" "$icon"
    ;;
*)
    echo "usage: menu.sh add | remove" >&2
    exit 2
    ;;
esac
# Both only make the change known sooner.
update-mime-database "$share/mime" 2>/dev/null || true
update-desktop-database "$share/applications" 2>/dev/null || true
