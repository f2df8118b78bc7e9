"""/settings: one card, everything by buttons, a way back on every screen

main ─┬─(Language)──► English, Русский ──► main, in that language
      ├─(Time zone)──► common ones, or a city in words ──► did you mean … ──► main
      ├─(Quiet hours)──► off, 22–7, 20–8, or in words ──► main
      ├─(Cards together), (Save at once)──► the other way round
      ├─(Site)──► the company's sites ──► main
      └─(PIN)──► settings_pin.py
"""

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from bot import hours, people, preferences, zones
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues import settings_pin
from bot.people import Person
from bot.texts import LANGUAGES, sentence

NAMES = {"en": "English", "ru": "Русский"}
"""What speakers of a language call it."""

OFFERED_HOURS = (("22:00", "07:00"), ("20:00", "08:00"))

ASKING = {
    "zone": sentence("Choose a place, or write a city or a zone, such as Europe/Berlin."),
    "quiet": sentence("When should nothing come by itself? Choose, or write for example 21:30-07:00."),
}
"""Screens that also take words, and what they ask for."""


MENU = "menu"
"""The preference that keeps the language a person chose, and a mark of the command menu that they have (menu.py)."""

SWITCHES = ("batch", "autosave")
"""What is on or off, by the name under which it is kept; off until it is switched on."""


