#!/usr/bin/env python3
"""Checks the inspector's page in headless Chromium. Ends with status 1 where a check fails; with 0, and a line, without Chromium.

usage, from any folder: inspector.py [--tool LOADKIT] [--screenshots FOLDER] [--axe FILE]

With --tool the pages are those that `LOADKIT inspect` writes; else they are put together from the page's sources. --screenshots
writes pictures with 10, 100 and 10,000 requests, recorded and of a running program, light and dark, 420, 820 and 1400 pixels wide.
--axe names a copy of axe-core (axe.min.js), whose rules for accessibility are then checked, too.
"""

import argparse
import json
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
import time

from inspectorcheck import browser, contrast, recordings
from inspectorcheck.browser import Browser, Page
from inspectorcheck.devtools import DevToolsChecks
from inspectorcheck.holdchecks import HoldChecks
from inspectorcheck.livechecks import LiveChecks
from inspectorcheck.programchecks import ProgramChecks

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "Sources/LoadingKit/Inspector/Resources"
# It names the parts of the page's program in their order.
PAGE = SOURCES.parent / "Page/InspectorPage.swift"
# Why tests were not run, for Scripts/not-run.sh.
NOT_RUN = pathlib.Path(__file__).resolve().parent.parent / ".build/not-run"
POLICY = (
    "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src data:; {1}base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
EXAMPLES = {"10": recordings.small, "100": lambda: recordings.many(100), "10000": lambda: recordings.many(10_000)}


def encoded(value):
    return json.dumps(value).replace('"HUGE"', "1e400").replace("<", "\\u003c")


def assembled(name, data, is_live=False):
    """The page as the tool writes it."""
    nonce = secrets.token_urlsafe(18)
    values = {
        "policy": POLICY.format(nonce, "connect-src 'self'; " if is_live else ""),
        "nonce": nonce,
        "name": encoded(name),
        "recording": data,
    }
    order = re.findall(r"PackageResources\.(\w+)_js", PAGE.read_text())
    values["script"] = "".join((SOURCES / f"{part}.js").read_text() for part in order)
    values["style"] = (SOURCES / "inspector.css").read_text()
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], (SOURCES / "inspector.html").read_text())


