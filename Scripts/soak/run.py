"""Runs the servers and the program of a soak."""

import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading

from servers import make_certificate

from . import content, report
from .ownservers import LoopThread, answer_backend, cutting
from .realservers import VSFTPD, Apache, Nginx, Squid, missing

SESSIONS, WORKERS, PAUSE = 200, 32, 60
# Seconds between two reloads of servers.
RELOAD_TIME = 45


def soak(folder, minutes, seed):
    """Returns whether nothing went wrong."""
    if programs := missing():
        sys.exit("These programs are missing: " + ", ".join(programs))
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        place = pathlib.Path(name)
        # The servers' workers run as another user.
        os.chmod(place, 0o755)
        make_certificate(place)
        content.write_files(place / "uploads")
        thread = LoopThread()
        nginx = Nginx(place / "nginx", place, thread.serve(answer_backend))
        stack.callback(nginx.stop)
        others = []
        for kind in (Apache, Squid, VSFTPD):
            others.append(kind(place / kind.name, place))
            stack.callback(others[-1].stop)
        apache, squid, vsftpd = others
        cut = {scheme: thread.serve(cutting(port, seed)) for scheme, port in
               (("http", nginx.ports[0]), ("h2", nginx.ports[1]), ("https", nginx.ports[2]))}
        plan = {
            "minutes": minutes, "seed": seed, "sessionCount": SESSIONS, "workerCount": WORKERS, "pause": PAUSE,
            "nginx": urls({"http": nginx.ports[0], "h2": nginx.ports[1], "https": nginx.ports[2]}),
            "apache": urls({"http": apache.port, "h2": apache.tls_port}), "cut": urls(cut),
            "ftp": f"ftp://127.0.0.1:{vsftpd.port}/", "squidPort": squid.port,
            "certificate": str(place / "certificate.pem"), "folder": str(place / "uploads"),
        }
        (place / "plan").write_text(json.dumps(plan))
        return watch([f"{folder}/ChaosLoadingKit", "soak", place / "plan"], (nginx, apache), seed)


def urls(ports):
    return {version: f"{'http' if version == 'http' else 'https'}://127.0.0.1:{port}/"
            for version, port in ports.items()}


def watch(command, reloaded, seed):
    samples, last = [], None
    is_over = threading.Event()
    reloading = threading.Thread(target=reload_servers, args=(reloaded, seed, is_over))
    reloading.start()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        for line in program.stdout:
            last = json.loads(line)
            if "minute" in last:
                samples.append(last)
                report.show_sample(last)
    is_over.set()
    reloading.join()
    if program.returncode != 0 or not last or "latencies" not in last:
        print(f"The program ended with {program.returncode} and no report.")
        return False
    report.show_report(last)
    failures = report.failures(samples, last)
    for failure in failures:
        print(f"Failed: {failure}")
    return not failures


def reload_servers(servers, seed, is_over):
    chances = random.Random(seed)
    while not is_over.wait(RELOAD_TIME):
        chances.choice(servers).reload()
