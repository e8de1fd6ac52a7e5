"""Recordings in the Network panel of Chromium's own developer tools, in browsers that have their front end."""

import json
import subprocess

from inspectorcheck import recordings, traffic
from inspectorcheck.browser import Page
from inspectorcheck.livepage import LivePages
from inspectorcheck.liveserver import LiveServer

FRONT_END = "devtools://devtools/bundled"
# The panel that "Import HAR file" of its toolbar belongs to, and the log with what it shows.
PANEL = """(async () => {
  const module = async (name) => await import(`FRONT_END/${name}/${name.split("/").at(-1)}.js`);
  const [UI, Network, Logs] = await Promise.all(["ui/legacy", "panels/network", "models/logs"].map(module));
  while (!document.querySelector(".main-tabbed-pane")) await new Promise(requestAnimationFrame);
  await UI.ViewManager.ViewManager.instance().showView("network");
  window.panel = Network.NetworkPanel.NetworkPanel.instance();
  window.log = Logs.NetworkLog.NetworkLog.instance();
  return true;
})()""".replace("FRONT_END", FRONT_END)
IMPORT = """(async () => {
  const file = new File([RECORDING], "recording.har", { type: "application/json" });
  await panel.networkLogView.onLoadFromFile(file);
  const shown = (request) => {
    const { duration, statusCode, requestMethod } = request;
    return [request.url(), requestMethod, statusCode, duration, request.responseHeaders.length, request.finished];
  };
  return log.requests().map(shown);
})()"""


class DevToolsChecks(LivePages):
    def devtools(self):
        """Recordings of the checks, of the page and, with --tool, of the tool are imported with all entries."""
        page = Page(self.chromium)
        answer = page.call("Page.navigate", url=f"{FRONT_END}/devtools_app.html")
        if "errorText" in answer:
            print(f"Not run: the import by developer tools, as this Chromium has none: {answer['errorText']}")
            return page.close()
        page.run(PANEL)
        examples = {"1,000 loads": recordings.many(1000), "ten loads": recordings.small()}
        examples["exported loads"] = self.exported_live()
        if self.options.tool:
            examples["the tool's loads"] = self.recorded_by_tool()
        for name, entries in examples.items():
            self.devtools_shows(page, name, entries)
        page.close()

    def devtools_shows(self, page, name, entries):
        har = json.dumps(json.dumps(recordings.recording(entries)))
        shown = page.run(IMPORT.replace("RECORDING", har))
        self.equal(len(shown), len(entries), f"requests that the developer tools have of {name}")
        for it, (url, method, status, duration, fields, is_finished) in zip(entries, shown):
            found = (url, method, status, fields, is_finished)
            request, response = it["request"], it["response"]
            is_finished = response["status"] > 0 or is_finished
            expected = (request["url"], request["method"], response["status"], len(response["headers"]), is_finished)
            self.equal(found, expected, f"an entry of {name}")
            self.expect(it["time"] < 0 or abs(duration * 1000 - it["time"]) < 1, f"{duration} s, {it['time']} ms")

    def recorded_by_tool(self):
        """The entries of 1,000 loads that the tool has recorded."""
        path = self.folder / "recorded.har"
        with LiveServer("hello") as server:
            urls = [f"{server.url}&number={number}" for number in range(1000)]
            command = [self.options.tool, "--silent", "--har", path, "--output", "/dev/null", *urls]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())["log"]["entries"]

    def exported_live(self):
        """The entries that the page exports of a program that has made 100 tasks."""
        server, page = self.live_page(*traffic.program(100))
        with server:
            page.click("export")
            entries = json.loads(self.chromium.downloaded().read_text())["log"]["entries"]
            page.close()
        return entries
