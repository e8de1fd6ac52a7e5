#!/usr/bin/env python3
"""Compares the cost of loads with that of another commit: both commits' benchmark clients, in turn, against one nginx.

bench-against.py COMMIT [--filter REGEX] [--runs N]

The client runs on one core, nginx on another, as otherwise the system moves them, and what it moves costs. A figure is
the mean of the lower half of the runs: what else the machine does makes a run dearer, never cheaper.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile

from benchclient import HUNDRED_MEGABYTES, KILOBYTE, TOP, Nginx, Scenario, build, lower_half, run


def scenarios():
    for scheme, count in (("http", 48_000), ("https", 48_000), ("h2", 48_000)):
        yield Scenario(f"{scheme}, 1 KB, 1 at a time", "memory", scheme, KILOBYTE, 1, 10_000)
        yield Scenario(f"{scheme}, 1 KB, 64 at a time", "memory", scheme, KILOBYTE, 64, count)
        yield Scenario(f"{scheme}, 1 KB, 64 at a time, session.executor", "executor", scheme, KILOBYTE, 64, count)
        yield Scenario(f"{scheme}, 100 MB to memory", "memory", scheme, HUNDRED_MEGABYTES, 1, 5)
        yield Scenario(f"{scheme}, 100 MB to a delegate", "delegate", scheme, HUNDRED_MEGABYTES, 1, 10)
        yield Scenario(f"{scheme}, 100 MB to a file", "file", scheme, HUNDRED_MEGABYTES, 1, 5)
    yield Scenario("a handler's load(_:), 1 KB", "memory", "kilobyte", KILOBYTE, 1, 20_000)
    yield Scenario("data:", "memory", "data", 5, 1, 20_000)


def client_of(commit):
    """The client of another commit, which is kept until that commit is no longer compared with."""
    name = subprocess.run(["git", "rev-parse", "--short", f"{commit}^{{commit}}"], cwd=TOP, check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()
    folder = TOP / "Benchmarks" / ".build" / "against" / name
    if not folder.exists():
        subprocess.run(["git", "clone", "-q", "--no-checkout", str(TOP), str(folder)], check=True)
        subprocess.run(["git", "checkout", "-q", "--detach", name], cwd=folder, check=True)
    return build(folder / "Benchmarks")


def compare(scenario, clients, server, runs, core):
    """The figures of both clients: each run of one is followed by one of the other."""
    figures = ([], [])
    for turn in range(runs):
        for index in (0, 1) if turn % 2 == 0 else (1, 0):
            figures[index].append(run(clients[index], scenario, server, core))
    return [{key: lower_half([each[key] for each in of_one]) for key in of_one[0]} for of_one in figures]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--filter", default="", help="scenarios whose names match")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--clients", nargs=2, metavar=("BEFORE", "NOW"), help="programs that were built before")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2: sys.exit("two cores are needed: one for the client, one for the server")
    clients = options.clients or [client_of(options.commit), build(TOP / "Benchmarks")]
    # Programs start with their largest: what the first of them loads is there for the next.
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print(f"{'lower half of ' + str(options.runs) + ' runs':45} {'seconds':>15} {'ratio':>6} {'switches':>17} {'faults':>15}")
    with tempfile.TemporaryDirectory(prefix="loadingkit-bench-") as folder:
        os.chmod(folder, 0o755)
        server = Nginx(folder, cores[1])
        try:
            for scenario in scenarios():
                if not re.search(options.filter, scenario.name): continue
                before, now = compare(scenario, clients, server, options.runs, cores[0])
                print(f"{scenario.name:45} {before['seconds']:7.3f} {now['seconds']:7.3f} {now['seconds'] / before['seconds']:6.3f} "
                      f"{before['switches']:8.0f} {now['switches']:8.0f} {before['faults']:7.0f} {now['faults']:7.0f}",
                      flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
