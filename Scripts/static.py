#!/usr/bin/env python3
"""Builds an example as a program that needs no file of the system, and runs it in an empty root folder: by http, and by https
with the authority in a file. The command is that of Containers.md."""

import http.server
import os
import pathlib
import ssl
import subprocess
import tempfile
import threading

TOP = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ["ssl", "crypto", "zstd", "brotlidec", "brotlicommon", "psl", "idn2", "unistring", "sqlite3", "z"]
LINKER = ["--start-group"] + [f"-l{name}" for name in LIBRARIES] + ["--end-group"]
BUILD = ["swift", "build", "-c", "release", "--scratch-path", ".build-static", "--static-swift-stdlib",
         "-Xswiftc", "-static-executable"] + [word for flag in LINKER for word in ("-Xlinker", flag)]
# The runtime of Swift finds its own program in /proc, which every container has.
RUN = 'mount -t proc proc "$1/proc" && exec chroot "$1" /fetch "$2"'


class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")

    def log_message(self, *_): pass


def serve(certificate=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}/"


def main():
    subprocess.run(BUILD + ["--product", "FetchExample"], cwd=TOP, check=True)
    program = TOP / ".build-static" / "release" / "FetchExample"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        (root / "proc").mkdir(parents=True)
        subprocess.run(["strip", "-o", root / "fetch", program], check=True)
        identity = pathlib.Path(folder) / "identity.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-batch", "-keyout", identity,
             "-out", root / "authorities.pem"], check=True, stderr=subprocess.DEVNULL)
        with identity.open("a") as file: file.write((root / "authorities.pem").read_text())
        for url in (serve(), serve(identity)):
            run = subprocess.run(
                ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c", RUN, "sh", root, url],
                env=os.environ | {"SSL_CERT_FILE": "/authorities.pem"}, capture_output=True, text=True)
            if run.returncode != 0 or "6 bytes" not in run.stdout:
                raise SystemExit(f"{url}: ended with {run.returncode}\n{run.stdout}{run.stderr}")
        print(f"A static program of {(root / 'fetch').stat().st_size / 1e6:.1f} MB loads by http and https in an empty root")


main()
