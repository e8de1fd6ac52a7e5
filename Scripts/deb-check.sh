#!/usr/bin/env bash
# Installs the package of Scripts/deb.sh in a root made by debootstrap, which has Debian's minimal system and what the package depends on,
# and runs the tool there. Needs root, and debootstrap. The system is kept in .build-deb/roots for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
package=$(readlink -f "$1")
[ "$(id -u)" -eq 0 ] || { echo "This needs root." >&2; exit 1; }
# Mounts are seen by this script alone.
[ -n "${LOADKIT_DEB_CHECK:-}" ] || LOADKIT_DEB_CHECK=1 exec unshare --mount Scripts/deb-check.sh "$package"
. /etc/os-release
mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
names=$(dpkg-deb -f "$package" Depends | sed -E 's/ *\([^)]*\)//g; s/ *\|[^,]*//g; s/ //g')
base=.build-deb/roots/$VERSION_CODENAME-$(echo "$names" | cksum | cut -d' ' -f1).tar
work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server"
    ! mountpoint -q "$work/root/proc" || umount "$work/root/proc"
    rm -rf --one-file-system "$work"
}
trap finish EXIT

if [ ! -f "$base" ]; then
    mkdir -p "$(dirname "$base")"
    debootstrap --variant=minbase --include="$names" "$VERSION_CODENAME" "$work/base" ${mirror:+"$mirror"} >"$work/log" 2>&1 || {
        tail -3 "$work/log" >&2
        exit 1
    }
    tar -C "$work/base" -cf "$base.new" . && mv "$base.new" "$base"
    rm -rf "$work/base"
fi
root=$work/root
mkdir "$root"
tar -C "$root" -xf "$base"
# Swift reads a program's arguments there.
mount --bind /proc "$root/proc"
cp "$package" "$root/package.deb"
inside() { env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 chroot "$root" "$@"; }
inside dpkg -i /package.deb >/dev/null

inside loadkit --version
inside sh -c 'zcat /usr/share/man/man1/loadkit.1.gz | head -1; zcat /usr/share/man/man8/loadkitd.8.gz | head -1'
inside bash -c 'source /usr/share/bash-completion/completions/loadkit && complete -p loadkit'
mkdir "$work/site"
echo "loaded in a clean root" >"$work/site/page"
mkfifo "$work/address"
python3 -u -m http.server --bind 127.0.0.1 --directory "$work/site" 0 >"$work/address" 2>/dev/null &
server=$!
read -r line <"$work/address"
port=$(echo "$line" | sed -E 's/.* port ([0-9]+).*/\1/')
[ "$(inside loadkit -S -s "http://127.0.0.1:$port/page")" = "loaded in a clean root" ] || {
    echo "The page of the loopback server was not loaded." >&2
    exit 1
}
# The servers of the demo have TLS and HTTP/2.
inside loadkit demo >/dev/null
echo "The package works with: $names"
