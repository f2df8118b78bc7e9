"""The screen of the PIN in /settings

none ──(Set)──► new ──► again ──► set ─┬─(Change)──► old ──► new ──► again ──► set
                                       └─(Remove)──► old ──► none
locked: five wrong ones; ops reset it. A message that holds a PIN is deleted from the chat at once, right or wrong, also
where nothing comes of it. What was typed first waits for its repetition sealed, as keys are.
"""

from sqlalchemy import Connection

from bot import preferences
from bot.access import PinState, check_pin, is_pin, pin_state, set_pin
from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogues.own_key import delete_at_once
from bot.incoming import Said
from bot.texts import sentence
from bot.vault import VaultError

SCREENS = ("pin", "pin_new", "pin_again", "pin_change", "pin_remove")

ACTIONS = ("pin_new", "pin_change", "pin_remove")

ASKING = {
    "pin_new": sentence("Write a PIN of 4 to 12 digits. I delete your message at once."),
    "pin_again": sentence("Write the same PIN once more."),
    "pin_change": sentence("Write your present PIN first. I delete your message at once."),
    "pin_remove": sentence("Write your present PIN to remove it. I delete your message at once."),
}


def standing(turn: Turn, now_set: bool | None = None) -> str:
    """`set`, `not set`, `locked`, in the person's language; `now_set`: what this turn is about to make of it."""
    state = pin_state(turn) if now_set is None else PinState(now_set, False)
    return turn.t("locked") if state.is_locked else turn.t("set") if state.is_set else turn.t("not set")


def show(turn: Turn, card: Card) -> None:
    """The screen as it stands: what may be done with the PIN, or the question that is open."""
    screen, state = str(card.state.get("screen")), pin_state(turn)
    if screen in ASKING and _fits(screen, state):
        _ask(turn, card, screen)
        return
    back = (Button(turn.t("‹ Back"), "screen", {"to": "main"}),)
    rows: tuple[tuple[Button, ...], ...] = (back,)
    if state.is_locked:
        words = turn.t("Your PIN is locked after five wrong tries. Ask your administrator to reset it.")
    elif state.is_set:
        words = turn.t("A payment asks for your PIN before it is made.")
        rows = ((Button(turn.t("Change"), "pin_change"), Button(turn.t("Remove"), "pin_remove")), back)
    else:
        words = turn.t("With a PIN a payment from your phone needs more than a tap.")
        rows = ((Button(turn.t("Set a PIN"), "pin_new"),), back)
    turn.show(card.with_state(screen="pin"), View(turn.texts.html("🔐 <b>%(words)s</b>", words=words), rows))


def tapped(turn: Turn, card: Card, action: str) -> None:
    """Set, Change, Remove."""
    show(turn, card.with_state(screen=action, typed=None, proved=False))


async def answered(turn: Turn, card: Card, question: str, text: str) -> bool | None:
    """A PIN was typed. True: one is set now; false: none is any more; None: the screen goes on."""
    if isinstance(turn.incoming, Said):
        await delete_at_once(turn, turn.incoming.message_id)
    await turn.still_works_here()
    if question in {"pin_change", "pin_remove"}:
        return await _proving(turn, card, question, text)
    if pin_state(turn).is_set and not card.state.get("proved"):
        # It was set meanwhile, from another card: the old one is asked for first.
        show(turn, card.with_state(screen="pin"))
    elif question == "pin_new":
        _typed(turn, card, text)
    elif _repeated(turn, card, text):
        return True
    return None


async def _proving(turn: Turn, card: Card, question: str, text: str) -> bool | None:
    """The present PIN comes before a new one, and before none."""
    state = pin_state(turn)
    # A locked one would be refused, and with the turn its deletion of the message.
    if not state.is_set or state.is_locked:
        show(turn, card.with_state(screen="pin"))
    elif not await check_pin(turn, text):
        _wrong(turn, card, question)
    elif question == "pin_remove":
        _remove(turn)
        return False
    else:
        _ask(turn, card.with_state(proved=True), "pin_new")
    return None


def _fits(screen: str, state: PinState) -> bool:
    """Whether a question still makes sense."""
    return not state.is_locked and state.is_set == (screen in {"pin_change", "pin_remove"})


def _ask(turn: Turn, card: Card, question: str, lead: str = "") -> None:
    words = turn.t(ASKING[question])
    text = turn.texts.html("🔐 <b>%(words)s</b>", words=words)
    if lead:
        text = turn.texts.html("⚠️ %(lead)s", lead=lead) + "\n\n" + text
    rows = ((Button(turn.t("‹ Back"), "screen", {"to": "pin"}),),)
    turn.show(card.with_state(screen=question), View(text, rows), expect=question)


def _wrong(turn: Turn, card: Card, question: str) -> None:
    if pin_state(turn).is_locked:
        show(turn, card.with_state(screen="pin"))
    else:
        _ask(turn, card, question, turn.t("This is not your PIN. Five wrong ones lock it."))


def _typed(turn: Turn, card: Card, text: str) -> None:
    if not is_pin(text):
        _ask(turn, card, "pin_new", turn.t("A PIN is 4 to 12 digits, not all the same."))
        return
    _ask(turn, card.with_state(typed=turn.desk.vault.seal(text.strip())), "pin_again")


def _repeated(turn: Turn, card: Card, text: str) -> bool:
    pin = text.strip()
    try:
        first = turn.desk.vault.open(str(card.state["typed"]))
    except (KeyError, VaultError):
        first = None
    if pin != first or not is_pin(pin):
        again = card.with_state(typed=None)
        _ask(turn, again, "pin_new", turn.t("The two were not the same: begin anew."))
        return False
    user_id = turn.known().user_id
    turn.change(lambda connection: set_pin(connection, user_id, pin))
    turn.note("pin changed" if card.state.get("proved") else "pin set", f"person:{user_id}")
    turn.say(turn.t("Your PIN is set. Each payment asks for it from now on."))
    return True


def _remove(turn: Turn) -> None:
    user_id = turn.known().user_id

    def change(connection: Connection) -> None:
        preferences.drop(connection, user_id, "pin")

    turn.change(change)
    turn.note("pin removed", f"person:{user_id}")
    turn.say(turn.t("Your PIN is removed. Payments no longer ask for it."))
