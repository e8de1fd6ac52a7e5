"""The benchmark client of LoadingKit, one way in which it loads, and the nginx from which it does."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
CLIENT = "ClientLoadingKit"
KILOBYTE, HUNDRED_MEGABYTES = 1 << 10, 100 << 20
TLS_SCHEMES = ("https", "h2")

BUILD = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--scratch-path", ".build/clients"]


class Scenario:
    """One way to load: `requests` loads, `at_a_time` of them at once."""

    def __init__(self, name, mode, scheme, length, at_a_time, requests):
        self.name, self.mode, self.scheme, self.length = name, mode, scheme, length
        self.at_a_time, self.requests = at_a_time, requests

    def arguments(self, server, requests=None):
        certificate = str(server.certificate) if self.scheme in TLS_SCHEMES else "-"
        return [self.mode, server.url(self.scheme, self.length), str(requests or self.requests), str(self.at_a_time),
                str(self.length), certificate, str(server.folder / "download")]


class Nginx:
    """The server, on loopback ports and in a folder of its own."""

    def __init__(self, folder, core):
        self.folder = pathlib.Path(folder)
        self.certificate = self.folder / "certificate.pem"
        self.ports = dict(zip(("http", "https", "h2"), free_ports(3)))
        (self.folder / "www" / "cached").mkdir(parents=True)
        for name, length in (("1k", KILOBYTE), ("cached/1k", KILOBYTE), ("100m", HUNDRED_MEGABYTES)):
            (self.folder / "www" / name).write_bytes(b"a" * length)
        self.write_identity()
        (self.folder / "nginx.conf").write_text(self.configuration())
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or sys.exit("nginx is missing")
        self.process = subprocess.Popen(
            [program, "-e", "error.log", "-p", str(self.folder), "-c", "nginx.conf"],
            preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        self.wait_until_ready()

    def write_identity(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-batch",
             "-keyout", str(self.folder / "key.pem"), "-out", str(self.certificate)],
            check=True, stderr=subprocess.DEVNULL)

    def configuration(self):
        temporary = " ".join(f"{name}_temp_path {name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return f"""
            worker_processes 1; daemon off; pid nginx.pid; error_log error.log crit;
            events {{ worker_connections 4096; }}
            http {{
                root www; access_log off; sendfile on; tcp_nodelay on; {temporary}
                keepalive_requests 1000000000; keepalive_timeout 600s;
                ssl_certificate certificate.pem; ssl_certificate_key key.pem;
                server {{
                    listen 127.0.0.1:{self.ports["http"]};
                    location /cached/ {{ expires 1h; }}
                    location /upload {{ return 200 "{"a" * KILOBYTE}"; }}
                }}
                server {{ listen 127.0.0.1:{self.ports["https"]} ssl; }}
                server {{ listen 127.0.0.1:{self.ports["h2"]} ssl http2; }}
            }}
            """

    def wait_until_ready(self):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.ports["http"])):
                return
            time.sleep(0.01)
        sys.exit("nginx does not start")

    def url(self, scheme, length):
        if scheme == "kilobyte": return "kilobyte:"
        if scheme == "data": return "data:text/plain,hello"
        if scheme in ("cached/1k", "upload"): return f"http://127.0.0.1:{self.ports['http']}/{scheme}"
        file = "1k" if length == KILOBYTE else "100m"
        return f"{'https' if scheme in TLS_SCHEMES else 'http'}://127.0.0.1:{self.ports[scheme]}/{file}"

    def stop(self):
        self.process.terminate()
        self.process.wait()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets: each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets: each.close()
    return ports


def build(folder):
    print(f"Building {folder}.", file=sys.stderr)
    subprocess.run(BUILD + ["--product", CLIENT], cwd=folder, check=True, stdout=sys.stderr)
    path = subprocess.run(BUILD + ["--show-bin-path"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(path.stdout.strip()) / CLIENT
