"""What the tests of the authors' dialogues share: the bot's last message, and a request written to its review."""

from bot import followed
from bot.periods import months
from bot.sandbox import ChatMessage, PersonChat
from tests.bot.house import OpenHouse
from workspace_api.contract.finplan import Request

LIST = "/finplan/api/request/list"
SAVE = "/finplan/api/request/save"
COPY = "/finplan/api/request/copy"
REMOVE = "/finplan/api/request/remove"


def last(chat: PersonChat) -> ChatMessage:
    """The bot's newest message as it stands now."""
    return next(message for message in reversed(chat.messages) if message.from_bot)


async def sees(chat: PersonChat, words: str, button: str = "", timeout: float = 60) -> ChatMessage:
    """The bot's newest message, once it has these words and a button that begins so."""

    def shown(now: PersonChat) -> bool:
        message = last(now)
        return words in message.text and (
            not button or any(label.startswith(button) for row in message.buttons for label in row)
        )

    await chat.waits(shown, timeout=timeout)
    return last(chat)


async def written(chat: PersonChat, name: str = "two laser levels") -> ChatMessage:
    """A draft from its name and sum on to the review."""
    await chat.says(f"/request 1290 {name}")
    await sees(chat, "Which category is it?")
    await chat.says("workwear")
    await sees(chat, "Which category is it?", "All categories")
    await chat.presses("Tools and equipment › Workwear")
    await sees(chat, "For which month?")
    await chat.presses(last(chat).buttons[0][0])
    await sees(chat, "What is the problem?")
    await chat.says("The old ones are <broken>")
    await sees(chat, "What is the solution?")
    await chat.says("Buy new ones")
    await sees(chat, "Why is it worth the money?")
    await chat.presses("Skip")
    return await sees(chat, "not submitted yet")


async def newest(house: OpenHouse) -> Request:
    """The request with the highest number."""
    return max(await house.requests(), key=lambda request: request.id or 0)


async def request(house: OpenHouse, number: int) -> Request:
    """The request as the owner sees it."""
    return next(found for found in await house.requests() if found.id == number)


async def watched(house: OpenHouse) -> PersonChat:
    """Boris, linked, with his requests known as they are."""
    boris = await house.linked("boris")

    def known(_: PersonChat) -> bool:
        with house.desk.db.read() as connection:
            return {1, 9} <= followed.known(connection).keys()

    if not known(boris):
        await house.assistant.watch.poll()
    return boris


def month_before(house: OpenHouse) -> str:
    """The period before the present one."""
    return months(house.desk.house.clock(), 1, 0)[0]
