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

  function statusText(row) {
    if (row.isPending) return row.state;
    if (row.error === "cancelled" || row.error === "net::ERR_ABORTED") return "✕ cancelled";
    if (row.error !== "" || row.status <= 0 || row.state === "failed") return "✕ failed";
    return `${row.status >= 400 ? "! " : ""}${row.status}${row.cache ? " cache" : ""}`;
  }
  const statusClass = (row) =>
    row.isPending ? "pending" : row.error !== "" || row.status <= 0 ? "error" : `s${String(row.status)[0]}`;

  // MARK: The store

  const limit = 20_000;
  const store = { log: {}, rows: [], places: new Map(), connections: new Map(), decisions: new Map(), order: 0 };
  let sessionNames = new Map();

  function addEntry(entry) {
    entry = object(entry);
    const id = text(entry._id);
    const known = id === "" ? undefined : store.places.get(id);
    const row = makeRow(entry, known ? known.order : store.order++);
    if (Number.isNaN(row.start)) row.start = store.rows.at(-1)?.start ?? 0;
    if (known) {
      // The list's order and the selection refer to the row itself.
      return Object.assign(known, row);
    }
    store.rows.push(row);
    if (id !== "") store.places.set(id, row);
    return row;
  }

  function dropOldest() {
    if (store.rows.length <= limit) return;
    const dropped = store.rows.splice(0, store.rows.length - limit);
    for (const row of dropped) {
      store.places.delete(text(row.entry._id));
      store.decisions.delete(text(row.entry._id));
    }
    notice("Older requests are no longer shown.");
  }

  const decisionsOf = (row) => [
    ...list(row.entry._decisions).map(object), ...(store.decisions.get(text(row.entry._id)) ?? []),
  ];

  // The entry as it is exported.
  function exported(row) {
    const decisions = decisionsOf(row);
    return decisions.length === 0 ? row.entry : { ...row.entry, _decisions: decisions };
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
  const view = { shown: [], sort: "", descending: false, selected: undefined, tab: "overview", origin: 0, span: 1 };
  const statusClasses = [
    ["1", "1xx"], ["2", "2xx"], ["3", "3xx"], ["4", "4xx"], ["5", "5xx"], ["none", "No response"],
    ["pending", "Not ended"],
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
      && (status === "" || statusClassOf(row) === status)
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
    fill("status", statusClasses);
    const sessions = count((row) => row.session).map(([id]) => [id, line(sessionNames.get(id) || id)]);
    $("sessions").hidden = sessions.length < 2;
    fill("session", sessions);
  }

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
    // A narrow page hides the list beside the details, and draws it when it is back.
    if (grid.clientHeight === 0) return;
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
    view.selected = row;
    if (opens && row) showDetails();
    const place = view.shown.indexOf(row), grid = $("grid");
    if (place >= 0) {
      const top = place * rowHeight, space = grid.clientHeight - $("columns").offsetHeight;
      if (top < grid.scrollTop) grid.scrollTop = top;
      else if (top + rowHeight > grid.scrollTop + space) grid.scrollTop = top + rowHeight - space;
    }
    drawRows(true);
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
    ["overview", "Overview", showOverview], ["request", "Request", showRequest], ["response", "Response", showResponse],
    ["bodies", "Bodies", showBodies], ["messages", "Messages", showMessages],
    ["connections", "Connections", showConnections],
  ];

  function showDetails() {
    const row = view.selected, panel = $("panel");
    row.isChanged = false;
    const wasHidden = $("details").hidden;
    $("details").hidden = false;
    if (wasHidden) drawRows();
    const available = tabs.filter(([id]) => id !== "messages" || row.kind === "websocket");
    if (!available.some(([id]) => id === view.tab)) view.tab = "overview";
    const hadFocus = $("tabs").contains(document.activeElement);
    $("tabs").replaceChildren(...available.map(([id, title]) => make("button", {
      type: "button", role: "tab", id: `tab-${id}`, "aria-selected": String(id === view.tab), "aria-controls": "panel",
      tabindex: id === view.tab ? 0 : -1, text: title,
      click: () => { view.tab = id; showDetails(); $(`tab-${id}`).focus(); },
    })));
    if (hadFocus) $(`tab-${view.tab}`).focus();
    panel.setAttribute("aria-labelledby", `tab-${view.tab}`);
    const isSame = panel.row === row && panel.tab === view.tab, scroll = panel.scrollTop;
    [panel.row, panel.tab] = [row, view.tab];
    panel.replaceChildren(...tabs.find(([id]) => id === view.tab)[2](row));
    panel.scrollTop = isSame ? scroll : 0;
  }

  function closeDetails() {
    $("details").hidden = true;
    $("grid").focus();
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
        ["Session", sessionNames.get(row.session) || row.session], ["Comment", text(entry.comment)],
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
    const rows = decisionsOf(row).map((decision) => [text(decision.kind) || "decision", text(decision.text)]);
    return rows.length === 0 ? [] : [heading("Decisions"), ...facts("Decisions", rows)];
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
    if (connection === "" || connection === "0") return "";
    // Some programs record the port of the server alone, as HAR permits.
    const port = /:(\d+)$/.exec(row.host)?.[1] ?? (/^(http|ws)$/.test(row.scheme) ? "80" : "443");
    return `${row.address || row.host}${connection === port ? ", port " : " #"}${connection}`;
  }

  function showConnections() {
    const groups = new Map();
    for (const row of store.rows) {
      const name = connectionName(row);
      if (name === "") continue;
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(row);
    }
    const chosen = connectionName(view.selected), names = [...groups.keys()].filter((name) => name !== chosen);
    const order = chosen === "" ? names : [chosen, ...names];
    const parts = order.slice(0, 300).map((name) => connectionPart(name, groups.get(name), name === chosen));
    if (chosen === "") parts.unshift(note("No connection is recorded for this request."));
    if (order.length > 300) parts.push(note(`${order.length - 300} more connections are not shown.`));
    return [heading(plural(order.length, "connection")), ...parts];
  }

  // A button that selects a load.
  function loadLink(row) {
    const target = `${row.host}${row.path.slice(0, 200)}`;
    return make("button", {
      type: "button", class: "link", text: `${statusText(row)} ${line(row.method)} ${target} (${timeText(row.time)})`,
      "aria-current": row === view.selected ? "true" : undefined,
      click: () => { view.tab = "overview"; select(row); $("tab-overview").focus(); },
    });
  }

  function connectionPart(name, rows, isOpen) {
    const first = rows[0], id = text(first.entry._connectionId) || text(first.entry.connection);
    const known = object(store.connections.get(id));
    const size = rows.reduce((total, row) => total + Math.max(row.size, 0), 0);
    const words = [
      name, first.protocol, text(known.tls) || tlsText(first.entry), text(known.state), plural(rows.length, "request"),
      bytesText(size),
    ];
    const title = line(words.filter((word) => word !== "").join(" · "));
    const part = make("details", { class: "wire" }, make("summary", { text: title }));
    const fillPart = () => {
      if (part.children.length > 1) return;
      part.append(...facts("Connection", [["Remote", text(known.remote)], ["Streams", text(known.streams)]]));
      for (const row of rows.slice(0, 200)) part.append(make("div", {}, loadLink(row)));
      if (rows.length > 200) part.append(note(`${rows.length - 200} more`));
    };
    part.addEventListener("toggle", () => { if (part.open) fillPart(); });
    if (isOpen) {
      fillPart();
      part.open = true;
    }
    return part;
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
  // - `entry`: an `entry` of HAR with `_id`, `_session` and `_state` (waiting, active, held, done, failed). One with a
  //   known `_id` takes the place of the earlier.
  // - `session`: its `id` and `name`. `connection`: a `connection` with `id`, as the entries' `_connectionId` or
  //   `connection`, and `remote`, `protocol`, `tls`, `state`, `streams`.
  // - `decision`: the `entry`, that is an `_id`, a `kind` (cache, cookie, challenge, retry) and a `text`. `gap`: events
  //   are missing.
  const live = { source: undefined, isPaused: false, queue: [], isScheduled: false };

  function connect(token) {
    live.source = new EventSource(`/events?token=${encodeURIComponent(token)}`);
    live.source.onopen = () => say("Connected to the program.");
    live.source.onerror = () => say("The program is not there. Trying again…");
    live.source.onmessage = (event) => {
      if (live.queue.length >= 50_000) live.queue.splice(0, 10_000, '{"type":"gap"}');
      live.queue.push(event.data);
      schedule();
    };
    $("pause").hidden = false;
  }

  // Applies what has come once in a frame, and four times a second where the list is long. A page that is not visible
  // gets no frames.
  function schedule() {
    if (live.isPaused) {
      $("pause").textContent = `Continue (${live.queue.length})`;
    } else if (!live.isScheduled) {
      live.isScheduled = true;
      if (document.hidden || store.rows.length > 2000) setTimeout(apply, 250);
      else requestAnimationFrame(apply);
    }
  }

  function apply() {
    live.isScheduled = false;
    if (live.isPaused) return;
    for (const data of live.queue.splice(0)) {
      try {
        receive(object(JSON.parse(data)));
      } catch (error) {
        say(`A message cannot be read: ${error.message}`);
      }
    }
    dropOldest();
    // A list at its end stays there.
    const grid = $("grid"), end = grid.scrollTop + grid.clientHeight;
    const wasAtEnd = grid.scrollTop > 0 && end > grid.scrollHeight - rowHeight;
    refresh();
    if (wasAtEnd) grid.scrollTop = grid.scrollHeight;
  }

  function receive(message) {
    switch (message.type) {
      case "entry": addEntry(message.entry).isChanged = true; break;
      case "session": {
        const session = { ...object(message.session), ...message };
        sessionNames.set(text(session.id), text(session.name));
        break;
      }
      case "connection": {
        const connection = object(message.connection);
        store.connections.delete(text(connection.id));
        store.connections.set(text(connection.id), connection);
        if (store.connections.size > limit) store.connections.delete(store.connections.keys().next().value);
        break;
      }
      case "decision": {
        const id = text(message.entry), row = store.places.get(id);
        const decision = { kind: text(message.kind), text: text(message.text) };
        store.decisions.set(id, [...(store.decisions.get(id) ?? []), decision].slice(-100));
        if (row) row.isChanged = true;
        break;
      }
      case "gap": notice("Some events are missing: the program made more than this page could take."); break;
    }
  }

  function togglePause() {
    live.isPaused = !live.isPaused;
    $("pause").setAttribute("aria-pressed", String(live.isPaused));
    $("pause").textContent = live.isPaused ? "Continue" : "Pause";
    schedule();
  }

  function clear() {
    [store.rows, view.selected] = [[], undefined];
    for (const map of [store.places, store.decisions]) map.clear();
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
      if (matchMedia("(max-width: 640px)").matches) $("details").hidden = true;
      $("words").focus();
    } else if (event.key === "Escape") {
      if (event.target === $("words") && $("words").value !== "") {
        $("words").value = "";
        refresh();
      } else if (!$("details").hidden && event.target !== $("words")) closeDetails();
      else $("grid").focus();
      event.preventDefault();
    }
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
