// DOM nodes without markup strings: what people and bots write is only ever text.

/** An element: `h("button.primary", {onclick, "aria-label": "…"}, "text", child, …)`. Falsy children are left out. */
export function h(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className += ` ${value}`;
    else if (key === "value" || key === "checked" || key === "disabled") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const PATHS = {
  send: "M4 12l16-8-6 16-2.5-6.5z M11.5 13.5L20 4",
  attach: "M20 11.5l-8.2 8.2a5 5 0 0 1-7-7l8.6-8.7a3.4 3.4 0 0 1 4.8 4.8l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.6-7.6",
  back: "M15 5l-7 7 7 7",
  down: "M6 9l6 6 6-6",
  more: "M12 5.5v.01M12 12v.01M12 18.5v.01",
  close: "M6 6l12 12M18 6L6 18",
  menu: "M4 7h16M4 12h16M4 17h10",
  keyboard: "M3.5 7.5a2 2 0 0 1 2-2h13a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-13a2 2 0 0 1-2-2z M7 10h.01M12 10h.01M17 10h.01M7.5 14.5h9",
  reply: "M10 6L4 12l6 6M4 12h9a7 7 0 0 1 7 7",
  edit: "M4 20l1-4.5L16.5 4a2 2 0 0 1 3 3L8.5 19z",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13",
  copy: "M9 9h11v11H9z M5 15H4V4h11v1",
  link: "M8 16L18 6M10 6h8v8",
  photo: "M4 5h16v14H4z M4 16l5-5 4.5 4.5L16 13l4 4M15.5 9.2v.01",
  file: "M6 3h8l5 5v13H6z M14 3v5h5",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  check: "M5 12.5l4.5 4.5L19 7.5",
  plus: "M12 5v14M5 12h14",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.4-4 3-6 6.5-6s6.1 2 6.5 6M16 4.3a3.5 3.5 0 0 1 0 6.4M18 14.5c2 .8 3.2 2.6 3.5 5.5",
  bolt: "M13 3L5 13.5h6L10 21l8.5-11H12.5z",
  block: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM5.8 5.8l12.4 12.4",
  pin: "M9 4h6l-1 6 3.5 3.5h-11L10 10zM12 13.5V20",
  at: "M15.5 12a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM15.5 8.5V13a2.5 2.5 0 0 0 5 0v-1a8.5 8.5 0 1 0-3.4 6.8",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20",
};

/** A line icon of the current colour. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** A round picture with initials; the colour follows the id. */
export function avatar(id, name, size = "") {
  const words = name.trim().split(/\s+/);
  const letters = (words.length > 1 ? [words[0], words[words.length - 1]] : [words[0]]).map((w) => [...w][0] ?? "");
  return h(`span.avatar.tone-${tone(id)}`, { class: size, "aria-hidden": "true" }, letters.join("").toUpperCase());
}

export function tone(id) {
  return Math.abs(Number(id)) % 7;
}

export function iconButton(name, label, onclick, attributes = {}) {
  return h("button.icon-button", { type: "button", "aria-label": label, title: label, onclick, ...attributes }, icon(name));
}

/** Puts `nodes` into `parent` in this order, moving only what is not in its place (focus and animations stay). */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (parent.childNodes[index] !== node) parent.insertBefore(node, parent.childNodes[index] ?? null);
  });
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(bytes < 10240 ? 1 : 0)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
