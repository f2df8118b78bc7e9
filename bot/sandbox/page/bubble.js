// One message as a node: bubble, picture or document, quote, buttons below.

import { avatar, h, icon, iconButton, size, tone } from "./dom.js";
import { fileUrl } from "./api.js";
import { lightbox } from "./layers.js";
import { viewer } from "./viewer.js";
import { formatted } from "./text.js";
import { say, time } from "./words.js";

const MARKS = { url: "link", web_app: "link", copy_text: "copy", switch_inline_query: "at", switch_inline_query_current_chat: "at" };

/** The node. `place`: first/last of its group, whether names show; `on`: what can be done with it. */
export function bubble(message, place, on) {
  if (message.service) return h("div.service", { "data-testid": `message-${message.id}` }, h("span", {}, service(message)));
  const side = message.mine ? "mine" : "theirs";
  const row = h("article.message", {
    class: `${side}${place.first ? " first" : ""}${place.last ? " last" : ""}${message.photo ? " with-photo" : ""}${message.text ? "" : " bare"}`,
    "data-testid": `message-${message.id}`, "data-id": message.id, tabindex: "-1",
    "aria-label": `${message.mine ? say("you") : message.name}, ${time(message.date)}`,
  });
  const body = h("div.bubble", {}, content(message, place, on));
  const stack = h("div.stack", {}, body, message.inline && keyboard(message, on), reactions(message));
  if (place.avatars) row.append(place.last ? avatar(message.sender, message.name, "small") : h("span.avatar.small.blank"));
  row.append(stack, actions(message, on));
  held(body, (point) => on.menu(message, point));
  return row;
}

function content(message, place, on) {
  const parts = [];
  if (place.names && place.first && !message.mine) parts.push(h(`div.sender.ink-${tone(message.sender)}`, {}, message.name));
  if (message.forwarded) parts.push(h("div.forwarded", {}, say("forwarded", message.forwarded)));
  if (message.via) parts.push(h("div.via", {}, say("via", message.via)));
  if (message.reply_to) parts.push(quote(message.reply_to, on));
  if (message.photo) parts.push(picture(message));
  if (message.document) parts.push(document_(message.document));
  const meta = h("span.meta", {}, message.edited && h("span.edited", {}, say("edited")), h("time", {}, time(message.date)), message.mine && icon("check"));
  const text = h("div.text", { dir: "auto" }, message.text ? formatted(message.text, message.entities ?? [], on.act) : [], meta);
  parts.push(text);
  return parts;
}

function quote(reply, on) {
  return h(
    `button.quote.ink-${tone(reply.sender)}`, { type: "button", onclick: () => on.jump(reply.id) },
    h("span.quote-name", {}, reply.name || say("deleted")),
    h("span.quote-text", {}, reply.text || (reply.photo ? say("photoWord") : "")),
  );
}

function picture(message) {
  const { id, width, height, name } = message.photo;
  const image = h("img", { src: fileUrl(id), alt: message.text || say("photoWord"), width, height, loading: "lazy", decoding: "async" });
  const open = h("button.photo", { type: "button", "aria-label": say("open"), "data-testid": "photo", onclick: () => lightbox(fileUrl(id), name, fileUrl(id, true)) }, image);
  // A place of the right shape before the picture is there, so that nothing jumps.
  const shown = Math.max(180, Math.min(400, width));
  open.style.width = `${shown}px`;
  open.style.aspectRatio = `${Math.max(0.6, Math.min(2.4, width / height))}`;
  return open;
}

function document_(file) {
  const ending = file.name.includes(".") ? file.name.split(".").pop().slice(0, 4) : "file";
  return h(
    "div.document", { "data-testid": "document" },
    h("button.document-open", { type: "button", "aria-label": `${say("open")}: ${file.name}`, onclick: () => viewer(file) },
      h("span.document-kind", {}, ending.toUpperCase()),
      h("span.document-words", {}, h("span.document-name", {}, file.name), h("span.document-size", {}, size(file.size)))),
    h("a.icon-button", { href: fileUrl(file.id, true), download: file.name, "aria-label": `${say("download")}: ${file.name}`, title: say("download") }, icon("download")),
  );
}

function keyboard(message, on) {
  return h(
    "div.keyboard", { role: "group" },
    message.inline.map((row, y) => h("div.keyboard-row", {}, row.map((button, x) => {
      const kind = Object.keys(button).find((key) => key === "callback_data" || MARKS[key]);
      const waiting = on.waits(message, y, x);
      return h(
        "button.key",
        {
          type: "button", class: `${button.style ?? ""}${waiting ? " waiting" : ""}`, "data-testid": "button",
          "data-label": button.text, "aria-busy": waiting ? "true" : null, onclick: () => on.press(message, button, y, x),
        },
        h("span.key-label", {}, button.text),
        waiting ? h("span.spinner", { "aria-hidden": "true" }) : MARKS[kind] && icon(MARKS[kind]),
      );
    }))),
  );
}

function reactions(message) {
  if (!message.reactions?.length) return null;
  const counts = new Map();
  for (const { emoji } of message.reactions) counts.set(emoji, (counts.get(emoji) ?? 0) + 1);
  return h("div.reactions", {}, [...counts].map(([emoji, n]) => h("span.reaction", {}, n > 1 ? `${emoji} ${n}` : emoji)));
}

function actions(message, on) {
  const more = iconButton("more", say("messageActions"), () => on.menu(message, more), { class: "message-more", "data-testid": "message-more" });
  return more;
}

/** A right click, or a finger that stays for half a second. */
function held(node, act) {
  let timer = 0;
  let long = false;
  node.addEventListener("contextmenu", (event) => {
    if (event.target.closest("a")) return;
    event.preventDefault();
    act({ x: event.clientX, y: event.clientY });
  });
  node.addEventListener("pointerdown", (event) => {
    long = false;
    if (event.pointerType !== "touch") return;
    timer = setTimeout(() => ((long = true), act({ x: event.clientX, y: event.clientY })), 500);
  });
  for (const end of ["pointerup", "pointercancel", "pointermove"]) node.addEventListener(end, () => clearTimeout(timer));
  node.addEventListener("click", (event) => long && (event.preventDefault(), event.stopPropagation(), (long = false)), true);
}

function service(message) {
  const { kind, names } = message.service;
  if (kind === "group_created") return say("created", message.name);
  if (kind === "members_added") return say("joined", message.name, names.join(", "));
  if (kind === "member_left") return say("left", names[0]);
  return say("pinnedBy", message.name);
}

/** A message in one line, for the chat list and the quote above the composer. */
export function oneLine(message) {
  if (message.service) return service(message);
  if (message.text) return message.text.replace(/\s+/g, " ");
  return message.photo ? say("photoWord") : (message.document?.name ?? "");
}
