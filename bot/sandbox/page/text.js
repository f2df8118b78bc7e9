// Text with entities -> DOM nodes. Offsets count UTF-16 code units, as JavaScript strings do.

import { h } from "./dom.js";
import { say } from "./words.js";

const TAGS = { bold: "strong", italic: "em", underline: "u", strikethrough: "s", code: "code" };

/** The nodes of a text. `act` is told what a tap on a command or a mention means: act("command", "/help"). */
export function formatted(text, entities, act) {
  const sorted = [...entities].sort((a, b) => a.offset - b.offset || b.length - a.length);
  return span(text, 0, text.length, sorted, act);
}

function span(text, from, to, entities, act) {
  const nodes = [];
  let at = from;
  let rest = entities;
  while (rest.length) {
    const [entity, ...others] = rest;
    const end = Math.min(entity.offset + entity.length, to);
    if (entity.offset > at) nodes.push(text.slice(afterBlock(at), entity.offset));
    const inner = others.filter((other) => other.offset < end);
    rest = others.filter((other) => other.offset >= end);
    nodes.push(wrapped(entity, text.slice(entity.offset, end), span(text, entity.offset, end, inner, act), act));
    at = end;
  }
  if (at < to) nodes.push(text.slice(afterBlock(at), to));
  return nodes;

  // A block breaks the line by itself: the line break behind it would be a second one.
  function afterBlock(position) {
    const last = nodes[nodes.length - 1];
    return last instanceof Element && last.matches("blockquote, pre") && text[position] === "\n" ? position + 1 : position;
  }
}

function wrapped(entity, plain, nodes, act) {
  if (TAGS[entity.type]) return h(TAGS[entity.type], entity.type === "code" ? { class: "mono" } : {}, nodes);
  switch (entity.type) {
    case "pre":
      return h("pre.code", {}, entity.language && h("span.code-language", {}, entity.language), h("code", {}, nodes));
    case "spoiler":
      return spoiler(nodes);
    case "blockquote":
      return h("blockquote", {}, nodes);
    case "expandable_blockquote":
      return expandable(nodes);
    case "text_link":
      return link(entity.url, nodes);
    case "url":
      return link(/^[a-z]+:/i.test(plain) ? plain : `http://${plain}`, nodes);
    case "email":
      return link(`mailto:${plain}`, nodes);
    case "bot_command":
      return h("button.inline-link", { type: "button", onclick: () => act("command", plain) }, nodes);
    case "mention":
    case "text_mention":
    case "hashtag":
      return h("span.mention", {}, nodes);
    default:
      return h("span", {}, nodes);
  }
}

function link(url, nodes) {
  const safe = /^(https?|mailto|tel|tg):/i.test(url);
  return safe ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, nodes) : h("span", {}, nodes);
}

function spoiler(nodes) {
  const hide = h("span.spoiler", { role: "button", tabindex: "0", "aria-label": say("spoiler") }, nodes);
  const show = () => {
    hide.classList.add("shown");
    hide.removeAttribute("role");
    hide.removeAttribute("aria-label");
  };
  hide.addEventListener("click", show);
  hide.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), show()));
  return hide;
}

function expandable(nodes) {
  const quote = h("blockquote.expandable", {}, h("div.expandable-text", {}, nodes));
  const toggle = h("button.expand", { type: "button", "aria-expanded": "false" }, say("expand"));
  toggle.addEventListener("click", () => {
    const open = quote.classList.toggle("open");
    toggle.setAttribute("aria-expanded", String(open));
    toggle.textContent = say(open ? "collapse" : "expand");
  });
  quote.append(toggle);
  // Three lines need no unfolding.
  requestAnimationFrame(() => {
    const inner = quote.firstElementChild;
    if (quote.isConnected && inner.scrollHeight <= inner.clientHeight + 2) quote.classList.add("short");
  });
  return quote;
}
