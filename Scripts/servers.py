"""Servers of others on free ports of the loopback, which scripts start and stop."""

import contextlib
import signal
import socket
import subprocess
import sys
import time

APACHE_MODULES = "/usr/lib/apache2/modules"


class Server:
    """A server with a folder of its own, which ends with `stop`."""

    reload_signal = signal.SIGHUP
    port_count = 2

    def __init__(self, folder, certificate):
        self.folder, self.certificate = folder, certificate
        folder.mkdir()
        self.write_files()
        self.ports = free_ports(self.port_count)
        (folder / "configuration").write_text(self.configuration())
        with open(folder / "output", "w") as output:
            self.process = subprocess.Popen(self.command(), stdout=output, stderr=output, cwd=folder)
        for port in self.ports:
            self.wait_for(port)

    @property
    def port(self):
        return self.ports[0]

    @property
    def tls_port(self):
        return self.ports[1]

    def write_files(self):
        (self.folder / "files").mkdir()
        (self.folder / "files" / "post").write_text("ok")

    def wait_for(self, port):
        for _ in range(500):
            with contextlib.suppress(OSError):
                return socket.create_connection(("127.0.0.1", port)).close()
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        sys.exit(f"{self.name} does not start:\n{(self.folder / 'output').read_text()}")

    def reload(self):
        self.process.send_signal(self.reload_signal)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def make_certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem",
         "-out", folder / "certificate.pem"], check=True, capture_output=True)
