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
