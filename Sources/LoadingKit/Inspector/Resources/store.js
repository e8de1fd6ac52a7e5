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
