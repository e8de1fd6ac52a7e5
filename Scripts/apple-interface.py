#!/usr/bin/env python3
"""Makes Swift code that uses each line of the table of Apple's interface, so that the compiler checks the table; and the page
of the documentation that says what has no effect, and what has another form.

usage: apple-interface.py [--check | --uses FILE]

Reads Tests/AppleInterfaceTests/AppleInterface.md and writes AppleInterface.md of the documentation. With --check it fails
where that page is not what it would write, as `make lint` does. With --uses it writes the code alone, as the build of the
tests does (Tests/GeneratedTests). Else it prints how many lines there are of each kind.

A line of the table is `| declaration | here |`, under the heading of the type that it is a member of. The second cell is
`works`, `works (deprecated)`, `no effect: REASON`, or ``other form: `DECLARATION`; REASON``, where the declaration is
LoadingKit's. A function is used as a value of the type that its declaration gives it, a property as a value of its type.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
table = root / "Tests/AppleInterfaceTests/AppleInterface.md"
page = root / "Sources/LoadingKit/LoadingKit/LoadingKit.docc/AppleInterface.md"
KINDS = ["works", "no effect", "other form"]


class TableError(Exception):
    pass


def split(text, separator=","):
    """The parts of a list between separators that are in no brackets."""
    parts, depth, start = [], 0, 0
    text = text.replace("->", "\0\0")
    for place, character in enumerate(text):
        depth += character in "([<{"
        depth -= character in ")]>}"
        if character == separator and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return [part.replace("\0\0", "->").strip() for part in parts if part.strip()]


def parenthesized(text):
    """The text in the first parentheses, and the text behind them."""
    depth = 0
    start = text.index("(")
    for place in range(start, len(text)):
        depth += text[place] == "("
        depth -= text[place] == ")"
        if depth == 0:
            return text[start + 1 : place], text[place + 1 :].strip()
    raise TableError(f"a parenthesis is not closed: {text}")


def parameters(text):
    """Labels and types of a parameter list."""
    found = []
    for parameter in split(text):
        names, kind = parameter.split(":", 1)
        found.append((names.split()[0], kind.strip()))
    return found


def function(declaration):
    """Name, parameters, and the type of the result with its effects."""
    head, rest = declaration.split("(", 1)
    arguments, behind = parenthesized("(" + rest)
    effects = " ".join(word for word in ("async", "throws") if re.search(rf"\b{word}\b", behind.split("->")[0]))
    result = behind.split("->", 1)[1].strip() if "->" in behind else "Void"
    return head.split()[-1], parameters(arguments), (effects + " " if effects else "") + "-> " + result


def is_settable(declaration):
    return bool(re.search(r"\{[^}]*\bset\b", declaration))


def uses(declaration, type_name, subject):
    """Statements that use what a declaration declares."""
    words = re.sub(r"^(class|static) (?=(func|var|let)\b)", "", declaration)
    is_static = words != declaration
    base = type_name if is_static else subject
    if "@ " in words:
        words, base = (part.strip() for part in words.split("@ "))
    if words.startswith("mutating func"):
        name, arguments, result = function(words.removeprefix("mutating "))
        types = ", ".join(["inout " + type_name] + [kind for _, kind in arguments])
        given = ", ".join(
            f"${i}" if label == "_" else f"{label}: ${i}" for i, (label, _) in enumerate(arguments, 1))
        return [f"let _: ({types}) {result} = {{ $0.{name}({given}) }}"]
    if words.startswith("func"):
        name, arguments, result = function(words)
        labels = "".join(label + ":" for label, _ in arguments)
        types = ", ".join(kind for _, kind in arguments)
        return [f"let _: ({types}) {result} = {base}.{name}" + (f"({labels})" if labels else "")]
    if words.startswith("init"):
        name, arguments, _ = function(words.replace("init?", "init "))
        labels, types = "".join(label + ":" for label, _ in arguments), ", ".join(kind for _, kind in arguments)
        optional = "?" if words.startswith("init?") else ""
        return [f"let _: ({types}) -> {type_name}{optional} = {type_name}.init({labels})"]
    if words.startswith("case"):
        name = words.removeprefix("case ")
        if "(" not in name:
            return [f"let _: {type_name} = .{name}"]
        kind, _ = parenthesized(name)
        return [f"let _: ({kind}) -> {type_name} = {type_name}.{name.split('(')[0]}"]
    if re.match(r"(class|struct|enum)\b", words):
        return [f"let _: {type_name}.Type = {type_name}.self"]
    if words.startswith("protocol"):
        return [f"let _: (any {type_name}).Type = (any {type_name}).self"]
    if words.startswith("typealias"):
        name, meaning = words.removeprefix("typealias ").split(" = ")
        return [f"let _: {meaning}.Type = {type_name}.{name}.self"]
    match = re.match(r"(?:var|let) (\S+): (.*?)(?: \{(.*)\})?$", words)
    if not match:
        raise TableError(f"no declaration: {declaration}")
    name, kind, access = match.groups()
    if access and "async" in access:
        return [f"let _: () async -> {kind} = {{ await {base}.{name} }}"]
    place = f"{base}.{name}" if base else name
    return [f"let _: {kind} = {place}"] + ([f"{place} = same({place})"] if is_settable(words) else [])


def rows(text):
    """Heading, declaration and what is here, of each line."""
    heading = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            heading = line.removeprefix("## ").strip("`")
        elif match := re.fullmatch(r"\| `(.+?)` \| (.+) \|", line.replace("```default```", "`default`")):
            yield number, heading, match[1].replace("\\|", "|"), match[2]
        elif line.startswith("| `"):
            raise TableError(f"{table.name}:{number}: no line of a table")


def read(text):
    sections, counts = {}, dict.fromkeys(KINDS, 0)
    for number, heading, declaration, here in rows(text):
        kind = next((kind for kind in KINDS if here.startswith(kind)), None)
        if kind is None or (kind != "works" and len(here) < len(kind) + 8):
            raise TableError(f"{table.name}:{number}: what is here is one of {', '.join(KINDS)}, with a reason")
        counts[kind] += 1
        own = declaration
        if kind == "other form":
            match = re.match(r"other form: `(.+?)`; .+", here)
            if not match:
                raise TableError(f"{table.name}:{number}: an other form has its declaration and a reason")
            own = match[1]
        sections.setdefault(heading, []).append((declaration, own, "(deprecated)" in here, here))
    return sections, counts


def documented(sections, counts):
    """The page of the documentation."""
    without, others = [], []
    for heading, members in sections.items():
        for declaration, own, _, here in members:
            subject = declaration if re.match(r"(class|enum|struct|protocol) ", declaration) else f"{heading}: {declaration}"
            if here.startswith("no effect"):
                without.append(f"| `{subject}` | {here.removeprefix('no effect: ')} |")
            elif here.startswith("other form"):
                reason = here.split("`; ", 1)[1]
                same = own == declaration
                others.append(f"| `{subject}` | {'the same' if same else f'`{own}`'} | {reason} |")
    return "\n".join(
        [
            "# Apple's interface, line by line",
            "",
            "Declarations of Apple's systems that have no effect here, and those that have another form.",
            "",
            "## Overview",
            "",
            f"The documentation of Apple's systems of 2025 has {sum(counts.values())} declarations of the URL Loading System,",
            f"which `Tests/AppleInterfaceTests` lists and uses, one by one. {counts['works']} of them work as they are documented there,",
            f"{counts['no effect']} are there, keep their value, and do nothing more, and {counts['other form']} have another form.",
            "",
            "## Without effect",
            "",
            "| what | why |",
            "|---|---|",
            *without,
            "",
            "## In another form",
            "",
            "| Apple's | here | why |",
            "|---|---|---|",
            *others,
            "",
        ])


def written(sections):
    lines = [
        "// swift-format-ignore-file",
        "// Made by Scripts/apple-interface.py from AppleInterface.md: do not change it by hand.",
        "import Foundation",
        "import LoadingKit",
        "",
        "/// The compiler does not accept that a stored property is set to itself.",
        "private func same<Value>(_ value: Value) -> Value { value }",
        "",
    ]
    for heading, members in sections.items():
        is_type = re.fullmatch(r"[A-Za-z_.]+", heading) is not None
        is_protocol = any(declaration.startswith("protocol") for declaration, _, _, _ in members)
        is_value = any(declaration.startswith("struct") for declaration, _, _, _ in members)
        type_name = heading if is_type else ""
        for deprecated in (False, True):
            chosen = [(declaration, own) for declaration, own, old, _ in members if old == deprecated]
            if not chosen:
                continue
            name = "use" + re.sub(r"\W", "", heading.title() if not is_type else heading)
            if deprecated:
                lines.append("@available(*, deprecated)")
                name += "Deprecated"
            subject = f"_ it: {'any ' if is_protocol else ''}{type_name}" if is_type else ""
            lines.append(f"func {name}({subject}) {{")
            body = []
            for declaration, own in chosen:
                is_global = re.match(r"let NS|let kCF", own)
                body.append(f"    // {declaration}")
                body += ["    " + use for use in uses(own, type_name, "" if is_global or not is_type else "it")]
            if is_value and any(re.search(r"\bit\.\S+ = same\(", line) for line in body):
                lines.append("    var it = it")
            lines += body + ["}", ""]
    return "\n".join(lines)


try:
    sections, counts = read(table.read_text())
    code, text = written(sections), documented(sections, counts)
except TableError as error:
    sys.exit(f"apple-interface: {error}")
if "--uses" in sys.argv[1:]:
    pathlib.Path(sys.argv[2]).write_text(code)
    sys.exit()
if "--check" not in sys.argv[1:]:
    page.write_text(text)
elif page.read_text() != text:
    sys.exit(f"apple-interface: {page.name} lacks lines of the table: run Scripts/apple-interface.py")
total = sum(counts.values())
print(f"{total} lines of Apple's interface: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
