#!/usr/bin/env bash
# Runs the benchmarks whose names match a regular expression, and reports what they recorded: "show" prints one table,
# "write" also writes Benchmarks/RESULTS.md and Benchmarks/results.svg, which only a full run may.
set -euo pipefail
cd "$(dirname "$0")/../Benchmarks"
action=$1 filter=.*${2-}.*

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The output of the benchmarks' plugin is shown only when something fails: the report has all figures.
quietly() { "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }; }

# Codecs are measured in one process; end to end, each client is a program of its own, with Swift's libraries linked into
# it, as programs for servers are built.
echo "Building." >&2
quietly swift package --disable-sandbox benchmark list
if grep "end to end" "$folder/log" | grep -Eq -- "$filter"; then
    clients=(-c release --static-swift-stdlib --scratch-path .build/clients)
    for client in ClientLoadingKit ClientCurl ClientAsyncHTTPClient ClientFoundation; do
        quietly swift build "${clients[@]}" --product "$client"
    done
    LOADINGKIT_BENCH_CLIENTS=$(swift build "${clients[@]}" --show-bin-path)
    export LOADINGKIT_BENCH_CLIENTS
fi

echo "Measuring. All of it takes about a quarter of an hour." >&2
# Stays, so that the report can be drawn again.
results=$PWD/.build/bench-results
rm -f "$results" "$results.failures" "$results.not-run"
export LOADINGKIT_BENCH_RESULTS=$results
status=0
swift package --disable-sandbox benchmark --no-progress --filter "$filter" >"$folder/log" 2>&1 || status=$?
python3 -B ../Scripts/bench-report.py show "$results" || status=$?
if [ "$status" -ne 0 ]; then
    cat "$results.failures" >&2 2>/dev/null || tail -n 50 "$folder/log" >&2
    exit "$status"
fi
[ "$action" = show ] || python3 -B ../Scripts/bench-report.py "$action" "$results"
# Each process of the run notes it again, also when the filter leaves it out.
sort -u "$results.not-run" 2>/dev/null | grep -E -- "$filter" | sed 's/^/Not run: /' || true
