"""A reply to a request's card is a comment: kept here, passed on to those concerned, shown on the card."""

from functools import partial
from pathlib import Path

from bot.sandbox import ChatMessage, PersonChat
from tests.bot.authoring import last, sees, watched
from tests.bot.house import OpenHouse, open_house


async def raised_floor(chat: PersonChat) -> ChatMessage:
    """The card of Boris's first request in his own chat."""
    await chat.says("/myrequests")
    await sees(chat, "open request", "Raised floor")
    await chat.presses("Raised floor")
    return await sees(chat, "Raised floor", "‹ My requests")


def kept(chat: PersonChat, count: int) -> bool:
    """Whether so many comments have been confirmed."""
    return len([message for message in chat.messages if " kept." in message.text]) == count


async def test_a_comment_reaches_who_comes_next(house: OpenHouse) -> None:
    """Boris replies to his card: Anna, whose turn it is, gets it; Boris is told who, and that it stays in the chat."""
    anna = await house.linked("anna")
    boris = await house.linked("boris")
    card = await raised_floor(boris)
    await boris.replies(to=card, text="Two quotations are <here> & there")
    receipt = await sees(boris, "Comment on “Raised floor for Halden office, fourth floor” kept.")
    assert "Passed on to Anna Bennett." in receipt.text
    assert "the workspace has no place for them" in receipt.text
    told = await anna.card(containing="about “Raised floor")
    assert "Two quotations are <here> & there" in told.text


async def test_who_approved_hears_too(house: OpenHouse) -> None:
    """Anna has approved, Helen is next: both get the comment, and Marina, who is last, does not."""
    people = [await house.linked(name) for name in ("anna", "helen", "marina")]
    boris = await house.linked("boris")
    await boris.says("/myrequests")
    await sees(boris, "open request", "Ventilation")
    await boris.presses("Ventilation")
    card = await sees(boris, "Ventilation", "‹ My requests")
    await boris.replies(to=card, text="It is urgent")
    await sees(boris, "Passed on to Anna Bennett, Helen Ashworth.")
    for chat in people[:2]:
        await chat.card(containing="It is urgent")
    assert not [message for message in people[2].messages if "urgent" in message.text]


async def test_the_card_shows_the_last_three(house: OpenHouse) -> None:
    """Four comments: the card has the newest three, with who and when."""
    boris = await house.linked("boris")
    card = await raised_floor(boris)
    for number in range(1, 5):
        await boris.replies(to=card, text=f"Word number {number}")
        await boris.waits(partial(kept, count=number))
    await boris.presses("Refresh", on=card)
    await boris.waits(lambda chat: "Word number 4" in chat.message(card.id).text)
    text = boris.message(card.id).text
    assert "Word number 1" not in text
    assert "Word number 2" in text
    assert "💬 Boris Clarke, " in text


async def test_nobody_linked_is_said(house: OpenHouse) -> None:
    """The comment is kept, and the writer knows that nobody has heard it."""
    boris = await house.linked("boris")
    await boris.replies(to=await raised_floor(boris), text="Hello?")
    await sees(boris, "Nobody else of those concerned is linked to me")


async def test_too_long_is_refused_in_words(house: OpenHouse) -> None:
    """1,001 characters are one too many; nothing is kept."""
    boris = await house.linked("boris")
    card = await raised_floor(boris)
    await boris.replies(to=card, text="x" * 1001)
    await sees(boris, "A comment holds 1000 characters, yours has 1001.")
    await boris.replies(to=card, text="x" * 1000)
    await sees(boris, " kept.")


async def test_a_reply_to_a_notice_is_a_comment(house: OpenHouse) -> None:
    """The message about a decision is a card of the request too; who returned it hears the answer."""
    anna = await house.linked("anna")
    boris = await watched(house)
    await house.as_user("anna").finplan.request.review(
        request_ids=[1], review_type="progress", block_id=10, reject_text="Which floor?"
    )
    notice = await sees(boris, "Returned to work by Anna Bennett")
    await boris.replies(to=notice, text="The fourth")
    await sees(boris, "Passed on to Anna Bennett.")
    await anna.card(containing="The fourth")


async def test_a_reply_to_the_list_is_no_comment(house: OpenHouse) -> None:
    """A list is no request: the text is taken as any other."""
    boris = await house.linked("boris")
    await boris.says("/myrequests")
    await boris.replies(to=await sees(boris, "open requests"), text="hello there")
    assert " kept." not in (await sees(boris, "I did not find a sum")).text


async def test_in_russian(tmp_path: Path) -> None:
    """The receipt in Russian."""
    async with open_house(tmp_path, language="ru") as house:
        boris = house.chat("boris")
        await boris.starts(house.invite("boris"))
        await boris.presses((await boris.card()).buttons[0][0])
        await boris.waits(lambda chat: "✅" in chat.last.text)
        await boris.says("/myrequests")
        await sees(boris, "открыт")
        await boris.presses(last(boris).buttons[0][0])
        card = await sees(boris, "Согласование")
        await boris.replies(to=card, text="Срочно")
        await sees(boris, "сохранён")
