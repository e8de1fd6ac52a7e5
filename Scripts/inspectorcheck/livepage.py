"""A page of the inspector that a running program's part serves."""

import json

from inspectorcheck.browser import Page
from inspectorcheck.liveserver import LiveServer

COUNT = "Number(document.getElementById('grid').getAttribute('aria-rowcount')) - 1"
PANEL = "document.getElementById('panel').innerText"


class LivePage(Page):
    """A page that is connected to a server."""

    def __init__(self, chromium, server, **show):
        super().__init__(chromium, **show)
        self.open(server.url)
        self.run(
            "window.until = async (test) => { while (!test()) await new Promise(requestAnimationFrame); return true; };"
            "window.$ = (id) => document.getElementById(id); undefined"
        )

    def until(self, test):
        self.run(f"until(() => {test})")

    def click(self, id):
        self.run(f"$('{id}').click()")

    def text(self, id):
        return self.run(f"$('{id}').innerText")

    def press_button(self, title, place="panel"):
        self.run(
            f"[...$('{place}').querySelectorAll('button')].find((it) => it.checkVisibility() &&"
            f"it.textContent === {json.dumps(title)}).click()"
        )

    def set(self, label, value, place="panel"):
        """Puts a value into the control with a label, as typing does."""
        self.run(
            f"(() => {{ const all = [...$('{place}').querySelectorAll('input, select, textarea')];"
            f"const it = all.find((it) => it.ariaLabel === {json.dumps(label)} && it.checkVisibility()); it.focus();"
            f"it.value = {json.dumps(value)}; it.dispatchEvent(new Event('input', {{ bubbles: true }}));"
            "it.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )

    def problems(self):
        own = ("/events?token=", "/actions?token=", "ERR_INCOMPLETE_CHUNKED", "status of 400")
        return [it for it in super().problems() if not any(part in it for part in own)]


class LivePages:
    def live_page(self, *events, **show):
        """A server and a page that has shown its events."""
        server = LiveServer(self.assembled_live())
        page = LivePage(self.chromium, server, **show)
        server.send(*events, {"type": "session", "id": "last", "name": "last"}, {"type": "gap"})
        page.until("!$('notice').hidden")
        page.run("$('notice').hidden = true; undefined")
        return server, page
