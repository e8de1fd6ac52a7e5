#!/usr/bin/env python3
"""Makes a Swift file of the snippets of each page of the documentation, so that the tests compile them as they stand.

snippets.py FOLDER PAGE...    writes a file for each page, and `Pages.swift` with the names of the pages that have snippets

A later snippet of a page may use the names of earlier ones, and replace them. Names that no snippet declares are those of
`Tests/SnippetTests/Context.swift`. Declarations that a function cannot contain, such as extensions and tests, stand by themselves.
"""

import re
import sys
import textwrap
from pathlib import Path

BLOCK = re.compile(r"^( *)```swift\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
OUTSIDE = re.compile(r"^(?:public |private )?(?:extension |protocol |@main|@Suite|@Test|@resultBuilder)", re.MULTILINE)
IMPORT = re.compile(r"^(?:@testable )?import \w+.*\n", re.MULTILINE)
# A line of a manifest, and a declaration without a body, which repeats one of the library's.
NOT_CODE = re.compile(r"^\s*(?:\.package\(|\.product\(|// swift-tools-version)", re.MULTILINE)


def snippets(page):
    """The line of each snippet, and its text."""
    text = page.read_text()
    return [(text.count("\n", 0, match.start(2)) + 1, textwrap.dedent(match[2])) for match in BLOCK.finditer(text)
            if not NOT_CODE.search(match[2])]


def names(snippet):
    """What the snippet declares at its margin, and may not use itself."""
    for pattern in re.findall(r"^(?:let|var) (\w+|\([\w, ]+\))", snippet, re.MULTILINE):
        yield from (name for name in re.findall(r"\w+", pattern) if name != "_")


def source(page):
    imports, outside, inside, end = set(), [], [], []
    for line, snippet in snippets(page):
        imports.update(found.strip() for found in IMPORT.findall(snippet))
        code = IMPORT.sub("\n", snippet)
        place = f'#sourceLocation(file: "{page}", line: {line})\n{code}#sourceLocation()\n'
        if OUTSIDE.search(code):
            outside.append(place)
        else:
            inside.append("do {\n" + place)
            end.append("".join(f"_ = {name}\n" for name in names(code)) + "}\n")
    imports.update({"import Foundation", "import LoadingKit"})
    function = "func snippetsOf" + re.sub(r"\W", "", page.stem) + "() async throws {\n"
    body = function + "".join(inside) + "".join(reversed(end)) + "}\n" if inside else ""
    return "\n".join(sorted(imports)) + "\n\n" + "".join(outside) + body


folder, *pages = map(Path, sys.argv[1:])
for page in pages:
    (folder / f"{page.stem}Snippets.swift").write_text(source(page) if snippets(page) else "")
compiled = ", ".join(f'"{page.stem}"' for page in pages if snippets(page))
(folder / "Pages.swift").write_text(f"let compiledPages: Set<String> = [{compiled}]\n")
