#!/usr/bin/env bash
# Lists the reasons for which Scripts/test.sh has not run tests since .build/not-run was removed.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -s .build/not-run ] || exit 0
echo "Not run:"
sort -u .build/not-run | sed 's/^/    /'
! grep -q ' is not installed' .build/not-run || echo "\`make test-peers\` installs these programs."
