#!/usr/bin/env python3
"""Lists what the tests do not reach in the codecs, the pools and the values that a load's life is.

usage, from the repository's root: Scripts/coverage.py TEST_PROGRAM

The program is built with `-profile-generate -profile-coverage-mapping`. The compiler counts regions: the statements of a function
between two branches, each side of a condition, each case, each operand of `&&`, `||` and `??` that may be left out. A region
that no test reaches is named by its line's text in Tests/unreached.txt, with the reason. Ends with status 1 where a region is not
reached that is not there, and where a line there is reached or has gone.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Folders and files whose every region is to be reached, below Sources.
SOURCES = [
    "Protocols/HPACK", "Protocols/HTTP1", "Protocols/HTTP2", "Protocols/WebSocket", "Protocols/ContentCoding",
    "Protocols/FTP/Codec", "Protocols/Proxies/Handshakes", "Protocols/Proxies/Proxy.swift", "Protocols/Proxies/ProxyDictionary.swift",
    "Protocols/Proxies/ProxyError.swift", "Protocols/Proxies/ProxyExceptions.swift", "Protocols/Proxies/ProxyQuestions.swift",
    "Protocols/Proxies/ProxyRoutes.swift", "Protocols/Proxies/ProxyRules.swift", "Protocols/Proxies/ProxyTarget.swift",
    "Protocols/HTTP/Pool/HTTPConnectionPool", "Protocols/HTTP/Pool/HostConnections.swift", "Protocols/HTTP/Pool/RequestQueue.swift",
    "Protocols/HTTP/HTTP2/HTTP2ConnectionLife.swift", "Protocols/HTTP/HTTP2/KeepAlivePing.swift",
    "Protocols/HTTP/HTTP2/WindowBudget.swift",
    "LoadingKit/Core/Tasks/Engine/TaskLifecycle.swift", "LoadingKit/Core/Tasks/Engine/TaskClock.swift",
    "LoadingKit/Core/Tasks/Engine/TaskStage.swift",
]
# The tests that need no other program and no network.
TESTS = (
    r"^(HPACK|HTTP1|HTTP2|WebSocket|ContentCoding|Proxies|Primitives|Fuzz)Tests\.|"
    r"^FTPTests\.(FTP(ClientStateMachine|Reply|ReplyValue|ReplyParser|Path|StateTable|Timestamp)"
    r"|ListingFuzz|ListingDocument|ListFormat|MLSD)Tests|"
    r"^HTTPTests\.(HTTPConnectionPool|HostConnections|HTTP2ConnectionLife|KeepAlivePing|WindowBudget)|"
    r"^CoreTests\.(TaskLifecycle|TaskClock|TaskStage)"
)
REASONS = pathlib.Path("Tests/unreached.txt")
CODE = 0  # The kind of a region that is code; others are gaps and expansions.

Region = collections.namedtuple("Region", "path line column")


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout


def tool(name):
    """The toolchain's own, as the profile's format is of its version."""
    compiler = pathlib.Path(run("which", "swiftc", text=True).strip()).resolve()
    beside = compiler.parent / name
    return str(beside if beside.exists() else name)


def measure(program, folder):
    """What each region was entered, as the compiler's tool says it."""
    raw, merged = f"{folder}/%p.profraw", f"{folder}/all.profdata"
    # One test at a time: threads that count at once lose counts. The order of tables is that of the run before.
    tests = [program, "--testing-library", "swift-testing", "--no-parallel", "--filter", TESTS]
    environment = {**os.environ, "LLVM_PROFILE_FILE": raw, "SWIFT_DETERMINISTIC_HASHING": "1"}
    subprocess.run(tests, check=True, stdout=subprocess.DEVNULL, env=environment)
    run(tool("llvm-profdata"), "merge", "-sparse", "-o", merged, *map(str, pathlib.Path(folder).glob("*.profraw")))
    sources = [str(path.resolve()) for path in files()]
    return json.loads(run(tool("llvm-cov"), "export", "-skip-expansions", f"-instr-profile={merged}", program, *sources))


def files():
    for path in pathlib.Path("Sources").rglob("*.swift"):
        name = str(path.relative_to("Sources"))
        if any(name.startswith(part) for part in SOURCES):
            yield path


def has_code(path, line, column, last_line, last_column):
    """Whether a region has code. Behind a loop without an end there is none; the range `...` is a function that nobody calls."""
    lines = path.read_text().split("\n")[line - 1 : last_line]
    lines[-1] = lines[-1][: last_column - 1]
    lines[0] = lines[0][column - 1 :]
    return bool("".join(lines).strip(" })."))


def counts(report):
    """The greatest count of each region: a generic function has one of each type."""
    root = pathlib.Path.cwd()
    wanted = {root / path: str(path) for path in files()}
    greatest = {}
    for function in report["data"][0]["functions"]:
        for line, column, last_line, last_column, count, file, _, kind in function["regions"]:
            path = pathlib.Path(function["filenames"][file])
            if kind != CODE or path not in wanted or not has_code(path, line, column, last_line, last_column):
                continue
            region = Region(wanted[path], line, column)
            greatest[region] = max(count, greatest.get(region, 0))
    return greatest


def lines(unreached):
    """The regions' lines as (path, text), each once; a region within a line that is not reached says nothing more."""
    texts = {}
    for region in sorted(unreached):
        source = pathlib.Path(region.path).read_text().split("\n")
        # The region behind an `if` or a loop begins at its brace.
        number = next((n for n in range(region.line, len(source) + 1) if source[n - 1].strip(" })")), region.line)
        texts[(region.path, source[number - 1].strip())] = number
    return texts


def reasons():
    known = {}
    for number, line in enumerate(REASONS.read_text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(" | ")
        if len(parts) != 3 or not all(part.strip() for part in parts):
            sys.exit(f"{REASONS}:{number}: not “path | text of the line | reason”")
        known[(parts[0].strip(), parts[1].strip())] = parts[2]
    return known


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = counts(measure(sys.argv[1], folder))
    unreached = lines(region for region, count in found.items() if count == 0)
    known = reasons()
    total, left = collections.Counter(r.path for r in found), collections.Counter(r.path for r in found if found[r] == 0)
    for path in sorted(left):
        print(f"{path}: {left[path]} of {total[path]} regions are not reached")
    new = sorted((path, line, text) for (path, text), line in unreached.items() if (path, text) not in known)
    old = sorted(key for key in known if key not in unreached)
    for path, line, text in new:
        print(f"{path}:{line}: not reached: {text}")
    for path, text in old:
        print(f"{REASONS}: is reached, or has gone: {path} | {text}")
    reached = sum(1 for count in found.values() if count > 0)
    print(f"{reached} of {len(found)} regions in {len(total)} files are reached; {len(unreached)} lines are not")
    sys.exit(1 if new or old else 0)


main()
