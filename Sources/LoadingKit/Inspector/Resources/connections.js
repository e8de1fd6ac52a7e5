// MARK: Messages and connections

function showMessages(row) {
  const messages = list(row.entry._webSocketMessages).map(object);
  if (messages.length === 0) return [note("No messages are recorded.")];
  const rows = make("tbody", {});
  const more = button("Show more", () => extend());
  const extend = () => {
    const start = rows.children.length;
    rows.append(...messages.slice(start, start + 500).map((message) => messageRow(row, message)));
    more.hidden = rows.children.length >= messages.length;
  };
  extend();
  const titles = ["Direction", "Time", "Size", "Message"];
  const head = make("tr", {}, ...titles.map((title) => make("th", { scope: "col", text: title })));
  const parts = [make("thead", {}, head), rows];
  const table = make("table", { "aria-label": "Messages", class: "messages" }, ...parts);
  return [note(plural(messages.length, "message")), table, more];
}

function messageRow(row, message) {
  const data = text(message.data), isBinary = number(message.opcode) === 2;
  const bytes = isBinary ? decodeBase64(data) : undefined;
  const count = bytes?.length ?? new TextEncoder().encode(data).length;
  const shown = bytes
    ? make("pre", { class: "hex", tabindex: 0, "aria-label": "Bytes", text: hexLines(bytes, 0, Math.min(count, 64)) })
    : make("bdi", { text: visible(data.slice(0, 2000)) + (data.length > 2000 ? "…" : "") });
  const time = number(message.time) * 1000 - row.start;
  return make("tr", {}, make("td", { text: text(message.type) === "send" ? "↑ sent" : "↓ received" }),
    make("td", { text: Number.isFinite(time) && time >= 0 ? timeText(time) : "" }),
    make("td", { text: bytesText(count) }), make("td", { class: "code" }, shown));
}

// The identifier of an entry's connection: LoadingKit's and browsers' own, else the address and port alone.
function connectionName(row) {
  const own = text(row.entry._connectionId), connection = text(row.entry.connection);
  if (own !== "") return `${row.address || row.host} #${own}`;
  // A running program names connections by identifiers alone.
  if (connection === "" || connection === "0" || live.source) return "";
  // Some programs record the port of the server alone, as HAR permits.
  const port = /:(\d+)$/.exec(row.host)?.[1] ?? (/^(http|ws)$/.test(row.scheme) ? "80" : "443");
  return `${row.address || row.host}${connection === port ? ", port " : " #"}${connection}`;
}

// An entry's connection: a known one's identifier, else its name.
function connectionKey(row) {
  const own = text(row.entry._connectionId) || text(row.entry.connection);
  return store.connections.has(own) ? own : connectionName(row);
}

// All connections with the loads that they carried. Closed ones are last, beginning with the one that closed last.
function connectionItems() {
  const items = new Map();
  for (const known of store.connections.values()) items.set(known.id, { key: known.id, known, rows: [] });
  for (const row of store.rows) {
    const key = connectionKey(row);
    if (key === "") continue;
    if (!items.has(key)) items.set(key, { key, known: undefined, rows: [] });
    items.get(key).rows.push(row);
  }
  const all = [...items.values()], isLast = (item) => item.known && isClosed(item.known);
  const open = all.filter((item) => !isLast(item)), closed = all.filter(isLast).reverse();
  open.sort((a, b) => (a.known?.order ?? Infinity) - (b.known?.order ?? Infinity) || 0);
  return [...open, ...closed].slice(0, connectionLimit);
}

function showConnections(row) {
  const key = connectionKey(row), open = () => { setView("connections"); focusView(); };
  const all = make("div", { class: "tools" }, button("Show all connections", open));
  if (key === "") return [note("No connection is recorded for this request."), all];
  const item = connectionItems().find((other) => other.key === key) ?? { key, known: undefined, rows: [row] };
  const links = item.rows.slice(0, 200).map((other) => make("div", {}, loadLink(other)));
  if (item.rows.length > 200) links.push(note(`${item.rows.length - 200} more`));
  const group = make("tbody", {});
  fillConnection(group, item);
  return [
    connectionTable("Connection of this request", [group]), all,
    heading(plural(item.rows.length, "request")), ...links,
  ];
}

// A button that selects a load.
function loadLink(row) {
  const target = `${row.host}${row.path.slice(0, 200)}`;
  return make("button", {
    type: "button", class: "link",
    text: `${statusText(row)} ${line(row.method)} ${target}${row.isPending ? "" : ` (${timeText(row.time)})`}`,
    "aria-current": row === view.selected ? "true" : undefined,
    click: () => { view.tab = "overview"; select(row); $("tab-overview").focus(); },
  });
}

