#!/usr/bin/env python3
"""Counts the circles between the files of each module: files of which each uses, directly or by others, every other.

usage, from the repository's root: Scripts/circles.py [--names MODULE]

A file uses another where it names a type that is declared there at the left margin. `Type+Purpose.swift` counts as part of
`Type.swift`. Ends with status 1 where a module's largest circle has more files than its limit. It also does so where it has
fewer: then the limit is to be lowered here, so that it never rises again. With --names it lists the files of the module's
largest circle.
"""
import argparse
import collections
import pathlib
import re
import sys

# Files in the largest circle of a module; 0 for modules that are not here.
LIMITS = {
    "LoadingKit/Core": 33,
    "LoadingKit/HAR": 2,
    "LoadingKit/LoopbackServer": 3,
    "LoadingKit/Primitives": 2,
    "LoadingKit/Transfers": 4,
    "LoadingKit/Transport": 6,
    "Plugins/Archives": 6,
    "Plugins/Events": 3,
    "Plugins/Negotiate": 6,
    "Plugins/Resilience": 3,
    "Plugins/S3": 4,
    "Plugins/SystemProxies": 2,
    "Plugins/Testing": 2,
    "Protocols/FTP": 5,
    "Protocols/HPACK": 6,
    "Protocols/HTTP": 6,
    "Protocols/HTTP1": 2,
}

MODIFIER = r"(?:@\w+(?:\([^)]*\))?|public|package|internal|private|fileprivate|open|final|indirect|nonisolated)\s+"
DECLARATION = re.compile(rf"^(?:{MODIFIER})*(?:class|struct|enum|protocol|actor|typealias)\s+(\w+)", re.MULTILINE)
NO_CODE = re.compile(r'"""(?:.|\n)*?"""|//[^\n]*|"(?:\\.|[^"\\\n])*"')


def modules(root):
    """The code of each file, without strings and comments, by module and path."""
    found = collections.defaultdict(dict)
    for path in sorted(root.rglob("*.swift")):
        found["/".join(path.relative_to(root).parts[:2])][path] = NO_CODE.sub("", path.read_text())
    return found


def arrows(files):
    """The files that each file uses."""
    declaring = collections.defaultdict(set)
    for path, code in files.items():
        for name in DECLARATION.findall(code):
            declaring[name].add(path)
    owner = {name: next(iter(paths)) for name, paths in declaring.items() if len(paths) == 1}
    home = {path: owner.get(path.stem.split("+")[0], path) if "+" in path.stem else path for path in files}
    uses = {path: set() for path in home.values()}
    for path, code in files.items():
        for name in set(re.findall(r"\b[A-Z]\w+", code)) & owner.keys():
            uses[home[path]].add(home[owner[name]])
    return uses


def largest_circle(uses):
    """The largest set of files that reach each other."""
    reached = {path: reachable(path, uses) for path in uses}
    circles = ({other for other in reached[path] if path in reached[other]} for path in uses)
    return max(circles, key=len, default=set())


def reachable(start, uses):
    found, waiting = set(), [start]
    while waiting:
        new = uses[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", metavar="MODULE")
    options = parser.parse_args()
    failed = False
    for module, files in modules(pathlib.Path("Sources")).items():
        circle = largest_circle({path: targets - {path} for path, targets in arrows(files).items()})
        if module == options.names:
            print("\n".join(sorted(path.name for path in circle)))
        limit = LIMITS.get(module, 0)
        if len(circle) == limit:
            continue
        failed = True
        remedy = "it may not rise" if len(circle) > limit else "lower the limit in Scripts/circles.py"
        print(f"{module}: the largest circle has {len(circle)} files, and the limit is {limit}: {remedy}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