class Checks(LiveChecks, HoldChecks, ProgramChecks, DevToolsChecks):
    def __init__(self, options, folder, chromium):
        self.options, self.folder, self.chromium = options, pathlib.Path(folder), chromium
        self.failures = self.count = 0

    def expect(self, condition, words):
        self.count += 1
        if not condition:
            self.failures += 1
            print(f"FAILED: {words}")

    def equal(self, value, expected, words):
        self.expect(value == expected, f"{words}: {value!r}, expected {expected!r}")

    def file(self, name, entries):
        """The page of a recording, as a file's URL."""
        log = encoded(recordings.recording(entries))
        path = self.folder / f"{name}.html"
        if self.options.tool:
            har = self.folder / f"{name}.har"
            har.write_text(log)
            subprocess.run([self.options.tool, "inspect", har, "--output", path], check=True, stdout=subprocess.DEVNULL)
        else:
            path.write_text(assembled(f"{name}.har", log))
        return path.as_uri()

    def page(self, name, entries, **show):
        return Page(self.chromium, **show).open(self.file(name, entries))

    def quiet(self, page, words):
        self.equal(page.problems(), [], f"problems of {words}")

    # MARK: The list

    def rows(self):
        page = self.page("ten", recordings.small())
        self.equal(page.run("document.querySelectorAll('#rows .row').length"), 10, "drawn rows")
        self.equal(page.run("document.title"), "ten.har – loadkit", "title")
        first = page.run("[...document.querySelector('#rows .row').children].map((cell) => cell.textContent)")
        self.equal(first[:6], ["GET", "www.example.com", "/", "200", "html", "HTTP/2"], "cells of the first row")
        cells = page.run("[...document.querySelectorAll('#rows .status')].map((cell) => cell.textContent)")
        self.equal(
            cells, ["200", "200", "200", "200", "201", "301", "! 404", "✕ failed", "101", "200 cache"], "statuses"
        )
        bars = page.run("[...document.querySelector('#rows .row .waterfall').children].map((bar) => bar.className)")
        self.equal(
            bars,
            [f"phase {name}" for name in ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")],
            "phases",
        )
        widths = page.run(
            "[...document.querySelector('#rows .row .waterfall').children].map((bar) => parseFloat(bar.style.width))"
        )
        self.expect(abs(widths[2] / widths[3] - 22 / 30) < 0.01, "TLS is a part of connect")
        self.filters(page)
        self.order(page)
        self.quiet(page, "the page of ten requests")
        page.close()

    def filters(self, page):
        def shown(script):
            page.run(script + "; document.getElementById('filters').dispatchEvent(new Event('input')); undefined")
            count = page.run("Number(document.getElementById('grid').getAttribute('aria-rowcount')) - 1")
            page.run(
                "document.getElementById('filters').reset(); document.getElementById('filters').dispatchEvent(new Event('input')); undefined"
            )
            return count

        value = "document.getElementById('{}').value = '{}'".format
        cases = [
            (value("words", "example.net"), 2),
            (value("words", "EXAMPLE.com -api"), 6),
            (value("words", "cdn png"), 1),
            (value("words", "refused"), 0),
            (value("words", "connect to the server"), 1),
            (value("method", "POST"), 1),
            (value("status", "4"), 1),
            (value("status", "none"), 1),
            (value("type", "websocket"), 1),
            (value("host", "cdn.example.net"), 2),
            ("document.getElementById('failed').checked = true", 2),
            ("", 10),
        ]
        for script, count in cases:
            self.equal(shown(script), count, f"rows for {script}")

    def order(self, page):
        press = lambda column: page.run(f"document.querySelector('.head .{column} button').click()")
        column = lambda name: page.run(
            f"[...document.querySelectorAll('#rows .row')].sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => row.querySelector('.{name}').textContent)"
        )
        original = column("path")
        press("status")
        self.equal(column("status")[0], "✕ failed", "the lowest status comes first")
        self.equal(
            page.run("document.querySelector('.head .status').getAttribute('aria-sort')"), "ascending", "aria-sort"
        )
        press("status")
        self.equal(column("status")[0], "! 404", "the highest status comes first")
        press("status")
        self.equal(column("path"), original, "the third press restores the order")

    # MARK: The keyboard

    def keyboard(self):
        page = self.page("keys", recordings.many(300))
        active = lambda: page.run("document.activeElement.id")
        selected = lambda: page.run("document.querySelector('#rows [aria-selected=true]')?.ariaRowIndex")
        page.run("document.getElementById('grid').focus()")
        page.press("ArrowDown")
        self.equal(selected(), "2", "ArrowDown selects the first row")
        self.equal(page.run("document.getElementById('details').hidden"), True, "the arrows open no details")
        for key, row in [("ArrowDown", "3"), ("ArrowUp", "2"), ("End", "301"), ("Home", "2")]:
            page.press(key)
            page.frames()
            self.equal(selected(), row, f"{key} selects")
        page.press("PageDown")
        self.expect(20 < int(selected()) < 60, f"PageDown selects {selected()}")
        self.equal(
            page.run(
                "document.getElementById(document.getElementById('grid').getAttribute('aria-activedescendant')).ariaSelected"
            ),
            "true",
            "active descendant",
        )
        inside = page.run(
            "(() => { const row = document.querySelector('#rows [aria-selected=true]').getBoundingClientRect(), grid = document.getElementById('grid').getBoundingClientRect(); return row.top >= grid.top && row.bottom <= grid.bottom; })()"
        )
        self.expect(inside, "the selected row is visible")
        page.press("Enter")
        self.equal(active(), "tab-overview", "Enter goes to the details")
        for key, tab in [
            ("ArrowRight", "tab-request"),
            ("End", "tab-connections"),
            ("ArrowRight", "tab-overview"),
            ("ArrowLeft", "tab-connections"),
        ]:
            page.press(key)
            self.equal(
                (active(), page.run("document.querySelector('#tabs [aria-selected=true]').id")),
                (tab, tab),
                f"{key} in the tabs",
            )
        page.press("Escape")
        self.equal(
            (active(), page.run("document.getElementById('details').hidden")),
            ("grid", True),
            "Escape closes the details",
        )
        page.press("/")
        self.equal(active(), "words", "/ goes to the filter")
        page.type("telemetry")
        self.expect(
            0 < page.run("Number(document.getElementById('grid').getAttribute('aria-rowcount'))") < 120,
            "typing filters",
        )
        page.press("Escape")
        self.equal(page.run("document.getElementById('words').value"), "", "Escape empties the filter")
        page.press("Escape")
        self.equal(active(), "grid", "Escape leaves the filter")
        self.tab_order(page)
        self.quiet(page, "the keyboard's page")
        page.close()

    def tab_order(self, page):
        page.run("document.activeElement.blur(); document.getElementById('pause').hidden = true; undefined")
        order = []
        for _ in range(30):
            page.press("Tab")
            order.append(page.run("(document.activeElement.id || document.activeElement.textContent)"))
            visible = page.run(
                "document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'"
            )
            self.expect(visible, f"the focus of {order[-1]} is visible")
        expected = [
            "clear",
            "export",
            "save",
            "words",
            "method",
            "status",
            "type",
            "host",
            "failed",
            "zoom",
            "grid",
            "Method",
        ]
        start = order.index("clear") if "clear" in order else 0
        self.equal(order[start : start + len(expected)], expected, "order of Tab")

    # MARK: Details

    def details(self):
        page = self.page("details", recordings.small(), width=1400)
        text = lambda: page.run("document.getElementById('panel').innerText")

        def show(row, tab):
            page.run(
                f"[...document.querySelectorAll('#rows .row')].find((row) => row.ariaRowIndex == {row + 2}).click()"
            )
            page.run(f"document.getElementById('tab-{tab}').click()")
            return text()

        cases = [
            (0, "overview", ["TLSv1.3", "192.0.2.7 #50112", "TLS handshake", "30 ms", "Copy as curl"]),
            (4, "overview", ["Decisions", "Not stored", "“session” is stored"]),
            (4, "request", ["Authorization", "redacted", "curl"]),
            (5, "response", ["301", "Location", "https://www.example.com/new"]),
            (4, "bodies", ["12345678901234567890", "id: ", "{2}", "Ada"]),
            (7, "overview", ["Error: Could not connect", "because: connecting to 203.0.113.5", "Name lookup"]),
            (8, "messages", ["↑ sent", "↓ received", "subscribe", "00 01 02"]),
            (9, "bodies", ["00000000  00 01 02", "5,120 bytes"]),
            (9, "overview", ["from the cache: disk"]),
            (0, "connections", ["192.0.2.7 #50112", "5 requests", "connections"]),
        ]
        for row, tab, words in cases:
            shown = show(row, tab)
            for word in words:
                self.expect(word in shown, f"{tab} of row {row} has {word!r}: {shown[:900]!r}")
        self.expect("1.5" in show(4, "bodies"), "a number as it was written")
        show(3, "bodies")
        page.frames()
        self.equal(
            page.run(
                "(async () => { const image = document.querySelector('#panel img'); await image.decode(); return [image.naturalWidth, image.naturalHeight]; })()"
            ),
            [64, 48],
            "the image is shown",
        )
        self.quiet(page, "the details")
        page.close()

    def browsers(self):
        """Recordings of browsers' developer tools, and one that has little."""
        page = self.page("browsers", recordings.of_browsers())
        rows = page.run(
            "[...document.querySelectorAll('#rows .row')].map((row) => [...row.children].slice(1, 8).map((cell) => cell.textContent))"
        )
        expected = [
            ["www.example.com", "/a", "200", "html", "HTTP/2", "1.2 kB", "69 ms"],
            ["ads.example.com", "/b", "✕ failed", "html", "", "–", "25 ms"],
            ["www.example.org", "/c", "200", "html", "HTTP/2", "1.1 kB", "25 ms"],
            ["gone.example.org", "/d", "✕ failed", "", "", "–", "25 ms"],
            ["www.example.net", "/e", "200", "text", "HTTP/1.1", "12 B", "50 ms"],
        ]
        self.equal(rows, expected, "rows of browsers' recordings")
        lefts = page.run(
            "[...document.querySelectorAll('#rows .waterfall')].map((cell) => parseFloat(cell.firstChild.style.left))"
        )
        self.expect(lefts == sorted(lefts) and len(lefts) == 5, "all bars are on one axis, also of other time zones")
        self.equal(
            page.run("document.querySelectorAll('#rows .row')[4].querySelectorAll('.phase.total').length"),
            1,
            "a bar without phases",
        )
        page.run("document.querySelector('#rows .row').click()")
        text = page.run("document.getElementById('panel').innerText")
        for word in ["[2001:db8::7] #10231", "_priority", "Connecting", "8.0 ms"]:
            self.expect(word in text, f"the overview of Chromium's entry has {word!r}: {text}")
        page.run("document.getElementById('tab-request').click()")
        self.expect(
            "':" not in page.run("document.getElementById('curl').textContent"), "no pseudo-fields in a command"
        )
        page.run(
            "document.querySelectorAll('#rows .row')[2].click(); document.getElementById('tab-connections').click()"
        )
        self.expect(
            "192.0.2.7, port 443" in page.run("document.getElementById('panel').innerText"), "a port is no connection"
        )
        self.quiet(page, "browsers' recordings")
        page.close()

    # MARK: Hostile recordings

    def hostile(self):
        page = self.page("hostile <b>", recordings.hostile())
        count = page.run("Number(document.getElementById('grid').getAttribute('aria-rowcount')) - 1")
        self.equal(count, len(recordings.hostile()), "rows of the hostile recording")
        for row in range(count):
            page.run(f"document.getElementById('grid').scrollTop = {row} * 26; undefined")
            page.frames()
            page.run(
                f"[...document.querySelectorAll('#rows .row')].find((row) => row.ariaRowIndex == {row + 2}).click()"
            )
            for tab in ("overview", "request", "response", "bodies", "messages", "connections"):
                page.run(
                    f"document.getElementById('tab-{tab}')?.click(); for (const it of document.querySelectorAll('#panel summary')) it.click(); undefined"
                )
        page.run("document.getElementById('show-connections').click()")
        for link in range(page.run("document.querySelectorAll('#connection-table button').length")):
            page.run(f"document.querySelectorAll('#connection-table button')[{link}].click()")
            page.run("document.getElementById('show-connections').click()")
        page.run("document.getElementById('connection-filter').click()")
        page.frames()
        self.equal(
            page.run(
                "[window.attacked, document.querySelectorAll('script').length, document.querySelectorAll('iframe, object, embed, svg, #panel a').length]"
            ),
            [None, 3, 0],
            "nothing of the recording runs",
        )
        self.equal(
            page.run("getComputedStyle(document.getElementById('grid')).display"),
            "block",
            "no style of the recording holds",
        )
        self.quiet(page, "the hostile recording")
        page.run("document.getElementById('save').click()")
        saved = self.chromium.downloaded()
        page.close()
        again = Page(self.chromium).open(saved.as_uri())
        self.equal(
            again.run(
                "[window.attacked, Number(document.getElementById('grid').getAttribute('aria-rowcount')) - 1, document.getElementById('notice').hidden]"
            ),
            [None, count, True],
            "the saved page",
        )
        self.quiet(again, "the saved hostile recording")
        again.close()

    def policy(self):
        """The policy holds against a script and requests of the page's own origin."""
        page = self.page("policy", recordings.small())
        blocked = page.run("""(async () => {
            const found = [];
            try { document.body.innerHTML += "<b>x</b>"; } catch { found.push("innerHTML"); }
            try { await fetch("https://attacker.example/"); } catch { found.push("fetch"); }
            const image = new Image();
            await new Promise((done) => { image.onerror = () => { found.push("image"); done(); }; image.onload = done; image.src = "https://attacker.example/x.png"; });
            document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
            const style = document.createElement("style"); style.textContent = "body { color: red }"; document.head.append(style);
            await new Promise((done) => setTimeout(done, 50));
            return found;
        })()""")
        self.equal(blocked, ["innerHTML", "fetch", "image", "style-src-elem"], "refused by the policy")
        page.close()

    # MARK: curl

    def curl(self):
        entries = [it for it in recordings.hostile() + recordings.small() if isinstance(it, dict) and "request" in it]
        bodies = [
            "plain",
            "it's",
            "a\nb\tc",
            "\u0003\nid",
            "\r\n",
            "é €",
            "x" * 70_000,
            "@/etc/passwd",
            "",
            '$HOME `id` \\ " !',
        ]
        entries += [
            recordings.entry(0, "PUT", "https://example.com/", post={"mimeType": "text/plain", "text": body})
            for body in bodies
        ]
        entries += [
            recordings.entry(
                0, "POST", "https://example.com/", post={"mimeType": "x/y", "text": "AAEC/w==", "_encoding": "base64"}
            ),
            recordings.entry(
                0,
                "--output",
                "https://example.com/[1-3]{a,b}",
                headers=[
                    {"name": "@/etc/passwd", "value": "x"},
                    {"name": "Empty", "value": ""},
                    {"name": "A", "value": "1\r\nB: 2"},
                ],
            ),
        ]
        page = self.page("curl", entries)
        page.run("document.getElementById('grid').focus()")
        page.press("Home")
        page.press("Enter")
        page.press("ArrowRight")
        commands = []
        for _ in entries:
            commands.append(page.run("document.getElementById('curl').textContent"))
            page.run("document.getElementById('grid').focus()")
            page.press("ArrowDown")
        # Rows are in the order of their start, which is the same for many.
        runs = [self.arguments(command) for command in commands]
        for command, (arguments, body) in zip(commands, runs):
            self.expect(
                arguments and arguments[0] == "--url" or arguments[:2] == ["--globoff", "--url"],
                f"a command's words: {arguments[:3]} of {command[:300]!r}",
            )
            files = [
                value
                for option, value in zip(arguments, arguments[1:])
                if value.startswith("@") and option != "--data-raw"
            ]
            self.equal(files, ["@-"] if "--data-binary" in arguments else [], "no file is read")
        sent = [
            arguments[arguments.index("--data-raw") + 1] if "--data-raw" in arguments else body
            for arguments, body in runs
        ]
        for body in bodies:
            self.expect(body == "" or body in sent, f"the body {body[:20]!r} is sent")
        self.expect("\0\x01\x02\udcff" in sent, "binary bodies are sent")
        last = next((arguments for arguments, _ in runs if "--output" in arguments), [])
        self.equal(
            last,
            [
                "--globoff",
                "--url",
                "https://example.com/[1-3]%7Ba,b%7D",
                "--request",
                "--output",
                "--header",
                "Empty;",
                "--header",
                "A: 1B: 2",
            ],
            "fields",
        )
        redacted = next((command for command in commands if "Bearer (redacted)" in command), "")
        self.expect(
            redacted.startswith(": 'not in the recording: Authorization'\n") and "--compressed" in redacted,
            "redacted values are named",
        )
        self.expect(not list(self.folder.rglob("attacked")), "no command of a recording runs")
        self.quiet(page, "the curl commands")
        page.close()

    def arguments(self, command):
        """What /bin/sh gives to `curl` for a command: its arguments, and standard input."""
        script = "curl() { for it; do printf '%s\\0' \"$it\"; done; printf '\\0\\0'; case \" $* \" in *' --data-binary @- '*) cat;; esac; }\n"
        run = subprocess.run(
            ["/bin/sh"],
            input=(script + command).encode(errors="surrogateescape"),
            capture_output=True,
            cwd=self.folder,
            timeout=20,
        )
        self.equal(run.stderr, b"", f"errors of the shell for {command[:200]!r}")
        arguments, _, body = run.stdout.partition(b"\0\0\0")
        decode = lambda data: data.decode(errors="surrogateescape")
        return [decode(it) for it in arguments.split(b"\0")], decode(body)

    # MARK: Files

    def files(self):
        page = self.page("files", recordings.small())
        page.run(
            "document.getElementById('words').value = 'example.net'; document.getElementById('filters').dispatchEvent(new Event('input')); document.getElementById('export').click()"
        )
        exported = json.loads(self.chromium.downloaded().read_text())["log"]
        self.equal(
            (len(exported["entries"]), exported["version"], exported["creator"]["name"]),
            (2, "1.2", "LoadingKit"),
            "the exported recording",
        )
        original = json.loads(json.dumps(recordings.small()))
        self.equal(
            exported["entries"], [it for it in original if "example.net" in it["request"]["url"]], "exported entries"
        )
        page.run("document.getElementById('save').click()")
        saved = self.chromium.downloaded()
        self.expect("connect-src" not in saved.read_text().split("<style")[0], "a saved page has no network")
        page.close()
        again = Page(self.chromium).open(saved.as_uri())
        self.equal(
            again.run("[document.title, document.querySelectorAll('#rows .row').length]"),
            ["files.har – loadkit", 10],
            "the saved page",
        )
        self.quiet(again, "the saved page")
        again.close()

    # MARK: Many requests

    def speed(self):
        url = self.file("large", recordings.many(10_000))
        page = Page(self.chromium)
        times = []
        for _ in range(3):
            page.open(url)
            times.append(page.run("performance.getEntriesByName('drawn')[0].startTime"))
        self.expect(page.run("document.querySelectorAll('#rows .row').length") < 80, "few rows are elements")
        filtering = page.run(
            "(() => { const start = performance.now(); document.getElementById('words').value = 'telemetry -png'; document.getElementById('filters').dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - start; })()"
        )
        page.run(
            "document.getElementById('words').value = ''; document.getElementById('filters').dispatchEvent(new Event('input')); undefined"
        )
        scrolling = page.run(
            "(async () => { const grid = document.getElementById('grid'), times = []; for (let step = 0; step < 60; step++) { const start = performance.now(); grid.scrollTop = step * 4000; await new Promise(requestAnimationFrame); times.push(performance.now() - start); } return times.sort((a, b) => a - b)[30]; })()"
        )
        page.run("document.getElementById('grid').scrollTop = 1e7; undefined")
        page.frames()
        self.equal(
            page.run("Math.max(...[...document.querySelectorAll('#rows .row')].map((row) => row.ariaRowIndex))"),
            10_001,
            "the last row",
        )
        size = sum(len(path.read_bytes()) for path in SOURCES.iterdir())
        print(
            f"10,000 requests: drawn {min(times):.0f} ms after the start of navigation, filtered in {filtering:.0f} ms, a scrolled frame in {scrolling:.0f} ms; "
            f"the page alone has {size:,} bytes"
        )
        self.expect(min(times) < 20_000, "10,000 requests are drawn")
        page.close()

    def assembled_live(self):
        return assembled("live", "", is_live=True)

    # MARK: Accessibility

    def accessibility(self):
        for is_dark in (False, True):
            for width in (420, 820, 1400):
                page = self.page("accessible", recordings.small(), width=width, is_dark=is_dark)
                self.expect(
                    page.run("document.documentElement.scrollWidth <= innerWidth"), f"no scrolling sideways at {width}"
                )
                for tab in (None, "overview", "request", "response", "bodies", "messages", "connections"):
                    if tab:
                        row = {"messages": 8, "overview": 7}.get(tab, 4)
                        page.run("document.getElementById('details').hidden = true; undefined")
                        page.frames()
                        page.run(
                            f"[...document.querySelectorAll('#rows .row')].find((row) => row.ariaRowIndex == {row + 2}).click(); document.getElementById('tab-{tab}').click()"
                        )
                        page.run(
                            "for (const it of document.querySelectorAll('#panel details')) it.open = true; undefined"
                        )
                    page.frames()
                    where = f"{width} {'dark' if is_dark else 'light'} {tab or 'list'}"
                    self.equal(page.run(contrast.SCRIPT), [], f"texts with too little contrast, {where}")
                    self.equal(page.run(contrast.LABELS), [], f"controls without a name, {where}")
                    if self.options.axe:
                        self.axe(page, where)
                page.close()

    def axe(self, page, where):
        page.run(self.options.axe.read_text() + "; undefined")
        found = page.run(
            "axe.run().then((result) => result.violations.map((it) => `${it.id}: ${it.help}: ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))}`))"
        )
        self.equal(found, [], f"axe-core, {where}")

    def screenshots(self):
        folder = self.options.screenshots
        folder.mkdir(parents=True, exist_ok=True)
        for name, entries in EXAMPLES.items():
            url = self.file(f"shot{name}", entries())
            page = Page(self.chromium).open(url)
            for width in (420, 820, 1400):
                for is_dark in (False, True):
                    page.show(width, 900, is_dark)
                    tone = "dark" if is_dark else "light"
                    page.run(
                        "document.getElementById('details').hidden = true; document.getElementById('grid').scrollTop = 0; undefined"
                    )
                    page.screenshot(folder / f"{name}-{width}-{tone}.png")
                    if name == "10000":
                        continue
                    for row, tab in (
                        (0, "overview"),
                        (4, "bodies"),
                        (7, "overview"),
                        (8, "messages"),
                        (4, "request"),
                        (3, "bodies"),
                        (0, "connections"),
                    ):
                        page.run(f"document.getElementById('details').hidden = true; undefined")
                        page.frames()
                        page.run(
                            f"[...document.querySelectorAll('#rows .row')].find((row) => row.ariaRowIndex == {row + 2}).click(); document.getElementById('tab-{tab}')?.click()"
                        )
                        if name == "10":
                            page.screenshot(folder / f"{name}-{width}-{tone}-{tab}{row}.png")
            page.close()


CHECKS = [
    "rows",
    "keyboard",
    "details",
    "browsers",
    "hostile",
    "policy",
    "curl",
    "files",
    "live",
    "restart",
    "decisions",
    "connections",
    "rules",
    "holding",
    "hostile_live",
    "accessibility",
    "live_accessibility",
    "speed",
    "live_speed",
    "devtools",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--axe", type=pathlib.Path)
    parser.add_argument("--only", choices=CHECKS + ["screenshots"], action="append")
    options = parser.parse_args()
    if browser.program() is None:
        reason = "the inspector's page, as there is no Chromium: apt-get install chromium"
        print(f"Not run: {reason}")
        if NOT_RUN.parent.exists():
            NOT_RUN.open("a").write(f"{reason}\n")
        return 0
    with tempfile.TemporaryDirectory() as folder, Browser() as chromium:
        checks = Checks(options, folder, chromium)
        for name in options.only or CHECKS:
            start = time.monotonic()
            if name != "screenshots":
                getattr(checks, name)()
            print(f"{name}: {time.monotonic() - start:.1f} s")
        if options.screenshots:
            checks.screenshots()
            checks.live_screenshots(options.screenshots)
    print(f"{checks.count} checks, {checks.failures} failed")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