function connectionTable(label, groups) {
  const titles = ["Connection", "State", "Protocol", "Requests", "Received", "Send window", "Receive window"];
  const cells = titles.map((title, index) => make("th", { scope: "col", text: title, class: cellNames[index] }));
  const head = make("tr", {}, ...cells);
  return make("table", { class: "connections", "aria-label": label }, make("thead", {}, head), ...groups);
}
const cellNames = ["what", "state", "kind", "number count", "number bytes", "window", "window"];

const streamsShown = 100;

// A connection's row, and a row for each of its open streams.
function fillConnection(group, item) {
  const known = object(item.known), { rows } = item, first = object(rows[0]);
  const streams = known.openStreams ?? [];
  const size = rows.reduce((total, row) => total + Math.max(row.size, 0), 0);
  const count = Math.max(number(known.requests), rows.length);
  const name = item.known ? knownName(known) : connectionName(rows[0]);
  const protocol = protocolName(text(known.protocol)) || first.protocol || "";
  const from = text(known.local) ? `, which comes from ${text(known.local)}` : "";
  const link = make("button", {
    type: "button", class: "link", text: line(name).slice(0, 200), "data-key": "connection",
    title: line(`Shows the requests of this connection${from}`).slice(0, 300),
    click: () => filterByConnection(item.key),
  });
  const words = [protocol, text(known.tls) || (rows[0] ? tlsText(first.entry) : "")].filter((word) => word !== "");
  const cells = [
    make("th", { scope: "row" }, link), stateCell(known, streams.length),
    make("td", { text: line(words.join(" · ")).slice(0, 80) }),
    make("td", { text: count.toLocaleString("en") }), make("td", { text: rows.length ? bytesText(size) : "–" }),
    ...windowCells(known, known.largest),
  ];
  cells.forEach((cell, index) => cell.classList.add(...cellNames[index].split(" ")));
  const lines = [make("tr", { class: isClosed(known) ? "connection closed" : "connection" }, ...cells)];
  lines.push(...streams.slice(0, streamsShown).map((stream) => streamRow(stream, known.largestOfStreams)));
  if (streams.length > streamsShown) {
    const words = `${streams.length - streamsShown} more streams`;
    lines.push(make("tr", {}, make("td", { colspan: 7, class: "note", text: words })));
  }
  redraw(group, lines);
}

const knownName = (known) => `${text(known.remote) || "not connected"} #${known.id}`;

function stateCell(known, listed) {
  const state = text(known.state), open = Math.max(number(known.streams), listed);
  const name = state === "active" ? "chip is-active" : "chip", unknown = live.source ? "gone" : "recorded";
  const cell = make("td", {}, make("span", { class: name, text: line(state).slice(0, 20) || unknown }));
  if (!isClosed(known) && open > 0) cell.append(` ${plural(open, "stream")}`);
  if (text(known.reason)) cell.append(" ", make("bdi", { text: visible(text(known.reason).slice(0, 300)) }));
  return cell;
}

function streamRow(stream, largest) {
  const row = store.places.get(text(stream.entry)), name = `#${text(stream.id).slice(0, 12)}`;
  const target = row ? ` ${line(row.method)} ${row.host}${row.path}` : "";
  const title = row ? make("button", {
    type: "button", class: "link", text: (name + target).slice(0, 300), title: target.trim().slice(0, 600),
    "data-key": `stream ${name}`, "aria-current": row === view.selected ? "true" : undefined,
    click: () => select(row),
  }) : name;
  const cells = [
    make("th", { scope: "row", "aria-label": `Stream ${name}` }, title),
    make("td", { text: line(text(stream.state)).slice(0, 40) }), make("td"), make("td"), make("td"),
    ...windowCells(stream, largest),
  ];
  cells.forEach((cell, index) => cell.classList.add(...cellNames[index].split(" ")));
  return make("tr", { class: "stream" }, ...cells);
}

const windowCells = (part, largest) =>
  [windowCell(part.sendWindow, largest?.send), windowCell(part.receiveWindow, largest?.receive)];

const fullWindow = "Nothing more is sent until the receiver has room";

// A window's octets, and a bar. An empty one stops what it is for (RFC 9113, section 5.2).
function windowCell(value, largest) {
  const size = integer(value), cell = make("td");
  if (size === undefined) return cell;
  const bar = make("span", { class: "meter", "aria-hidden": "true" }, make("span", {}));
  bar.firstChild.style.width = `${Math.min(Math.max((size / Math.max(largest, 1)) * 100, 0), 100)}%`;
  cell.append(make("span", { text: size.toLocaleString("en").replace("-", "−") }));
  if (size <= 0) cell.append(" ", make("span", { class: "mark", text: "full", title: fullWindow }));
  cell.append(bar);
  return cell;
}

