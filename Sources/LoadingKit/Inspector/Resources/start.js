// MARK: Start

function pressed(event) {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    if ($("list").hidden) setView("requests");
    if (matchMedia("(max-width: 640px)").matches) $("details").hidden = true;
    $("words").focus();
  } else if (event.key === "Escape") {
    if (event.target === $("words") && $("words").value !== "") {
      $("words").value = "";
      refresh();
    } else if (!$("rules").hidden && $("rules").contains(event.target)) {
      showRules(false);
      $("rules-button").focus();
    } else if (!$("details").hidden && event.target !== $("words")) closeDetails();
    else focusView();
    event.preventDefault();
  } else if (event.key === "c" && !isTyping) {
    setView($("connections").hidden ? "connections" : "requests");
    focusView();
  } else if (event.key === "h" && !isTyping) selectHeld();
}

function moveTab(event) {
  const buttons = [...$("tabs").children], place = buttons.indexOf(document.activeElement);
  const targets = { ArrowRight: place + 1, ArrowLeft: place - 1 + buttons.length, Home: 0, End: buttons.length - 1 };
  if (place < 0 || !(event.key in targets)) return;
  event.preventDefault();
  buttons[targets[event.key] % buttons.length].click();
}

function listen() {
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("input", refresh);
  $("zoom").addEventListener("input", () => { view.isZoomChosen = true; });
  $("grid").addEventListener("scroll", () => drawRows());
  $("grid").addEventListener("keydown", moveSelection);
  $("rows").addEventListener("click", (event) => {
    const element = event.target.closest(".row");
    if (element) select(view.shown[Number(element.getAttribute("aria-rowindex")) - 2]);
  });
  for (const name of ["requests", "connections"]) $(`show-${name}`).addEventListener("click", () => setView(name));
  $("connections").addEventListener("keydown", moveLink);
  $("connection-filter").addEventListener("click", () => filterByConnection(""));
  $("more-connections").addEventListener("click", () => {
    connectionView.shown += 200;
    drawConnections();
  });
  listenForChanges();
  $("tabs").addEventListener("keydown", moveTab);
  $("close").addEventListener("click", closeDetails);
  $("pause").addEventListener("click", togglePause);
  $("clear").addEventListener("click", clear);
  $("export").addEventListener("click", () =>
    download(`${fileName()}.har`, [JSON.stringify(exportedLog(view.shown), null, 2)], "application/json"));
  $("save").addEventListener("click", () => download(`${fileName()}.html`, [savedPage()], "text/html"));
  document.addEventListener("keydown", pressed);
  new ResizeObserver(() => drawRows(true)).observe($("grid"));
}

function load() {
  const name = JSON.parse($("recording-name").textContent || '""');
  $("name").textContent = line(text(name)) || "Inspector";
  document.title = `${$("name").textContent} – loadkit`;
  if (recorded.trim() === "") return connect(new URLSearchParams(location.search).get("token") ?? "");
  const { entries, ...log } = object(JSON.parse(recorded).log);
  store.log = log;
  for (const entry of list(entries)) addEntry(entry);
}

listen();
try {
  load();
} catch (error) {
  notice(`The recording cannot be read: ${error.message}`);
}
refresh();
performance.mark("drawn");
