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
