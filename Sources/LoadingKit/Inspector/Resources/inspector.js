"use strict";
// Shows the entries of a recording (HAR 1.2), or of a running program. All texts of a recording are hostile: they are
// shown by textContent alone, and the page's policy permits no other script and no network.
(() => {
  const $ = (id) => document.getElementById(id);
  const recorded = $("recording").textContent;
  $("recording").replaceChildren();
  // The page without data, for saved copies.
  const blank = document.documentElement.cloneNode(true);

  // MARK: Values of any type, as the type that is expected

  const object = (value) => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : {});
  const list = (value) => (Array.isArray(value) ? value : []);
  const text = (value) => (["string", "number", "boolean"].includes(typeof value) ? String(value) : "");
  const number = (value) => {
    const parsed = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof parsed === "number" && Number.isFinite(parsed) ? parsed : -1;
  };
  // A whole number, which may be negative, as an HTTP/2 window; else undefined.
  const integer = (value) => (Number.isSafeInteger(value) ? value : undefined);

  // Characters that cannot be seen, or that reorder text, as escapes.
  const hidden =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
  const visible = (string) =>
    string.replace(hidden, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  const line = (string) => visible(string).replace(/[\n\t]/g, " ");

  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name === "text") element.textContent = value;
      else if (name === "class") element.className = value;
      else if (name === "click") element.addEventListener("click", value);
      else if (value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  const bytesText = (count) => {
    if (count < 0) return "–";
    if (count < 1000) return `${count} B`;
    const units = ["kB", "MB", "GB", "TB"];
    const power = Math.min(Math.floor(Math.log10(count) / 3), 4);
    const value = count / 1000 ** power;
    return `${value.toFixed(value < 9.95 ? 1 : 0)} ${units[power - 1]}`;
  };
  const timeText = (ms) => {
    if (ms < 0) return "–";
    if (ms === 0) return "0 ms";
    if (ms < 1) return `${Math.round(ms * 1000)} µs`;
    if (ms < 1000) return `${ms.toFixed(ms < 9.95 ? 1 : 0)} ms`;
    if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 9950 ? 2 : 1)} s`;
    return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  };
  // A time from the start of a load.
  const offsetText = (ms) => (Number.isFinite(ms) ? `${ms < 0 ? "−" : "+"}${timeText(Math.abs(ms))}` : "");
  const clockText = (ms) => {
    const date = new Date(ms);
    if (Number.isNaN(date.getTime())) return "";
    return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
  };
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

  // MARK: Rows: what the list shows of an entry

  const phaseNames = {
    blocked: "Waiting for a connection", dns: "Name lookup", connect: "Connecting", ssl: "TLS handshake",
    send: "Sending the request", wait: "Waiting for the response", receive: "Receiving the response", total: "Load",
  };
  const pendingStates = ["waiting", "active", "held"];

  function makeRow(entry, order) {
    const request = object(entry.request), response = object(entry.response), content = object(response.content);
    const url = text(request.url);
    const parts = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:[^/?#]*@)?([^/?#]*))?([^]*)$/i.exec(url) ?? ["", "", "", url];
    const state = text(entry._state) || "done";
    const isPending = pendingStates.includes(state);
    const status = number(response.status);
    const error = text(response._error) || text(entry._error);
    const mime = text(content.mimeType).split(";")[0].trim().toLowerCase();
    const row = {
      entry, order, request, response, content, url, state, isPending, status, error, mime,
      method: text(request.method), scheme: parts[1].toLowerCase(), session: text(entry._session),
      host: line(parts[2] || (parts[1] ? parts[1] + ":" : "")).slice(0, 300), path: line(parts[3].slice(0, 600)),
      address: text(entry.serverIPAddress),
      protocol: protocolName(text(response.httpVersion) || text(request.httpVersion)),
      cache: text(entry._fromCache) || (/^From the cache/i.test(text(entry.comment)) ? "cache" : ""),
      size: status > 0 || isPending ? transferred(entry, response, content) : -1,
    };
    row.kind = kindOf(row, text(entry._resourceType));
    row.isFailed = !isPending && (state === "failed" || error !== "" || status <= 0 || status >= 400);
    row.start = Date.parse(text(entry.startedDateTime));
    row.phases = phases(object(entry.timings));
    const sum = row.phases.reduce((total, phase) => total + phase.time, 0);
    row.time = Math.max(number(entry.time), sum, isPending ? -1 : 0);
    if (row.phases.length === 0 && row.time > 0) row.phases = [{ name: "total", start: 0, time: row.time }];
    row.words = [row.method, url.slice(0, 4000), row.status, row.mime, row.kind, row.address, error, state]
      .join(" ").toLowerCase();
    return row;
  }

  function protocolName(version) {
    const name = version.toLowerCase();
    if (/^(http\/2(\.0)?|h2)$/.test(name)) return "HTTP/2";
    if (/^(http\/3(\.0)?|h3(-\d+)?)$/.test(name)) return "HTTP/3";
    if (name === "unknown") return "";
    return line(name.startsWith("http/") ? version.toUpperCase() : version).slice(0, 20);
  }

  // The bytes of the response as received; else those of its body.
  function transferred(entry, response, content) {
    if (number(response._transferSize) >= 0) return number(response._transferSize);
    const body = number(response.bodySize);
    return body >= 0 ? body + Math.max(number(response.headersSize), 0) : number(content.size);
  }

  function kindOf(row, resource) {
    const mime = row.mime;
    if (/^wss?$/.test(row.scheme) || resource === "websocket" || row.entry._webSocketMessages) return "websocket";
    if (/json/.test(mime)) return "json";
    if (/html/.test(mime)) return "html";
    if (/javascript|ecmascript/.test(mime)) return "script";
    if (mime === "text/css") return "style";
    if (/^image\//.test(mime)) return "image";
    if (/^font\/|font/.test(mime)) return "font";
    if (/^(audio|video)\//.test(mime)) return "media";
    if (/xml/.test(mime)) return "xml";
    if (/^text\//.test(mime)) return "text";
    return mime && mime !== "x-unknown" ? "other" : "";
  }

  // The phases that took place. HAR counts TLS as a part of `connect`.
  function phases(timings) {
    const found = [];
    let start = 0;
    for (const name of Object.keys(phaseNames)) {
      let time = number(timings[name]);
      const ssl = number(timings.ssl);
      if (name === "connect" && ssl > 0 && time >= ssl) time -= ssl;
      if (name === "total" || time <= 0) continue;
      found.push({ name, start, time });
      start += time;
    }
    return found;
  }

  const isHeld = (row) => row.hold !== undefined || row.state === "held";

  function statusText(row) {
    if (isHeld(row)) return "held";
    if (row.isPending) return row.state;
    if (row.error === "cancelled" || row.error === "net::ERR_ABORTED") return "✕ cancelled";
    if (row.error !== "" || row.status <= 0 || row.state === "failed") return "✕ failed";
    return `${row.status >= 400 ? "! " : ""}${row.status}${row.cache ? " cache" : ""}`;
  }
  const statusClass = (row) =>
    isHeld(row) ? "held" : row.isPending ? "pending"
      : row.error !== "" || row.status <= 0 ? "error" : `s${String(row.status)[0]}`;

  // MARK: The store

  const limit = 20_000;
  const store = {
    log: {}, rows: [], places: new Map(), order: 0, connections: new Map(), decisions: new Map(), decisionCount: 0,
    sessionDecisions: [], holds: new Map(), rules: [],
  };
  const sessionNames = new Map();

  function addEntry(entry) {
    entry = object(entry);
    const id = text(entry._id);
    const known = id === "" ? undefined : store.places.get(id);
    const row = makeRow(entry, known ? known.order : store.order++);
    if (Number.isNaN(row.start)) row.start = store.rows.at(-1)?.start ?? 0;
    if (known) {
      // The list's order and the selection refer to the row itself.
      return Object.assign(known, row, { isStub: false });
    }
    store.rows.push(row);
    if (id !== "") store.places.set(id, row);
    return row;
  }

  function dropOldest() {
    if (store.rows.length <= limit) return;
    const oldest = store.rows.splice(0, store.rows.length - limit);
    // A load that is held waits for the page's user.
    store.rows.unshift(...oldest.filter((row) => row.hold));
    for (const row of oldest.filter((row) => !row.hold)) {
      store.places.delete(text(row.entry._id));
      forgetDecisions(text(row.entry._id));
    }
    notice("Older requests are no longer shown.");
  }

  const decisionLimits = { load: 100, session: 1000, all: 100_000 };

  function addDecision(message) {
    const decision = {
      kind: text(message.kind).slice(0, 40), text: text(message.text).slice(0, 2000), time: number(message.time),
      session: text(message.session),
    };
    const id = text(message.entry);
    const known = id === "" ? store.sessionDecisions : store.decisions.get(id) ?? [];
    if (isRepeated(decision, known)) return;
    known.push(decision);
    if (known.length > 1 && known.at(-2).time > decision.time) known.sort((a, b) => a.time - b.time);
    if (known.length > (id === "" ? decisionLimits.session : decisionLimits.load)) known.shift();
    else if (id !== "") store.decisionCount++;
    if (id === "") return;
    store.decisions.set(id, known);
    while (store.decisionCount > decisionLimits.all) forgetDecisions(store.decisions.keys().next().value);
    const row = store.places.get(id);
    if (row) row.isChanged = true;
  }

  // After a reconnection the program sends again what it has sent. Its clock may give times that differ by some ms.
  function isRepeated(decision, known) {
    const isSame = (other) => other.kind === decision.kind && other.text === decision.text;
    for (let place = known.length - 1; place >= 0 && known[place].time > decision.time - 10; place--) {
      if (known[place].time < decision.time + 10 && isSame(known[place])) return true;
    }
    return false;
  }

  function forgetDecisions(id) {
    store.decisionCount -= store.decisions.get(id)?.length ?? 0;
    store.decisions.delete(id);
  }

  const connectionLimit = 1000;

  function addConnection(value) {
    const id = text(value.id), known = store.connections.get(id);
    const streams = list(value.openStreams).slice(0, 1000).map(object);
    store.connections.delete(id);
    store.connections.set(id, {
      ...value, id, openStreams: streams, order: known?.order ?? store.order++,
      largest: largestWindows([value], known?.largest),
      largestOfStreams: largestWindows(streams, known?.largestOfStreams),
    });
    if (store.connections.size > connectionLimit) store.connections.delete(oldestConnection());
    if (view.selected && connectionKey(view.selected) === id) view.selected.isChanged = true;
  }

  // The largest windows that there were, and 65,535, with which streams begin. Bars show windows as parts of them.
  function largestWindows(parts, known = { send: 65_535, receive: 65_535 }) {
    const largest = (name, start) => parts.reduce((most, part) => Math.max(most, integer(part[name]) ?? 0), start);
    return { send: largest("sendWindow", known.send), receive: largest("receiveWindow", known.receive) };
  }

  // The map has the connection last that has changed last.
  function oldestConnection() {
    for (const [id, connection] of store.connections) if (isClosed(connection)) return id;
    return store.connections.keys().next().value;
  }
  const isClosed = (connection) => text(connection.state) === "closed";

  const decisionsOf = (row) => [
    ...list(row.entry._decisions).map(object), ...(store.decisions.get(text(row.entry._id)) ?? []),
  ];

  // The entry as it is exported.
  function exported(row) {
    const decisions = decisionsOf(row), entry = completed(row);
    return decisions.length === 0 ? entry : { ...entry, _decisions: decisions };
  }

  // The entry with each member that HAR 1.2 requires. A load that has not ended lacks some, and browsers' developer
  // tools refuse a recording with such an entry.
  function completed(row) {
    const message = { httpVersion: "", cookies: [], headers: [], headersSize: -1, bodySize: -1 };
    const content = { size: 0, mimeType: "x-unknown", ...row.content };
    return {
      startedDateTime: new Date(row.start).toISOString(), time: 0, cache: {}, ...row.entry,
      request: { ...message, method: row.method, url: row.url, queryString: [], ...row.request },
      response: { ...message, status: 0, statusText: "", redirectURL: "", ...row.response, content },
      timings: { send: 0, wait: 0, receive: 0, ...object(row.entry.timings) },
    };
  }

  function exportedLog(rows) {
    const creator = { name: "LoadingKit", version: "1" };
    return { log: { version: "1.2", creator, pages: [], ...store.log, entries: rows.map(exported) } };
  }

  // MARK: Filter and order

  const columns = [
    ["method", "Method", (row) => row.method], ["host", "Host", (row) => row.host], ["path", "Path", (row) => row.path],
    ["status", "Status", (row) => row.status], ["type", "Type", (row) => row.kind],
    ["protocol", "Protocol", (row) => row.protocol], ["size", "Size", (row) => row.size],
    ["time", "Time", (row) => row.time], ["waterfall", "Start", (row) => row.start],
  ];
  const view = {
    shown: [], sort: "", descending: false, selected: undefined, tab: "overview", origin: 0, span: 1, connection: "",
  };
  const statusClasses = [
    ["1", "1xx"], ["2", "2xx"], ["3", "3xx"], ["4", "4xx"], ["5", "5xx"], ["none", "No response"],
    ["pending", "Not ended"], ["held", "Held"],
  ];

  function matcher() {
    const words = $("words").value.toLowerCase().split(/\s+/).filter((word) => word !== "" && word !== "-");
    const wanted = words.filter((word) => word[0] !== "-");
    const unwanted = words.filter((word) => word[0] === "-").map((word) => word.slice(1));
    const ids = ["method", "status", "type", "host", "session"];
    const [method, status, type, host, session] = ids.map((id) => $(id).value);
    const failed = $("failed").checked;
    return (row) =>
      (!failed || row.isFailed) && (method === "" || row.method === method) && (host === "" || row.host === host)
      && (type === "" || row.kind === type) && (session === "" || row.session === session)
      && (status === "" || (status === "held" ? isHeld(row) : statusClassOf(row) === status))
      && (view.connection === "" || connectionKey(row) === view.connection)
      && wanted.every((word) => row.words.includes(word)) && !unwanted.some((word) => row.words.includes(word));
  }
  const statusClassOf = (row) => (row.isPending ? "pending" : row.status <= 0 ? "none" : String(row.status)[0]);

  function refresh() {
    view.shown = store.rows.filter(matcher());
    const value = columns.find(([name]) => name === view.sort)?.[2] ?? ((row) => row.start);
    const sign = view.descending ? -1 : 1;
    view.shown.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return (x < y ? -sign : x > y ? sign : 0) || a.start - b.start || a.order - b.order;
    });
    // A long list shows the time of its visible rows, until the program's user decides.
    if (!view.isZoomChosen) $("zoom").checked = view.shown.length > 250;
    summarize();
    fillChoices();
    drawRows(true);
    drawConnections();
    drawHeld();
    if (view.selected && !$("details").hidden && view.selected.isChanged) showDetails();
  }

  // The times from the first start to the last end. Of visible rows, a few that end much later do not count.
  function extent(rows, isZoomed) {
    let first = Infinity, last = -Infinity;
    for (const row of rows) {
      first = Math.min(first, row.start);
      last = Math.max(last, row.start + Math.max(row.time, 0));
    }
    if (isZoomed && rows.length > 0) {
      const ends = rows.map((row) => row.start + Math.max(row.time, 0)).sort((a, b) => a - b);
      last = Math.min(last, first + (ends[Math.floor(ends.length * 0.95)] - first) * 1.1);
    }
    return rows.length === 0 ? [0, 1] : [first, Math.max(last - first, 0.001)];
  }

  function summarize() {
    const { shown } = view, all = store.rows.length;
    const failed = shown.reduce((count, row) => count + row.isFailed, 0);
    const size = shown.reduce((total, row) => total + Math.max(row.size, 0), 0);
    const total = plural(all, "request");
    const count = shown.length === all ? total : `${shown.length.toLocaleString("en")} of ${total}`;
    const time = timeText(shown.length ? extent(shown)[1] : 0);
    $("summary").textContent = `${count} · ${bytesText(size)} · ${time} · ${failed} failed`;
    $("export").textContent = shown.length === all ? "Export HAR" : `Export HAR (${shown.length})`;
    $("empty").hidden = shown.length > 0;
    const none = live.source ? "No request yet." : "No requests.";
    $("empty").textContent = all > 0 ? "No request matches the filter." : none;
  }

  // The choices of the filter, most frequent first. They are made anew only where they change.
  function fillChoices() {
    const count = (value) => {
      const counts = new Map();
      for (const row of store.rows) if (value(row) !== "") counts.set(value(row), (counts.get(value(row)) ?? 0) + 1);
      return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 200).map(([name]) => [name, line(name)]);
    };
    fill("method", count((row) => row.method));
    fill("type", count((row) => row.kind));
    fill("host", count((row) => row.host));
    fill("status", statusClasses.filter(([name]) => name !== "held" || live.allowsChanges));
    const sessions = count((row) => row.session).map(([id]) => [id, line(sessionName(id))]);
    $("sessions").hidden = sessions.length < 2;
    fill("session", sessions);
  }

  const sessionName = (id) => {
    const session = sessionNames.get(id);
    return session ? `${session.name || id}${session.isOver ? " (over)" : ""}` : id;
  };

  function fill(id, choices) {
    const key = JSON.stringify(choices), select = $(id);
    if (select.key === key) return;
    const chosen = select.value;
    select.key = key;
    const options = choices.map(([value, name]) => new Option(name.slice(0, 80), value));
    select.replaceChildren(new Option("All", ""), ...options);
    select.value = choices.some(([value]) => value === chosen) ? chosen : "";
  }

  // MARK: The list

  const drawn = new Map();
  let rowHeight = 26;

  function drawHead() {
    if ($("columns").children.length === 0) {
      $("columns").append(...columns.map(([name, title], index) => make(
        "div", { class: name, role: "columnheader", "aria-colindex": index + 1 },
        make("button", { type: "button", text: title, click: () => sortBy(name) }))));
    }
    columns.forEach(([name, title], index) => {
      const header = $("columns").children[index], isSorted = view.sort === name;
      if (isSorted) header.setAttribute("aria-sort", view.descending ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
      header.firstChild.textContent = isSorted ? `${title} ${view.descending ? "▼" : "▲"}` : title;
      if (name === "waterfall") drawTicks(header, isSorted);
    });
  }

  // A mark at each round time, as many as there is room for; the column's name stands at the first one.
  function drawTicks(header, isSorted) {
    const count = Math.min(Math.max(Math.floor(header.clientWidth / 75), 1), 6);
    const power = 10 ** Math.floor(Math.log10(view.span / count));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => view.span / n <= count) ?? view.span;
    $("grid").style.setProperty("--tick", `${Math.min((step / view.span) * 100, 100)}%`);
    const ticks = [];
    for (let time = step; time < view.span * 0.94 && ticks.length < 6; time += step) {
      const words = timeText(time).replace(".0 ", " ").replace(".00 ", " ");
      const tick = make("span", { class: "tick", text: words, "aria-hidden": "true" });
      tick.style.left = `${(time / view.span) * 100}%`;
      ticks.push(tick);
    }
    header.replaceChildren(header.firstChild, ...(isSorted ? ticks.slice(1) : ticks));
  }

  function sortBy(name) {
    if (view.sort !== name) [view.sort, view.descending] = [name, false];
    else if (!view.descending) view.descending = true;
    else [view.sort, view.descending] = ["", false];
    refresh();
  }

  function drawRows(isChanged = false) {
    const grid = $("grid"), body = $("rows");
    // The list is hidden in the view of connections, and beside the details of a narrow page. It is drawn when it is
    // back.
    if ($("list").hidden || grid.clientHeight === 0) return;
    rowHeight = parseFloat(getComputedStyle(body).getPropertyValue("--row-height")) || 26;
    body.style.height = `${view.shown.length * rowHeight}px`;
    grid.setAttribute("aria-rowcount", view.shown.length + 1);
    const first = Math.max(Math.floor(grid.scrollTop / rowHeight) - 8, 0);
    const end = Math.min(Math.ceil((grid.scrollTop + grid.clientHeight) / rowHeight) + 8, view.shown.length);
    const isZoomed = $("zoom").checked;
    const bottom = grid.scrollTop + grid.clientHeight - $("columns").offsetHeight;
    const visibleRows = view.shown.slice(Math.floor(grid.scrollTop / rowHeight), Math.ceil(bottom / rowHeight));
    [view.origin, view.span] = extent(isZoomed ? visibleRows : view.shown, isZoomed);
    if (isChanged || isZoomed) drawHead();
    for (const [index, element] of drawn) {
      if (index >= first && index < end) continue;
      element.remove();
      drawn.delete(index);
    }
    for (let index = first; index < end; index++) {
      const isNew = !drawn.has(index);
      const element = drawn.get(index) ?? make("div", { role: "row", class: "row", id: `row-${index}` });
      if (isNew || isChanged || isZoomed) fillRow(element, view.shown[index], index);
      if (isNew) {
        drawn.set(index, element);
        body.append(element);
      }
    }
    const place = view.shown.indexOf(view.selected);
    if (drawn.has(place)) grid.setAttribute("aria-activedescendant", `row-${place}`);
    else grid.removeAttribute("aria-activedescendant");
  }

  function fillRow(element, row, index) {
    element.setAttribute("aria-rowindex", index + 2);
    element.setAttribute("aria-selected", row === view.selected);
    element.classList.toggle("is-held", isHeld(row));
    element.style.transform = `translateY(${index * rowHeight}px)`;
    const texts = {
      method: line(row.method), host: row.host, path: row.path, status: statusText(row), type: row.kind,
      protocol: row.protocol,
      size: row.isPending && row.size <= 0 ? "" : bytesText(row.size), time: row.isPending ? "…" : timeText(row.time),
    };
    if (element.children.length === 0) {
      element.append(...columns.map(([name], column) => make(
        "div", { role: "gridcell", class: name, "aria-colindex": column + 1 })));
    }
    columns.forEach(([name], column) => {
      const cell = element.children[column];
      if (name === "waterfall") return drawPhases(cell, row, view.origin, view.span);
      cell.textContent = texts[name];
      if (name === "path" || name === "host") cell.title = texts[name];
      if (name === "status") {
        cell.className = `status ${statusClass(row)}`;
        cell.title = line(row.error || text(row.response.statusText));
      }
    });
  }

  function drawPhases(cell, row, origin, span) {
    const offset = row.start - origin;
    cell.replaceChildren(...row.phases.map((phase) => {
      const bar = make("div", { class: `phase ${phase.name}` });
      const left = Math.min(((offset + phase.start) / span) * 100, 99.8);
      bar.style.left = `${left}%`;
      bar.style.width = `${Math.min((phase.time / span) * 100, 100 - left)}%`;
      return bar;
    }));
    const words = `starts at ${timeText(offset)}, ${row.isPending ? row.state : "takes " + timeText(row.time)}`;
    cell.setAttribute("aria-label", words);
    cell.title = [words, ...row.phases.map((phase) => `${phaseNames[phase.name]}: ${timeText(phase.time)}`)].join("\n");
  }

  function select(row, opens = true) {
    if (row?.hold && row !== view.selected) view.tab = "held";
    view.selected = row;
    if (opens && row) showDetails();
    const place = view.shown.indexOf(row), grid = $("grid");
    if (place >= 0) {
      const top = place * rowHeight, space = grid.clientHeight - $("columns").offsetHeight;
      if (top < grid.scrollTop) grid.scrollTop = top;
      else if (top + rowHeight > grid.scrollTop + space) grid.scrollTop = top + rowHeight - space;
    }
    drawRows(true);
    drawConnections();
  }

  function moveSelection(event) {
    const place = view.shown.indexOf(view.selected), last = view.shown.length - 1;
    const page = Math.max(Math.floor($("grid").clientHeight / rowHeight) - 2, 1);
    const targets = {
      ArrowDown: place + 1, ArrowUp: place < 0 ? last : place - 1, Home: 0, End: last,
      PageDown: place + page, PageUp: place - page,
    };
    if (event.target !== $("grid") || last < 0) return;
    if (event.key in targets) {
      event.preventDefault();
      select(view.shown[Math.min(Math.max(targets[event.key], 0), last)], !$("details").hidden);
    } else if (event.key === "Enter" && view.selected) {
      event.preventDefault();
      select(view.selected);
      $("tabs").querySelector("[aria-selected=true]").focus();
    }
  }

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

  // MARK: Bodies

  function showBodies(row) {
    const post = object(row.request.postData), parameters = list(post.params).map(object);
    const sent = text(post.text) !== "" || parameters.length > 0 || post._omitted;
    return [
      heading("Request"),
      ...(sent ? body(post, row, "request") : [note("No body.")]),
      ...facts("Form", parameters.map((item) => [text(item.name), formValue(item)])),
      heading("Response"),
      ...body(row.content, row, "response"),
    ];
  }

  const formValue = (item) => (item.fileName ? `file ${text(item.fileName)}` : text(item.value));
  const encodingOf = (part) => (text(part._encoding) || text(part.encoding)).toLowerCase();
  const textShown = 200_000;
  const imageTypes = [
    "png", "jpeg", "gif", "webp", "avif", "bmp", "x-icon", "vnd.microsoft.icon", "svg+xml",
  ].map((name) => `image/${name}`);

  // The elements that show a body: `postData` of a request, or `content` of a response.
  function body(part, row, side) {
    const recordedText = text(part.text);
    if (recordedText === "") return [note(visible(text(part.comment)) || "No body is recorded.")];
    const type = text(part.mimeType).split(";")[0].trim().toLowerCase();
    const isBase64 = encodingOf(part) === "base64";
    const bytes = isBase64 ? decodeBase64(recordedText) : undefined;
    if (isBase64 && !bytes) return [note("The body is marked as base64, and is not."), ...textBody(recordedText)];
    const string = bytes ? decodeText(bytes) : recordedText;
    const content = bytes ?? new TextEncoder().encode(recordedText);
    const save = () => download(bodyName(row, side), [content], "application/octet-stream");
    const parts = [
      note(visible(`${type || "unknown type"}, ${content.length.toLocaleString("en")} bytes`)),
      make("div", { class: "tools" }, button("Save body", save)),
    ];
    if (imageTypes.includes(type)) {
      return [...parts, picture(content, type), ...(string === undefined ? [] : textBody(string))];
    }
    if (string === undefined) return [...parts, ...hexBody(bytes)];
    const value = /json/.test(type) || /^\s*[[{]/.test(string) ? parseJSON(string) : undefined;
    if (value === undefined) return [...parts, ...textBody(string)];
    const shape = make("div", { class: "tree" }, tree(value, "", true));
    const source = make("details", { class: "wire" }, make("summary", { text: "As text" }), ...textBody(string));
    return [...parts, shape, source];
  }

  function decodeBase64(string) {
    try {
      return Uint8Array.from(atob(string), (character) => character.charCodeAt(0));
    } catch {
      return undefined;
    }
  }

  function encodeBase64(bytes) {
    let binary = "";
    for (let start = 0; start < bytes.length; start += 8192) {
      binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
    }
    return btoa(binary);
  }

  function decodeText(bytes) {
    if (bytes.subarray(0, 4096).includes(0)) return undefined;
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      return undefined;
    }
  }

  function textBody(string) {
    const block = make("pre", { text: visible(string.slice(0, textShown)) });
    if (string.length <= textShown) return [block];
    const more = button(`Show all ${string.length.toLocaleString("en")} characters`, () => {
      block.textContent = visible(string);
      more.remove();
    });
    return [block, more];
  }

  function hexBody(bytes) {
    const block = make("pre", { class: "hex", tabindex: 0, "aria-label": "Bytes as hexadecimal digits" });
    const more = button("Show more", () => extend(16_384));
    let shown = 0;
    const extend = (count) => {
      const end = Math.min(shown + count, bytes.length);
      block.append(hexLines(bytes, shown, end));
      shown = end;
      more.hidden = shown >= bytes.length;
    };
    extend(2048);
    return [block, more];
  }

  function hexLines(bytes, start, end) {
    const lines = [];
    for (let offset = start; offset < end; offset += 16) {
      const part = [...bytes.subarray(offset, Math.min(offset + 16, end))];
      const digits = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(48);
      const characters = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
      lines.push(`${offset.toString(16).padStart(8, "0")}  ${digits} ${characters}\n`);
    }
    return lines.join("");
  }

  function picture(bytes, type) {
    const source = `data:${type};base64,${encodeBase64(bytes)}`;
    const image = make("img", { class: "picture", alt: `The body as an image, ${type}`, src: source });
    const size = note("");
    image.addEventListener("load", () => {
      size.textContent = `${image.naturalWidth} × ${image.naturalHeight} pixels`;
    });
    image.addEventListener("error", () => { size.textContent = "The browser cannot show this image."; });
    return make("div", {}, image, size);
  }

  // A number whose digits a JavaScript number does not keep.
  class LongNumber { constructor(source) { this.source = source; } }

  function parseJSON(string) {
    try {
      return JSON.parse(string, (_, value, context) => {
        const isLong = typeof value === "number" && context?.source !== undefined && String(value) !== context.source;
        return isLong ? new LongNumber(context.source) : value;
      });
    } catch {
      return undefined;
    }
  }

  // A tree whose branches are made when they are opened.
  function tree(value, name, isOpen) {
    const key = name === "" ? [] : [make("span", { class: "key", text: visible(name) }), ": "];
    if (value === null || typeof value !== "object" || value instanceof LongNumber) {
      const color = typeof value === "string" ? "word" : "figure";
      const source = value instanceof LongNumber ? value.source : JSON.stringify(value) ?? "";
      const word = make("span", { class: color, text: visible(source.slice(0, 20_000)) });
      return make("div", { class: "leaf" }, ...key, word);
    }
    const names = Object.keys(value), count = Array.isArray(value) ? `[${names.length}]` : `{${names.length}}`;
    const branch = make("details", {}, make("summary", {}, ...key, count));
    const fillBranch = () => { if (branch.children.length === 1) addMembers(branch, value, names, 0); };
    branch.addEventListener("toggle", () => { if (branch.open) fillBranch(); });
    if (isOpen) {
      fillBranch();
      branch.open = true;
    }
    return branch;
  }

  function addMembers(branch, value, names, start) {
    const end = Math.min(start + 200, names.length);
    branch.append(...names.slice(start, end).map((name) => tree(value[name], name, false)));
    if (end >= names.length) return;
    const more = button(`${names.length - end} more`, () => { more.remove(); addMembers(branch, value, names, end); });
    branch.append(more);
  }

  function bodyName(row, side) {
    const last = row.path.split(/[?#]/)[0].split("/").at(-1);
    return `${side}-${plainName(last).slice(-80) || "body"}`;
  }

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

  // MARK: curl

  const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;
  // A terminal acts on control characters that are pasted, also between quotes.
  const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const plain = (string) => string.replace(unsafe, "").replace(/[\ud800-\udfff]/gu, "\ufffd");
  const isToken = (name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);

  function curlURL(url) {
    try {
      const parsed = new URL(url);
      parsed.hash = "";
      return plain(parsed.href);
    } catch {
      const written = url.replace(/[\ud800-\udfff]/gu, "\ufffd");
      return written.replace(/[^\u0021-\u007e]/gu, (character) => encodeURIComponent(character));
    }
  }

  // The command, for a POSIX shell. It begins with the names of values that the recording does not have.
  function curl(row) {
    const { request } = row, url = curlURL(row.url), post = object(request.postData);
    const fields = pairs(request.headers).filter(([name]) => isToken(name) && !/^content-length$/i.test(name))
      .filter(([name, value]) => !/^host$/i.test(name) || value !== row.host);
    const sent = curlBody(post);
    const words = ["curl", ...(/[[\]{}]/.test(url) ? ["--globoff"] : [])];
    const lines = [`${words.join(" ")} --url ${quote(url)}`];
    const method = plain(row.method).replace(/[^!#$%&'*+.^_`|~0-9A-Za-z-]/g, "");
    if (method === "HEAD") lines.push("--head");
    else if (method !== "" && method !== (sent.option ? "POST" : "GET")) lines.push(`--request ${quote(method)}`);
    for (const [name, value] of fields) {
      // A name with a semicolon is curl's form of an empty field.
      lines.push(`--header ${quote(plain(value).trim() === "" ? `${name};` : `${name}: ${plain(value)}`)}`);
    }
    if (sent.option && !fields.some(([name]) => /^content-type$/i.test(name))) lines.push("--header 'Content-Type:'");
    if (fields.some(([name]) => /^accept-encoding$/i.test(name))) lines.push("--compressed");
    if (sent.option) lines.push(sent.option);
    const missing = fields.filter(([, value]) => isRedacted(value)).map(([name]) => name);
    if (isRedacted(row.url)) missing.unshift("the URL");
    if (isRedacted(text(post.text)) || post._omitted) missing.push("the body");
    const remark = missing.length ? `: ${quote(`not in the recording: ${missing.join(", ")}`)}\n` : "";
    return remark + (sent.input ? `${sent.input} |\n` : "") + lines.join(" \\\n  ") + "\n";
  }

  // curl's option for a body; bytes that a shell's word cannot have, or that a terminal would act on, come by base64.
  function curlBody(post) {
    const parameters = list(post.params).map(object).filter((item) => !item.fileName);
    let string = text(post.text);
    if (string === "" && parameters.length > 0) {
      string = new URLSearchParams(parameters.map((item) => [text(item.name), text(item.value)])).toString();
    }
    if (string === "") return {};
    const bytes = encodingOf(post) === "base64" ? decodeBase64(string) : undefined;
    const isPlain = string.length < 60_000 && plain(string.replace(/[\n\t]/g, "")) === string.replace(/[\n\t]/g, "");
    if (!bytes && isPlain) return { option: `--data-raw ${quote(string)}` };
    const encoded = encodeBase64(bytes ?? new TextEncoder().encode(string)).replace(/.{1,100}/g, "$&\n");
    return { option: "--data-binary @-", input: `printf %s ${quote("\n" + encoded)} | base64 -d` };
  }

  async function copy(string, what) {
    try {
      await navigator.clipboard.writeText(string);
    } catch {
      const area = make("textarea", { class: "clip", "aria-hidden": "true" });
      const focused = document.activeElement;
      area.value = string;
      document.body.append(area);
      area.select();
      const isCopied = document.execCommand("copy");
      area.remove();
      focused?.focus();
      if (!isCopied) return say(`${what} cannot be copied.`);
    }
    say(`${what} is copied.${isRedacted(string) ? " It has redacted values." : ""}`);
  }

  const say = (words) => { $("status-line").textContent = words; };
  function notice(words) {
    $("notice").textContent = words;
    $("notice").hidden = words === "";
  }

  // MARK: Files

  function download(name, parts, type) {
    const link = make("a", { download: name, href: URL.createObjectURL(new Blob(parts, { type })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    say(`Saved as ${name}.`);
  }

  const plainName = (name) => name.replace(/[^\w.-]+/g, "_").replace(/^\.+/, "");
  const fileName = () => plainName($("name").textContent.replace(/\.har$/i, "")).slice(0, 80) || "recording";
  // No text of a recording ends the element that holds it.
  const embedded = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");

  // A copy of this page with the data inside, under a policy with no network.
  function savedPage() {
    const copyOf = blank.cloneNode(true), nonce = encodeBase64(crypto.getRandomValues(new Uint8Array(18)));
    for (const element of copyOf.querySelectorAll("style, #program")) element.setAttribute("nonce", nonce);
    const policy = copyOf.querySelector("meta[http-equiv]"), content = policy.getAttribute("content");
    policy.setAttribute(
      "content", content.replace(/'nonce-[^']*'/g, `'nonce-${nonce}'`).replace(/connect-src[^;]*;?/, ""));
    const html = copyOf.outerHTML;
    const put = (page, id, value) => {
      const start = page.indexOf(`id="${id}">`) + `id="${id}">`.length;
      return page.slice(0, start) + value + page.slice(page.indexOf("<\/script>", start));
    };
    const named = put(html, "recording-name", embedded($("name").textContent));
    return "<!doctype html>\n" + put(named, "recording", embedded(exportedLog(store.rows)));
  }

  // MARK: A running program

  // Each event is a JSON object with a `type`:
  // - `options`, the first one, also after a reconnection: `allowsChanges`, `redacts`, `program`, `process`.
  // - `session`: `id`, `name`, `isOver`.
  // - `entry`: an `entry` of HAR with `_id`, `_session` and `_state` (waiting, active, held, done, failed). One with a
  //   known `_id` takes the place of the earlier.
  // - `connection`: a `connection` with `id`, as the entries' `_connectionId` or `connection`, and `remote`, `local`,
  //   `protocol`, `tls`, `state`, `requests`, `streams`, `sendWindow`, `receiveWindow`, `openStreams`, `reason`.
  // - `decision`: the `entry`, that is an `_id` or empty, `session`, `kind`, `text`, and `time` in ms since 1970.
  // - `held`: a `hold` with `id`, `entry`, `stage`, `request` and `response`. `released`: its `id`.
  // - `rules`: the `rules` that hold. `gap`: events are missing.
  // Actions are sent as JSON: `setRules`, `release`, `answer`, `fail`, `releaseAll`.
  const live = {
    source: undefined, token: "", isPaused: false, queue: [], isScheduled: false, drawnAt: 0, allowsChanges: false,
    process: "",
  };

  function connect(token) {
    live.token = token;
    live.source = new EventSource(`/events?token=${encodeURIComponent(token)}`);
    live.source.onopen = () => say("Connected to the program.");
    live.source.onerror = () => say(live.source.readyState === EventSource.CLOSED
      ? "The program refuses this page. Open the address that it shows." : "The program is not there. Trying again…");
    live.source.onmessage = (event) => {
      if (live.queue.length >= 50_000) live.queue.splice(0, 10_000, '{"type":"gap"}');
      live.queue.push(event.data);
      schedule();
    };
    $("pause").hidden = false;
  }

  // Draws once in a frame, and four times a second where the list is long. A page that is not visible gets no frames.
  function schedule() {
    if (live.isPaused) {
      $("pause").textContent = `Continue (${live.queue.length})`;
    } else if (!live.isScheduled) {
      live.isScheduled = true;
      const isLong = document.hidden || store.rows.length > 2000;
      const wait = isLong && live.queue.length < 2000 ? live.drawnAt + 250 - performance.now() : 0;
      if (document.hidden || wait > 0) setTimeout(apply, Math.max(wait, 0));
      else requestAnimationFrame(apply);
    }
  }

  // Applies events for a part of a frame. More of them wait for the next one, so that the page answers its user.
  function apply() {
    live.isScheduled = false;
    if (live.isPaused) return;
    const start = performance.now(), time = document.hidden ? 200 : 16;
    let count = 0;
    // Four times a second a frame is for the drawing, with a few events alone.
    const isDue = live.queue.length < 100 || start - live.drawnAt > 250;
    const most = isDue ? Math.min(live.queue.length, 100) : live.queue.length;
    while (count < most && (count % 16 > 0 || performance.now() - start < time)) receiveText(live.queue[count++]);
    live.queue.splice(0, count);
    measure("events", start);
    if (isDue || live.queue.length === 0) drawChanges();
    if (live.queue.length > 0) schedule();
  }

  function drawChanges() {
    const start = performance.now();
    dropOldest();
    // A list at its end stays there.
    const grid = $("grid"), end = () => grid.scrollTop + grid.clientHeight;
    const wasAtEnd = !$("list").hidden && grid.scrollTop > 0 && end() > grid.scrollHeight - rowHeight;
    refresh();
    if (wasAtEnd) grid.scrollTop = grid.scrollHeight;
    live.drawnAt = performance.now();
    measure("draw", start);
  }

  // A measure for observers. The browser keeps the last one alone.
  function measure(name, start) {
    performance.clearMeasures(name);
    performance.measure(name, { start, end: performance.now() });
  }

  function receiveText(data) {
    try {
      receive(object(JSON.parse(data)));
    } catch (error) {
      say(`A message cannot be read: ${visible(error.message).slice(0, 200)}`);
    }
  }

  function receive(message) {
    switch (message.type) {
      case "options": begin(message); break;
      case "entry": addEntry(message.entry).isChanged = true; break;
      case "session": {
        const session = { ...object(message.session), ...message };
        sessionNames.set(text(session.id), { name: text(session.name).slice(0, 200), isOver: session.isOver === true });
        if (sessionNames.size > limit) sessionNames.delete(sessionNames.keys().next().value);
        break;
      }
      case "connection": addConnection(object(message.connection)); break;
      case "decision": addDecision(message); break;
      case "held": addHold(object(message.hold)); break;
      case "released": removeHold(text(message.id)); break;
      case "rules": setRules(message.rules); break;
      case "gap": notice("Some events are missing: the program made more than this page could take."); break;
    }
  }

  // The whole state comes again. Another process begins its numbers anew.
  function begin(message) {
    const process = text(message.process).slice(0, 20), program = line(text(message.program)).slice(0, 100);
    if (live.process !== "" && live.process !== process) {
      for (const row of store.rows) if (row.isPending) endRow(row);
      for (const map of [store.places, store.connections, store.decisions, sessionNames]) map.clear();
      [store.sessionDecisions, store.decisionCount] = [[], 0];
    }
    for (const id of [...store.holds.keys()]) removeHold(id, true);
    // Those that are still open come again; the others have closed meanwhile.
    for (const [id, known] of [...store.connections]) if (!isClosed(known)) store.connections.delete(id);
    live.process = process;
    live.allowsChanges = message.allowsChanges === true;
    if (program !== "") $("name").textContent = program;
    document.title = `${$("name").textContent} – loadkit`;
    const words = [process && `process ${process}`, message.redacts === true && "secrets are redacted"];
    $("process").textContent = line(words.filter(Boolean).join(" · "));
    $("rules-button").hidden = !live.allowsChanges;
    if (!live.allowsChanges) showRules(false);
  }

  const endRow = (row) =>
    Object.assign(row, { isPending: false, isFailed: true, state: "failed", error: "The program has ended." });

  // Sends an action to the program, and gives the reason where it fails.
  async function act(action) {
    try {
      const headers = { "Content-Type": "application/json", "X-Inspector": "1" }, body = JSON.stringify(action);
      const address = `/actions?token=${encodeURIComponent(live.token)}`;
      const answer = await fetch(address, { method: "POST", headers, body });
      if (answer.ok) return "";
      const reason = (await answer.text()).trim().slice(0, 1000);
      return visible(reason) || `The program answered with status ${answer.status}.`;
    } catch {
      return "The program cannot be reached.";
    }
  }

  const fail = (element, words) => {
    element.textContent = words;
    element.hidden = words === "";
  };

  // MARK: Held loads

  function addHold(hold) {
    const id = text(hold.id), key = JSON.stringify(hold);
    const row = store.places.get(text(hold.entry)) ?? addStub(text(hold.entry) || `hold ${id}`, hold);
    const earlier = row.earlierHold?.key === key ? row.earlierHold : undefined;
    if (row.hold) store.holds.delete(row.hold.id);
    const [request, response] = [object(hold.request), object(hold.response)];
    row.hold = earlier ?? { id, key, row, stage: text(hold.stage), request, response };
    row.hold.enable?.();
    delete row.earlierHold;
    store.holds.set(id, row.hold);
    row.isChanged = true;
  }

  // A row in place of an entry, which comes later, or not any more.
  function addStub(id, hold) {
    const now = new Date().toISOString();
    const row = addEntry({ _id: id, _state: "held", startedDateTime: now, request: hold.request });
    row.isStub = true;
    return row;
  }

  // A hold that may come again with the whole state keeps what its user has edited.
  function removeHold(id, mayReturn = false) {
    const hold = store.holds.get(id);
    if (!hold) return;
    store.holds.delete(id);
    if (hold.row.state === "held") Object.assign(hold.row, { state: "active" });
    if (mayReturn) hold.row.earlierHold = hold;
    delete hold.row.hold;
    hold.row.isChanged = true;
    if (hold.row.isStub && !mayReturn) removeRow(hold.row);
  }

  function removeRow(row) {
    store.rows = store.rows.filter((other) => other !== row);
    store.places.delete(text(row.entry._id));
    if (row !== view.selected) return;
    view.selected = undefined;
    closeDetails();
  }

  function drawHeld() {
    const count = store.holds.size;
    $("held").hidden = count === 0 || !live.allowsChanges;
    $("held").textContent = `${count.toLocaleString("en")} held`;
    $("release-all").textContent = count > 0 ? `Continue all (${count})` : "Continue all";
  }

  // The selected one, and the next one where its form is in use already, so that a key goes through all.
  function selectHeld() {
    const holds = [...store.holds.values()], place = holds.findIndex((hold) => hold.row === view.selected);
    const isInUse = [$("details"), $("held")].some((part) => part.contains(document.activeElement));
    const isShown = !$("details").hidden && $("panel").tab === "held" && isInUse;
    const hold = holds[place >= 0 && !isShown ? place : (place + 1) % holds.length];
    if (!hold || !live.allowsChanges) return;
    if (!view.shown.includes(hold.row)) {
      $("filters").reset();
      view.connection = "";
      $("connection-filter").hidden = true;
    }
    view.tab = "held";
    setView("requests");
    select(hold.row);
    $("tab-held")?.focus();
  }

  function showHold(row) {
    row.hold.form ??= holdForm(row.hold);
    return [row.hold.form];
  }

  function holdForm(hold) {
    const isRequest = hold.stage === "request", name = isRequest ? "request" : "response";
    const editor = messageEditor(hold[name], isRequest, isRequest ? "Request" : "Response");
    const form = make("form", { class: "hold", "aria-label": `Held ${name}` }), send = sender(hold, form);
    const sendChanged = (action, member, from) => {
      const problem = from.problem();
      if (problem === "") send({ action, [member]: from.value() });
      else fail(form.querySelector(".problem"), problem);
    };
    const proceed = () => (editor.isChanged() ? sendChanged("release", name, editor) : send({ action: "release" }));
    const first = button("Continue", proceed), [opener, answer] = isRequest
      ? answerPart((from) => sendChanged("answer", "response", from)) : [[], []];
    first.className = "main";
    first.title = "Ctrl+Enter";
    first.setAttribute("aria-keyshortcuts", "Control+Enter");
    const controls = [
      first, button("Continue unchanged", () => send({ action: "release" })), ...opener,
      button("Fail", () => send({ action: "fail" })),
    ];
    form.append(
      ...holdNotes(hold, isRequest), make("div", { class: "tools" }, ...controls),
      make("p", { class: "problem", role: "alert", hidden: "" }), ...answer, ...editor.parts);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      proceed();
    });
    return form;
  }

  function holdNotes(hold, isRequest) {
    const notes = isRequest ? [note("This request is held before it is sent.")] : [
      note("This response is held before the program gets it."),
      make("p", { class: "title", text: visible(`${hold.row.method} ${hold.row.url}`.slice(0, 4000)) }),
    ];
    if (isRedacted(hold.key)) notes.push(note("The program puts its secret where “(redacted)” stays as it is."));
    const isReordered = /[\u202a-\u202e\u2066-\u2069]/.test(hold.key);
    if (isReordered) notes.push(note("Some texts have characters that reorder them."));
    return notes;
  }

  // Sends actions of a form, one at a time. A button that is disabled would lose the focus.
  function sender(hold, form) {
    let isBusy = false;
    const setBusy = (value) => {
      isBusy = value;
      for (const it of form.querySelectorAll(".tools button")) it.setAttribute("aria-disabled", String(value));
    };
    hold.enable = () => setBusy(false);
    return async (action) => {
      if (isBusy) return;
      setBusy(true);
      const reason = await act({ ...action, id: hold.id });
      fail(form.querySelector(".problem"), reason);
      if (reason !== "") setBusy(false);
    };
  }

  // A button, and the part that it opens: an answer in the server's place.
  function answerPart(answer) {
    const headers = [{ name: "Content-Type", value: "text/plain; charset=utf-8" }];
    const editor = messageEditor({ status: 200, headers, body: null }, false, "Answer");
    const legend = make("legend", { text: "Answer in the server's place" });
    const tools = make("div", { class: "tools" }, button("Send this answer", () => answer(editor)));
    const place = make("fieldset", { class: "answer", hidden: "" }, legend, ...editor.parts, tools);
    const opener = button("Answer without sending…", () => {
      place.hidden = !place.hidden;
      opener.setAttribute("aria-expanded", String(!place.hidden));
      if (!place.hidden) place.querySelector("input").focus();
    });
    opener.setAttribute("aria-expanded", "false");
    return [[opener], [place]];
  }

  // MARK: Editors of requests and responses

  // A control for a text. A browser may not keep all characters of a text; one that is not edited stays as it was.
  function control(element, value) {
    element.value = value;
    const initial = element.value;
    const isChanged = () => element.value !== initial;
    return { element, isChanged, value: () => (isChanged() ? element.value : value) };
  }

  const typed = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const input = (label, value, properties = {}) =>
    control(make("input", { "aria-label": label, ...typed, ...properties }), value);
  const labelled = (title, element) => make("label", {}, make("span", { text: title }), element);

  function messageEditor(part, isRequest, title) {
    const first = isRequest ? requestLineEditor(part) : statusEditor(part, title);
    const fields = fieldEditor(part.headers, title), body = bodyEditor(part, title);
    return {
      parts: [make("div", { class: "first" }, ...first.parts), ...fields.parts, ...body.parts],
      isChanged: () => [first, fields, body].some((editor) => editor.isChanged()),
      problem: first.problem,
      value: () => ({ ...first.value(), headers: fields.value(), ...body.value() }),
    };
  }

  function requestLineEditor(part) {
    const method = input("Method", text(part.method), { maxlength: 100, class: "short" });
    const url = input("URL", text(part.url));
    return {
      parts: [labelled("Method", method.element), labelled("URL", url.element)],
      isChanged: () => method.isChanged() || url.isChanged(),
      problem: () => (method.value() !== "" && url.value() !== "" ? "" : "The method or the URL is missing."),
      value: () => ({ method: method.value(), url: url.value() }),
    };
  }

  function statusEditor(part, title) {
    const status = input(`${title}: status`, text(part.status), { inputmode: "numeric", maxlength: 3, class: "short" });
    const isStatus = () => /^[2-5][0-9]{2}$/.test(status.value());
    return {
      parts: [labelled("Status", status.element)],
      isChanged: status.isChanged,
      problem: () => (isStatus() ? "" : "A status is a number from 200 to 599."),
      value: () => ({ status: Number(status.value()) }),
    };
  }

  const fieldsEdited = 500;

  // The fields as rows. Those behind the first 500 stay as they are.
  function fieldEditor(headers, title) {
    const all = list(headers).map(object).map((field) => ({ name: text(field.name), value: text(field.value) }));
    const rest = all.slice(fieldsEdited), place = make("div", { class: "fields", role: "group" });
    place.setAttribute("aria-label", `${title}: fields`);
    let editors = [], isChanged = false;
    const remove = (editor) => {
      const next = editor.row.nextElementSibling ?? editor.row.previousElementSibling;
      editor.row.remove();
      editors = editors.filter((other) => other !== editor);
      isChanged = true;
      (next?.querySelector("button") ?? more).focus();
    };
    const add = (field) => {
      const editor = fieldRow(field, remove);
      editors.push(editor);
      place.append(editor.row);
      return editor;
    };
    const more = button("Add a field", () => {
      isChanged = true;
      add({ name: "", value: "" }).name.element.focus();
    });
    all.slice(0, fieldsEdited).forEach(add);
    const remark = rest.length > 0 ? [note(`${rest.length} more fields stay as they are.`)] : [];
    const isFilled = (field) => field.name !== "" || field.value !== "";
    return {
      parts: [heading("Fields"), place, ...remark, more],
      isChanged: () => isChanged || editors.some(({ name, value }) => name.isChanged() || value.isChanged()),
      value: () => [
        ...editors.map(({ name, value }) => ({ name: name.value(), value: value.value() })).filter(isFilled), ...rest,
      ],
    };
  }

  function fieldRow(field, remove) {
    const title = line(field.name).slice(0, 80);
    const name = input("Name of the field", field.name);
    const value = input(title ? `Value of ${title}` : "Value of the field", field.value);
    const remover = button("✕", () => remove(editor));
    remover.setAttribute("aria-label", title ? `Remove ${title}` : "Remove the field");
    const editor = { name, value, row: make("div", { class: "field" }, name.element, value.element, remover) };
    return editor;
  }

  const bodyEdited = 2_000_000;

  function bodyEditor(part, title) {
    const original = part.body === null || part.body === undefined ? null : object(part.body);
    const remark = text(part.bodyNote), recorded = text(original?.text);
    const isBase64 = encodingOf(object(original)) === "base64";
    const bytes = isBase64 ? decodeBase64(recorded) : undefined;
    const string = isBase64 ? bytes && decodeText(bytes) : recorded;
    if (remark !== "" || string === undefined || string.length > bodyEdited) {
      const reason = remark ? visible(remark.slice(0, 1000)) : "This body is no text that can be edited here.";
      const shown = bytes && string === undefined ? hexBody(bytes) : [];
      const parts = [heading("Body"), note(`${reason} It stays as it is.`), ...shown];
      return { parts, isChanged: () => false, value: () => ({ body: original }) };
    }
    const area = make("textarea", { "aria-label": `${title}: body`, rows: 8, ...typed, type: undefined });
    const editor = control(area, string), check = make("p", { class: "note", role: "status" });
    const test = () => { check.textContent = jsonRemark(area.value); };
    area.addEventListener("input", test);
    test();
    // A text area has LF at the end of each line.
    const isCRLF = /\r\n/.test(string) && !/(^|[^\r])\n/.test(string);
    const edited = () => (isCRLF ? area.value.replace(/\n/g, "\r\n") : area.value);
    const value = () => ({ body: editor.isChanged() ? { text: edited() } : original });
    return { parts: [heading("Body"), area, check], isChanged: editor.isChanged, value };
  }

  // The first mistake in a text that looks like JSON. It is sent all the same.
  function jsonRemark(string) {
    if (!/^\s*[[{]/.test(string) || string.length > textShown) return "";
    try {
      JSON.parse(string);
      return "This is JSON.";
    } catch (error) {
      return `This is no JSON: ${visible(error.message).slice(0, 200)}`;
    }
  }

  // MARK: Rules, by which loads are held

  const stages = [["request", "Requests"], ["response", "Responses"], ["both", "Both"]];

  function setRules(values) {
    const rules = list(values).slice(0, 200).map(object).map((rule) => ({
      id: text(rule.id), stage: stages.some(([stage]) => stage === rule.stage) ? rule.stage : "both",
      method: text(rule.method), words: text(rule.words), isOn: rule.isOn === true,
    }));
    store.rules = [...new Map(rules.map((rule) => [rule.id, rule])).values()];
    drawRules();
  }

  // The rows stay, so that one that is edited keeps the focus and its text.
  function drawRules() {
    const place = $("rule-list"), known = new Map([...place.children].map((row) => [row.rule, row]));
    const rows = store.rules.map((rule, index) => {
      const row = known.get(rule.id) ?? ruleRow(rule.id);
      known.delete(rule.id);
      row.setAttribute("aria-label", `Rule ${index + 1}`);
      for (const [name, element] of Object.entries(row.controls)) {
        if (element === document.activeElement && name !== "isOn") continue;
        if (name === "isOn") element.checked = rule.isOn;
        else element.value = rule[name];
      }
      row.classList.toggle("is-off", !rule.isOn);
      return row;
    });
    for (const row of known.values()) row.remove();
    rows.forEach((row, index) => {
      if (place.children[index] !== row) place.insertBefore(row, place.children[index] ?? null);
    });
    const on = store.rules.filter((rule) => rule.isOn).length;
    $("rules-button").textContent = on > 0 ? `Rules (${on})` : "Rules";
  }

  const ruleInputs = () => ({
    stage: make("select", { "aria-label": "Stage" }, ...stages.map(([value, title]) => new Option(title, value))),
    method: make("input", { "aria-label": "Method", placeholder: "Any method", maxlength: 100, ...typed }),
    words: make("input", {
      class: "wide", "aria-label": "Words that the URL has; -word for one that it has not",
      placeholder: "Words that the URL has; -word for one that it has not", maxlength: 1000, ...typed,
    }),
  });

  function ruleRow(id) {
    const controls = { isOn: make("input", { type: "checkbox", "aria-label": "On" }), ...ruleInputs() };
    const remove = button("Remove", () => {
      const next = row.nextElementSibling ?? row.previousElementSibling;
      (next?.controls.isOn ?? $("new-rule").elements[1]).focus();
      sendRules(rulesShown().filter((rule) => rule.id !== id));
    });
    const row = make("div", { class: "rule", role: "group" }, ...Object.values(controls), remove);
    Object.assign(row, { rule: id, controls });
    row.addEventListener("change", () => sendRules(rulesShown()));
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.type === "text") sendRules(rulesShown());
    });
    return row;
  }

  const rulesShown = () => [...$("rule-list").children].map(({ rule, controls }) =>
    ({ id: rule, ...ruleValues(controls), isOn: controls.isOn.checked }));
  const ruleValues = ({ stage, method, words }) =>
    ({ stage: stage.value, method: method.value.trim().toUpperCase(), words: words.value.trim() });

  async function sendRules(rules) {
    const reason = await act({ action: "setRules", rules });
    fail($("rules-error"), reason);
    return reason === "";
  }

  async function addRule(controls) {
    const taken = new Set(store.rules.map((rule) => rule.id));
    let number = store.rules.length + 1;
    while (taken.has(`r${number}`)) number++;
    const rule = { id: `r${number}`, ...ruleValues(controls), isOn: true };
    if (!(await sendRules([...rulesShown(), rule]))) return;
    [controls.method.value, controls.words.value] = ["", ""];
    controls.words.focus();
  }

  function showRules(isShown) {
    $("rules").hidden = !isShown;
    $("rules-button").setAttribute("aria-expanded", String(isShown));
  }

  function listenForChanges() {
    const controls = ruleInputs(), form = $("new-rule");
    form.prepend(...Object.values(controls));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      addRule(controls);
    });
    $("release-all").addEventListener("click", async () => fail($("rules-error"), await act({ action: "releaseAll" })));
    $("held").addEventListener("click", selectHeld);
    $("rules-button").addEventListener("click", () => {
      showRules($("rules").hidden);
      if (!$("rules").hidden) controls.words.focus();
    });
  }

  function togglePause() {
    live.isPaused = !live.isPaused;
    $("pause").setAttribute("aria-pressed", String(live.isPaused));
    $("pause").textContent = live.isPaused ? "Continue" : "Pause";
    schedule();
  }

  function clear() {
    // Loads that are held wait for the page's user.
    const isKept = (row) => row.hold !== undefined;
    store.rows = store.rows.filter(isKept);
    view.selected = undefined;
    store.places = new Map(store.rows.map((row) => [text(row.entry._id), row]));
    for (const id of [...store.decisions.keys()]) if (!store.places.has(id)) forgetDecisions(id);
    for (const [id, known] of [...store.connections]) if (isClosed(known)) store.connections.delete(id);
    store.sessionDecisions = [];
    $("details").hidden = true;
    notice("");
    refresh();
    say(live.source ? "Cleared." : "Cleared. Reload the page to see the recording again.");
  }

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
})();
