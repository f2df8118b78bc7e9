// A document opened on the page: pictures in the viewer, tables and text in a dialog, everything else is downloaded.

import { fileUrl } from "./api.js";
import { h, icon } from "./dom.js";
import { dialog, lightbox, toast } from "./layers.js";
import { say } from "./words.js";

const MOST = 512 * 1024;
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const TEXT = /\.(txt|csv|tsv|json|md|ya?ml|log|ics|xml|html?)$/i;

export async function viewer(file) {
  if (PICTURES.has(file.mime)) return lightbox(fileUrl(file.id), file.name, fileUrl(file.id, true));
  if (!TEXT.test(file.name)) return download(file);
  if (file.size > MOST) return toast(say("tooLarge")), download(file);
  const text = await (await fetch(fileUrl(file.id, true))).text();
  dialog(
    file.name,
    () =>
      h(
        "div.document-view", {},
        /\.csv$/i.test(file.name) ? table(text) : h("pre", { tabindex: "0" }, pretty(file.name, text)),
        h("a.primary-button", { href: fileUrl(file.id, true), download: file.name }, icon("download"), say("download")),
      ),
    { testid: "document-view", wide: true },
  );
}

function download(file) {
  const link = h("a", { href: fileUrl(file.id, true), download: file.name });
  link.click();
}

function pretty(name, text) {
  if (!/\.json$/i.test(name)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function table(text) {
  const rows = cells(text.replace(/^\uFEFF/, ""));
  const [head, ...body] = rows;
  return h(
    "div.table-frame", { tabindex: "0" },
    h("table", {}, h("thead", {}, h("tr", {}, (head ?? []).map((cell) => h("th", {}, cell)))),
      h("tbody", {}, body.slice(0, 500).map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))),
  );
}

/** RFC 4180, with `;` where the first line has more of them than commas. */
function cells(text) {
  const first = text.split("\n", 1)[0];
  const comma = first.split(";").length > first.split(",").length ? ";" : ",";
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted && c === '"' && text[i + 1] === '"') (cell += '"'), i++;
    else if (c === '"') quoted = !quoted;
    else if (!quoted && c === comma) row.push(cell), (cell = "");
    else if (!quoted && c === "\n") rows.push([...row, cell.replace(/\r$/, "")]), (row = []), (cell = "");
    else cell += c;
  }
  if (cell || row.length) rows.push([...row, cell]);
  return rows;
}
