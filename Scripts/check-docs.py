#!/usr/bin/env python3
"""Says where the documentation names what is not there: links to files, pages of the catalogue, source files, and the types of the
glossary in CONTRIBUTING.md. In pages about the inside also types, members and files without `.swift`, such as `Origin`."""

import re
import sys
from pathlib import Path

from draw import CATALOGUE, ROOT, declared_types

INSIDE = [ROOT / "CONTRIBUTING.md", CATALOGUE / "Architecture.md", CATALOGUE / "LifeOfARequest.md"]
FOREIGN = {"URLError", "SecTrust"}
FOLDERS = [ROOT, ROOT / "Sources", ROOT / "Sources/LoadingKit", ROOT / "Benchmarks", CATALOGUE]
PAGES = [*ROOT.glob("*.md"), ROOT / "Examples/README.md", *sorted(CATALOGUE.glob("*.md"))]


def problems():
    texts = {file: file.read_text() for folder in ("Sources", "Tests") for file in (ROOT / folder).rglob("*.swift")}
    sources = [str(file.relative_to(ROOT)) for file in texts]
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)", text):
            if "://" not in link and not link.startswith("doc:") and not (page.parent / link).exists():
                yield f"{page.name}: there is no {link}"
        for name in re.findall(r"(?:<|\]\()doc:([^#>)]+)", text):
            if not (CATALOGUE / f"{name}.md").exists():
                yield f"{page.name}: there is no page {name}"
        for name in re.findall(r"(?<!^- )<doc:([^>]+)>", text, flags=re.MULTILINE):
            yield f"{page.name}: write [title](doc:{name}), as <doc:{name}> is no title where docc does not show the page"
        for name in re.findall(r"`([\w+./]+\.swift)`", text):
            if name != "Package.swift" and not any(f"/{source}".endswith(f"/{name}") for source in sources):
                yield f"{page.name}: there is no file {name}"
    for page in INSIDE:
        for name in sorted(set(re.findall(r"(?<!`)`([A-Z][\w+/]*(?:\.\w+)?)`(?!`)", page.read_text()))):
            if not is_there(name, texts):
                yield f"{page.name}: there is no {name}"
    yield from glossary_problems((ROOT / "CONTRIBUTING.md").read_text().partition("## Glossary\n")[2].partition("\n## ")[0])


def is_there(name, texts):
    """Whether a type, a member of one, a file, a folder or a module has the name, or it is an environment variable's."""
    if any((folder / name).exists() for folder in FOLDERS) or f'"{name}"' in (ROOT / "Package.swift").read_text():
        return True
    last = name.removesuffix(".swift").split("/")[-1]
    type_name, _, member = last.partition(".")
    if type_name in FOREIGN or name.isupper() or any(last in (file.stem, file.parent.name) for file in texts):
        return True
    mentions = re.compile(rf"\b(?:struct|class|enum|protocol|actor|typealias|extension) {type_name}\b")
    having = re.compile(rf"\b{member}\b")
    return any(type_name in text and mentions.search(text) and having.search(text) for text in texts.values())


def glossary_problems(glossary):
    declared = declared_types()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in glossary.splitlines() if line.startswith("|")][2:]
    terms = [term.lower() for term, _, _ in rows]
    if not rows or terms != sorted(terms):
        yield "CONTRIBUTING.md: the glossary is not sorted, or is missing"
    for term, _, types in rows:
        names = [name.split(".")[0] for name in re.findall(r"`([^`]+)`", types)]
        missing = [name for name in names if name not in declared] if names else ["type"]
        yield from (f"CONTRIBUTING.md: the glossary's {term} stands for a {name} that is not declared" for name in missing)


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
