"""Checks of the inspector's page with a running program: loads, decisions, connections."""

from inspectorcheck import recordings, traffic
from inspectorcheck.livepage import COUNT, PANEL, LivePages


class LiveChecks(LivePages):
    def live(self):
        first = traffic.entry(recordings.entry(0, url="https://example.com/live"), 1, "active", "1.7")
        server, page = self.live_page(traffic.OPTIONS, *traffic.SESSIONS, first)
        with server:
            self.equal(page.run("document.title"), "weather – loadkit", "the program's name")
            self.equal(page.text("process"), "process 4711 · secrets are redacted", "the process")
            self.equal(
                page.run("document.querySelector('#rows .status').textContent"), "active", "an entry that has not ended"
            )
            done = traffic.entry(recordings.entry(0, url="https://example.com/live"), 1, "done", "1.7")
            server.send(done)
            page.until("document.querySelector('#rows .status').textContent == '200'")
            self.equal(page.run(COUNT), 1, "the same entry again")
            page.click("pause")
            some = [recordings.entry(n, url=f"https://example.com/{n}") for n in range(5000)]
            server.send(*(traffic.entry(it, 10 + n, "done", "1.7") for n, it in enumerate(some)))
            page.until("$('pause').textContent == 'Continue (5000)'")
            self.equal(page.run(COUNT), 1, "a paused page changes nothing")
            page.click("pause")
            page.until(f"{COUNT} == 5001")
            server.send({"type": "gap"}, {"type": "entry", "entry": {"_id": "odd"}}, "no json", {"type": "unknown"})
            page.until("!$('notice').hidden")
            page.click("clear")
            self.equal(page.run(COUNT), 0, "a cleared page")
            self.quiet(page, "the live page")
            page.click("save")
            saved = self.chromium.downloaded().read_text()
            self.expect("connect-src" not in saved.split("<style")[0], "a saved live page has no network")
            page.close()

    def restart(self):
        """After a reconnection only open connections are there; another process begins its numbers anew."""
        load = traffic.entry(recordings.entry(0), 1, "active", "1.2")
        server, page = self.live_page(traffic.OPTIONS, load, traffic.connection(2, "active"))
        with server:
            page.click("show-connections")
            server.disconnect()
            server.send(traffic.OPTIONS, load, traffic.connection(4, "idle"))
            page.until("$('connection-table').innerText.includes('#1.4')")
            self.expect(
                "192.0.2.7 #1.2\tgone" in page.text("connection-table"), "a connection that closed meanwhile is gone"
            )
            page.click("show-requests")
            server.disconnect()
            server.send(traffic.OPTIONS | {"process": 4712}, load)
            page.until(f"{COUNT} == 2")
            statuses = "[...document.querySelectorAll('#rows .status')].map((it) => it.textContent)"
            self.equal(page.run(statuses), ["✕ failed", "active"], "loads of the earlier process have ended")
            self.quiet(page, "a program that begins again")
            page.close()

    def decisions(self):
        """Their times are from the load's start; a load has at most 100; sent again they are not repeated."""
        load = traffic.entry(recordings.entry(0), 1, "done", "1.7")
        known = [traffic.decision("1", n, traffic.START + n * 12.5 - 3, "cache") for n in range(3)]
        own = traffic.decision("", 1, traffic.START, "connection")
        server, page = self.live_page(traffic.OPTIONS, *traffic.SESSIONS, load, *known, own)
        with server:
            page.run("document.querySelector('#rows .row').click()")
            cells = "[...document.querySelectorAll('.decisions tbody tr')].map((row) => row.innerText.split('\\t'))"
            expected = [["−3.0 ms", "cache"], ["+9.5 ms", "cache"], ["+22 ms", "cache"]]
            self.equal([it[:2] for it in page.run(cells)], expected, "the times of decisions")
            self.expect("no response is stored" in page.run(PANEL), "a decision's reason")
            server.disconnect()
            # A program's clock may give other times for the same decisions.
            again = [it | {"time": it["time"] + 2.5} for it in reversed(known)]
            server.send(traffic.OPTIONS, *traffic.SESSIONS, load, *again, own, {"type": "gap"})
            page.until("!$('notice').hidden")
            self.equal([it[:2] for it in page.run(cells)], expected, "decisions that are sent again")
            page.run("$('notice').hidden = true; undefined")
            many = [traffic.decision("1", n, traffic.START + 1000 + 20 * n, "retry") for n in range(120)]
            server.send(*many, {"type": "gap"})
            page.until("!$('notice').hidden")
            self.equal(len(page.run(cells)), 100, "a load's decisions are bounded")
            server.send(*(traffic.decision("", n, traffic.START + n * 1000, "connection") for n in range(2, 1100)))
            page.click("show-connections")
            page.until("$('session-decisions').innerText.includes('(1000)')")
            page.run("$('session-decisions').open = true; undefined")
            self.expect("default 1: Uses connection" in page.text("session-decisions"), "the session's decisions")
            self.quiet(page, "decisions")
            page.close()

    def connections(self):
        events = [
            traffic.connection(1, "closed", requests=3, reason="idle for too long"),
            traffic.connection(2, "active", [1, 2], 14),
            traffic.connection(4, "idle", requests=2, is_old=True),
            *(traffic.entry(recordings.entry(n, url=f"https://example.com/{n}"), n, "active", "1.2") for n in (1, 2)),
            traffic.entry(recordings.entry(9, url="https://example.com/9"), 9, "done", "1.4"),
        ]
        server, page = self.live_page(traffic.OPTIONS, *traffic.SESSIONS, *events)
        with server:
            page.run("$('grid').focus()")
            page.press("c")
            self.equal(page.run("document.activeElement.id"), "connections", "c goes to the connections")
            rows = page.run(
                "[...document.querySelectorAll('#connection-table tbody tr')]"
                ".map((row) => [...row.cells].map((it) => it.innerText))"
            )
            names = ["192.0.2.3:443", "#1", "#3", "192.0.2.5:443", "192.0.2.2:443"]
            self.equal([it[0].split()[0] for it in rows], names, "the order of connections and streams")
            self.equal(rows[0][1:4], ["active 2 streams", "HTTP/2 · TLSv1.3", "14"], "an active connection")
            self.equal(rows[1][:2], ["#1 GET example.com/1", "open"], "a stream")
            self.expect("\n" not in rows[3][5] and rows[3][5] == "", "HTTP/1.1 has no windows")
            self.equal(rows[4][1], "closed idle for too long", "why a connection has ended")
            self.equal(page.text("connection-count"), "3 connections, 1 closed", "their number")
            widths = page.run(
                "[...document.querySelectorAll('#connection-table .meter span')].map((it) => parseFloat(it.style.width))"
            )
            self.expect(len(widths) == 8 and min(widths) >= 0 and max(widths) == 100, f"bars: {widths}")
            self.connections_change(server, page)
            self.connections_lead(page)
            self.connections_bounded(server, page)
            self.quiet(page, "connections")
            page.close()

        self.connections_recorded()

    def connections_recorded(self):
        """The connections of a recording, which has no states."""
        page = self.page("connections", recordings.small())
        page.run("document.getElementById('grid').focus()")
        page.press("c")
        shown = page.run("document.getElementById('connections').innerText")
        for words in ("5 connections", "192.0.2.7 #50112", "198.51.100.20 #50114", "recorded"):
            self.expect(words in shown, f"the connections of a recording have {words!r}: {shown!r}")
        page.press("ArrowDown")
        page.press("Enter")
        self.equal(page.run(COUNT), 5, "the requests of a recorded connection")
        page.press("c")
        page.press("/")
        where = "[document.activeElement.id, document.getElementById('connections').hidden]"
        self.equal(page.run(where), ["words", True], "/ goes to the filter of the requests")
        self.quiet(page, "recorded connections")
        page.close()

    def connections_change(self, server, page):
        """A connection that changes keeps the focus and the place."""
        page.press("ArrowDown")
        page.press("ArrowDown")
        focused = "document.activeElement.textContent"
        self.equal(page.run(focused), "#1 GET example.com/1", "the arrows go from link to link")
        changed = traffic.connection(2, "active", [1], 15)
        changed["connection"]["sendWindow"] = -200
        server.send(changed)
        page.until("$('connection-table').innerText.includes('−200')")
        self.equal(page.run(focused), "#1 GET example.com/1", "the focus after a change")
        mark = page.run("document.querySelector('#connection-table .window .mark').textContent")
        self.equal(mark, "full", "a window that is full")

    def connections_lead(self, page):
        page.press("Enter")
        self.equal(
            page.run("[$('details').hidden, $('connections').hidden]"), [False, False], "a stream selects its request"
        )
        self.expect("https://example.com/1" in page.run(PANEL), "the stream's request")
        page.click("tab-connections")
        shown = page.run(PANEL)
        self.expect("192.0.2.3:443 #1.2\tactive" in shown.replace("\n", "\t"), f"a request's connection: {shown!r}")
        page.press("Escape")
        page.run("document.querySelector('#connection-table button').click()")
        self.equal(page.run(COUNT), 2, "a connection's requests")
        self.equal(page.run("[$('list').hidden, document.activeElement.id]"), [False, "grid"], "the list is shown")
        page.click("connection-filter")
        self.equal(page.run(COUNT), 3, "all requests again")

    def connections_bounded(self, server, page):
        server.send(*(traffic.connection(n, "closed", reason="x") for n in range(10, 1500)), {"type": "gap"})
        page.run("$('notice').hidden = true; undefined")
        page.until("!$('notice').hidden")
        page.click("show-connections")
        self.equal(page.text("connection-count"), "1,000 connections, 998 closed", "at most 1,000 are kept")
        self.equal(page.run("document.querySelectorAll('#connection-table tbody').length"), 200, "those that are drawn")
        page.click("more-connections")
        self.equal(page.run("document.querySelectorAll('#connection-table tbody').length"), 400, "more of them")
