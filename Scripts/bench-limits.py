#!/usr/bin/env python3
"""Measures what the other benchmarks leave out, beside its goal, and prints one line of a Markdown table for each figure.

bench-limits.py [--filter REGEX] [--runs N] [--clients LOADINGKIT CURL]

Both clients run in turn, on one core, and the server on another. A figure is the mean of the lower half of the runs, or
of all where it says so. A line without a goal states a cost that has none. What this machine cannot measure is said so.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import resource
import ssl
import subprocess
import sys
import tempfile
import threading

from benchclient import HUNDRED_MEGABYTES, KILOBYTE, TOP, Nginx, Scenario, build, free_ports, lower_half, run
from benchserver import Server
from benchwire import ADDRESSES, Wire

ROWS = []


def row(name):
    """Registers a function that yields lines: figure, goal (nil: none), measured."""
    return lambda function: ROWS.append((name, function)) or function


class Bench:
    def __init__(self, options, clients, folder):
        self.options, (self.ours, self.curl), self.folder = options, clients, folder
        self.cores = sorted(os.sched_getaffinity(0))
        self.server = Server(folder, self.cores[-1])

    def runs(self, scenario, clients=None, runs=None, server=None, core=0, prefix=()):
        """The figures of all runs of each client, one run of each in turn.

        `scenario` is that of all clients, or a list with one for each.
        """
        clients = clients or (self.ours, self.curl)
        scenarios = scenario if isinstance(scenario, list) else [scenario] * len(clients)
        figures = [[] for _ in clients]
        for turn in range(runs or self.options.runs):
            for index in range(len(clients)) if turn % 2 == 0 else reversed(range(len(clients))):
                figures[index].append(run(
                    clients[index], scenarios[index], server or self.server,
                    core if core is None else self.cores[core], prefix))
        return figures


def mean(figures, key, scale=1.0):
    return lower_half([each[key] for each in figures]) * scale


def ratio(figures, key="seconds"):
    ours, other = (mean(each, key) for each in figures)
    return ours / other


@row("cold start, https")
def cold(bench):
    runs = bench.runs(Scenario("cold", "memory", "https", KILOBYTE, 1, 1), runs=100)
    ours, other = ([(each["firstLoad"] - each["start"]) / 1e6 for each in of_one] for of_one in runs)
    yield "from process start to the first response (mean of the lower half of 100)", "at most 1.1 of libcurl", (
        lower_half(ours) / lower_half(other)), 1.1, f"{lower_half(ours):.1f} ms against {lower_half(other):.1f} ms"
    ours, other = (mean(each, "peakMemory", 1 / 1024) for each in runs)
    yield "its memory", "at most libcurl's + 10 MiB", ours - other, 10, f"{ours:.1f} MiB against {other:.1f} MiB"


@row("1,000 origins in turn")
def origins(bench):
    runs = bench.runs(Scenario("origins", "origins", "any", KILOBYTE, 1, 1_000))
    ours, other = (mean(each, "seconds", 1e3) for each in runs)
    yield "processor time a load, each on a new connection", None, ours / other, None, f"{ours:.0f} µs, libcurl {other:.0f} µs"
    ours, other = (mean(each, "peakMemory", 1 / 1024) for each in runs)
    yield "memory at the end", None, ours - other, None, f"{ours:.1f} MiB, libcurl {other:.1f} MiB"


class HoldingServer:
    """Answers requests when as many have come as it waits for, so that each has a connection of its own."""

    def __init__(self, folder, certificate=None):
        self.port, self.folder, self.address = free_ports(1)[0], folder, "127.0.0.1"
        self.held, self.wanted, self.certificate = [], 1, certificate
        # It is called when the number of requests is reached, before they are answered.
        self.reached = lambda: None
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.serve, args=(ready,), daemon=True).start()
        ready.wait()

    def url(self, scheme, length): return f"{scheme}://127.0.0.1:{self.port}/"

    def serve(self, ready):
        asyncio.set_event_loop(self.loop)
        context = None
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, self.certificate.parent / "key.pem")
        self.loop.run_until_complete(self.loop.create_server(
            lambda: HeldConnection(self), "127.0.0.1", self.port, ssl=context, backlog=4096))
        ready.set()
        self.loop.run_forever()

    def hold(self, connection):
        self.held.append(connection)
        if len(self.held) < self.wanted: return
        self.reached()
        held, self.held = self.held, []
        for each in held: each.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")


class HeldConnection(asyncio.Protocol):
    def __init__(self, server): self.server, self.received = server, b""

    def connection_made(self, transport): self.transport = transport

    def data_received(self, data):
        self.received += data
        if b"\r\n\r\n" not in self.received: return
        self.received = b""
        self.server.hold(self.transport)


def memory_of_idle(bench, client, scheme, count):
    """KiB of a client that has so many idle connections, and waits for one more response."""
    server = HoldingServer(bench.server.folder, bench.server.certificate if scheme == "https" else None)
    server.certificate, server.wanted, result = bench.server.certificate, count, []

    def reached():
        if server.wanted == 1:
            status = open(f"/proc/{process.pid}/status").read()
            result.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]))
        server.wanted = 1

    server.reached = reached
    scenario = Scenario("idle", "memory", scheme, 1, count, 1)
    process = subprocess.Popen([client, *scenario.arguments(server)], stdout=subprocess.DEVNULL)
    if process.wait() or not result: sys.exit(f"{client}: ended with {process.returncode}")
    server.loop.call_soon_threadsafe(server.loop.stop)
    return result[0]


@row("idle connections")
def idle(bench):
    for scheme, many in (("http", 8_000), ("https", 2_000)):
        ours, other = ((memory_of_idle(bench, client, scheme, many) - memory_of_idle(bench, client, scheme, 100))
                       / (many - 100) for client in (bench.ours, bench.curl))
        yield (f"memory of each of {many:,} idle connections, {scheme}", None, ours / other, None,
               f"{ours:.1f} KiB, libcurl {other:.1f} KiB")


@row("uploads of 100 MB")
def uploads(bench):
    for scheme in ("http", "https", "h2"):
        for kind in ("Data", "File", "Stream"):
            # libcurl has a stream for a file.
            runs = bench.runs([
                Scenario("upload", mode, scheme, HUNDRED_MEGABYTES, 1, 3, "received/100m", "www/100m")
                for mode in (f"upload{kind}", f"upload{kind}".replace("Stream", "File"))])
            ours, theirs = (mean(each, "seconds", 1e3 / 3) for each in runs)
            yield (f"{scheme}, {kind.lower()}: processor time", "at most 0.9 of libcurl", ours / theirs, 0.9,
                   f"{ours:.0f} ms against {theirs:.0f} ms")


@row("event loops")
def loops(bench):
    # From caches, because a server would need a core, too. What two processes gain is what the machine gives.
    count = 400_000
    one = Scenario("one", "loop", "cached/1k", KILOBYTE, 64, count)
    two = Scenario("two", "loops", "cached/1k", KILOBYTE, 128, 2 * count)
    runs = [bench.runs(scenario, (bench.ours,), core=None)[0] for scenario in (one, two)]
    single, double = (max(each["requests"] / each["wallTime"] for each in of_one) for of_one in runs)
    together = [subprocess.Popen([bench.ours, *one.arguments(bench.server)], stdout=subprocess.PIPE, text=True)
                for _ in range(2)]
    both = sum(count / json.loads(each.communicate()[0])["time"] for each in together)
    yield ("from 1 to 2: cache hits a second, the best run", "at least 1.8", double / single, -1.8,
           f"{single * 1e6:,.0f} and {double * 1e6:,.0f} a second; two processes gain {both / single:.2f}")
    # This does not depend on what else the machine does: what loops shared would make a hit dearer.
    alone, beside = (mean(of_one, "seconds", 1e6 / of_one[0]["requests"]) for of_one in runs)
    yield ("from 1 to 2: by the processor time of a hit", "at least 1.8", 2 * alone / beside, -1.8,
           f"{alone:.2f} µs and {beside:.2f} µs")


ECHO = """
import asyncio, sys, time, websockets

