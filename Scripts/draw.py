#!/usr/bin/env python3
"""Draws the pictures of the documentation from their descriptions: `NAME.txt` of the catalogue becomes `NAME.svg`.

With --check nothing is written: it says which picture is not as its description has it, where the modules are not those of
Package.swift, and which types are not declared in Sources. The descriptions begin with what their lines mean.
"""

import json
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "Sources/LoadingKit/LoadingKit/LoadingKit.docc"
PICTURES = ["Modules", "RequestLife"]
LINE, GAP, MARGIN = 16, 28, 12

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
.name { font-weight: 600; } .uses, .band { fill: #59636e; font-style: italic; } .left { text-anchor: start; }
rect { fill: #f6f8fa; stroke: #818b98; } .type { fill: #ddf4ff; stroke: #0969da; }
path { fill: none; stroke: #59636e; } marker path { fill: #59636e; stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .uses, .band { fill: #9198a1; } rect { fill: #151b23; stroke: #656c76; }
  .type { fill: #121d2f; stroke: #4493f8; } path { stroke: #9198a1; } marker path { fill: #9198a1; }
}
""".strip()
ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0 8 4 0 8z"/></marker></defs>'
)


def main():
    checks = sys.argv[1:] == ["--check"]
    problems = []
    for name in PICTURES:
        lines = [line for line in (CATALOGUE / f"{name}.txt").read_text().splitlines() if line[:1] not in ("", "#")]
        kind, _, columns = lines[0].partition(" ")
        picture = Modules(int(columns), lines[1:]) if kind == "modules" else Life(lines[1:])
        file = CATALOGUE / f"{name}.svg"
        if not checks:
            file.write_text(picture.svg())
        elif not file.exists() or file.read_text() != picture.svg():
            problems.append(f"{name}.svg is not what {name}.txt describes: run Scripts/draw.py")
        problems += [f"{name}.txt: {problem}" for problem in picture.problems()]
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)


class Modules:
    """Boxes in a grid, and an arrow for each import that does not follow from others."""

    WIDTH, SPACE = 150, 12

    def __init__(self, columns, lines):
        self.columns, self.boxes, self.arrows, self.title = columns, {}, [], ""
        row = -1
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "title":
                self.title = rest
            elif word == "row":
                row += 1
            elif word == "box":
                box = Box(rest, row)
                self.boxes[box.name] = box
            elif word == "arrow":
                source, _, targets = rest.partition(" -> ")
                self.arrows += [(source, target) for target in targets.split(", ")]
        self.place()

    def place(self):
        y = MARGIN
        for row in range(1 + max(box.row for box in self.boxes.values())):
            boxes = [box for box in self.boxes.values() if box.row == row]
            for box in boxes:
                box.x = MARGIN + box.first * (self.WIDTH + self.SPACE)
                box.width = (box.last - box.first + 1) * (self.WIDTH + self.SPACE) - self.SPACE
                box.wrap()
            height = max(box.height for box in boxes)
            for box in boxes:
                box.y, box.height = y, height
            y += height + GAP
        self.height = y - GAP + MARGIN

    def svg(self):
        parts = [self.arrow(self.boxes[source], self.boxes[target]) for source, target in self.arrows]
        for box in self.boxes.values():
            parts.append(rectangle(box.x, box.y, box.width, box.height))
            parts += texts(box.x + box.width / 2, box.y + (box.height - len(box.lines) * LINE) / 2, box.lines)
        return document(self.columns * (self.WIDTH + self.SPACE) - self.SPACE + 2 * MARGIN, self.height, self.title, parts)

    def arrow(self, source, target):
        """Straight down where both share a column; else down, aside above the target's row, and down beside the others."""
        x, top = self.departure(source, target), source.y + source.height
        if x < target.x or x > target.x + target.width:
            end, turn = target.x + target.width / 2 + 30, target.y - GAP / 2
            return path(f"M{x:g} {top:g}V{turn:g}H{end:g}V{target.y:g}")
        return path(f"M{x:g} {top:g}V{target.y:g}")

    def departure(self, source, target):
        """Where an arrow leaves: in the middle of the columns that both share, or else of the source."""
        shared = range(max(source.first, target.first), min(source.last, target.last) + 1)
        if not shared:
            return source.x + source.width / 2
        width = self.WIDTH + self.SPACE
        return MARGIN + width * shared[0] + (width * len(shared) - self.SPACE) / 2

    def problems(self):
        """Differences from Package.swift, and arrows that cannot be seen."""
        for names in self.arrows:
            source, target = (self.boxes[name] for name in names)
            x = self.departure(source, target)
            for box in self.boxes.values():
                if source.row < box.row < target.row and box.x <= x <= box.x + box.width:
                    yield f"the arrow from {source.name} to {target.name} goes through {box.name}"
        with tempfile.TemporaryDirectory() as scratch:
            command = ["swift", "package", "--package-path", ROOT, "--scratch-path", scratch, "dump-package"]
            package = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        imports, uses = {}, {}
        kinds = {target["name"]: target for target in package["targets"]}
        for name, target in kinds.items():
            if not target["path"].startswith("Sources/") or "/System/" in target["path"]:
                continue
            imports[name], uses[name] = set(), set()
            for dependency in target["dependencies"]:
                other, package_name, *_ = next(iter(dependency.values()))
                if other.startswith("LoadingKit"):
                    imports[name].add(other)
                elif other not in kinds:
                    uses[name].add(package_name)
                elif kinds[other]["type"] == "system":
                    uses[name].add(other.removeprefix("CLoadingKit").replace("PSL", "libpsl"))
        needed = {(a, b) for a in imports for b in reduced(a, imports)}
        drawn = set(self.arrows)
        yield from (f"module {name} is not drawn" for name in sorted(set(imports) - set(self.boxes)))
        yield from (f"there is no module {name}" for name in sorted(set(self.boxes) - set(imports)))
        yield from (f"there is no arrow from {a} to {b}" for a, b in sorted(needed - drawn))
        yield from (f"the arrow from {a} to {b} is one too many" for a, b in sorted(drawn - needed))
        for name in sorted(set(self.boxes) & set(imports)):
            said, true = self.boxes[name].uses, sorted(uses[name], key=str.lower)
            if [use.lower() for use in said] != [use.lower() for use in true]:
                yield f"{name} uses {', '.join(true) or 'nothing'}, and not {', '.join(said) or 'nothing'}"


def reduced(module, imports):
    """The imports of a module that none of its other imports has, too."""
    indirect = set()
    for other in imports[module]:
        indirect |= reachable(other, imports)
    return imports[module] - indirect


def reachable(module, imports):
    found = set()
    for other in imports[module]:
        found |= {other} | reachable(other, imports)
    return found


class Box:
    def __init__(self, text, row):
        place, *rest = [part.strip() for part in text.split("|")]
        self.name, _, columns = place.partition(" ")
        first, _, last = columns.partition("-")
        self.row, self.first, self.last = row, int(first), int(last or first)
        self.holds = rest[0] if rest else ""
        self.uses = rest[1].split(", ") if len(rest) > 1 else []

    def wrap(self):
        name = self.name.removeprefix("LoadingKit") or self.name  # the title says so
        self.lines = [("name", line) for line in wrapped(name, self.width, bold=True)]
        self.lines += [("", line) for line in wrapped(self.holds, self.width)]
        self.lines += [("uses", line) for line in wrapped(", ".join(self.uses), self.width)]
        self.height = len(self.lines) * LINE + 16


class Life:
    """One layer below the other: its types in the middle, what they do with the request on their left, and what with the
    response on their right."""

    BAND, SIDE, MIDDLE = 90, 260, 240

    def __init__(self, lines):
        self.layers, self.title, band = [], "", ""
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "title":
                self.title = rest
            elif word == "band":
                band = rest
            elif word == "layer":
                types, down, up = [part.strip() for part in rest.split("|")]
                self.layers.append((band, [type for type in types.split(", ") if type], down, up))
                band = ""

    def svg(self):
        left = MARGIN + self.BAND
        centre, right = left + self.SIDE, left + self.SIDE + self.MIDDLE
        parts, y = [], MARGIN
        for number, (band, types, down, up) in enumerate(self.layers):
            names = [("name", name) for name in types] or [("name", "the program")]
            sides = [[("", line) for line in wrapped(text, self.SIDE - 20)] for text in (down, up)]
            height = max(len(lines) for lines in (names, *sides)) * LINE + 16
            parts += [f'<text class="band left" x="{MARGIN}" y="{y + height / 2 + 4:g}">{escape(band)}</text>']
            parts.append(rectangle(centre, y, self.MIDDLE, height, "type"))
            for x, lines in ((centre + self.MIDDLE / 2, names), (left + self.SIDE / 2, sides[0]),
                             (right + self.SIDE / 2, sides[1])):
                parts += texts(x, y + (height - len(lines) * LINE) / 2, lines)
            if number + 1 < len(self.layers):
                bottom = y + height
                parts.append(path(f"M{centre + 40} {bottom:g}V{bottom + GAP:g}"))
                parts.append(path(f"M{right - 40} {bottom + GAP:g}V{bottom:g}"))
            y += height + GAP
        return document(right + self.SIDE + MARGIN, y - GAP + MARGIN, self.title, parts)

    def problems(self):
        declared = declared_types()
        for _, types, _, _ in self.layers:
            yield from (f"no type {name} is declared in Sources" for name in types if name not in declared)


def declared_types():
    text = "\n".join(file.read_text() for file in (ROOT / "Sources").rglob("*.swift"))
    return set(re.findall(r"\b(?:struct|class|enum|protocol|actor|typealias) (\w+)", text))


def wrapped(text, width, bold=False):
    """Lines that are about as wide as the width: a letter of the font takes 6.6 pixels, 7.4 in bold."""
    room, lines = int((width - 8) / (7.4 if bold else 6.6)), []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= room:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def texts(x, y, lines):
    return [
        f'<text{f" class={chr(34)}{kind}{chr(34)}" if kind else ""} x="{x:g}" y="{y + LINE * (index + 0.75):g}">'
        f"{escape(line)}</text>"
        for index, (kind, line) in enumerate(lines)
    ]


def rectangle(x, y, width, height, kind=""):
    name = f' class="{kind}"' if kind else ""
    return f'<rect{name} x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'


def path(text):
    return f'<path d="{text}" marker-end="url(#arrow)"/>'


def document(width, height, title, parts):
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(title)}">'
    )
    return "\n".join([head, f"<style>{STYLE}</style>", ARROW, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    main()
