"""One table for the terminal."""

from . import rows


def table(results, bars):
    figures = rows.columns(results.measures)
    lines = [rows.header(results.measures)]
    for group, measures in results.groups():
        lines.append(None)
        lines.append([group] + [""] * (len(lines[0]) - 1))
        last = None
        for measure in measures:
            cells = rows.row(measure, results, bars, figures)
            cells[0] = "  " + cells[0] if cells[0] != last else ""
            last = measure.name
            lines.append(cells)
    return draw(lines) + "\n\n" + summary(bars)


def draw(lines):
    full = [line for line in lines if line]
    # A group's name may be longer than its column: there is nothing beside it.
    widths = [max(len(line[index]) for line in full if any(line[1:])) for index in range(len(full[0]))]
    rule = "-" * (sum(widths) + 2 * len(widths) - 2)
    return "\n".join(rule if line is None else render(line, widths) for line in lines)


def render(line, widths):
    # Names stand on the left, numbers on the right, and the last column is text again.
    last = len(line) - 1
    cells = [
        cell.ljust(width) if index in (0, 1, last) else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(line, widths))
    ]
    return "  ".join(cells).rstrip()


def summary(bars):
    measured = [bar for bar in bars if bar.value is not None]
    met = sum(bar.is_met for bar in measured)
    return f"{met} of {len(measured)} bars met; {len(bars) - len(measured)} more not measured in this run."
