// Shows the entries of a recording (HAR 1.2), or of a running program. All texts of a recording are hostile: they are
// shown by textContent alone, and the page's policy permits no other script and no network.
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