async def measure(url, count):
    async with websockets.connect(url, compression=None, ping_interval=None) as socket:
        body = b"a" * 1024
        for each in range(count + 100):
            if each == 100: start = time.process_time()
            await socket.send(body)
            if len(await socket.recv()) != 1024: sys.exit("another message")
        print((time.process_time() - start) / count * 1e6)

asyncio.run(measure(sys.argv[1], int(sys.argv[2])))
"""


def echo_in_python(bench):
    """Microseconds of processor time of one echo, by the package websockets; nil without it."""
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(subprocess.CalledProcessError, FileNotFoundError):
            return lower_half([float(subprocess.run(
                [python, "-c", ECHO, bench.server.url("echo", KILOBYTE), "5000"], check=True, capture_output=True,
                text=True, preexec_fn=lambda: os.sched_setaffinity(0, {bench.cores[0]})).stdout)
                for _ in range(bench.options.runs)])
    return None


@row("WebSocket echo")
def echo(bench):
    ours = mean(bench.runs(Scenario("echo", "echo", "echo", KILOBYTE, 1, 10_000), (bench.ours,))[0], "seconds", 1e2)
    theirs = echo_in_python(bench)
    yield ("processor time, 1 KB", "at most that of Python's websockets", theirs and ours / theirs, 1,
           f"{ours:.1f} µs against {theirs:.1f} µs" if theirs else "python3-websockets is missing")
    protocols = subprocess.run(["curl", "--version"], capture_output=True, text=True).stdout
    if " ws " not in protocols: yield "processor time, 1 KB", "at most libcurl's", None, None, "this libcurl has no WebSocket"


@row("cache hits")
def cache(bench):
    for place, count, goal in (("memory", 200_000, 4), ("disk", 40_000, 25)):
        figures = bench.runs(Scenario("hit", f"{place}Cache", "cached/1k", KILOBYTE, 1, count), (bench.ours,))[0]
        time_of_load = mean(figures, "seconds", 1e6 / count)
        yield f"from {place}, 1 KB: processor time", f"at most {goal} µs", time_of_load, goal, f"{time_of_load:.1f} µs"


@row("10,000 cookies")
def cookies(bench):
    figures = [mean(bench.runs(Scenario("load", mode, "http", KILOBYTE, 1, 10_000), (bench.ours,))[0], "seconds", 1e2)
               for mode in ("cookies", "memory")]
    yield ("processor time of a load that sends 10 of 10,010 cookies, against one without cookies", None,
           figures[0] / figures[1], None, f"{figures[0]:.1f} µs against {figures[1]:.1f} µs")


@row("100,000 tasks queued")
def queued(bench):
    many = bench.runs(Scenario("queued", "queued", "http", KILOBYTE, 100_000, 1), (bench.ours,), 3)[0]
    few = bench.runs(Scenario("few", "memory", "http", KILOBYTE, 64, 100_000), (bench.ours,), 3)[0]
    total = mean(many, "wholeSeconds", 1e6 / 1e5)
    memory = (mean(many, "peakMemory") - mean(few, "peakMemory")) / 1e5
    yield "processor time of a load, start included, 64 connections", None, total, None, f"{total:.1f} µs"
    yield "memory of a waiting task", None, memory, None, f"{memory:.2f} KiB"


@row("background download of 1 GB")
def background(bench):
    with open(bench.server.folder / "www" / "1g", "wb") as file: file.truncate(1 << 30)
    for scheme in ("http", "https"):
        ours, other = (mean(bench.runs(Scenario("download", mode, scheme, 1 << 30, 1, 1, "1g"), (bench.ours,), 3)[0], "seconds")
                       for mode in ("background", "file"))
        yield (f"{scheme}: processor time against a download in the program", "at most 1.1", ours / other, 1.1,
               f"{ours:.2f} s against {other:.2f} s")


@contextlib.contextmanager
def far_server(round_trip, loss):
    """A server at the other end of a wire of 100 Mbit/s, and the command that starts a client at this end."""
    with tempfile.TemporaryDirectory(prefix="loadingkit-limits-") as folder:
        os.chmod(folder, 0o755)
        wire = Wire(round_trip / 1e3, loss, 12.5e6)
        try:
            server = Nginx(folder, None, ADDRESSES[0], wire.hosts[0].prefix)
            try: yield {"server": server, "core": None, "prefix": wire.hosts[1].prefix}
            finally: server.stop()
        finally:
            wire.stop()


@row("far away")
def far(bench):
    for round_trip in (25, 100):
        with far_server(round_trip, loss=0.01) as there:
            # Over HTTP/2 the page is what the client's tasks load first, over HTTP/1.1 that and the rest.
            for scheme, at_a_time, rest in (("h2", 100, 0), ("http", 6, 94)):
                runs = bench.runs(Scenario("page", "memory", scheme, KILOBYTE, at_a_time, rest or 1), runs=15, **there)
                ours, other = (lower_half([(each["began"] - each["start"]) / 1e6 + each["wallTime"] / 1e3 * bool(rest)
                                           for each in of_one]) for of_one in runs)
                yield (f"{round_trip} ms, 1 % loss: a page of 100 objects over {scheme}, from process start",
                       "at most 1.05 of libcurl's time", ours / other, 1.05, f"{ours:.0f} ms against {other:.0f} ms")
        with far_server(round_trip, loss=0) as there:
            runs = bench.runs(Scenario("body", "memory", "h2", HUNDRED_MEGABYTES, 1, 1), runs=2, **there)
            ours, other = (min(each["wallTime"] for each in of_one) / 1e6 for of_one in runs)
            yield (f"{round_trip} ms, no loss: 100 MB over h2", "at most 1.05 of libcurl's time", ours / other, 1.05,
                   f"{ours:.1f} s against {other:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="lines whose names match")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--clients", nargs=2, metavar=("LOADINGKIT", "CURL"), help="programs that were built before")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    folder = TOP / "Benchmarks"
    clients = options.clients or [str(build(folder)), str(build(folder, "ClientCurl"))]
    print("| figure | goal | measured | | load of the machine |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="loadingkit-limits-") as folder:
        os.chmod(folder, 0o755)
        bench = Bench(options, clients, folder)
        try:
            for name, lines in ROWS:
                if not re.search(options.filter, name): continue
                for figure, goal, value, bound, text in lines(bench):
                    print(f"| {name}: {figure} | {goal or '-'} | {text} | {verdict(value, bound)} | "
                          f"{os.getloadavg()[0]:.0f} |", flush=True)
        finally:
            bench.server.stop()


def verdict(value, bound):
    """A negative bound is the least, another the most."""
    if value is None: return "not measured"
    if bound is None: return f"{value:.2f}"
    is_met = value >= -bound if bound < 0 else value <= bound
    return f"{value:.2f}: {'met' if is_met else 'missed'}"


if __name__ == "__main__":
    main()
