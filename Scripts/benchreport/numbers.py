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


def with_range(figure):
    """The median, and the lowest and highest of a few runs."""
    if figure["runs"] > 20 or "lowest" not in figure:
        return with_unit(figure)
    scale = 1000 if figure["unit"].startswith("µs") and figure["median"] >= 10_000 else 1
    ends = [plain(figure[end] / scale) for end in ("lowest", "highest")]
    return f"{with_unit(figure)} ({ends[0]} to {ends[1]})"
