"""Events of a running program, for the inspector's checks."""

import base64
import copy
import datetime
import random

from inspectorcheck import recordings

START = recordings.START.timestamp() * 1000
OPTIONS = {"type": "options", "allowsChanges": True, "redacts": True, "program": "weather", "process": 4711}
SESSIONS = [
    {"type": "session", "id": "1", "name": "default 1", "isOver": False},
    {"type": "session", "id": "2", "name": "images", "isOver": True},
]
REASONS = ["idle for too long", "the server sent GOAWAY: NO_ERROR", "the session is invalidated"]
DECISIONS = [
    ("connection", "Uses connection 1.{0}: it is open, and has room for 99 more streams."),
    ("cache", "Not from the cache: no response is stored for this URL."),
    ("cookie", "“session” is sent: it is for this host, and expires in 2 days."),
    ("queue", "Waits for one of 6 connections to this host."),
    ("retry", "Sent again: the server closed the connection before it read the request."),
    ("redirect", "GET https://www.example.com/new follows 301: the policy permits it."),
    ("challenge", "Basic for “intranet”: the delegate gave a credential."),
]


def entry(recorded, number, state, connection):
    made = copy.copy(recorded) | {
        "_id": str(number),
        "_task": number,
        "_session": "1" if number % 4 else "2",
        "_state": state,
        "_connectionId": connection,
    }
    made.pop("_decisions", None)
    if state not in ("done", "failed"):
        made["response"] = {"status": 0, "content": {}, "headers": []}
        made |= {"time": -1, "timings": {"blocked": 1.5}}
    return {"type": "entry", "entry": made}


def decision(entry, number, time, kind=None):
    kinds = [it for it in DECISIONS if kind in (None, it[0])]
    kind, text = kinds[number % len(kinds)]
    text = text.format(number % 30 + 1)
    return {"type": "decision", "entry": entry, "session": "1", "kind": kind, "text": text, "time": time}


def connection(number, state, streams=(), requests=0, reason=None, is_old=False):
    chance = random.Random(number)
    made = {
        "id": f"1.{number}",
        "session": "1",
        "remote": f"192.0.2.{number % 200 + 1}:443" if number % 5 else f"[2001:db8:40:{number:x}::7]:8443",
        "local": f"198.51.100.4:{40_000 + number % 20_000}",
        "protocol": "http/1.1" if is_old else "h2",
        "tls": "TLSv1.3",
        "state": state,
        "requests": requests,
    }
    if not is_old:
        made["streams"] = len(streams)
        made |= {"sendWindow": chance.choice([65_535, 41_200, 0]), "receiveWindow": chance.choice([1_048_576, 700_000])}
        made["openStreams"] = [
            {
                "id": 2 * index + 1,
                "entry": str(number),
                "state": ["open", "half closed (local)"][index % 2],
                "sendWindow": chance.choice([65_535, 12_000, 0, -400]),
                "receiveWindow": chance.choice([65_535, 31_000]),
            }
            for index, number in enumerate(streams)
        ]
    if reason:
        made["reason"] = reason
    return {"type": "connection", "connection": made}


def held_request(id="5", entry="1", **others):
    request = {
        "method": "POST",
        "url": "https://api.example.com/v1/people?verbose=1",
        "headers": recordings.fields(
            Accept="application/json", Authorization="(redacted)", Content_Type="application/json"
        ),
        "body": {"text": '{\r\n  "name": "Ada",\r\n  "city": "London"\r\n}'},
    }
    return {"type": "held", "hold": {"id": id, "entry": entry, "stage": "request", "request": request | others}}


def held_response(id="6", entry="2", **others):
    request = {"method": "GET", "url": "https://api.example.com/v1/prices", "headers": [], "body": None}
    response = {
        "status": 200,
        "headers": recordings.fields(Content_Type="text/plain", Set_Cookie="(redacted)"),
        "body": {"text": base64.b64encode("12,50 €".encode()).decode(), "encoding": "base64"},
    }
    hold = {"id": id, "entry": entry, "stage": "response", "request": request, "response": response | others}
    return {"type": "held", "hold": hold}


def program(count):
    """The events of a program that has made `count` tasks: some are open, and two are held."""
    recorded = recordings.small() if count == 10 else recordings.many(count)
    events, carried = [OPTIONS, *SESSIONS, {"type": "rules", "rules": []}], {}
    open_count = min(max(count // 10, 4), 12)
    connections = max(count // 25, 6)
    for number, it in enumerate(recorded, 1):
        place = number * connections // (count + 1) + 1
        if place not in carried:
            carried[place] = []
            events.append(connection(place, "opening", is_old=place % 4 == 1))
        carried[place].append(number)
        time = datetime.datetime.fromisoformat(it["startedDateTime"].replace("Z", "+00:00")).timestamp() * 1000
        events.append(entry(it, number, "active", f"1.{place}"))
        events += [decision(str(number), number + index, time + index) for index in range(1 + number % 3)]
        if number <= count - open_count:
            events.append(entry(it, number, "failed" if it["response"]["status"] == 0 else "done", f"1.{place}"))
        events.append(connection(place, "active", carried[place][-3:], len(carried[place]), is_old=place % 4 == 1))
    for place, numbers in carried.items():
        streams = [it for it in numbers if it > count - open_count]
        is_over = not streams and place % (connections // 5) != 0
        state = "active" if streams else "closed" if is_over else "idle"
        reason = REASONS[place % len(REASONS)] if is_over else None
        events.append(connection(place, state, streams, len(numbers), reason, place % 4 == 1))
    events += [decision("", it, START + it * 700, "connection") for it in range(min(count // 5, 60))]
    events += [entry(recorded[-1], count, "held", ""), entry(recorded[-2], count - 1, "held", f"1.{connections}")]
    return [*events, held_request("1", str(count)), held_response("2", str(count - 1))]
