"""The rows that both tables show: a benchmark's measures, one below the other."""

from . import numbers

# Columns beyond the first figure, which has its own; what else was recorded follows.
KNOWN = ["nginx's processor time", "throughput", "latency, median", "latency, 99th", "peak memory", "allocations"]


def columns(measures):
    """The figures that some measure has besides its first."""
    names = [name for measure in measures for name in measure.figures if name != measure.first]
    return [name for name in KNOWN if name in names] + sorted(set(names) - set(KNOWN))


def header(measures):
    first = sorted({measure.first for measure in measures})
    return ["benchmark", "implementation", " or ".join(first), "ratio", *columns(measures), "bars"]


def row(measure, results, bars, figures):
    ratio = results.ratio(measure)
    verdicts = [bar for bar in bars if bar.value is not None and bar.stands_at(measure)]
    return [
        measure.name,
        measure.implementation,
        numbers.with_range(measure.figures[measure.first]),
        f"{ratio:.2f}" if ratio is not None else "",
        *(numbers.with_unit(measure.figures[name]) if name in measure.figures else "" for name in figures),
        "; ".join(describe(bar, measure) for bar in verdicts),
    ]


def describe(bar, measure):
    """The verdict, with what it is about where the row does not say it."""
    text = bar.verdict()
    if bar.against != bar.name:
        text = f"against {bar.against}: {text}"
    if bar.figure != measure.first:
        text = f"{bar.figure} {text}"
    # Beside a peer, a bar may be of a mode of ours.
    return text if bar.ours in ("LoadingKit", measure.implementation) else f"{bar.ours}: {text}"
