#!/usr/bin/env python3
"""Reports what the benchmarks recorded (LOADINGKIT_BENCH_RESULTS): on the terminal, or for the repository.

bench-report.py show RESULTS   prints one table
bench-report.py write RESULTS  writes Benchmarks/RESULTS.md and Benchmarks/results.svg
"""

import pathlib
import sys

from benchreport import bars, chart, machine, markdown, results, terminal

BENCHMARKS = pathlib.Path(__file__).resolve().parent.parent / "Benchmarks"


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("show", "write"):
        sys.exit(__doc__)
    recorded = results.read(pathlib.Path(arguments[1]))
    if not recorded.measures:
        sys.exit("No benchmark was run: the filter matches none.")
    judged = bars.judge(bars.read(BENCHMARKS / "bars.json"), recorded)
    if arguments[0] == "show":
        print(terminal.table(recorded, judged))
        return
    unmeasured = [bar for bar in judged if bar.value is None]
    if unmeasured:
        sys.exit("Not a full run; nothing was measured for: " + ", ".join(str(bar) for bar in unmeasured))
    text = markdown.page(recorded, judged, machine.description(BENCHMARKS / "Package.resolved"))
    (BENCHMARKS / "RESULTS.md").write_text(text)
    (BENCHMARKS / "results.svg").write_text(chart.svg(recorded))


main(sys.argv[1:])
