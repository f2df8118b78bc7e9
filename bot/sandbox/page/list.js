// The left pane: who you are, the chats with their last line, new people and groups.

import { post } from "./api.js";
import { arrange, avatar, h, icon, iconButton } from "./dom.js";
import { oneLine } from "./bubble.js";
import { dialog, menu } from "./layers.js";
import { faultPanel } from "./faults.js";
import { say, shortTime } from "./words.js";

export function listPane(app) {
  const switcher = h("button.switcher", { type: "button", "data-testid": "person-switcher", "aria-haspopup": "menu", onclick: () => choosePerson() });
  const add = iconButton("plus", say("more"), () =>
    menu(add, [
      { icon: "people", label: say("newGroup"), act: newGroup, testid: "new-group" },
      { icon: "plus", label: say("addPerson"), act: newPerson, testid: "new-person" },
    ]), { "data-testid": "add" });
  const search = h("input.search-input", { type: "search", oninput: () => show(), "data-testid": "search" });
  const rows = h("nav.chat-list", { "data-testid": "chat-list" });
  const faults = h("button.faults-button", { type: "button", "data-testid": "faults-open", onclick: () => faultPanel() });
  const node = h(
    "aside.list-pane", {},
    h("header.list-head", {}, switcher, add),
    h("div.search", {}, icon("search"), search),
    rows,
    h("footer.list-foot", {}, faults),
  );
  const cache = new Map();

  function show() {
    const me = app.me();
    if (!me) return;
    arrange(switcher, [avatar(me.id, me.name), h("span.switcher-words", {}, h("span.switcher-label", {}, say("who")), h("span.switcher-name", {}, me.name)), icon("down")]);
    switcher.setAttribute("aria-label", `${say("who")} ${me.name}`);
    search.placeholder = say("search");
    search.setAttribute("aria-label", say("search"));
    rows.setAttribute("aria-label", say("chats"));
    faults.replaceChildren(icon("bolt"), h("span", {}, say("faults")));
    const wanted = search.value.trim().toLowerCase();
    const shown = app.chats.filter((chat) => chat.title.toLowerCase().includes(wanted));
    const nodes = shown.map((chat) => cached(chat));
    arrange(rows, nodes.length ? nodes : [h("p.list-empty", {}, say(app.chats.length ? "noResults" : "lastBot"))]);
  }

  function cached(chat) {
    const sign = JSON.stringify([chat, app.open?.key === chat.key, app.typing.has(chat.key), document.documentElement.lang]);
    const kept = cache.get(chat.key);
    if (kept?.sign === sign) return kept.node;
    const made = row(chat);
    const focused = kept && kept.node.contains(document.activeElement);
    cache.set(chat.key, { sign, node: made });
    if (focused) requestAnimationFrame(() => made.focus({ preventScroll: true }));
    return made;
  }

  function row(chat) {
    const last = chat.last;
    const who = last && !last.service && (last.mine ? `${say("you")}: ` : chat.type !== "private" ? `${last.name}: ` : "");
    return h(
      "button.chat-row",
      {
        type: "button", class: app.open?.key === chat.key ? "open" : "", "data-testid": `chat-${chat.key}`,
        "aria-current": app.open?.key === chat.key ? "true" : null, onclick: () => app.openChat(chat.key),
      },
      avatar(chat.type === "private" ? chat.key.split("-")[0] : chat.id, chat.title),
      h(
        "span.chat-words", {},
        h("span.chat-line", {}, h("span.chat-title", {}, chat.title), last && h("time.chat-time", {}, shortTime(last.date))),
        h(
          "span.chat-line", {},
          app.typing.has(chat.key)
            ? h("span.chat-last.typing-words", {}, `${say("typing")}…`)
            : h("span.chat-last", {}, who && h("span.chat-who", {}, who), last ? oneLine(last) : say("empty")),
          chat.unread > 0 && h("span.badge", { "aria-label": say("unread", chat.unread) }, chat.unread > 99 ? "99+" : String(chat.unread)),
        ),
      ),
    );
  }

  function choosePerson() {
    menu(
      switcher,
      app.people.map((person) => ({
        node: avatar(person.id, person.name, "small"), label: person.name, mark: person.id === app.me().id,
        act: () => app.become(person.id), testid: `person-${person.id}`,
      })).concat([{ line: true }, { icon: "plus", label: say("addPerson"), act: newPerson }]),
      { label: say("who") },
    );
  }

  function newPerson() {
    dialog(say("addPerson"), (close) => {
      const field = (name, label, attributes = {}) => h("label.field", {}, h("span", {}, label), h("input", { name, autocomplete: "off", ...attributes }));
      const form = h(
        "form.form", {},
        field("first_name", say("first"), { required: true, autofocus: true, maxlength: 64 }),
        field("last_name", say("last")),
        field("username", say("username")),
        h("label.field", {}, h("span", {}, say("language")), h("select", { name: "language_code" }, h("option", { value: "en" }, say("language_en")), h("option", { value: "ru" }, say("language_ru")))),
        h("button.primary-button", { type: "submit" }, say("create")),
      );
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
        await app.attempt(async () => {
          const person = await post("people", given);
          close();
          await app.become(person.id);
        });
      });
      return form;
    }, { testid: "person-dialog" });
  }

  function newGroup() {
    dialog(say("newGroup"), (close) => {
      const form = h(
        "form.form", {},
        h("label.field", {}, h("span", {}, say("title")), h("input", { name: "title", required: true, autofocus: true, maxlength: 128, autocomplete: "off" })),
        h("div.choices", {}, app.people.filter((person) => person.id !== app.me().id).map((person) =>
          h("label.choice", {}, h("input", { type: "checkbox", name: "member", value: String(person.id) }), avatar(person.id, person.name, "small"), h("span", {}, person.name)))),
        h("label.choice", {}, h("input", { type: "checkbox", name: "admin" }), h("span", {}, say("admin"))),
        h("button.primary-button", { type: "submit" }, say("create")),
      );
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const data = new FormData(form);
        await app.attempt(async () => {
          const chat = await post("groups", {
            title: data.get("title"), members: [app.me().id, ...data.getAll("member").map(Number)], bot_is_admin: data.has("admin"),
          });
          close();
          await app.refresh();
          await app.openChat(chat.key);
        });
      });
      return form;
    }, { testid: "group-dialog" });
  }

  return { node, show };
}
