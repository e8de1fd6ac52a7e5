"""A server behind nginx for uploads and WebSocket messages, and a relay that cuts connections. Each has a thread."""

import asyncio
import base64
import contextlib
import hashlib
import random
import socket
import struct
import threading

from . import content


class LoopThread:
    """An asyncio loop on a thread of its own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.tasks = set()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def serve(self, answer):
        """The port on which `answer` gets the connections."""
        async def hold(reader, writer):
            # asyncio itself does not keep the task of a connection.
            task = asyncio.current_task()
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError):
                await answer(reader, writer)
            writer.close()

        starting = asyncio.start_server(hold, "127.0.0.1", backlog=1024)
        return asyncio.run_coroutine_threadsafe(starting, self.loop).result().sockets[0].getsockname()[1]


async def answer_backend(reader, writer):
    """Compares bodies of uploads, and sends WebSocket messages back."""
    while True:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if "sec-websocket-key" in fields:
            return await echo(fields["sec-websocket-key"], reader, writer)
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        answer = f"{len(body)} {'right' if body == content.BYTES[:len(body)] else 'wrong'}".encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        await writer.drain()


async def echo(key, reader, writer):
    """Sends each message of a WebSocket back (RFC 6455)."""
    digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n")
    while True:
        first, second = await reader.readexactly(2)
        length = second & 127
        if length >= 126:
            length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8), "big")
        mask = await reader.readexactly(4)
        masked = await reader.readexactly(length)
        whole = int.from_bytes((mask * (length // 4 + 1))[:length], "big")
        data = (int.from_bytes(masked, "big") ^ whole).to_bytes(length, "big")
        size = bytes([length]) if length < 126 else (
            b"\x7e" + length.to_bytes(2, "big") if length < 65536 else b"\x7f" + length.to_bytes(8, "big"))
        writer.write(bytes([first]) + size + data)
        await writer.drain()
        if first & 15 == 8:
            return


def cutting(port, seed):
    """A relay to a port, which ends a part of its connections: by a reset or an end, after a random part."""
    chances = random.Random(seed)

    async def answer(reader, writer):
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", port)
        left = chances.randrange(400_000) if chances.random() < 0.4 else None

        async def pass_on(source, target, limit):
            with contextlib.suppress(OSError):
                while data := await source.read(65536):
                    if limit is not None and len(data) > limit:
                        target.write(data[:limit])
                        return
                    if limit is not None:
                        limit -= len(data)
                    target.write(data)
                    await target.drain()

        tasks = [asyncio.ensure_future(pass_on(server_reader, writer, left)),
                 asyncio.ensure_future(pass_on(reader, server_writer, None))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        server_writer.close()
        if left is not None and chances.random() < 0.5:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()

    return answer
