// The right pane: the head, the messages with dates and groups, the composer.

import { post } from "./api.js";
import { arrange, avatar, h, icon, iconButton } from "./dom.js";
import { bubble, oneLine } from "./bubble.js";
import { composer } from "./composer.js";
import { alertBox, menu, toast } from "./layers.js";
import { day, sameDay, say } from "./words.js";

const TOGETHER = 300; // seconds within which messages of one sender form a group

export function chatPane(app) {
  const head = h("header.chat-head", {});
  const pinned = h("div.pinned-place", {});
  const list = h("div.messages-inner", {});
  const scroll = h("div.messages", { role: "log", "aria-live": "polite", "data-testid": "messages", tabindex: "0" }, list);
  const jumpButton = iconButton("down", say("newest"), () => toEnd(true), { class: "to-end", "data-testid": "to-end" });
  const line = composer(app);
  const empty = h("div.nothing-open", {}, icon("people"), h("p", {}));
  const node = h("main.chat-pane", {}, empty, head, pinned, h("div.messages-frame", {}, scroll, jumpButton), line.node);
  const cache = new Map();
  const waiting = new Set();
  let atEnd = true;
  let shownKey = null;

  scroll.addEventListener("scroll", () => {
    atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
    jumpButton.classList.toggle("shown", !atEnd);
  }, { passive: true });
  new ResizeObserver(() => atEnd && toEnd(false)).observe(scroll);
  new ResizeObserver(() => atEnd && toEnd(false)).observe(list);
  node.addEventListener("dragover", (event) => (event.preventDefault(), node.classList.add("dropping")));
  node.addEventListener("dragleave", (event) => !node.contains(event.relatedTarget) && node.classList.remove("dropping"));
  node.addEventListener("drop", (event) => {
    event.preventDefault();
    node.classList.remove("dropping");
    if (event.dataTransfer.files[0]) line.offer(event.dataTransfer.files[0]);
  });

  function show() {
    const chat = app.open;
    node.classList.toggle("has-chat", Boolean(chat));
    empty.querySelector("p").textContent = say("choose");
    if (!chat) {
      shownKey = null;
      return line.open(null);
    }
    showHead(chat);
    showPinned(chat);
    const fresh = shownKey !== chat.key;
    if (fresh) {
      cache.clear();
      waiting.clear();
      atEnd = true;
      line.open(chat);
      shownKey = chat.key;
      list.classList.add("still");
    } else line.update(chat);
    showMessages(chat);
    if (fresh) {
      toEnd(false);
      requestAnimationFrame(() => list.classList.remove("still"));
    }
  }

  function showHead(chat) {
    const typing = app.typing.get(chat.key);
    const subtitle = typing
      ? h("span.chat-sub.typing-words", { "data-testid": "typing" }, chat.type === "private" ? `${say("typing")}…` : `${typing}: ${say("typing")}…`)
      : h("span.chat-sub", {}, chat.type === "private" ? `${say("bot")} · @${chat.bots[0]?.username}` : say("members", chat.people.length + chat.bots.length));
    const more = iconButton("more", say("more"), () => chatMenu(more, chat), { "data-testid": "chat-menu" });
    head.replaceChildren(
      iconButton("back", say("back"), () => app.closeChat(), { class: "back", "data-testid": "back" }),
      avatar(chat.type === "private" ? chat.key.split("-")[0] : chat.id, chat.title),
      h("div.chat-head-words", {}, h("h1.chat-head-title", {}, chat.title), subtitle),
      more,
    );
  }

  function chatMenu(where, chat) {
    const me = app.me().id;
    const others = app.people.filter((person) => !chat.people.some((member) => member.id === person.id));
    menu(where, chat.type === "private"
      ? [!chat.blocked && { icon: "block", label: say("blockBot"), danger: true, testid: "block", act: () => app.attempt(() => post(`chats/${chat.key}/block`, { as: me, blocked: true })) }]
      : [
          ...others.map((person) => ({ node: avatar(person.id, person.name, "small"), label: `${say("addMember")}: ${person.name}`, act: () => app.attempt(() => post(`chats/${chat.key}/members`, { as: me, person: person.id })) })),
          ...chat.bots.map((bot) => ({ icon: "block", danger: true, label: say("removeBot", bot.name), act: () => app.attempt(() => post(`chats/${chat.key}/remove-bot`, { as: me, bot: bot.id })) })),
        ]);
  }

  function showPinned(chat) {
    const message = chat.pinned;
    pinned.replaceChildren(...(message
      ? [h("button.pinned", { type: "button", onclick: () => jump(message.id) }, icon("pin"), h("span.pinned-words", {}, h("b", {}, say("pinned")), h("span", {}, oneLine(message))))]
      : []));
  }

  function showMessages(chat) {
    const group = chat.type !== "private";
    const nodes = [];
    const seen = new Set();
    if (!chat.messages.length) nodes.push(greeting(chat));
    chat.messages.forEach((message, index) => {
      const before = chat.messages[index - 1];
      const after = chat.messages[index + 1];
      if (!before || !sameDay(before.date, message.date)) nodes.push(kept(`day-${day(message.date)}`, "", () => h("div.day", {}, h("span", {}, day(message.date))), seen));
      const joins = (a, b) => a && b && a.sender === b.sender && !a.service && !b.service && !a.inline && b.date - a.date < TOGETHER && sameDay(a.date, b.date);
      const place = { first: !joins(before, message), last: !joins(message, after), names: group, avatars: group && !message.mine };
      const sign = JSON.stringify([message, place, [...waiting].filter((key) => key.startsWith(`${message.id}:`)), document.documentElement.lang]);
      nodes.push(kept(`message-${message.id}`, sign, () => bubble(message, place, on), seen));
    });
    if (app.typing.has(chat.key)) nodes.push(kept("typing", "", () => h("div.message.theirs.first.last.typing", {}, group && h("span.avatar.small.blank"), h("div.stack", {}, h("div.bubble", { "aria-hidden": "true" }, h("span.dot"), h("span.dot"), h("span.dot")))), seen));
    for (const key of [...cache.keys()]) if (!seen.has(key)) cache.delete(key);
    arrange(list, nodes);
    if (atEnd) toEnd(false);
  }

  /** The node of before where it looks the same; the focus stays on a message that is redrawn. */
  function kept(key, sign, make, seen) {
    seen.add(key);
    const old = cache.get(key);
    if (old?.sign === sign) return old.node;
    const made = make();
    if (old) {
      made.classList.add("redrawn");
      const buttons = [...old.node.querySelectorAll("button")];
      const at = buttons.indexOf(document.activeElement);
      if (at >= 0) {
        const now = [...made.querySelectorAll("button")];
        const same = now.find((one) => one.dataset.label && one.dataset.label === buttons[at].dataset.label);
        requestAnimationFrame(() => (same ?? made).focus({ preventScroll: true }));
      }
    }
    cache.set(key, { sign, node: made });
    return made;
  }

  function greeting(chat) {
    const bot = chat.bots[0];
    return h("div.greeting", {}, avatar(bot?.id ?? chat.id, chat.title, "large"), h("h2", {}, chat.title),
      bot?.description ? h("div.greeting-words", {}, h("b", {}, say("whatBot")), h("p", {}, bot.description)) : h("p.greeting-words", {}, say("empty")));
  }

  function toEnd(smooth) {
    scroll.scrollTo({ top: scroll.scrollHeight, behavior: smooth ? "smooth" : "instant" });
    atEnd = true;
  }

  function jump(id) {
    const target = list.querySelector(`[data-id="${id}"]`);
    if (!target) return;
    target.scrollIntoView({ block: "center", behavior: "smooth" });
    target.classList.remove("found");
    requestAnimationFrame(() => target.classList.add("found"));
  }

  // What can be done with a message

  async function press(message, button, y, x) {
    const chat = app.open;
    const key = `${message.id}:${y}:${x}`;
    if (button.callback_data !== undefined) {
      if (waiting.has(key)) return;
      waiting.add(key);
      showMessages(chat);
      const done = await app.attempt(() => post(`chats/${chat.key}/press`, { as: app.me().id, message: message.id, data: button.callback_data, wait: 20 }));
      waiting.delete(key);
      if (app.open?.key === chat.key) showMessages(app.open);
      if (!done) return;
      const { answer } = done;
      if (answer === null) toast(say("noAnswer"), "error");
      else if (answer.text) (answer.show_alert ? alertBox : toast)(answer.text);
      if (answer?.url) open(answer.url, "_blank", "noopener");
    } else if (button.url ?? button.web_app) open(button.url ?? button.web_app.url, "_blank", "noopener");
    else if (button.copy_text) copy(button.copy_text.text);
    else {
      const bot = chat.bots.find((one) => one.id === message.asks) ?? chat.bots[0];
      line.fill(`@${bot.username} ${button.switch_inline_query_current_chat ?? button.switch_inline_query}`);
    }
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      toast(say("copied"));
    } catch {
      toast(text);
    }
  }

  function messageMenu(message, where) {
    const me = app.me().id;
    menu(where, [
      { icon: "reply", label: say("reply"), act: () => line.setMode({ kind: "reply", message }), testid: "menu-reply" },
      message.mine && !message.via && { icon: "edit", label: say("edit"), act: () => line.setMode({ kind: "edit", message }), testid: "menu-edit" },
      message.text && { icon: "copy", label: say("copy"), act: () => copy(message.text), testid: "menu-copy" },
      (message.mine || app.open.type === "private") && { icon: "trash", danger: true, label: say("remove"), testid: "menu-delete", act: () => app.attempt(() => post(`chats/${app.open.key}/delete`, { as: me, message: message.id })) },
    ], { label: say("messageActions") });
  }

  const on = {
    press, jump, menu: messageMenu,
    waits: (message, y, x) => waiting.has(`${message.id}:${y}:${x}`),
    act: (_, text) => line.say(text),
  };

  return { node, show, jump };
}
