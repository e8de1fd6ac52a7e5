#!/usr/bin/env bash
# Runs the tests that were built, as `swift test` with these arguments does, and says once more at the end which failed.
#
# A few at a time, where the toolchain can: all of them at once share few cores, and what takes a test a moment takes it
# most of the run then. `AT_A_TIME=1000` runs them like that.
#
# Why tests were not run is added to .build/not-run, which Scripts/not-run.sh shows.
set -uo pipefail

output=$(mktemp)
trap 'rm -f "$output"' EXIT
width=()
option=--experimental-maximum-parallelization-width
if [[ $(swift test --help-hidden 2>&1) == *"$option"* ]]; then width=("$option" "${AT_A_TIME:-16}"); fi
swift test --skip-build --disable-xctest --enable-all-traits "${width[@]}" "$@" 2>&1 | tee "$output"
status=$?
grep -ao ' skipped: ".*"' "$output" | sed 's/^ skipped: "//; s/"$//' >>.build/not-run
if [ $status -ne 0 ]; then
    echo "Failed (exit code $status):"
    grep -aE -A 3 ' recorded an issue |^error: |Fatal error|: error: ' "$output" || tail -n 20 "$output"
fi
exit $status
