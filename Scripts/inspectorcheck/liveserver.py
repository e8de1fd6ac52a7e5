"""What a program does for the inspector's page: it serves the page and its events, and does the page's actions."""

import http.server
import json
import queue
import secrets
import threading


class LiveServer:
    """Serves `page`, whose actions it records in `actions`. `refusal` is the text with which it refuses them."""

    def __init__(self, page):
        self.token, self.messages, self.actions = secrets.token_urlsafe(18), queue.Queue(), queue.Queue()
        self.page, self.refusal, self.held = page, "", []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if f"token={outer.token}" not in self.path:
                    return self.send_error(403)
                is_events = self.path.startswith("/events?")
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if is_events else "text/html; charset=utf-8")
                self.end_headers()
                if is_events:
                    outer.send_events(self.wfile)
                else:
                    self.wfile.write(outer.page.encode())

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_ours = self.headers["Content-Type"] == "application/json" and self.headers["X-Inspector"] == "1"
                if self.path != f"/actions?token={outer.token}" or not is_ours:
                    return self.send_error(403)
                reason = outer.perform(json.loads(body)).encode()
                self.send_response(400 if reason else 204)
                self.send_header("Content-Type", "text/plain; charset=utf-8")
                if reason:
                    self.send_header("Content-Length", str(len(reason)))
                self.end_headers()
                self.wfile.write(reason)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/?token={self.token}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.messages.put(None)
        self.server.shutdown()
        self.server.server_close()

    def send_events(self, stream):
        """Sends events until `disconnect`. The page connects again at once."""
        stream.write(b"retry: 10\n\n")
        while (message := self.messages.get()) is not None:
            data = message if isinstance(message, str) else json.dumps(message)
            stream.write(b"data: " + data.encode() + b"\n\n")
            if self.messages.empty():
                stream.flush()

    def perform(self, action):
        """Does an action as a program does it, and gives the reason where it refuses."""
        self.actions.put(action)
        if self.refusal:
            return self.refusal
        if action["action"] == "setRules":
            self.send({"type": "rules", "rules": action["rules"]})
        else:
            ended = list(self.held) if action["action"] == "releaseAll" else [action["id"]]
            self.held = [it for it in self.held if it not in ended]
            self.send(*({"type": "released", "id": it} for it in ended))
        return ""

    def send(self, *messages):
        for message in messages:
            if isinstance(message, dict) and message.get("type") == "held":
                self.held.append(message["hold"]["id"])
            self.messages.put(message)

    def disconnect(self):
        self.messages.put(None)

    def action(self):
        """The next action that the page sends."""
        return self.actions.get(timeout=20)
