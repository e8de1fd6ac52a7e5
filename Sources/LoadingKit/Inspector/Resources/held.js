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
