#!/usr/bin/env python3
"""Compares the memory that LoadingKit holds after loads that went wrong with that after plain ones, or soaks it.

Usage: chaos.py FOLDER [CHAOTIC-LOADS PLAIN-LOADS], where FOLDER has the program ChaosLoadingKit (`make chaos`).
       chaos.py FOLDER soak MINUTES SEED

A soak makes random loads of every kind in 200 sessions, with servers of others and with faults. It fails where a load
ends wrong, or memory, descriptors or threads grow after the first ten minutes.
"""

import asyncio
import json
import socket
import struct
import subprocess
import sys
import threading

from soak.run import soak


async def answer(reader, writer):
    """One connection: /bytes/N is N bytes, /reset/N a reset after N of twice as many, /stall/N a stop there."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            kind, size = lines[0].split(" ")[1].strip("/").split("/")
            size = int(size)
            for line in lines[1:]:
                name, _, value = line.partition(":")
                if name.lower() == "content-length":
                    await reader.readexactly(int(value))
            whole = size if kind == "bytes" else 2 * size
            if kind != "reset" or size > 0:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % whole + bytes(size))
                await writer.drain()
            if kind == "reset":
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                return
            if kind == "stall":
                await reader.read()
                return
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def serve():
    """Serves on a thread of its own; gives the port."""
    started = threading.Event()
    ports = []

    async def main():
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
        ports.append(server.sockets[0].getsockname()[1])
        started.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(main()), daemon=True).start()
    started.wait()
    return ports[0]


def run(folder, port, kind, count):
    program = [f"{folder}/ChaosLoadingKit", f"http://127.0.0.1:{port}/", kind, str(count)]
    return json.loads(subprocess.run(program, check=True, stdout=subprocess.PIPE).stdout)


def main():
    folder = sys.argv[1]
    if sys.argv[2:3] == ["soak"]:
        sys.exit(0 if soak(folder, float(sys.argv[3]), int(sys.argv[4])) else 1)
    chaotic, plain = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (76_000, 200_000)
    port = serve()
    print("| loads | resident at their end | 10 s after the last session |")
    print("|---|---|---|")
    for kind, count in (("chaos", chaotic), ("plain", plain)):
        figures = run(folder, port, kind, count)
        print(f"| {count:,} {kind} | {figures['atEnd'] / 1024:.1f} MB | {figures['later'] / 1024:.1f} MB |", flush=True)


main()
