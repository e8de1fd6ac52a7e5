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
