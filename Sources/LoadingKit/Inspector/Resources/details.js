// MARK: Details

const tabs = [
  ["held", "Held", showHold, (row) => row.hold && live.allowsChanges],
  ["overview", "Overview", showOverview], ["request", "Request", showRequest], ["response", "Response", showResponse],
  ["bodies", "Bodies", showBodies], ["messages", "Messages", showMessages, (row) => row.kind === "websocket"],
  ["connections", "Connections", showConnections],
];

function showDetails() {
  const row = view.selected, panel = $("panel");
  row.isChanged = false;
  const wasHidden = $("details").hidden;
  $("details").hidden = false;
  if (wasHidden) drawRows();
  const available = tabs.filter(([, , , isAvailable]) => isAvailable === undefined || isAvailable(row));
  const tab = available.some(([id]) => id === view.tab) ? view.tab : "overview";
  const hadFocus = $("tabs").contains(document.activeElement);
  $("tabs").replaceChildren(...available.map(([id, title]) => make("button", {
    type: "button", role: "tab", id: `tab-${id}`, "aria-selected": String(id === tab), "aria-controls": "panel",
    tabindex: id === tab ? 0 : -1, text: title,
    click: () => { view.tab = id; showDetails(); $(`tab-${id}`).focus(); },
  })));
  if (hadFocus) $(`tab-${tab}`).focus();
  $(`tab-${tab}`).scrollIntoView({ block: "nearest", inline: "nearest" });
  panel.setAttribute("aria-labelledby", `tab-${tab}`);
  const isSame = panel.row === row && panel.tab === tab, scroll = panel.scrollTop;
  // Events do not change a form that is edited.
  if (isSame && tab === "held" && panel.hold === row.hold) return;
  const wasInPanel = panel.contains(document.activeElement);
  [panel.row, panel.tab, panel.hold] = [row, tab, row.hold];
  redraw(panel, tabs.find(([id]) => id === tab)[2](row), isSame);
  panel.scrollTop = isSame ? scroll : 0;
  if (wasInPanel && !panel.contains(document.activeElement)) $(`tab-${tab}`).focus();
}

// Replaces an element's children. The control with the focus, if it is among the new ones, has it again.
function redraw(element, children, keepsFocus = true) {
  const controls = () => [...element.querySelectorAll("button, summary, [tabindex]")];
  const focused = document.activeElement, place = keepsFocus ? controls().indexOf(focused) : -1;
  const keyOf = (control) => control.dataset.key ?? control.textContent;
  const isSame = (control) => control.tagName === focused.tagName && keyOf(control) === keyOf(focused);
  element.replaceChildren(...children);
  if (place < 0) return;
  const now = controls();
  (now[place] && isSame(now[place]) ? now[place] : now.find(isSame))?.focus({ preventScroll: true });
}

function closeDetails() {
  $("details").hidden = true;
  focusView();
  select(view.selected, false);
}

const heading = (title) => make("h2", { text: title });
const note = (words) => make("p", { class: "note", text: words });
const button = (title, click) => make("button", { type: "button", text: title, click });

// A table of names and values; values that are missing have no row.
function facts(label, rows) {
  const present = rows.filter(([, value]) => value !== "" && value !== undefined);
  if (present.length === 0) return [];
  return [make("table", { "aria-label": label }, make("tbody", {}, ...present.map(([name, value]) => make(
    "tr", {}, make("th", { scope: "row", text: line(name) }), valueCell(value)))))];
}

function valueCell(value) {
  const cell = make("td", { class: "code" }, make("bdi", { text: visible(value) }));
  if (isRedacted(value)) cell.append(" ", make("span", { class: "mark", text: "redacted" }));
  return cell;
}
const isRedacted = (value) => /\((redacted)\)|\[redacted\]|%28redacted%29/i.test(value);

function showOverview(row) {
  const { entry, response } = row;
  const cache = object(entry.cache);
  const sizes = row.status > 0 ? [response.headersSize, response.bodySize, row.content.size] : [];
  // An entry that identifies its connection has the port beside.
  const port = text(entry._connectionId) === "" ? "" : text(entry.connection);
  return [
    make("p", { class: "title", text: visible(`${row.method} ${row.url.slice(0, 4000)}`) }),
    make("div", { class: "tools" }, button("Copy as curl", () => copy(curl(row), "The curl command")),
      button("Copy URL", () => copy(row.url, "The URL"))),
    ...problems(row),
    ...facts("Overview", [
      ["Status", row.isPending ? row.state : `${statusText(row)} ${text(response.statusText)}`.trim()],
      ["Started", text(entry.startedDateTime)], ["Time", row.time < 0 ? "" : timeText(row.time)],
      ["Protocol", row.protocol], ["Type", text(row.content.mimeType)],
      ["Server's address", row.address], ["Connection", connectionName(row)],
      ["Port", port], ["TLS", tlsText(entry)], ["Head of the response", sizeFact(sizes[0])],
      ["Body as received", sizeFact(sizes[1])], ["Body decoded", sizeFact(sizes[2])],
      ["Cache", cacheText(row, cache)], ["Redirect to", text(response.redirectURL)],
      ["Session", sessionName(row.session)], ["Comment", text(entry.comment)],
    ]),
    heading("Phases"), phaseTable(row),
    ...decisionList(row), ...otherMembers(row),
  ];
}

const sizeFact = (value) => (number(value) >= 0 ? `${number(value).toLocaleString("en")} bytes` : "");

