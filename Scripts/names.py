#!/usr/bin/env python3
"""Checks the grammar of names in Swift sources (CONTRIBUTING.md, "Names and comments").

usage, from the repository's root: Scripts/names.py [--comments] [FOLDER ...]      (default: Sources, Package.swift)

A function or computed property whose name reads as a question (is..., has..., may..., can..., needs..., should...) gives
Bool and changes nothing: it is not `mutating`. A comment names its subject: none begins with "What" for a thing, and none
says "so many" for a number. Prints each breach, and ends with status 1 where there is one.
With --comments it also lists comments in which who, nobody, tells, told, asks or asked may be said of things; people judge
them, and they are no failure.
"""
import argparse
import pathlib
import re
import sys

QUESTION = r"(?:is|has|may|can|needs|should)(?=[A-Z])\w*"
FUNCTION = re.compile(r"((?:^|\s)(?:[\w()@]+\s+)*)func\s+(" + QUESTION + r")\s*[(<]")
PROPERTY = re.compile(r"\b(?:var|let)\s+(" + QUESTION + r")\s*:\s*([^={]+)")
# Names that other interfaces prescribe, with the reason.
ALLOWED = {
    "isIsolatingCurrentContext": "SerialExecutor's requirement, which gives Bool?",
}
# Kinds of properties that a question may have: an answer that is not known yet, a function that gives it.
ANSWER = re.compile(r"^(?:Bool\??|Atomic<Bool>|Guarded<Bool>|Mutex<Bool>|\(?.*->\s*Bool\)?\??)$")
DOUBTFUL = re.compile(r"\b(who|whom|whoever|nobody|somebody|tells?|told|asks?|asked)\b", re.IGNORECASE)
UNNAMED = re.compile(r"^\s*///?\s*(?:- (?:Parameter )?\w+: |MARK: )?What\b(?!.*\?)|//.*\b[Ss]o many\b", re.MULTILINE)
COMMENT = re.compile(r"^\s*(///?)(.*)$|\s//\s(.*)$")


def signature(text, start):
    """The text between the parameters and the body."""
    depth = 0
    for index in range(text.index("(", start), len(text)):
        if text[index] == "(":
            depth += 1
        elif text[index] == ")":
            depth -= 1
            if depth == 0:
                rest = text[index + 1 : index + 400]
                return re.split(r"[{\n]\s*(?=$|[a-z}@/])|\{", rest, maxsplit=1)[0]
    return ""


def problems(path):
    text = path.read_text()
    # Strings and comments have no declarations.
    code = re.sub(r"//[^\n]*", "", text)
    for match in UNNAMED.finditer(text):
        yield text.count("\n", 0, match.end()) + 1, "the comment does not name its subject"
    for match in FUNCTION.finditer(code):
        name = match.group(2)
        if name in ALLOWED:
            continue
        line = code.count("\n", 0, match.start(2)) + 1
        gives = signature(code, match.end(2))
        if not re.search(r"->\s*Bool\b(?!\?)", gives):
            yield line, f"func {name} reads as a question, and does not give Bool"
        if re.search(r"\bmutating\b", match.group(1)):
            yield line, f"func {name} reads as a question, and is mutating"
    for match in PROPERTY.finditer(code):
        name, kind = match.group(1), match.group(2).strip().rstrip(",)")
        if name not in ALLOWED and not ANSWER.match(kind.split("\n")[0].strip()):
            line = code.count("\n", 0, match.start(1)) + 1
            yield line, f"{name} reads as a question, and is {kind.splitlines()[0].strip()}"


def doubtful_comments(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = COMMENT.search(line)
        comment = match and (match.group(2) or match.group(3))
        if comment and DOUBTFUL.search(comment):
            yield number, comment.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comments", action="store_true", help="also list comments to look at")
    parser.add_argument("folders", nargs="*", default=["Sources", "Package.swift"])
    arguments = parser.parse_args()
    failed = 0
    for folder in arguments.folders:
        root = pathlib.Path(folder)
        for path in [root] if root.is_file() else sorted(root.rglob("*.swift")):
            if path.is_symlink() or path.name.endswith(".generated.swift"):
                continue
            for line, problem in problems(path):
                failed += 1
                print(f"{path}:{line}: {problem}")
            if arguments.comments:
                for line, comment in doubtful_comments(path):
                    print(f"{path}:{line}: comment: {comment}")
    if failed:
        sys.exit(f"{failed} names or comments break the rules of CONTRIBUTING.md")


if __name__ == "__main__":
    main()
