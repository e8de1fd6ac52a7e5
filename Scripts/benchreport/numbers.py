"""Numbers for people."""


def plain(value):
    """Three digits that matter, and commas."""
    for limit, digits in ((10, 2), (100, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def with_unit(figure):
    """A figure's median: "15.3 µs a request". Large times in milliseconds."""
    value, unit = figure["median"], figure["unit"]
    if unit.startswith("µs") and value >= 10_000:
        value, unit = value / 1000, "ms" + unit[2:]
    return f"{plain(value)} {unit}"