function problems(row) {
  const chain = [row.error, ...[...list(row.response._errorChain), ...list(row.entry._errorChain)].map(text)];
  const code = text(row.response._urlErrorCode);
  const found = [...new Set(chain.filter((words) => words !== ""))].slice(0, 50);
  if (found.length === 0 && row.isFailed && row.status <= 0) found.push("There is no response.");
  return found.map((words, index) => make("p", {
    class: "problem",
    text: (index === 0 ? "Error: " : "because: ") + visible(words) + (index === 0 && code ? ` (${code})` : ""),
  }));
}

function tlsText(entry) {
  const details = object(entry._securityDetails ?? entry.response?._securityDetails);
  return text(entry._tls) || text(entry._tlsVersion) || text(details.protocol) || text(entry._securityState);
}

function cacheText(row, cache) {
  const parts = [];
  if (row.cache) parts.push(row.cache === "cache" ? "from the cache" : `from the cache: ${row.cache}`);
  if (row.status === 304) parts.push("validated: the stored response is still good");
  for (const [name, title] of [["beforeRequest", "stored before"], ["afterRequest", "stored after"]]) {
    const state = object(cache[name]);
    const until = text(state.expires) ? `, until ${text(state.expires)}` : "";
    if (Object.keys(state).length > 0) parts.push(title + until);
  }
  return parts.join("; ");
}

function phaseTable(row) {
  const bars = row.phases.map((phase) => {
    const cell = make("td", { class: "bars" });
    drawPhases(cell, { ...row, start: 0, phases: [phase] }, 0, Math.max(row.time, 0.001));
    const swatch = make("span", { class: `swatch ${phase.name}` });
    return make("tr", {}, make("th", { scope: "row" }, swatch, phaseNames[phase.name]),
      make("td", { class: "number", text: timeText(phase.start) }),
      make("td", { class: "number", text: timeText(phase.time) }), cell);
  });
  if (bars.length === 0) return note("The recording has no times of this load.");
  const head = make("tr", {}, ...["Phase", "Start", "Time", "On the load's axis"].map((title, index) =>
    make("th", { scope: "col", text: title, class: index % 3 ? "number" : "" })));
  const parts = [make("thead", {}, head), make("tbody", {}, ...bars)];
  return make("table", { class: "phases", "aria-label": "Phases" }, ...parts);
}

function decisionList(row) {
  const decisions = decisionsOf(row);
  if (decisions.length === 0) return [];
  const time = (decision) => (number(decision.time) < 0 ? "" : offsetText(number(decision.time) - row.start));
  return [heading(`Decisions (${decisions.length})`), decisionTable("Decisions", decisions, time)];
}

function decisionTable(label, decisions, timeOf) {
  const rows = decisions.map((decision) => make("tr", {},
    make("td", { class: "number", text: timeOf(decision) }),
    make("th", { scope: "row", text: line(text(decision.kind)) || "decision" }),
    make("td", {}, make("bdi", { text: visible(text(decision.text)) }))));
  const head = make("tr", {}, ...["Time", "Kind", "Reason"].map((title, index) =>
    make("th", { scope: "col", text: title, class: index ? "" : "number" })));
  const parts = [make("thead", {}, head), make("tbody", {}, ...rows)];
  return make("table", { class: "decisions", "aria-label": label }, ...parts);
}

// Members that the format does not define, such as those of browsers.
function otherMembers(row) {
  const own = new Set([
    "id", "session", "state", "error", "errorChain", "urlErrorCode", "decisions", "webSocketMessages", "connectionId",
    "tls", "tlsVersion", "fromCache",
  ]);
  const found = [["", row.entry], ["request.", row.request], ["response.", row.response]].flatMap(([place, part]) =>
    Object.keys(part).filter((name) => name[0] === "_" && !own.has(name.slice(1)) && part[name] !== null)
      .map((name) => tree(part[name], place + name, false)));
  return found.length === 0 ? [] : [heading("Other members"), make("div", { class: "tree" }, ...found.slice(0, 200))];
}

const pairs = (values) => list(values).map(object).slice(0, 2000).map((pair) => [text(pair.name), text(pair.value)]);

function headParts(part, first, label) {
  const fields = pairs(part.headers), cookies = pairs(part.cookies);
  return [
    make("p", { class: "title", text: visible(first) }),
    heading(`Fields (${fields.length})`), ...facts(`Fields of the ${label}`, fields),
    ...(fields.length ? [] : [note("None.")]),
    ...(cookies.length ? [heading(`Cookies (${cookies.length})`), ...facts(`Cookies of the ${label}`, cookies)] : []),
  ];
}

function showRequest(row) {
  const query = pairs(row.request.queryString);
  const target = row.path + (row.url.length > 4000 ? "…" : "");
  return [
    ...headParts(row.request, `${row.method} ${target} ${text(row.request.httpVersion)}`, "request"),
    ...(query.length ? [heading(`Query (${query.length})`), ...facts("Query", query)] : []),
    heading("As a curl command"), make("pre", { id: "curl", text: visible(curl(row)) }),
    make("div", { class: "tools" }, button("Copy as curl", () => copy(curl(row), "The curl command"))),
  ];
}

function showResponse(row) {
  if (row.isPending && row.status <= 0) return [note("There is no response yet.")];
  if (row.status <= 0) return [...problems(row)];
  const { response } = row;
  const first = `${text(response.httpVersion)} ${row.status} ${text(response.statusText)}`;
  return headParts(response, first.trim(), "response");
}
