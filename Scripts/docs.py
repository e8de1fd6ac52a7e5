#!/usr/bin/env python3
"""Makes the documentation of all products as one site, from modules that `swift build` has compiled. Ends with status 1 where a
link leads nowhere, or a public declaration of LoadingKit is in no topic.

docs.py [FOLDER]    writes the site; without a folder it only checks

The interface of LoadingKit is declared in the module LoadingKitCore, which LoadingKit exports: its symbols are documented as
LoadingKit's.
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build/debug"
SYSTEM = ROOT / "Sources/LoadingKit/System"
TARGET = json.loads(subprocess.check_output(["swift", "-print-target-info"]))["target"]["triple"]
# The modules whose symbols are a product's, with the product's catalogue.
PRODUCTS = {"LoadingKit": ["LoadingKit", "LoadingKitCore"], "LoadingKitTesting": ["LoadingKitTesting", "LoadingKitHAR"]}


def catalogues():
    """The catalogue of each product, by the product's name."""
    found = {path.stem: path for path in (ROOT / "Sources").rglob("*.docc")}
    return dict(sorted(found.items(), key=lambda item: (item[0] != "LoadingKit", item[0])))


def extract(module, folder):
    maps = [*SYSTEM.glob("*/module.modulemap"), *BUILD.glob("*.build/module.modulemap")]
    subprocess.run(
        ["swift-symbolgraph-extract", "-module-name", module, "-target", TARGET, "-I", BUILD / "Modules",
         "-output-dir", folder, "-minimum-access-level", "public", "-skip-synthesized-members"]
        + [option for path in maps for option in ("-Xcc", f"-fmodule-map-file={path}")]
        + [option for path in SYSTEM.glob("*/include") for option in ("-Xcc", f"-I{path}")], check=True)


def rename(folder, product):
    """Makes all symbols the product's."""
    for number, path in enumerate(sorted(folder.glob("*.json"))):
        graph = json.loads(path.read_text())
        graph["module"]["name"] = product
        path.unlink()
        (folder / f"{product}-{number}.symbols.json").write_text(json.dumps(graph))


def convert(product, catalogue, folder):
    """The product's archive, and what docc says of it."""
    graphs, archive = folder / f"{product}-graphs", folder / f"{product}.doccarchive"
    graphs.mkdir()
    for module in PRODUCTS.get(product, [product]):
        extract(module, graphs)
    rename(graphs, product)
    run = subprocess.run(
        ["docc", "convert", catalogue, "--additional-symbol-graph-dir", graphs, "--output-dir", archive,
         "--fallback-display-name", product, "--fallback-bundle-identifier", product, "--ide-console-output"],
        capture_output=True, text=True)
    # A parameter whose name says all has no documentation.
    said = [line for line in (run.stdout + run.stderr).splitlines()
            if re.search(r"\b(?:warning|error):", line) and "is missing documentation" not in line]
    return archive, said, graphs


def without_topic(graphs, catalogue):
    """The declarations at the top level that the catalogue's page does not list."""
    page = (catalogue / f"{catalogue.stem}.md").read_text()
    listed = set(re.findall(r"^- ``(\w+(?:\([\w:]*\))?)``$", page, re.MULTILINE))
    for path in graphs.glob("*.json"):
        for symbol in json.loads(path.read_text())["symbols"]:
            names = symbol["pathComponents"]
            if len(names) == 1 and names[0] not in listed:
                yield f"{names[0]} is in no topic of {catalogue.stem}.md"


def main():
    problems, archives = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            converted = pool.map(lambda item: (*item, *convert(*item, folder)), catalogues().items())
        for product, catalogue, archive, said, graphs in converted:
            problems += said
            archives.append(archive)
            if product == "LoadingKit":
                problems += sorted(set(without_topic(graphs, catalogue)))
        if len(sys.argv) > 1:
            site = pathlib.Path(sys.argv[1])
            subprocess.run(["docc", "merge", *archives, "--output-path", site], check=True)
        pages = sum(1 for archive in archives for _ in archive.rglob("data/**/*.json"))
    print(*problems, f"Documentation: {len(archives)} products, {pages} pages, {len(problems)} problems", sep="\n")
    sys.exit(bool(problems))


main()
