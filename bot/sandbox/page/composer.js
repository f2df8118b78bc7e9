// The line at the bottom: text, attachments, commands, reply and edit, inline queries, reply keyboards, START.

import { post, upload } from "./api.js";
import { avatar, h, icon, iconButton, size } from "./dom.js";
import { oneLine } from "./bubble.js";
import { dialog, menu } from "./layers.js";
import { say } from "./words.js";

export function composer(app) {
  const node = h("footer.composer", {});
  let chat = null;
  let mode = null; // {kind: "reply" | "edit", message}
  let input = null;
  let popup = null;
  let picked = 0;
  let asked = 0;
  let keysShown = true;
  let menuOpen = false;
  let built = "";
  let keysBuilt = "";
  const drafts = new Map();

  function open(next) {
    if (chat && input) drafts.set(chat.key, input.value);
    mode = null;
    keysShown = true;
    chat = next;
    build();
  }

  /** The chat has changed: builds anew only what looks different. */
  function update(next) {
    chat = next;
    if (look() === built) return;
    if (JSON.stringify(chat.keyboard) !== keysBuilt) keysShown = true;
    if (input) drafts.set(chat.key, input.value);
    const focused = document.activeElement === input || node.contains(document.activeElement);
    build();
    if (focused) input?.focus();
  }

  const look = () => JSON.stringify([chat.key, chat.started, chat.blocked, chat.commands, chat.keyboard, chat.bots, app.payload]);

  function build() {
    popup = null;
    if (!chat) return node.replaceChildren();
    built = look();
    keysBuilt = JSON.stringify(chat.keyboard);
    const bot = chat.type === "private";
    if (bot && chat.blocked) {
      input = null;
      return node.replaceChildren(h("p.composer-note", {}, say("blocked")), h("button.start-button", { type: "button", "data-testid": "unblock", onclick: () => start() }, say("unblock")));
    }
    if (bot && (!chat.started || app.payload !== null)) {
      input = null;
      return node.replaceChildren(h("button.start-button", { type: "button", "data-testid": "start", onclick: () => start() }, say("start").toUpperCase()));
    }
    const forced = chat.keyboard?.force_reply;
    input = h("textarea.input", {
      rows: 1, placeholder: chat.keyboard?.input_field_placeholder || say("write"), "aria-label": say("write"), "data-testid": "composer",
      oninput: typed, onkeydown: keys, onpaste: pasted,
    });
    input.value = drafts.get(chat.key) ?? "";
    const clip = iconButton("attach", say("attach"), () => attach(clip), { "data-testid": "attach" });
    const commands = chat.commands.length > 0 && h("button.menu-button", { type: "button", "aria-label": say("commands"), "data-testid": "commands-button", onclick: toggleCommands }, icon("menu"), h("span", {}, say("menu")));
    const keysButton = chat.keyboard?.keyboard && iconButton("keyboard", say("keyboard"), () => ((keysShown = !keysShown), showKeys()), { "data-testid": "keyboard-toggle" });
    const send = h("button.send", { type: "button", "aria-label": say("send"), title: say("send"), "data-testid": "send", onclick: submit }, icon("send"));
    node.replaceChildren(
      h("div.popup-place", {}), h("div.mode-place", {}),
      h("div.composer-row", {}, commands, h("div.input-frame", {}, clip, input, keysButton), send),
      h("div.keys-place", {}),
    );
    showMode();
    showKeys();
    grow();
    if (forced && !mode) {
      const message = app.open.messages.find((one) => one.id === chat.keyboard.message);
      if (message) setMode({ kind: "reply", message });
    }
  }

  const place = (name) => node.querySelector(`.${name}-place`);

  function start() {
    return app.attempt(async () => {
      const payload = app.payload ?? "";
      await post(`chats/${chat.key}/start`, { as: app.me().id, payload });
      app.payloadUsed();
    });
  }

  // Reply and edit

  function setMode(next) {
    if (!input) return;
    if (mode?.kind === "edit" && next?.kind !== "edit") input.value = "";
    mode = next;
    if (mode?.kind === "edit") input.value = mode.message.text;
    showMode();
    grow();
    input.focus();
  }

  function showMode() {
    place("mode")?.replaceChildren(
      ...(mode
        ? [h("div.mode", { "data-testid": `${mode.kind}-bar` }, icon(mode.kind === "edit" ? "edit" : "reply"),
            h("div.mode-words", {}, h("span.mode-name", {}, mode.kind === "edit" ? say("editing") : mode.message.name), h("span.mode-text", {}, oneLine(mode.message))),
            iconButton("close", say("cancel"), () => setMode(null)))]
        : []),
    );
  }

  // Reply keyboard

  function showKeys() {
    const keyboard = chat.keyboard?.keyboard;
    place("keys")?.replaceChildren(
      ...(keyboard && keysShown
        ? [h("div.keys", { "data-testid": "reply-keyboard" }, keyboard.map((row) => h("div.keyboard-row", {}, row.map((key) =>
            h("button.reply-key", { type: "button", class: key.style ?? "", onclick: () => say_(key.text) }, key.text)))))]
        : []),
    );
  }

  // Writing

  function typed() {
    grow();
    suggest();
  }

  function grow() {
    if (!input) return;
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight, 160)}px`;
    node.classList.toggle("has-text", input.value.trim() !== "");
  }

  function keys(event) {
    if (event.isComposing) return;
    if (popup && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      picked = (picked + (event.key === "ArrowDown" ? 1 : -1) + popup.length) % popup.length;
      return mark();
    }
    if (popup?.length && (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey))) {
      event.preventDefault();
      return popup[picked].act();
    }
    if (event.key === "Escape" && (popup || mode)) {
      event.preventDefault();
      event.stopPropagation();
      return popup ? closePopup() : setMode(null);
    }
    if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey) {
      event.preventDefault();
      return submit();
    }
    if (event.key === "ArrowUp" && !input.value && !mode) {
      const own = app.open.messages.findLast((message) => message.mine && message.text && !message.service);
      if (own) event.preventDefault(), setMode({ kind: "edit", message: own });
    }
  }

  async function submit() {
    const text = input.value.trim();
    if (!text) return;
    const [before, kept] = [mode, input.value];
    mode = null;
    input.value = "";
    drafts.delete(chat.key);
    closePopup();
    showMode();
    grow();
    input.focus();
    const done = await app.attempt(() =>
      before?.kind === "edit"
        ? post(`chats/${chat.key}/edit`, { as: app.me().id, message: before.message.id, text })
        : post(`chats/${chat.key}/text`, { as: app.me().id, text, reply_to: before?.message.id ?? null }),
    );
    if (!done && !input.value) {
      input.value = kept;
      mode = before;
      showMode();
      grow();
    }
  }

  const say_ = (text) => app.attempt(() => post(`chats/${chat.key}/text`, { as: app.me().id, text }));

  /** Fills the line, for buttons that switch to an inline query. */
  function fill(text) {
    if (!input) return;
    input.value = text;
    input.focus();
    typed();
  }

  // Suggestions

  function suggest() {
    const text = input.value;
    const command = /^\/(\w*)$/.exec(text);
    if (command && chat.commands.length) return showCommands(command[1]);
    const bot = chat.bots.find((one) => text.toLowerCase().startsWith(`@${one.username.toLowerCase()} `));
    if (bot) return askInline(bot, text.slice(bot.username.length + 2));
    const mention = /(^|\s)@(\w*)$/.exec(text);
    if (mention) return showBots(mention[2].toLowerCase());
    closePopup();
  }

  function toggleCommands() {
    if (menuOpen) return closePopup();
    showCommands("");
    menuOpen = true;
    input.focus();
  }

  function showCommands(begin) {
    const found = chat.commands.filter((command) => command.command.startsWith(begin.toLowerCase()));
    const group = chat.type !== "private";
    openPopup(found.map((command) => ({
      testid: `command-${command.command}`,
      node: [h("span.command-name", {}, `/${command.command}`), h("span.command-words", {}, command.description)],
      act: () => {
        input.value = "";
        closePopup();
        grow();
        say_(group ? `/${command.command}@${command.bot}` : `/${command.command}`);
      },
    })), say("commands"));
  }

  function showBots(begin) {
    const found = chat.bots.filter((bot) => bot.username.toLowerCase().startsWith(begin));
    openPopup(found.map((bot) => ({
      testid: `bot-${bot.id}`, node: [avatar(bot.id, bot.name, "small"), h("span.result-words", {}, h("span.result-title", {}, bot.name), h("span.result-line", {}, `@${bot.username}`))],
      act: () => fill(input.value.replace(/@\w*$/, `@${bot.username} `)),
    })), say("bot"));
  }

  function askInline(bot, query) {
    const mine = ++asked;
    clearTimeout(askInline.timer);
    askInline.timer = setTimeout(async () => {
      openPopup([], say("asking"));
      try {
        const found = await post(`chats/${chat.key}/inline`, { as: app.me().id, bot: bot.id, query, wait: 10 });
        if (mine !== asked || !input.value.startsWith("@")) return;
        openPopup((found.results ?? []).map((result) => ({
          testid: `result-${result.id}`,
          node: [h("span.result-words", {}, h("span.result-title", {}, result.title), result.description && h("span.result-line", {}, result.description))],
          act: () => choose(found.query, result.id),
        })), say(found.results === null ? "noAnswer" : found.results.length ? "results" : "noResults"));
      } catch {
        closePopup();
      }
    }, 250);
  }

  function choose(query, result) {
    input.value = "";
    closePopup();
    grow();
    app.attempt(() => post(`chats/${chat.key}/choose`, { as: app.me().id, query, result }));
  }

  function openPopup(items, title) {
    popup = items;
    picked = 0;
    menuOpen = false;
    place("popup").replaceChildren(
      h("div.popup", { role: "listbox", "aria-label": title, "data-testid": "popup" },
        !items.length && h("p.popup-note", {}, title),
        items.map((item, index) => h("button.popup-item", { type: "button", role: "option", tabindex: "-1", "data-testid": item.testid, class: index ? "" : "picked", onclick: item.act }, item.node))),
    );
    if (!items.length) popup = null;
  }

  function mark() {
    place("popup").querySelectorAll(".popup-item").forEach((item, index) => {
      item.classList.toggle("picked", index === picked);
      if (index === picked) item.scrollIntoView({ block: "nearest" });
    });
  }

  function closePopup() {
    asked++;
    popup = null;
    menuOpen = false;
    place("popup")?.replaceChildren();
  }

  // Files

  function attach(button) {
    const choose_ = (kind, accept) => () => {
      const files = h("input", { type: "file", accept, "data-testid": `file-${kind}`, hidden: true });
      files.addEventListener("change", () => {
        if (files.files[0]) preview(files.files[0], kind);
        files.remove();
      });
      document.body.append(files);
      files.click();
    };
    menu(button, [
      { icon: "photo", label: say("photo"), act: choose_("photo", "image/png,image/jpeg,image/gif,image/webp"), testid: "attach-photo" },
      { icon: "file", label: say("file"), act: choose_("document", ""), testid: "attach-file" },
    ], { above: true, label: say("attach") });
  }

  function pasted(event) {
    const file = event.clipboardData?.files?.[0];
    if (file) event.preventDefault(), offer(file);
  }

  const offer = (file) => input && preview(file, /^image\/(png|jpeg|gif|webp)$/.test(file.type) ? "photo" : "document");

  function preview(file, kind) {
    const url = kind === "photo" ? URL.createObjectURL(file) : null;
    dialog(say(kind === "photo" ? "sendPhoto" : "sendFile"), (close) => {
      const caption = h("input", { name: "caption", maxlength: 1024, placeholder: say("caption"), "aria-label": say("caption"), autocomplete: "off", autofocus: true });
      const form = h("form.form", {},
        url ? h("img.preview", { src: url, alt: file.name }) : h("div.document", {}, h("span.document-kind", {}, icon("file")), h("span.document-words", {}, h("span.document-name", {}, file.name), h("span.document-size", {}, size(file.size)))),
        h("label.field", {}, caption),
        h("button.primary-button", { type: "submit", "data-testid": "send-file" }, say("send")));
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const reply = mode?.kind === "reply" ? mode.message.id : null;
        const done = await app.attempt(() => upload(chat.key, { as: app.me().id, kind, file, caption: caption.value, reply_to: reply }));
        if (done) close(), setMode(null);
        if (url) URL.revokeObjectURL(url);
      });
      return form;
    }, { testid: "file-dialog" });
  }

  return { node, open, update, setMode, fill, offer, say: say_ };
}