class Kept:
    """What is kept of the turn's person, with what this turn is about to keep."""

    def __init__(self, turn: Turn, pin: bool | None = None) -> None:
        self._turn = turn
        self.pin = pin
        self._new: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name in self._new:
            return self._new[name]
        with self._turn.desk.db.read() as connection:
            return preferences.get(connection, self._turn.known().user_id, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._new[name] = value
        user_id = self._turn.known().user_id

        def change(connection: Connection) -> None:
            if value is None or value is False:
                preferences.drop(connection, user_id, name)
            else:
                preferences.put(connection, user_id, name, value)

        self._turn.change(change)


class Settings(Dialogue):
    """What a person sets for themselves. The card's state holds the screen that it shows."""

    name = "settings"
    commands = (Command("settings", sentence("Language, time zone, quiet hours, PIN")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        self._main(turn, turn.new_card(self.name))

    async def refresh(self, turn: Turn, card: Card) -> None:
        screen = str(card.state.get("screen", "main"))
        if screen in settings_pin.SCREENS:
            settings_pin.show(turn, card)
        else:
            self._screen(turn, card, screen)

    async def abandoned(self, turn: Turn, card: Card) -> None:
        self._main(turn, card)

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        kept = Kept(turn)
        if action == "screen":
            self._screen(turn, card, str(args["to"]))
        elif action == "language" and args["language"] in LANGUAGES:
            self._speak(turn, str(args["language"]))
            self._main(turn, card)
        elif action == "zone":
            self._live_in(turn, args["zone"])
            self._main(turn, card)
        elif action in {"quiet", "site"}:
            kept[action] = args["value"]
            self._main(turn, card, kept)
        elif action in SWITCHES:
            kept[action] = not kept[action]
            self._main(turn, card, kept)
        elif action in settings_pin.ACTIONS:
            settings_pin.tapped(turn, card, action)
        elif action == "done":
            turn.show(card.with_state(screen="done"), View(_text(turn, kept)))

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        if question == "zone":
            self._zone_in_words(turn, card, text)
        elif question == "quiet":
            self._hours_in_words(turn, card, text)
        else:
            pin = await settings_pin.answered(turn, card, question, text)
            if pin is not None:
                self._main(turn, card, Kept(turn, pin))

    # Screens

    def _main(self, turn: Turn, card: Card, kept: Kept | None = None) -> None:
        kept = kept or Kept(turn)
        rows: list[tuple[Button, ...]] = [
            (_to("🌐 " + turn.t("Language"), "language"), _to("🕒 " + turn.t("Time zone"), "zone")),
            (_to("🌙 " + turn.t("Quiet hours"), "quiet"), _to("🔐 " + turn.t("PIN for payments"), "pin")),
            (_switch(turn, kept, "batch", "📦 " + turn.t("New cards together")),),
            (_switch(turn, kept, "autosave", "⚡ " + turn.t("Save at once")),),
        ]
        if turn.desk.house.sites:
            rows.append((_to("🏗 " + turn.t("Site"), "site"),))
        rows.append((Button(turn.t("Done"), "done"),))
        # The screens before are forgotten with what they held.
        card = replace(card, state={"screen": "main"})
        turn.show(card, View(_text(turn, kept), tuple(rows)))

    def _screen(self, turn: Turn, card: Card, screen: str, *, lead: str = "", found: list[str] | None = None) -> None:
        """A screen of choices; `lead` is said first, `found` are zones offered in place of the common ones."""
        rows: list[tuple[Button, ...]] = []
        if screen == "pin":
            settings_pin.show(turn, card.with_state(screen="pin"))
            return
        if screen == "language":
            rows = [tuple(Button(NAMES[code], "language", {"language": code}) for code in LANGUAGES)]
        elif screen == "zone":
            offered = list(zones.COMMON) if found is None else found
            buttons = [
                Button(zones.city(zone, turn.texts.language) if found is None else zone, "zone", {"zone": zone})
                for zone in offered
            ]
            width = 2 if found is None else 1
            rows = [tuple(buttons[place : place + width]) for place in range(0, len(buttons), width)]
            rows.append((Button(turn.t("As the company has it"), "zone", {"zone": None}),))
        elif screen == "quiet":
            choices = [Button(hours.shown(pair), "quiet", {"value": list(pair)}) for pair in OFFERED_HOURS]
            rows = [(*choices, Button(turn.t("Off"), "quiet", {"value": None}))]
        elif screen == "site":
            rows = [(Button(name, "site", {"value": number}),) for number, name in turn.desk.house.sites.items()]
            rows.append((Button(turn.t("No site"), "site", {"value": None}),))
        else:
            self._main(turn, card)
            return
        rows.append((_to(turn.t("‹ Back"), "main"),))
        asked = screen in ASKING
        text = "\n\n".join(
            part
            for part in (
                turn.texts.html("%(lead)s", lead=lead) if lead else "",
                turn.texts.html("<b>%(asking)s</b>", asking=turn.t(ASKING[screen]))
                if asked
                else _text(turn, Kept(turn)),
            )
            if part
        )
        turn.show(card.with_state(screen=screen), View(text, tuple(rows)), expect=screen if asked else None)

    # Words

    def _zone_in_words(self, turn: Turn, card: Card, text: str) -> None:
        zone = zones.find(text)
        if zone is not None:
            self._live_in(turn, zone)
            self._main(turn, card)
            return
        near = zones.alike(text)
        if near:
            self._screen(turn, card, "zone", lead=turn.t("Did you mean one of these?"), found=near)
        else:
            lead = turn.t("I know no such place. Write the nearest large city.")
            self._screen(turn, card, "zone", lead=lead)

    def _hours_in_words(self, turn: Turn, card: Card, text: str) -> None:
        quiet = hours.parse(text)
        if quiet is None:
            lead = turn.t("I do not understand these hours. Write them like 21:30-07:00.")
            self._screen(turn, card, "quiet", lead=lead)
            return
        kept = Kept(turn)
        kept["quiet"] = list(quiet)
        self._main(turn, card, kept)

    # What is kept

    def _speak(self, turn: Turn, language: str) -> None:
        user_id = turn.known().user_id

        def change(connection: Connection) -> None:
            people.mark(connection, turn.telegram_id, language=language)
            preferences.put(connection, user_id, MENU, {"language": language, "shown": None})

        turn.change(change)
        self._as(turn, replace(turn.known(), language=language))

    def _live_in(self, turn: Turn, zone: str | None) -> None:
        if zone is not None and zones.known(zone) is None:
            return
        turn.change(lambda connection: people.mark(connection, turn.telegram_id, zone=zone))
        self._as(turn, replace(turn.known(), zone=zone))

    def _as(self, turn: Turn, person: Person) -> None:
        """The rest of the turn is in the new language and zone already."""
        turn.person = person
        turn.texts = turn.desk.texts_of(person)


def _to(label: str, screen: str) -> Button:
    return Button(label, "screen", {"to": screen})


def _switch(turn: Turn, kept: Kept, name: str, label: str) -> Button:
    how = turn.t("on") if kept[name] else turn.t("off")
    return Button(f"{label}: {how}", name)


def _text(turn: Turn, kept: Kept) -> str:
    """How everything is set."""
    quiet = kept["quiet"]
    sites = turn.desk.house.sites
    return turn.texts.render(
        "settings.html",
        language=NAMES[turn.texts.language],
        place=_place(turn),
        now=turn.texts.moment(turn.today),
        quiet=None if quiet is None else hours.shown(quiet),
        batch=kept["batch"],
        autosave=kept["autosave"],
        sites=bool(sites),
        site=sites.get(kept["site"]),
        pin=settings_pin.standing(turn, kept.pin),
    )


def _place(turn: Turn) -> str:
    zone = turn.known().zone
    if zone is None:
        return turn.t("%(zone)s (the company's)", zone=turn.desk.house.zone)
    return f"{zones.city(zone, turn.texts.language)} ({zone})"
