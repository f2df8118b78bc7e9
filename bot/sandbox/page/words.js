// The page's own texts, in the language of the person who is chosen.

const EN = {
  you: "You", chats: "Chats", who: "Who are you?", search: "Search", addPerson: "Add a person", newGroup: "New group",
  faults: "Faults", choose: "Choose a chat to begin", bot: "bot", members: (n) => `${n} members`, typing: "typing",
  start: "Start", write: "Message", send: "Send", attach: "Attach", photo: "Photo", file: "File", menu: "Menu",
  commands: "Commands", keyboard: "Keyboard", back: "Back to the chats", more: "More", reply: "Reply", edit: "Edit",
  copy: "Copy text", remove: "Delete", copied: "Copied", editing: "Editing", cancel: "Cancel", close: "Close", ok: "OK",
  caption: "Caption", sendPhoto: "Send a photo", sendFile: "Send a file", edited: "edited", today: "Today",
  yesterday: "Yesterday", forwarded: (n) => `Forwarded from ${n}`, via: (n) => `via @${n}`, empty: "No messages yet",
  whatBot: "What can this bot do?", blockBot: "Block the bot", unblock: "Unblock and restart", blocked: "You blocked this bot",
  addMember: "Add to the group", removeBot: (n) => `Remove ${n}`, admin: "The bot is an administrator", title: "Title",
  create: "Create", first: "First name", last: "Last name", username: "Username", language: "Language",
  noAnswer: "The bot has not answered", offline: "No connection. Trying again…", newest: "To the newest message",
  download: "Download", open: "Open", photoWord: "Photo", spoiler: "Hidden text", expand: "Show more", collapse: "Show less",
  pinned: "Pinned message", deleted: "Deleted message", results: "Results", noResults: "Nothing found",
  asking: "Asking the bot…", messageActions: "Message actions", unread: (n) => `${n} unread`, language_en: "English",
  language_ru: "Russian", lastBot: "No bot yet. Start one with this address as TELEGRAM_API_URL.", openLink: "Open the link?",
  created: (n) => `${n} created the group`, joined: (a, b) => `${a} added ${b}`, left: (n) => `${n} left the group`,
  pinnedBy: (n) => `${n} pinned a message`, tooLarge: "This file is too large to show", dropHere: "Drop it here to send",
  order: "Order", clearAll: "Clear all", calls: "The next calls", callsHint: "What the bot's calls are answered with.",
  kind: "Answer", when: "When", before: "before the effect", after: "after it (answer lost)", method: "Method", any: "any",
  times: "Times", retryAfter: "Retry after, s", delivery: "Delivery of updates", twice: "Each update twice",
  outOfOrder: "Out of order", inaccessible: "Callbacks without their message", delay: "Delay, s", age: "Messages look old, hours",
  nothing: "Nothing is ordered: everything works.", close_kind: "connection closed", html_kind: "502 as HTML",
};

const RU = {
  you: "Вы", chats: "Чаты", who: "Кто вы?", search: "Поиск", addPerson: "Добавить человека", newGroup: "Новая группа",
  faults: "Сбои", choose: "Выберите чат", bot: "бот", members: (n) => `участников: ${n}`, typing: "печатает",
  start: "Старт", write: "Сообщение", send: "Отправить", attach: "Прикрепить", photo: "Фото", file: "Файл", menu: "Меню",
  commands: "Команды", keyboard: "Клавиатура", back: "Назад к чатам", more: "Ещё", reply: "Ответить", edit: "Изменить",
  copy: "Скопировать", remove: "Удалить", copied: "Скопировано", editing: "Изменение", cancel: "Отмена", close: "Закрыть",
  ok: "Понятно", caption: "Подпись", sendPhoto: "Отправить фото", sendFile: "Отправить файл", edited: "изменено",
  today: "Сегодня", yesterday: "Вчера", forwarded: (n) => `Переслано от ${n}`, via: (n) => `через @${n}`,
  empty: "Сообщений пока нет", whatBot: "Что умеет этот бот?", blockBot: "Заблокировать бота",
  unblock: "Разблокировать и начать", blocked: "Вы заблокировали этого бота", addMember: "Добавить в группу",
  removeBot: (n) => `Удалить: ${n}`, admin: "Бот — администратор", title: "Название", create: "Создать", first: "Имя",
  last: "Фамилия", username: "Имя пользователя", language: "Язык", noAnswer: "Бот не ответил",
  offline: "Нет связи. Пробуем снова…", newest: "К последнему сообщению", download: "Скачать", open: "Открыть",
  photoWord: "Фотография", spoiler: "Скрытый текст", expand: "Показать целиком", collapse: "Свернуть",
  pinned: "Закреплённое сообщение", deleted: "Удалённое сообщение", results: "Результаты", noResults: "Ничего не найдено",
  asking: "Спрашиваем бота…", messageActions: "Действия с сообщением", unread: (n) => `непрочитанных: ${n}`,
  language_en: "Английский", language_ru: "Русский", lastBot: "Бота пока нет. Запустите его с этим адресом в TELEGRAM_API_URL.",
  openLink: "Открыть ссылку?", created: (n) => `${n}: группа создана`, joined: (a, b) => `${a} добавляет: ${b}`,
  left: (n) => `${n} больше не в группе`, pinnedBy: (n) => `${n}: сообщение закреплено`,
  tooLarge: "Файл слишком велик для показа", dropHere: "Отпустите, чтобы отправить", order: "Заказать",
  clearAll: "Убрать все", calls: "Следующие вызовы", callsHint: "Что получит бот в ответ на свои вызовы.", kind: "Ответ",
  when: "Когда", before: "до действия", after: "после (ответ потерян)", method: "Метод", any: "любой", times: "Раз",
  retryAfter: "Повторить через, с", delivery: "Доставка обновлений", twice: "Каждое дважды", outOfOrder: "Не по порядку",
  inaccessible: "Нажатия без сообщения", delay: "Задержка, с", age: "Сообщения старше на, часов",
  nothing: "Ничего не заказано: всё работает.", close_kind: "разрыв соединения", html_kind: "502 в виде HTML",
};

let chosen = EN;
let tag = "en";

export function speak(language) {
  tag = (language ?? "en").startsWith("ru") ? "ru" : "en";
  chosen = tag === "ru" ? RU : EN;
  document.documentElement.lang = tag;
}

/** A text of the page; some take values. */
export function say(name, ...values) {
  const text = chosen[name] ?? EN[name] ?? name;
  return typeof text === "function" ? text(...values) : text;
}

const locale = () => (tag === "ru" ? "ru-RU" : "en-GB");
const at = (seconds) => new Date(seconds * 1000);

export const time = (seconds) => at(seconds).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });

export const sameDay = (a, b) => at(a).toDateString() === at(b).toDateString();

export function day(seconds) {
  const now = Date.now() / 1000;
  if (sameDay(seconds, now)) return say("today");
  if (sameDay(seconds, now - 86400)) return say("yesterday");
  const thisYear = at(seconds).getFullYear() === new Date().getFullYear();
  return at(seconds).toLocaleDateString(locale(), { day: "numeric", month: "long", year: thisYear ? undefined : "numeric" });
}

export function shortTime(seconds) {
  if (sameDay(seconds, Date.now() / 1000)) return time(seconds);
  return at(seconds).toLocaleDateString(locale(), { day: "numeric", month: "short" });
}
