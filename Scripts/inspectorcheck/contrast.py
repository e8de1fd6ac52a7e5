"""Rules of WCAG 2 that are checked in the page: the contrast of texts is at least 4.5, and each control has a name."""

SCRIPT = """(() => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const color = (css) => { context.clearRect(0, 0, 1, 1); context.fillStyle = css; context.fillRect(0, 0, 1, 1); return [...context.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const back = (element) => { for (let it = element; it; it = it.parentElement) { const found = color(getComputedStyle(it).backgroundColor); if (found[3] === 255) return found; } return [255, 255, 255, 255]; };
  const found = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    if (!own || !element.checkVisibility() || ["SCRIPT", "OPTION"].includes(element.tagName)) continue;
    const [a, b] = [light(color(getComputedStyle(element).color)), light(back(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.add(`${element.tagName} ${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...found];
})()"""

LABELS = """(() => {
  const name = (it) => it.getAttribute("aria-label") || it.labels?.[0]?.textContent || it.textContent || it.alt || "";
  return [...document.querySelectorAll("button, input, select, textarea, summary, img, [role=grid], [role=tabpanel], [role=tablist], table")]
    .filter((it) => it.checkVisibility() && name(it).trim() === "" && !it.hasAttribute("aria-labelledby")).map((it) => it.outerHTML.slice(0, 120));
})()"""
