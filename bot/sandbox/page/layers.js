// What lies above the page: toasts, alerts, menus, dialogs, the picture viewer. Escape and a tap outside close them.

import { h, icon, iconButton } from "./dom.js";
import { say } from "./words.js";

const layers = document.getElementById("layers");
const toasts = document.getElementById("toasts");

export function toast(text, kind = "") {
  const node = h("div.toast", { "data-testid": "toast", class: kind }, text);
  toasts.append(node);
  while (toasts.children.length > 3) toasts.firstChild.remove();
  setTimeout(() => {
    node.classList.add("gone");
    setTimeout(() => node.remove(), 250);
  }, 2500 + Math.min(text.length * 40, 4000));
}

/** Opens a layer; answers what closes it. The focus goes in and comes back. */
function layer(node, { kind, onclose } = {}) {
  const before = document.activeElement;
  const shade = h(`div.layer.${kind}`, {}, node);
  const close = () => {
    if (!shade.isConnected) return;
    shade.remove();
    document.removeEventListener("keydown", keys, true);
    onclose?.();
    if (before?.isConnected) before.focus({ preventScroll: true });
  };
  const keys = (event) => {
    if (layers.lastElementChild !== shade) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") trap(event, node);
    else if (kind === "menu-layer" && (event.key === "ArrowDown" || event.key === "ArrowUp")) step(event, node);
  };
  document.addEventListener("keydown", keys, true);
  shade.addEventListener("pointerdown", (event) => event.target === shade && close());
  shade.addEventListener("contextmenu", (event) => event.target === shade && (event.preventDefault(), close()));
  layers.append(shade);
  (node.querySelector("[autofocus]") ?? node.querySelector("button, input, select, textarea, a"))?.focus({ preventScroll: true });
  return close;
}

function focusable(node) {
  return [...node.querySelectorAll("button, input, select, textarea, a[href]")].filter((one) => !one.disabled && one.offsetParent);
}

function trap(event, node) {
  const all = focusable(node);
  if (!all.length) return;
  const [first, last] = [all[0], all[all.length - 1]];
  if (event.shiftKey && document.activeElement === first) (event.preventDefault(), last.focus());
  else if (!event.shiftKey && document.activeElement === last) (event.preventDefault(), first.focus());
}

function step(event, node) {
  event.preventDefault();
  const all = focusable(node);
  const at = all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  all[(at + all.length) % all.length]?.focus();
}

/** What a bot says that must be confirmed. */
export function alertBox(text) {
  let close = () => {};
  const box = h(
    "div.alert", { role: "alertdialog", "aria-modal": "true", "aria-label": text, "data-testid": "alert" },
    h("p", {}, text),
    h("button.primary-button", { type: "button", autofocus: true, "data-testid": "alert-ok", onclick: () => close() }, say("ok")),
  );
  close = layer(box, { kind: "modal-layer" });
}

/** A dialog with a title; `build(close)` makes its body. */
export function dialog(title, build, { testid, wide } = {}) {
  let close = () => {};
  const box = h(
    "section.dialog", { role: "dialog", "aria-modal": "true", "aria-label": title, "data-testid": testid, class: wide ? "wide" : "" },
    h("header.dialog-head", {}, h("h2", {}, title), iconButton("close", say("close"), () => close())),
  );
  box.append(build(() => close()));
  close = layer(box, { kind: "modal-layer" });
  return close;
}

/** A menu at a point or below an element. Items: {icon, label, act, danger, node, testid}; falsy ones are left out. */
export function menu(where, items, { label = say("more"), above = false } = {}) {
  let close = () => {};
  const list = h("div.menu", { role: "menu", "aria-label": label });
  for (const item of items.filter(Boolean)) {
    if (item.line) list.append(h("hr"));
    else
      list.append(
        h(
          "button.menu-item",
          {
            type: "button", role: "menuitem", class: item.danger ? "danger" : "", "data-testid": item.testid,
            onclick: () => (close(), item.act()),
          },
          item.node ?? icon(item.icon), h("span.menu-label", {}, item.label), item.mark && icon("check"),
        ),
      );
  }
  close = layer(list, { kind: "menu-layer" });
  place(list, where, above);
  return close;
}

function place(node, where, above) {
  const box = where instanceof Element ? where.getBoundingClientRect() : { left: where.x, right: where.x, top: where.y, bottom: where.y };
  const { offsetWidth: width, offsetHeight: height } = node;
  const margin = 8;
  let left = box.left;
  if (left + width > innerWidth - margin) left = Math.max(margin, box.right - width);
  let top = above ? box.top - height - 6 : box.bottom + 6;
  if (top + height > innerHeight - margin) top = Math.max(margin, box.top - height - 6);
  if (top < margin) top = margin;
  node.style.left = `${left}px`;
  node.style.top = `${top}px`;
}

/** A picture over the whole window. */
export function lightbox(url, name, downloadUrl) {
  let close = () => {};
  const image = h("img", { src: url, alt: name });
  const frame = h(
    "div.lightbox", { role: "dialog", "aria-modal": "true", "aria-label": name, "data-testid": "lightbox" },
    h(
      "div.lightbox-bar", {},
      h("a.icon-button", { href: downloadUrl, download: name, "aria-label": say("download"), title: say("download") }, icon("download")),
      iconButton("close", say("close"), () => close(), { autofocus: true }),
    ),
    image,
  );
  frame.addEventListener("click", (event) => event.target !== image && !event.target.closest("a") && close());
  close = layer(frame, { kind: "lightbox-layer" });
}
