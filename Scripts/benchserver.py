"""nginx, with a server beside it that sends WebSocket messages back."""

import base64
import contextlib
import hashlib
import re
import socket
import threading

from benchclient import Nginx


class Server(Nginx):
    """nginx, and a server that sends WebSocket messages back."""

    def __init__(self, folder, core):
        super().__init__(folder, core)
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, scheme, length):
        if scheme == "echo": return f"ws://127.0.0.1:{self.listener.getsockname()[1]}/"
        return super().url(scheme, length)

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.echo, args=(connection,), daemon=True).start()

    def echo(self, connection):
        """Answers binary messages of 126 to 65,535 bytes (RFC 6455 §5.2), until the client sends another frame."""
        with connection, connection.makefile("rb") as reader, contextlib.suppress(OSError):
            head = b"".join(iter(reader.readline, b"\r\n")).decode()
            key = re.search(r"(?i)sec-websocket-key: *(\S+)", head)[1] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
            connection.sendall(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
            while (frame := reader.read(2)) == b"\x82\xfe":
                length = reader.read(2)
                count = int.from_bytes(length, "big")
                mask = (reader.read(4) * (count // 4 + 1))[:count]
                masked = reader.read(count)
                message = int.from_bytes(masked, "big") ^ int.from_bytes(mask, "big")
                connection.sendall(b"\x82\x7e" + length + message.to_bytes(count, "big"))
