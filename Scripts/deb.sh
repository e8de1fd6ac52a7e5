#!/usr/bin/env bash
# Makes a Debian package of loadkit and loadkitd in .build-deb, with dpkg-deb alone. The Swift standard library is linked statically, so
# that the programs need only what the package depends on. DEBFULLNAME and DEBEMAIL name the maintainer.
set -euo pipefail
cd "$(dirname "$0")/.."
export SWIFT_DETERMINISTIC_HASHING=1 LC_ALL=C.UTF-8
umask 022
build=(swift build -c release --static-swift-stdlib --traits "default,CommandLineTool" --scratch-path .build-deb)
for program in loadkit loadkitd; do "${build[@]}" --product "$program"; done
programs=$("${build[@]}" --show-bin-path)
loadkit=$programs/loadkit
version=$("$loadkit" --version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-LoadingKit} <${DEBEMAIL:-loadingkit@localhost}>"
# dpkg-deb takes the time of this commit for all files, so that the same commit makes the same package.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
share=$root/usr/share
mkdir -p "$root"/{DEBIAN,usr/bin,usr/lib/systemd/user} "$share"/{man/man1,man/man8,doc/loadkit} \
    "$share"/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}

for program in loadkit loadkitd; do
    install -m 755 "$programs/$program" "$root/usr/bin/$program"
    ! command -v strip >/dev/null || strip "$root/usr/bin/$program"
done
"$loadkit" manual | gzip -9n >"$share/man/man1/loadkit.1.gz"
"$loadkit" manual loadkitd | gzip -9n >"$share/man/man8/loadkitd.8.gz"
"$loadkit" completions bash >"$share/bash-completion/completions/loadkit"
"$loadkit" completions zsh >"$share/zsh/vendor-completions/_loadkit"
"$loadkit" completions fish >"$share/fish/vendor_completions.d/loadkit.fish"
for unit in service socket; do
    sed -e '/^# Written by/d' -e 's,{{daemon}},/usr/bin/loadkitd,' \
        "Sources/LoadingKit/CommandLine/Resources/loadkitd.$unit.txt" >"$root/usr/lib/systemd/user/loadkitd.$unit"
done
gzip -9nc CHANGELOG.md >"$share/doc/loadkit/changelog.gz"
gzip -9n >"$share/doc/loadkit/changelog.Debian.gz" <<EOF
loadkit ($version-1) unstable; urgency=medium

  * Made from commit $(git rev-parse --short=12 HEAD).

 -- $maintainer  $(date -uRd "@$SOURCE_DATE_EPOCH")
EOF
cat >"$share/doc/loadkit/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: LoadingKit
Comment: The programs contain Swift's standard library, Foundation, swift-argument-parser, swift-collections and swift-log, which
 have the same license with the Swift Runtime Library Exception, and Unicode's ICU (Unicode-3.0).

Files: *
Copyright: LoadingKit's authors
License: Apache-2.0
 On Debian systems the text of the license is in /usr/share/common-licenses/Apache-2.0.
EOF

# The packages that hold the libraries which the programs link, with versions where dpkg-dev is installed.
dependencies() {
    if command -v dpkg-shlibdeps >/dev/null; then
        mkdir -p "$work/source/debian"
        printf 'Source: loadkit\n' >"$work/source/debian/control"
        (cd "$work/source" && dpkg-shlibdeps -O -e"$root/usr/bin/loadkit" -e"$root/usr/bin/loadkitd") |
            sed -n 's/^shlibs:Depends=//p'
        return
    fi
    # A library of a system with merged folders may be known by its path without /usr.
    objdump -p "$root/usr/bin/loadkit" "$root/usr/bin/loadkitd" | awk '/NEEDED/ {print $2}' | sort -u |
        while read -r name; do
            path=$(ldd "$root/usr/bin/loadkit" "$root/usr/bin/loadkitd" | awk -v name="$name" '$1 == name {print $3; exit}')
            [ -z "$path" ] || dpkg -S "$path" 2>/dev/null || dpkg -S "/usr$path" || dpkg -S "$(readlink -f "$path")"
        done | cut -d: -f1 | sort -u | paste -sd, | sed 's/,/, /g'
}

depends=$(dependencies)
[ -n "$depends" ] || { echo "The packages of the linked libraries are not known." >&2; exit 1; }
cat >"$root/DEBIAN/control" <<EOF
Package: loadkit
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Depends: $depends
Recommends: ca-certificates
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Section: web
Priority: optional
Description: load URLs of every scheme, also in the background
 loadkit loads URLs over HTTP/1.1, HTTP/2, ftp and WebSockets, and of other schemes,
 with curl's options. loadkitd performs the background transfers of a user's programs.
EOF
package=.build-deb/loadkit_$version-1_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
