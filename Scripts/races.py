#!/usr/bin/env python3
"""Counts the requests that LoadingKit and libcurl lose in races with servers that close connections.

races.py FOLDER   FOLDER holds the programs RacingLoadingKit and RacingCurl (see Benchmarks/Package.swift)

Both run at the same time, against nginx and Apache on loopback, through a relay that delays each way by ten
milliseconds: what a client sends, and a server's close, pass each other on the way.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from servers import APACHE_MODULES, Server, make_certificate

DELAY = 0.010
KEEP_ALIVE = 1
PAUSES = (0.90, 0.95, 0.98, 0.99, 1.0, 1.01, 1.02)
CLIENTS = ("RacingLoadingKit", "RacingCurl")


class Relay:
    """Passes bytes on between clients and servers, each after a delay. An end and a reset are passed on, too."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        # asyncio itself does not keep the task of a connection whose one end has closed.
        self.tasks = set()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def to(self, port):
        """The port that leads to the server's port."""
        accept = lambda reader, writer: self.accept(port, reader, writer)
        starting = asyncio.start_server(accept, "127.0.0.1", backlog=1024)
        server = asyncio.run_coroutine_threadsafe(starting, self.loop).result()
        return server.sockets[0].getsockname()[1]

    async def accept(self, port, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return self.reset(writer)
        await asyncio.gather(self.pass_on(reader, server_writer), self.pass_on(server_reader, writer))
        # After what is still under way.
        self.loop.call_later(2 * DELAY, server_writer.close)
        self.loop.call_later(2 * DELAY, writer.close)

    async def pass_on(self, reader, writer):
        try:
            while data := await reader.read(65536):
                self.loop.call_later(DELAY, self.write, writer, data)
            self.loop.call_later(DELAY, self.finish, writer)
        except OSError:
            self.loop.call_later(DELAY, self.reset, writer)

    @staticmethod
    def write(writer, data):
        if not writer.is_closing():
            writer.write(data)

    @staticmethod
    def finish(writer):
        if not writer.is_closing():
            with contextlib.suppress(OSError):
                writer.write_eof()

    @staticmethod
    def reset(writer):
        if not writer.is_closing():
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()


class Nginx(Server):
    """nginx: keepalive_timeout 1 s on the one port; HTTP/2, with ten requests a connection, on the other."""

    name = "nginx"

    def command(self):
        folder = str(self.folder)
        return ["nginx", "-e", f"{folder}/error.log", "-p", folder, "-c", f"{folder}/configuration"]

    def configuration(self):
        folder = self.folder
        temporary = " ".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return f"""
            worker_processes 2; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
            events {{ worker_connections 4096; }}
            http {{
                access_log off; {temporary}
                ssl_certificate {self.certificate}/certificate.pem; ssl_certificate_key {self.certificate}/key.pem;
                server {{
                    listen 127.0.0.1:{self.port}; keepalive_timeout {KEEP_ALIVE}s;
                    location /post {{ return 200 "ok"; }}
                }}
                server {{
                    listen 127.0.0.1:{self.tls_port} ssl http2; keepalive_requests 10;
                    location /post {{ return 200 "ok"; }}
                }}
            }}
            """


class Apache(Server):
    """Apache: KeepAliveTimeout 1 on the one port; HTTP/2 on the other."""

    name = "Apache"
    reload_signal = signal.SIGUSR1

    def command(self):
        return ["apache2", "-DFOREGROUND", "-d", str(self.folder), "-f", "configuration"]

    def configuration(self):
        modules = "\n".join(
            f"LoadModule {name}_module {APACHE_MODULES}/mod_{name}.so"
            for name in ("mpm_event", "authz_core", "ssl", "http2"))
        return f"""
            {modules}
            ServerName localhost
            Listen 127.0.0.1:{self.port}
            Listen 127.0.0.1:{self.tls_port}
            DefaultRuntimeDir {self.folder}
            PidFile apache.pid
            ErrorLog {self.folder}/error.log
            User nobody
            Group nogroup
            DocumentRoot {self.folder}/files
            KeepAliveTimeout {KEEP_ALIVE}
            SSLSessionCache none
            <VirtualHost 127.0.0.1:{self.tls_port}>
            Protocols h2 http/1.1
            SSLEngine on
            SSLCertificateFile {self.certificate}/certificate.pem
            SSLCertificateKeyFile {self.certificate}/key.pem
            </VirtualHost>
            """


class Race:
    """Both clients, at the same requests to the same server."""

    def __init__(self, programs, name, url, method, count, at_a_time, pause, seconds, certificate="-"):
        self.name = name
        arguments = [url, method, count, at_a_time, pause, seconds, certificate]
        self.clients = [
            subprocess.Popen([programs / client, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
            for client in CLIENTS]

    def is_running(self):
        return any(client.poll() is None for client in self.clients)

    def row(self):
        """The counts of each program."""
        row = [self.name]
        for client in self.clients:
            output = client.communicate()[0]
            if client.returncode != 0:
                row += ["-", f"ended with {client.returncode}"]
                continue
            counted = json.loads(output)
            codes = ", ".join(f"{number} × {code}" for code, number in counted["failures"].items())
            row += [str(counted["requests"]), codes or "0"]
        return row


def race_keep_alive(programs, relay, servers):
    """All at the same time: each makes a request a second."""
    races = [
        Race(programs, f"{server.name}, POST, idle for {pause:.2f} × keep-alive time",
             f"http://127.0.0.1:{relay.to(server.port)}/post", "POST", 100, 1, pause * KEEP_ALIVE, 600)
        for server in servers for pause in PAUSES]
    return [race.row() for race in races]


def race_reloads(programs, relay, servers):
    rows = []
    for server in servers:
        versions = {
            "HTTP/1.1": (f"http://127.0.0.1:{relay.to(server.port)}/post", "-"),
            "HTTP/2": (f"https://127.0.0.1:{relay.to(server.tls_port)}/post", server.certificate / "certificate.pem"),
        }
        for version, (url, certificate) in versions.items():
            for method in ("GET", "POST"):
                name = f"{server.name}, {version}, {method}, 16 at a time, reloaded each 0.5 s"
                race = Race(programs, name, url, method, 10**9, 16, 0, 10, certificate)
                while race.is_running():
                    time.sleep(0.5)
                    server.reload()
                rows.append(race.row())
    return rows


def race_limits(programs, relay, nginx):
    url = f"https://127.0.0.1:{relay.to(nginx.tls_port)}/post"
    certificate = nginx.certificate / "certificate.pem"
    return [
        Race(programs, f"nginx, HTTP/2, {method}, 64 at a time, 10 requests a connection", url, method, 10**9, 64, 0, 5,
             certificate).row()
        for method in ("GET", "POST")]


def show(rows):
    rows = [["race", "LoadingKit", "failures", "libcurl", "failures"], *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        print("  ".join(text.rjust(width) if column in (1, 3) else text.ljust(width)
                        for column, (text, width) in enumerate(zip(row, widths))).rstrip())


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    programs = pathlib.Path(arguments[0]).resolve()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        # The servers' workers run as another user.
        os.chmod(folder, 0o755)
        make_certificate(folder)
        servers = []
        for kind in (Nginx, Apache):
            servers.append(kind(folder / kind.name.lower(), folder))
            stack.callback(servers[-1].stop)
        relay = Relay()
        rows = race_limits(programs, relay, servers[0])
        rows += race_reloads(programs, relay, servers)
        rows += race_keep_alive(programs, relay, servers)
    show(rows)


main(sys.argv[1:])
