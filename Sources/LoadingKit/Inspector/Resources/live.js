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
