"""A bar chart of the processor time of a load, readable on light and on dark ground."""

from html import escape

from . import numbers

# Each panel's benchmark and title.
PANELS = [
    ("end to end: http", "1 KB, 64 at a time", "http, 1 KB, 64 at a time"),
    ("end to end: http", "1 KB, 1 at a time", "http, 1 KB, one at a time"),
    ("end to end: https", "1 KB, 64 at a time", "https (HTTP/1.1), 1 KB, 64 at a time"),
    ("end to end: h2", "1 KB, 64 at a time", "HTTP/2, 1 KB, 64 at a time"),
    ("end to end: http", "100 MB to memory", "http, 100 MB to memory"),
]
WIDTH, LABELS, VALUES, ROW, BAR, TITLE = 760, 210, 130, 20, 14, 30
# A bar is as long as the panel when it is so many times LoadingKit's; longer ones are cut, and show that.
CUT = 6

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.title { font-weight: 600; }
.ours { fill: #0969da; } .peer { fill: #8c959f; } .cut { fill: none; stroke: #fff; stroke-width: 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .ours { fill: #4493f8; } .peer { fill: #6e7681; } .cut { stroke: #0d1117; }
}
""".strip()


def svg(results):
    y, parts = 0, []
    for group, name, title in PANELS:
        measures = [m for m in results.measures if (m.group, m.name) == (group, name)]
        if measures:
            drawn, y = panel(title, measures, y)
            parts += drawn
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" role="img" '
        'aria-label="Processor time of a request, by implementation">'
    )
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def panel(title, measures, y):
    parts = [f'<text class="title" x="0" y="{y + 20}">{escape(title)}: processor time a request</text>']
    y += TITLE
    ours = [m.median(m.first) for m in measures if m.implementation.startswith("LoadingKit")]
    longest = min(max(m.median(m.first) for m in measures), CUT * max(ours))
    for measure in measures:
        parts += bar(measure, longest, y)
        y += ROW
    return parts, y + 8


def bar(measure, longest, y):
    value = measure.median(measure.first)
    length = (WIDTH - LABELS - VALUES) * min(1, value / longest)
    kind = "ours" if measure.implementation.startswith("LoadingKit") else "peer"
    figure = dict(measure.figures[measure.first])
    figure["unit"] = figure["unit"].split()[0]
    parts = [
        f'<text x="{LABELS - 8}" y="{y + 12}" text-anchor="end">{escape(measure.implementation)}</text>',
        f'<rect class="{kind}" x="{LABELS}" y="{y + 1}" width="{length:.1f}" height="{BAR}" rx="2"/>',
        f'<text x="{LABELS + length + 8:.1f}" y="{y + 12}">{escape(numbers.with_unit(figure))}</text>',
    ]
    if value > longest:
        end = LABELS + length - 24
        parts.append(f'<path class="cut" d="M{end:.1f} {y + 18} l6 -20 m6 20 l6 -20"/>')
    return parts
