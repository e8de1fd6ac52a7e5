"""The benchmark client of LoadingKit, one way in which it loads, and the nginx from which it does."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
CLIENT = "ClientLoadingKit"
KILOBYTE, HUNDRED_MEGABYTES = 1 << 10, 100 << 20
TLS_SCHEMES = ("https", "h2")

BUILD = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--scratch-path", ".build/clients"]


class Scenario:
    """One way to load: `requests` loads, `at_a_time` of them at once.

    `path` is on the server, and `file` in its folder, where they are not those of the body's length.
    """

    def __init__(self, name, mode, scheme, length, at_a_time, requests, path=None, file="download"):
        self.name, self.mode, self.scheme, self.length = name, mode, scheme, length
        self.at_a_time, self.requests, self.path, self.file = at_a_time, requests, path, file

    def arguments(self, server, requests=None):
        certificate = str(server.certificate) if self.scheme in TLS_SCHEMES else "-"
        url = server.place(self.scheme) + self.path if self.path else server.url(self.scheme, self.length)
        return [self.mode, url, str(requests or self.requests), str(self.at_a_time), str(self.length), certificate,
                str(server.folder / self.file)]


class Nginx:
    """The server, on the ports of one address and in a folder of its own."""

    def __init__(self, folder, core, address="127.0.0.1", prefix=()):
        self.folder, self.address = pathlib.Path(folder), address
        self.certificate = self.folder / "certificate.pem"
        self.ports = dict(zip(("http", "https", "h2", "any"), free_ports(4)))
        (self.folder / "www" / "cached").mkdir(parents=True)
        for name, length in (("1k", KILOBYTE), ("cached/1k", KILOBYTE), ("100m", HUNDRED_MEGABYTES)):
            (self.folder / "www" / name).write_bytes(b"a" * length)
        (self.folder / "www" / "received").mkdir()
        (self.folder / "www" / "received").chmod(0o777)
        self.write_identity()
        (self.folder / "nginx.conf").write_text(self.configuration())
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or sys.exit("nginx is missing")
        self.process = subprocess.Popen(
            [*prefix, program, "-e", "error.log", "-p", str(self.folder), "-c", "nginx.conf"],
            preexec_fn=lambda: core is None or os.sched_setaffinity(0, {core}))
        self.wait_until_ready()

    def write_identity(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", f"subjectAltName=IP:{self.address}", "-batch",
             "-keyout", str(self.folder / "key.pem"), "-out", str(self.certificate)],
            check=True, stderr=subprocess.DEVNULL)

    def configuration(self):
        temporary = " ".join(f"{name}_temp_path {name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        received = "location /received/ { dav_methods PUT; client_max_body_size 0; }"
        return f"""
            worker_processes 1; daemon off; pid nginx.pid; error_log error.log crit;
            events {{ worker_connections 4096; }}
            http {{
                root www; access_log off; sendfile on; tcp_nodelay on; {temporary}
                keepalive_requests 1000000000; keepalive_timeout 600s;
                ssl_certificate certificate.pem; ssl_certificate_key key.pem;
                server {{
                    listen {self.address}:{self.ports["http"]};
                    location /cached/ {{ expires 1h; }}
                    location /upload {{ return 200 "{"a" * KILOBYTE}"; }}
                    {received}
                }}
                server {{ listen {self.address}:{self.ports["https"]} ssl; {received} }}
                server {{ listen {self.address}:{self.ports["h2"]} ssl http2; {received} }}
                server {{ listen {self.ports["any"]}; allow 127.0.0.0/8; deny all; }}
            }}
            """

    def wait_until_ready(self):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            # It is written when the ports are open.
            with contextlib.suppress(OSError, ValueError): return int((self.folder / "nginx.pid").read_text())
            time.sleep(0.01)
        sys.exit("nginx does not start")

    def url(self, scheme, length):
        if scheme == "kilobyte": return "kilobyte:"
        if scheme == "data": return "data:text/plain,hello"
        if scheme in ("cached/1k", "upload"): return f"http://{self.address}:{self.ports['http']}/{scheme}"
        return self.place(scheme) + ("1k" if length == KILOBYTE else "100m")

    def place(self, scheme):
        return f"{'https' if scheme in TLS_SCHEMES else 'http'}://{self.address}:{self.ports[scheme]}/"

    def stop(self):
        self.process.terminate()
        self.process.wait()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets: each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets: each.close()
    return ports


def run(program, scenario, server, core, prefix=()):
    """What one run measured of itself, with seconds of its processor time, switches of threads, and page faults.

    `prefix` is a command that starts the program, which then runs on all cores where `core` is None.
    """
    start = time.monotonic_ns()
    process = subprocess.Popen(
        [*prefix, program, *scenario.arguments(server)], stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: core is None or os.sched_setaffinity(0, {core}))
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0: sys.exit(f"{program}: {scenario.name}: ended with {process.returncode}")
    figures = json.loads(output)
    return figures | {"start": start, "wallTime": figures["time"], "seconds": figures["processorTime"] / 1e6,
                      "wholeSeconds": usage.ru_utime + usage.ru_stime,
                      "switches": usage.ru_nvcsw + usage.ru_nivcsw, "faults": usage.ru_minflt + usage.ru_majflt}


def lower_half(values):
    """The mean of the lower half: what else the machine does makes a run dearer, never cheaper."""
    return statistics.fmean(sorted(values)[:(len(values) + 1) // 2])


def build(folder, product=CLIENT):
    print(f"Building {folder}.", file=sys.stderr)
    subprocess.run(BUILD + ["--product", product], cwd=folder, check=True, stdout=sys.stderr)
    path = subprocess.run(BUILD + ["--show-bin-path"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(path.stdout.strip()) / product
