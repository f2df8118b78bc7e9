// The page's state and its way through it: who is chosen, which chat is open, what the stream tells.

import { get, listen, post } from "./api.js";
import { chatPane } from "./chat.js";
import { h } from "./dom.js";
import { toast } from "./layers.js";
import { listPane } from "./list.js";
import { say, speak } from "./words.js";

const address = new URLSearchParams(location.search);

const app = {
  people: [],
  chats: [],
  open: null,
  typing: new Map(),
  payload: address.get("start"),
  person: Number(address.get("as")) || 0,
  me: () => app.people.find((person) => person.id === app.person),
  become, openChat, closeChat, refresh, attempt, payloadUsed,
};

const list = listPane(app);
const pane = chatPane(app);
const offline = h("div.offline", { role: "status" });
document.getElementById("app").append(list.node, pane.node, offline);

let stop = () => {};
const typingEnds = new Map();

/** Does something that the server may refuse; says why it did. */
async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    toast(error.message, "error");
    return null;
  }
}

function show() {
  document.getElementById("app").classList.toggle("chat-open", Boolean(app.open));
  const unread = app.chats.reduce((sum, chat) => sum + chat.unread, 0);
  document.title = `${unread ? `(${unread}) ` : ""}${app.open?.title ?? "Local Telegram"}`;
  list.show();
  pane.show();
}

function remember(push) {
  const query = new URLSearchParams({ as: String(app.person) });
  if (app.open) query.set("chat", app.open.key);
  if (app.payload !== null) query.set("start", app.payload);
  history[push ? "pushState" : "replaceState"]({ chat: app.open?.key ?? null, pushed: push }, "", `/?${query}`);
}

async function become(person) {
  stop();
  const before = app.open;
  app.person = person;
  app.open = null;
  app.typing.clear();
  localStorage.setItem("person", String(person));
  app.people = await get("people");
  speak(app.me()?.language_code);
  await refresh();
  const same = before && app.chats.find((chat) => chat.key === before.key || (chat.type === "private" && before.type === "private" && chat.key.split("-")[0] === before.key.split("-")[0]));
  const wide = matchMedia("(min-width: 700px)").matches;
  const next = same ?? (wide || app.payload !== null ? app.chats.find((chat) => chat.type === "private") : null);
  if (next) await openChat(next.key, false);
  else (remember(false), show());
  stop = listen(person, told, (again) => {
    offline.classList.remove("shown");
    if (again) reload();
  }, () => {
    offline.textContent = say("offline");
    offline.classList.add("shown");
  });
}

async function reload() {
  app.people = await get("people");
  await refresh();
  if (app.open) await reread();
}

async function refresh() {
  app.chats = await get(`chats?as=${app.person}`);
  show();
}

let refreshing = 0;
function refreshSoon() {
  clearTimeout(refreshing);
  refreshing = setTimeout(() => attempt(refresh), 60);
}

async function reread() {
  const { key } = app.open;
  const chat = await get(`chats/${key}?as=${app.person}`);
  if (app.open?.key === key) app.open = chat;
  show();
}

async function openChat(key, push = true) {
  const chat = await attempt(() => get(`chats/${key}?as=${app.person}`));
  if (!chat) return;
  const changed = app.open?.key !== key;
  app.open = chat;
  if (changed) remember(push && !matchMedia("(min-width: 700px)").matches);
  show();
  read();
}

function closeChat() {
  if (history.state?.pushed) return history.back();
  app.open = null;
  remember(false);
  show();
}

addEventListener("popstate", (event) => {
  const key = event.state?.chat ?? null;
  if (key) openChat(key, false);
  else {
    app.open = null;
    show();
  }
});

function read() {
  const row = app.chats.find((chat) => chat.key === app.open?.key);
  if (!app.open || document.hidden) return;
  if (row) row.unread = 0;
  list.show();
  post(`chats/${app.open.key}/read`, { as: app.person }).catch(() => {});
}

function payloadUsed() {
  app.payload = null;
  remember(false);
  show();
}

// The stream

function told(event) {
  if (event.kind === "typing") return typing(event);
  if (event.kind === "message" || event.kind === "edited") {
    if (event.message.bot) typed(event.chat);
    if (app.open?.key === event.chat) upsert(event);
  } else if (event.kind === "deleted") {
    if (app.open?.key === event.chat) app.open.messages = app.open.messages.filter((message) => message.id !== event.message);
  } else if (["chat", "bot", "person"].includes(event.kind)) {
    if (event.kind === "person") get("people").then((people) => ((app.people = people), show()));
    if (app.open && (event.chat === null || event.chat === app.open.key) && event.person !== app.person) attempt(reread);
  }
  pane.show();
  refreshSoon();
}

function upsert({ message, keyboard }) {
  const at = app.open.messages.findIndex((one) => one.id === message.id);
  if (at < 0) app.open.messages.push(message);
  else app.open.messages[at] = message;
  app.open.keyboard = keyboard;
  app.open.started = true;
  if (app.open.pinned?.id === message.id || message.service?.kind === "pinned") attempt(reread);
  if (at < 0 && !message.mine) read();
}

function typing(event) {
  app.typing.set(event.chat, event.name ?? "");
  clearTimeout(typingEnds.get(event.chat));
  typingEnds.set(event.chat, setTimeout(() => (typed(event.chat), show()), 5000));
  show();
}

function typed(chat) {
  clearTimeout(typingEnds.get(chat));
  app.typing.delete(chat);
}

document.addEventListener("visibilitychange", () => !document.hidden && read());

async function begin() {
  app.people = await get("people");
  const kept = Number(localStorage.getItem("person"));
  const known = (id) => app.people.some((person) => person.id === id);
  const person = [app.person, kept, app.people[0]?.id].find(known);
  if (person === undefined) return show();
  const chat = address.get("chat");
  await become(person);
  if (chat && app.chats.some((one) => one.key === chat)) await openChat(chat, false);
}

attempt(begin);