// MARK: The view of all connections

const connectionView = { groups: new Map(), shown: 200, isScheduled: false };

// A group of rows is drawn anew only where its connection or its loads have changed. Many that change at once are
// drawn in several frames.
function drawConnections() {
  if ($("connections").hidden) return;
  const end = performance.now() + 20;
  let isComplete = true;
  const items = connectionItems(), shown = items.slice(0, connectionView.shown), groups = new Map();
  for (const item of shown) {
    const group = connectionView.groups.get(item.key) ?? make("tbody", {});
    const size = item.rows.reduce((total, row) => total + Math.max(row.size, 0), 0);
    const links = list(item.known?.openStreams).map((stream) => store.places.has(text(stream.entry)));
    const stamp = [item.rows.length, size, links.join(), text(view.selected?.entry._id)].join("/");
    groups.set(item.key, group);
    if (group.known === item.known && group.stamp === stamp) continue;
    if (performance.now() > end) {
      isComplete = false;
      continue;
    }
    fillConnection(group, item);
    [group.known, group.stamp] = [item.known, stamp];
  }
  if (!isComplete && !connectionView.isScheduled) {
    connectionView.isScheduled = true;
    requestAnimationFrame(() => {
      connectionView.isScheduled = false;
      drawConnections();
    });
  }
  connectionView.groups = groups;
  const table = $("connection-table"), wanted = [...groups.values()];
  if (table.children.length === 0) table.append(connectionTable("Connections", []));
  placeGroups(table.firstChild, wanted);
  const closed = items.filter((item) => item.known && isClosed(item.known)).length;
  const words = [plural(items.length, "connection"), closed > 0 && `${closed.toLocaleString("en")} closed`];
  $("connection-count").textContent = words.filter(Boolean).join(", ");
  table.hidden = items.length === 0;
  $("more-connections").hidden = items.length <= shown.length;
  $("more-connections").textContent = `Show ${items.length - shown.length} more`;
  drawSessionDecisions();
}

// Puts the groups into their order. One that has its place is not moved: it may have the focus.
function placeGroups(table, wanted) {
  const kept = new Set(wanted);
  for (const group of [...table.tBodies]) if (!kept.has(group)) group.remove();
  let next = table.tBodies[0] ?? null;
  for (const group of wanted) {
    if (next === group) {
      next = next.nextElementSibling;
      continue;
    }
    const focused = group.contains(document.activeElement) ? document.activeElement : undefined;
    table.insertBefore(group, next);
    focused?.focus({ preventScroll: true });
  }
}

function drawSessionDecisions() {
  const all = store.sessionDecisions, place = $("session-decisions"), last = all.at(-1);
  place.hidden = all.length === 0;
  if (place.last === last) return;
  place.last = last;
  place.firstElementChild.textContent = `Decisions of sessions (${all.length})`;
  const shown = all.slice(-200).reverse().map((decision) => {
    const session = line(sessionName(decision.session)).slice(0, 80);
    return { ...decision, text: `${session ? `${session}: ` : ""}${decision.text}` };
  });
  const time = (decision) => (decision.time < 0 ? "" : clockText(decision.time));
  $("session-decision-list").replaceChildren(decisionTable("Decisions of sessions, latest first", shown, time));
}

function setView(name) {
  for (const id of ["requests", "connections"]) $(`show-${id}`).setAttribute("aria-pressed", String(id === name));
  for (const id of ["list", "filters"]) $(id).hidden = name !== "requests";
  $("connections").hidden = name !== "connections";
  if (matchMedia("(max-width: 640px)").matches) $("details").hidden = true;
  refresh();
}

const focusView = () => ($("list").hidden ? $("connections") : $("grid")).focus();

function filterByConnection(key) {
  view.connection = key;
  const known = store.connections.get(key), name = line(known ? knownName(known) : key).slice(0, 60);
  $("connection-filter").hidden = key === "";
  $("connection-filter").textContent = `Connection ${name} ✕`;
  $("connection-filter").setAttribute("aria-label", `Connection ${name}: show the requests of all`);
  setView("requests");
  focusView();
}

// The arrows move between the links of the connections' view.
function moveLink(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const links = [...$("connections").querySelectorAll("button, summary")].filter((link) => link.checkVisibility());
  const place = links.indexOf(document.activeElement);
  event.preventDefault();
  links[Math.min(Math.max(place + step, 0), links.length - 1)]?.focus();
}
