"""Recordings for the inspector's checks: usual ones of any size, and hostile ones."""

import base64
import datetime
import json
import random
import struct
import zlib

START = datetime.datetime(2026, 3, 1, 9, 30, tzinfo=datetime.timezone.utc)


def png(width=64, height=48):
    """A picture with a gradient."""
    rows = b"".join(
        b"\0" + bytes(v for x in range(width) for v in (x * 255 // width, y * 255 // height, 160))
        for y in range(height)
    )

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def fields(**values):
    return [{"name": name.replace("_", "-"), "value": value} for name, value in values.items()]


def entry(start=0.0, method="GET", url="https://example.com/", status=200, mime="text/html; charset=utf-8", **others):
    """An entry of HAR 1.2. `start` is in milliseconds; `timings`, `text`, `encoding`, `post`, `headers` are optional."""
    timings = others.pop(
        "timings", {"blocked": 1, "dns": -1, "connect": -1, "ssl": -1, "send": 0.2, "wait": 20, "receive": 4}
    )
    time = sum(value for name, value in timings.items() if value > 0 and name != "ssl")
    text = others.pop("text", "")
    encoding = others.pop("encoding", None)
    content = {"size": len(text), "mimeType": mime, "text": text, **({"encoding": encoding} if encoding else {})}
    request = {
        "method": method,
        "url": url,
        "httpVersion": others.pop("version", "h2"),
        "cookies": [],
        "headers": others.pop("headers", fields(Accept="*/*", User_Agent="Example/1.0")),
        "queryString": [],
        "headersSize": 120,
        "bodySize": 0,
    }
    post = others.pop("post", None)
    if post:
        request["postData"] = post
    response = {
        "status": status,
        "statusText": "",
        "httpVersion": request["httpVersion"],
        "cookies": [],
        "headers": others.pop("answered", fields(Content_Type=mime, Date="Sun, 01 Mar 2026 09:30:00 GMT")),
        "content": content,
        "redirectURL": "",
        "headersSize": 180,
        "bodySize": others.pop("size", len(text)),
    }
    error = others.pop("error", None)
    if error:
        response |= {"status": 0, "_error": error}
    started = (START + datetime.timedelta(milliseconds=start)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "startedDateTime": started,
        "time": time,
        "request": request,
        "response": response,
        "cache": {},
        "timings": timings,
        "serverIPAddress": "192.0.2.7",
        "connection": "443",
        **others,
    }


def recording(entries):
    return {
        "log": {"version": "1.2", "creator": {"name": "LoadingKit", "version": "1"}, "pages": [], "entries": entries}
    }


FIRST = {"blocked": 2, "dns": 14, "connect": 52, "ssl": 30, "send": 0.4, "wait": 41, "receive": 12}


def small():
    """Ten loads, of each kind that the page shows in a way of its own."""
    person = {
        "id": 12345678901234567890,
        "name": "Ada",
        "tags": ["a", "b"],
        "address": {"city": "London", "zip": None},
        "ratio": 1.50,
        "active": True,
    }
    pixels = png()
    binary = bytes(range(256)) * 20
    messages = [
        {"type": "send", "time": START.timestamp() + 0.4, "opcode": 1, "data": '{"subscribe":"prices"}'},
        {"type": "receive", "time": START.timestamp() + 0.45, "opcode": 1, "data": '{"price":12.5}'},
        {
            "type": "receive",
            "time": START.timestamp() + 0.61,
            "opcode": 2,
            "data": base64.b64encode(binary[:80]).decode(),
        },
    ]
    return [
        entry(
            0,
            url="https://www.example.com/",
            text="<!doctype html><title>Example</title>\n<p>Hello",
            timings=FIRST,
            _connectionId="50112",
            _tlsVersion="TLSv1.3",
        ),
        entry(
            118,
            url="https://www.example.com/style.css",
            mime="text/css",
            text="body { color: #123 }",
            _connectionId="50112",
        ),
        entry(
            119,
            url="https://www.example.com/app.js?v=12",
            mime="text/javascript",
            text="let x = 1;\n" * 400,
            _connectionId="50112",
        ),
        entry(
            121,
            url="https://cdn.example.net/images/harbour.png",
            mime="image/png",
            text=base64.b64encode(pixels).decode(),
            encoding="base64",
            size=len(pixels),
            timings=FIRST | {"wait": 90, "receive": 130},
            _connectionId="50114",
            serverIPAddress="198.51.100.20",
        ),
        entry(
            180,
            "POST",
            "https://api.example.com/v1/people?verbose=1",
            201,
            "application/json",
            text=json.dumps(person),
            headers=fields(
                Accept="application/json",
                Authorization="Bearer (redacted)",
                Content_Type="application/json",
                Accept_Encoding="gzip, br",
            ),
            post={"mimeType": "application/json", "text": '{"name": "Ada\'s", "note": "a\\nb"}'},
            timings=FIRST | {"wait": 160},
            _connectionId="50116",
            _decisions=[
                {"kind": "cache", "text": "Not stored: the response to POST has no explicit freshness."},
                {"kind": "cookie", "text": "“session” is stored for api.example.com: Secure, HttpOnly."},
            ],
        ),
        entry(
            240,
            url="https://www.example.com/old",
            status=301,
            text="",
            answered=fields(Location="https://www.example.com/new"),
            _connectionId="50112",
        ),
        entry(
            262,
            url="https://www.example.com/new",
            status=404,
            text="Not found",
            mime="text/plain",
            _connectionId="50112",
        ),
        entry(
            300,
            url="https://down.example.org/feed.xml",
            mime="x-unknown",
            error="Could not connect to the server.",
            timings={"blocked": 3, "dns": 22, "connect": 210, "ssl": -1, "send": 0, "wait": 0, "receive": 0},
            serverIPAddress="203.0.113.5",
            _errorChain=[
                "connecting to 203.0.113.5 port 443: Connection refused",
                "connecting to 203.0.113.6 port 443: timed out after 200 ms",
            ],
        ),
        entry(
            330,
            url="wss://live.example.com/socket",
            status=101,
            mime="x-unknown",
            _webSocketMessages=messages,
            version="http/1.1",
            timings=FIRST | {"receive": 280},
            _connectionId="50118",
        ),
        entry(
            420,
            url="https://cdn.example.net/data/model.bin",
            mime="application/octet-stream",
            text=base64.b64encode(binary).decode(),
            encoding="base64",
            size=len(binary),
            status=200,
            _fromCache="disk",
            _connectionId="50114",
            serverIPAddress="198.51.100.20",
        ),
    ]


KINDS = [
    ("text/html", ""),
    ("application/json", ".json"),
    ("text/css", ".css"),
    ("text/javascript", ".js"),
    ("image/png", ".png"),
    ("image/jpeg", ".jpg"),
    ("font/woff2", ".woff2"),
    ("application/xml", ".xml"),
    ("video/mp4", ".mp4"),
]


def many(count):
    """`count` loads of a busy program, the same each time."""
    chance = random.Random(count)
    entries, start = [], 0.0
    for number in range(count):
        start += chance.expovariate(1 / 12)
        host = chance.choice(
            ["www.example.com", "api.example.com", "cdn.example.net", "images.example.org", "telemetry.example.io"]
        )
        mime, suffix = chance.choice(KINDS)
        is_new = chance.random() < 0.08
        timings = {
            "blocked": chance.expovariate(1 / 3),
            "dns": 8 if is_new else -1,
            "connect": 45 if is_new else -1,
            "ssl": 28 if is_new else -1,
            "send": 0.2,
            "wait": chance.expovariate(1 / 60),
            "receive": chance.expovariate(1 / 25),
        }
        timings = {name: round(value, 3) for name, value in timings.items()}
        status = chance.choices([200, 204, 206, 301, 304, 400, 404, 429, 500, 503], [80, 2, 2, 3, 6, 1, 3, 1, 1, 1])[0]
        headers = fields(
            Accept="*/*", User_Agent="Example/1.0", Accept_Encoding="gzip, br", X_Request=f"{chance.random():.16f}"
        )
        entries.append(
            entry(
                start,
                chance.choice(["GET"] * 8 + ["POST", "PUT", "DELETE", "HEAD"]),
                f"https://{host}/v1/{mime.split('/')[1]}/{number}{suffix}?page={number % 7}",
                status,
                mime,
                timings=timings,
                headers=headers,
                version=chance.choice(["h2", "h2", "http/1.1"]),
                size=int(chance.expovariate(1 / 30_000)),
                error="The request timed out." if chance.random() < 0.01 else None,
                _connectionId=str(50_000 + number // 40),
            )
        )
    return entries


SCRIPT = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>'
HOSTILE = [
    "</script><script>window.attacked=1</script>",
    "<!--<script>",
    SCRIPT,
    "\u2028\u2029window.attacked=1",
    '"><svg onload=window.attacked=1>',
    "javascript:window.attacked=1",
    "{{script}} {{nonce}}",
    "'; touch attacked; '",
    '$(touch attacked)`touch attacked`"\\',
    "\u202egnp.exe",
    "\u001b]0;attacked\u0007\u0003\ntouch attacked\n",
    "__proto__",
    "\ud800",
    "a" * 20_000,
    "%00%0a",
    "]]>&lt;",
    "{{recording}}</style><style>*{display:none}",
]


def hostile():
    """Entries in which each text is hostile, and members have other types than they should."""
    entries = []
    for text in HOSTILE:
        made = entry(
            len(entries),
            text,
            "https://example.com/" + text,
            200,
            text,
            text=text,
            headers=[
                {"name": text, "value": text},
                {"name": "X-" + text[:20], "value": text},
                {"name": "X-Y", "value": text},
            ],
            answered=[{"name": text, "value": text}],
            post={"mimeType": text, "text": text, "params": [{"name": text, "value": text}]},
            version=text,
            error=text,
            _connectionId=text,
            _session=text,
            comment=text,
            _errorChain=[text],
            _decisions=[{"kind": text, "text": text}],
            _webSocketMessages=[{"type": text, "time": 1, "opcode": 1, "data": text}],
            _tls=text,
            serverIPAddress=text,
        )
        made["response"]["status"] = 200
        made["response"]["cookies"] = made["request"]["cookies"] = made["request"]["queryString"] = [
            {"name": text, "value": text}
        ]
        entries.append(made)
        entries.append(entry(len(entries), url=text, mime="text/html", text=text))
        entries.append(
            entry(
                len(entries),
                url="https://example.com/i.svg",
                mime="image/svg+xml",
                text=f"<svg xmlns='http://www.w3.org/2000/svg' onload='parent.attacked=1'><script>parent.attacked=1</script><image href='https://attacker.example/x.png'/></svg>",
            )
        )
    odd = [
        None,
        1,
        "x",
        [],
        {},
        {"request": 1, "response": None},
        {"request": {"url": 7, "headers": {"a": 1}}, "response": {"status": "200", "content": []}},
        {"startedDateTime": "never", "timings": {"wait": "12", "send": 1e308, "receive": -5, "ssl": 3}, "time": "HUGE"},
        {
            "request": {"url": "x", "headers": [None, 1, {"name": None, "value": {}}]},
            "response": {"content": {"text": {"a": 1}}},
            "_webSocketMessages": [None, 4],
        },
    ]
    return entries + odd


def of_browsers():
    """Entries as Chromium's and Firefox's developer tools export them, and an old proxy's with the least that HAR has."""
    chromium = entry(
        0,
        url="https://www.example.com/a",
        version="http/2.0",
        timings={
            "blocked": 3.5,
            "dns": 2,
            "ssl": 12,
            "connect": 20,
            "send": 0.1,
            "wait": 40,
            "receive": 2,
            "_blocked_queueing": 1.1,
        },
        connection="10231",
        serverIPAddress="[2001:db8::7]",
        _initiator={"type": "script", "stack": {"callFrames": []}},
        _priority="High",
        _resourceType="fetch",
    )
    chromium["request"]["headers"] = [
        {"name": ":authority", "value": "www.example.com"},
        {"name": ":method", "value": "GET"},
        {"name": "accept", "value": "*/*"},
    ]
    chromium["response"] |= {"_transferSize": 1234, "_error": None, "_fetchedViaServiceWorker": False}
    blocked = entry(10, url="https://ads.example.com/b", version="", _resourceType="script", connection=None)
    blocked["response"] |= {"status": 0, "_error": "net::ERR_BLOCKED_BY_CLIENT", "_transferSize": 0}
    firefox = entry(20, url="https://www.example.org/c", version="HTTP/2", _securityState="secure", connection="443")
    firefox["response"]["bodySize"] = 900
    unanswered = entry(30, url="http://gone.example.org/d", version="", status=0, connection="80", serverIPAddress="")
    unanswered["response"] |= {"content": {"mimeType": "", "size": 0}, "headers": [], "httpVersion": ""}
    least = {
        "startedDateTime": "2026-03-01T10:30:00.040+01:00",
        "time": 50,
        "request": {"method": "GET", "url": "http://www.example.net/e", "httpVersion": "HTTP/1.1"},
        "response": {"status": 200, "content": {"size": 12, "mimeType": "text/plain", "text": "hello"}},
        "cache": {},
        "timings": {},
    }
    return [chromium, blocked, firefox, unanswered, least]
