#!/usr/bin/env python3
"""Compares the instructions and thread switches of a load with Benchmarks/thresholds.json, and fails when one is exceeded.

bench-thresholds.py [--filter REGEX] [--write] [--client PROGRAM]

A scenario runs with two numbers of loads. The difference of its instructions, as Valgrind counts them, is divided by the
difference of the loads, so that the program's start does not count. Of a scenario with one load, the whole process counts.
Switches of threads are those of runs without Valgrind, pinned to one core; instructions are counted so where threads hand
each piece of a load to each other. The thresholds hold for the toolchain and the system's libraries that the file names;
`--write` measures them anew.
"""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile

from benchclient import KILOBYTE, TOP, Scenario, build
from benchserver import Server

FILE = TOP / "Benchmarks" / "thresholds.json"
# By what factor the instructions may exceed their threshold. Where two threads hand loads to each other, a load's way
# depends on which of them is first; loads to a delegate took 110,000 to 137,000 instructions, and on one core
# 89,000 to 131,000: they are pinned to it, as those to a file are.
ONE_THREAD, TWO_THREADS, DELEGATE = 1.02, 1.05, 1.1
# By what factor, and by how many beyond that, the switches of threads may exceed theirs.
SWITCHES = (1.25, 0.3)
# The switches of these scenarios are printed and not compared: how often two threads wait for each other depends on what else
# the machine does (3 to 9 a load).
UNSTEADY = ("http, 1 KB to a delegate",)
# A scenario that exceeds a threshold is measured again, and the least counts: other programs make a load dearer.
ATTEMPTS = 3


def scenarios():
    """The scenarios, the smaller number of loads of each (the larger one is three times as many), and the tolerance."""
    for scheme in ("http", "https", "h2"):
        for count, loads in ((1, 1_000), (64, 2_000)):
            name = f"{scheme}, 1 KB, {count} at a time"
            yield Scenario(name, "memory", scheme, KILOBYTE, count, loads), TWO_THREADS
            yield Scenario(f"{name}, session.executor", "executor", scheme, KILOBYTE, count, loads), ONE_THREAD
    yield Scenario("http, 1 KB to a delegate", "delegate", "http", KILOBYTE, 1, 1_000), DELEGATE
    yield Scenario("http, 1 KB to a file", "file", "http", KILOBYTE, 1, 1_000), DELEGATE
    yield Scenario("http, upload of 1 KB", "upload", "upload", KILOBYTE, 1, 1_000), TWO_THREADS
    yield Scenario("cache hit in memory, 1 KB", "memoryCache", "cached/1k", KILOBYTE, 1, 2_000), ONE_THREAD
    yield Scenario("cache hit on disk, 1 KB", "diskCache", "cached/1k", KILOBYTE, 1, 1_000), TWO_THREADS
    yield Scenario("WebSocket echo, 1 KB", "echo", "echo", KILOBYTE, 1, 1_000), TWO_THREADS
    yield Scenario("a process with one load, https", "memory", "https", KILOBYTE, 1, 1), TWO_THREADS
    yield Scenario("data:", "memory", "data", 5, 1, 2_000), ONE_THREAD
    yield Scenario("a handler's load(_:), 1 KB", "memory", "kilobyte", KILOBYTE, 1, 2_000), ONE_THREAD


def toolchain():
    """The versions on which the numbers of instructions depend."""
    swift = re.search(r"version ([\d.]+)", output_of("swift", "--version"))[1]
    openssl = re.match(r"OpenSSL \d+\.\d+", output_of("openssl", "version"))[0]
    return f"Swift {swift}, {' '.join(platform.libc_ver())}, {openssl}, {platform.machine()}"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def instructions(client, arguments, core=None):
    # Hashing with a random seed would differ from run to run.
    environment = os.environ | {"SWIFT_DETERMINISTIC_HASHING": "1"}
    process = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", client, *arguments],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment,
                             preexec_fn=pin(core))
    collected = re.search(r"Collected : (\d+)", process.stderr)
    if process.returncode or not collected: sys.exit(f"{' '.join(arguments)}: {process.stderr[-500:]}")
    return int(collected[1])


