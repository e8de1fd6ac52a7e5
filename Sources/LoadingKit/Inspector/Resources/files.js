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
