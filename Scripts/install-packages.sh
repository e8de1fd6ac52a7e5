#!/usr/bin/env bash
# Installs those of the named Debian packages that are missing, and says which. With sudo when not root. Services that come with
# them are neither started nor enabled.
set -euo pipefail

missing=()
for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

command -v apt-get >/dev/null || {
    echo "These packages are missing, and there is no apt-get to install them with: ${missing[*]}" >&2
    exit 1
}
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "Installing ${missing[*]} with apt-get."
export DEBIAN_FRONTEND=noninteractive
installed() { dpkg-query -W -f '${db:Status-Abbrev} ${binary:Package}\n' | sed -n 's/^ii *//p' | sort; }
before=$(installed)
# Debian's packages ask this program whether they may start a service (invoke-rc.d(8)).
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null
mapfile -t new < <(comm -13 <(echo "$before") <(installed))
[ ${#new[@]} -gt 0 ] || exit 0
dpkg-query -L "${new[@]}" | sed -nE 's,^(/usr)?/lib/systemd/system/([^/@]+\.(service|socket|timer|path))$,\2,p' | sort -u |
    while read -r unit; do
        ! command -v systemctl >/dev/null || "${as_root[@]}" systemctl disable --quiet "$unit" 2>/dev/null || true
    done
dpkg-query -L "${new[@]}" | sed -nE 's,^/etc/init\.d/([^/]+)$,\1,p' | sort -u |
    while read -r service; do
        ! command -v update-rc.d >/dev/null || "${as_root[@]}" update-rc.d "$service" disable >/dev/null 2>&1 || true
    done