def pin(core):
    """What pins a process to a core at its start; nothing without one."""
    return None if core is None else lambda: os.sched_setaffinity(0, {core})


def switches(client, arguments, core):
    process = subprocess.Popen([client, *arguments], stdout=subprocess.DEVNULL,
                               preexec_fn=pin(core))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode: sys.exit(f"{' '.join(arguments)}: ended with {process.returncode}")
    # Only those that the program makes itself: the others depend on what else the machine does.
    return usage.ru_nvcsw


def measure(client, scenario, tolerance, server, core):
    few, many = scenario.requests, scenario.requests * 3
    if few == 1: return {"instructions": instructions(client, scenario.arguments(server, 1))}

    def a_load(count):
        counts = [count(client, scenario.arguments(server, loads)) for loads in (few, many)]
        return (counts[1] - counts[0]) / (many - few)

    instructions_core = core if tolerance == DELEGATE else None
    return {"instructions": round(a_load(lambda *run: instructions(*run, instructions_core))),
            "switches": max(0, round(a_load(lambda *run: switches(*run, core)), 2))}


def least(client, scenario, tolerance, server, core, is_enough):
    """The least of each figure in a few attempts, of which the last is the first that is enough."""
    figures = measure(client, scenario, tolerance, server, core)
    for _ in range(ATTEMPTS - 1):
        if is_enough(figures): break
        again = measure(client, scenario, tolerance, server, core)
        figures = {key: min(value, again[key]) for key, value in figures.items()}
    return figures


def verdicts(name, figures, thresholds, tolerance):
    """What there is to say about each figure, and whether it exceeds its threshold."""
    for key, (factor, more) in (("instructions", (tolerance, 0)), ("switches", SWITCHES)):
        if key not in figures: continue
        threshold = thresholds.get(key)
        if key == "switches" and name in UNSTEADY: yield key, "not compared", False
        elif threshold is None: yield key, "no threshold: --write", True
        elif figures[key] > threshold * factor + more: yield key, f"EXCEEDS {threshold:,}", True
        elif figures[key] < threshold / factor - more: yield key, f"below {threshold:,}: can be lowered, --write", False
        else: yield key, f"as {threshold:,}", False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="scenarios whose names match")
    parser.add_argument("--write", action="store_true", help="write what is measured as the thresholds")
    parser.add_argument("--client", help="a program that was built before")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    made_with = toolchain()
    if not options.write and stored.get("made with") != made_with:
        sys.exit(f"The thresholds were made with {stored.get('made with')}, and this is {made_with}: measure a commit that "
                 "is known to be good with --write first.")
    client = options.client or build(TOP / "Benchmarks")
    cores = sorted(os.sched_getaffinity(0))
    thresholds, is_met = stored.get("a load", {}), True
    with tempfile.TemporaryDirectory(prefix="loadingkit-thresholds-") as folder:
        os.chmod(folder, 0o755)
        server = Server(folder, cores[-1])
        # Valgrind does not read all debugging information of Swift.
        program = os.path.join(folder, "client")
        subprocess.run(["strip", "--strip-debug", "-o", program, client], check=True)
        try:
            for scenario, tolerance in scenarios():
                if not re.search(options.filter, scenario.name): continue
                stored_figures = {} if options.write else thresholds.get(scenario.name, {})
                figures = least(program, scenario, tolerance, server, cores[0], lambda found: not any(
                    exceeds for _, _, exceeds in verdicts(scenario.name, found, stored_figures, tolerance)))
                for key, verdict, exceeds in verdicts(scenario.name, figures, stored_figures, tolerance):
                    is_met &= not exceeds
                    print(f"{scenario.name:45} {key:13} {figures[key]:11,}  {verdict}", flush=True)
                if options.write: thresholds[scenario.name] = figures
        finally:
            server.stop()
    if options.write:
        order = [scenario.name for scenario, _ in scenarios()]
        thresholds = {name: thresholds[name] for name in order if name in thresholds}
        FILE.write_text(json.dumps({"made with": made_with, "a load": thresholds}, indent=4) + "\n")
    elif not is_met:
        sys.exit("A load costs more than its threshold. Where the cost is wanted, write the thresholds anew with --write.")


if __name__ == "__main__":
    main()
