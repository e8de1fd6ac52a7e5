#!/usr/bin/env bash
# Says what Scripts/test.sh has not run since .build/not-run was removed: one line for each reason.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -s .build/not-run ] || exit 0
echo "Not run:"
sort -u .build/not-run | sed 's/^/    /'
