"""A headless Chromium, by the DevTools protocol over a pair of pipes."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]


def program():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.downloads = pathlib.Path(self.folder.name) / "downloads"
        self.downloads.mkdir()
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()
        self.process = subprocess.Popen(
            [
                program(),
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.folder.name}/profile",
                "about:blank",
            ],
            preexec_fn=lambda: (
                os.dup2(to_browser, 1003),
                os.dup2(from_browser, 1004),
                os.dup2(1003, 3),
                os.dup2(1004, 4),
            ),
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.events = 0, b"", []
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads), eventsEnabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.writer)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reader)
        self.folder.cleanup()

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data) :]
        while True:
            answer = self.message()
            if answer.get("id") != message["id"]:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def message(self):
        while b"\0" not in self.rest:
            piece = os.read(self.reader, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self.rest += piece
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def wait_for(self, method, session=None, accepts=lambda _: True):
        """The parameters of an event that has come, or comes."""
        while True:
            for index, event in enumerate(self.events):
                if event.get("method") == method and event.get("sessionId") == session and accepts(event["params"]):
                    return self.events.pop(index)["params"]
            event = self.message()
            if "id" not in event:
                self.events.append(event)

    def downloaded(self):
        """The file of the next download."""
        begun = self.wait_for("Browser.downloadWillBegin")
        self.wait_for(
            "Browser.downloadProgress", accepts=lambda it: it["guid"] == begun["guid"] and it["state"] == "completed"
        )
        return self.downloads / begun["suggestedFilename"]


class Page:
    """A tab. Errors and refusals of its policy are in `problems()`."""

    def __init__(self, browser, width=1400, height=900, is_dark=False):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.show(width, height, is_dark)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def show(self, width, height=900, is_dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url):
        loader = self.call("Page.navigate", url=url)["loaderId"]
        self.browser.wait_for(
            "Page.lifecycleEvent", self.session, lambda it: it["loaderId"] == loader and it["name"] == "load"
        )
        return self

    def run(self, script):
        """The value of an expression, which may be a promise's."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(f"{script[:200]}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def press(self, key, modifiers=0):
        codes = {
            "ArrowDown": 40,
            "ArrowUp": 38,
            "ArrowLeft": 37,
            "ArrowRight": 39,
            "Enter": 13,
            "Escape": 27,
            "Tab": 9,
            "Home": 36,
            "End": 35,
            "PageDown": 34,
            "PageUp": 33,
        }
        code = codes.get(key, ord(key[0]))
        properties = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        if len(key) == 1:
            properties["text"] = key
        if key == "Enter":
            properties["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **properties)
        self.call("Input.dispatchKeyEvent", type="keyUp", **properties)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def frames(self):
        """Returns when the page has drawn what was changed."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def screenshot(self, path):
        self.frames()
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def problems(self):
        """Exceptions, refusals of the policy, and requests other than that of the page itself, since the last call."""
        found, kept = [], []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                kept.append(event)
                continue
            method, values = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(values["exceptionDetails"]["exception"].get("description", "?"))
            if method == "Runtime.consoleAPICalled":
                found.append(f"console: {values['args'][:1]}")
            if method == "Log.entryAdded":
                found.append(values["entry"]["text"])
            if method == "Page.javascriptDialogOpening":
                found.append(f"dialog: {values['message']}")
            if method == "Network.requestWillBeSent":
                url = values["request"]["url"]
                if not url.startswith(("data:", "blob:")) and values["type"] != "Document":
                    found.append(f"request: {url}")
        self.browser.events = kept
        return found

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
