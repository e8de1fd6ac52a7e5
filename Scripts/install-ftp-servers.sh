#!/usr/bin/env bash
# Puts the FTP servers that the tests talk to into /usr/local, where they are missing. They are taken out of their packages,
# which cannot be installed beside each other, and would start daemons. With sudo when not root.
set -euo pipefail

PATH=$PATH:/usr/sbin:/usr/local/sbin
missing=()
for program in vsftpd pure-ftpd; do command -v $program >/dev/null || missing+=($program); done
[ ${#missing[@]} -eq 0 ] && exit 0

command -v apt-get >/dev/null || {
    echo "These programs are missing, and there is no apt-get to get them with: ${missing[*]}" >&2
    exit 1
}
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "Getting ${missing[*]} with apt-get."
"${as_root[@]}" apt-get update -qq
apt-get download -qq "${missing[@]}" 2>/dev/null
for package in *.deb; do
    # The libraries that the program needs, without versions and alternatives.
    libraries=$(dpkg-deb -f "$package" Depends | tr ',' '\n' | sed 's/[(|].*//; s/ //g' | grep '^lib' || true)
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq $libraries >/dev/null
    dpkg-deb -x "$package" unpacked
done
"${as_root[@]}" install -m 755 unpacked/usr/sbin/* /usr/local/sbin/
[ ! -d unpacked/usr/bin ] || "${as_root[@]}" install -m 755 unpacked/usr/bin/* /usr/local/bin/
