"""People who act with somebody else's key, up to a card whose next tap changes something.

The workspace refuses the key of one who has left by itself; a key that goes on working leaves the assistant's own look
at the profile alone in the way.
"""

from sqlalchemy import func, select

from bot import intents, people
from bot.desk import Turn
from bot.sandbox import PersonChat
from bot.tables import intents as intended
from tests.bot.authoring import last, sees
from tests.bot.house import OpenHouse
from tests.bot.test_comments import raised_floor
from tests.bot.test_pay import to_pay
from tests.bot.test_requests_inbox import tap
from workspace_api import calls
from workspace_api.server.keys import issue_key

ENDED = "Your access to the workspace has ended. Ask your administrator."

PROFILES = "/user/api/profile/list"


async def linked(house: OpenHouse, user_id: str, key_of: str | None = None) -> PersonChat:
    """A person who acts with the key of somebody else, the owner's where nobody is named; nobody polls."""
    house.assistant.polls.pause()
    key = issue_key(house.server, key_of) if key_of else issue_key(house.server, owner=True)
    sealed = house.desk.vault.seal(key)
    chat = house.chat(user_id)
    await chat.starts(house.desk.db.write_now(lambda c: people.invite(c, user_id, sealed, house.desk.now())))
    await chat.card(containing="Is this you?")
    await chat.presses("Yes")
    await chat.card(containing="Linked")
    return chat


async def annas_twin(house: OpenHouse) -> PersonChat:
    """Anna with the key of Pauline, who holds her position too."""
    await house.owner.orgschema.worker.save(block_id=10, user_id="pauline", is_primary=False)
    return await linked(house, "anna", "pauline")


def calls_made(house: OpenHouse) -> int:
    with house.desk.db.read() as connection:
        return int(connection.execute(select(func.count()).select_from(intended)).scalar_one())


def turn_of(house: OpenHouse, user_id: str) -> Turn:
    with house.desk.db.read() as connection:
        person = people.find_user(connection, user_id)
    assert person is not None
    return Turn(house.desk, person.telegram_id, person.telegram_id, house.desk.texts_of(person), person)


async def approves(house: OpenHouse) -> tuple[PersonChat, str]:
    anna = await annas_twin(house)
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    return anna, "Approve"


async def approves_several(house: OpenHouse) -> tuple[PersonChat, str]:
    anna, _ = await approves(house)
    await tap(anna, "More")
    await tap(anna, "Approve several")
    await tap(anna, "Choose all")
    await anna.card(containing="5 of 5 chosen")
    return anna, "Approve 5"


async def pays(house: OpenHouse) -> tuple[PersonChat, str]:
    marina = await linked(house, "marina")
    await marina.says("/requests")
    await sees(marina, "", "More")
    await tap(marina, "More")
    await tap(marina, "To be paid")
    await tap(marina, "Pay")
    await marina.card(containing="How much do you pay?")
    return marina, "Pay in full"


async def reminds(house: OpenHouse) -> tuple[PersonChat, str]:
    await house.linked("anna")
    boris = await linked(house, "boris", "anna")
    await raised_floor(boris)
    return boris, "Remind"


async def removes(house: OpenHouse) -> tuple[PersonChat, str]:
    boris, _ = await reminds(house)
    await tap(boris, "Remove")
    await boris.card(containing="Remove this request?")
    return boris, "Yes, remove it"


async def goes_on_leave(house: OpenHouse) -> tuple[PersonChat, str]:
    await house.linked("marina")
    anna = await annas_twin(house)
    await anna.says("/vacation")
    await tap(anna, "Marina Holt")
    await tap(anna, "Two weeks")
    await anna.card(containing="You are not pushed in these days")
    return anna, "Yes, so be it"


async def makes_a_task(house: OpenHouse) -> tuple[PersonChat, str]:
    boris = await linked(house, "boris")
    await boris.says("/task Order glass")
    await boris.card(containing="Order glass")
    return boris, "Create"


async def saves_an_entry(house: OpenHouse) -> tuple[PersonChat, str]:
    anna = await linked(house, "anna")
    await anna.says("450 taxi @office")
    await anna.card(containing="not saved yet")
    return anna, "Save"


async def takes_an_entry_back(house: OpenHouse) -> tuple[PersonChat, str]:
    anna, save = await saves_an_entry(house)
    await anna.presses(save)
    await sees(anna, "", "Undo")
    return anna, "Undo"


async def saves_a_change(house: OpenHouse) -> tuple[PersonChat, str]:
    boris = await linked(house, "boris", "anna")
    await raised_floor(boris)
    await tap(boris, "Edit")
    await boris.card(containing="Change the request, then save it")
    return boris, "Save"


async def submits_again(house: OpenHouse) -> tuple[PersonChat, str]:
    await house.as_user("anna").finplan.request.review(
        request_ids=[1], review_type="progress", block_id=10, reject_text="Which floor?"
    )
    boris = await linked(house, "boris", "anna")
    await raised_floor(boris)
    return boris, "Submit again"


async def copies(house: OpenHouse) -> tuple[PersonChat, str]:
    boris = await linked(house, "boris", "anna")
    await raised_floor(boris)
    await tap(boris, "Copy into another month")
    await sees(boris, "Into which month is it copied?")
    return boris, last(boris).buttons[1][0]


async def finishes_a_task(house: OpenHouse) -> tuple[PersonChat, str]:
    boris = await linked(house, "boris")
    await boris.says("/task Order glass")
    await tap(boris, "Create")
    await boris.waits(lambda chat: any(label.startswith("✅") for row in chat.buttons for label in row))
    return boris, next(label for row in boris.buttons for label in row if label.startswith("✅"))


async def judges(house: OpenHouse) -> tuple[PersonChat, str]:
    """A payment of Marina's that nobody can vouch for, and her word that it was not made."""
    marina = await linked(house, "marina")
    first = (await to_pay(house))[0]
    assert first.id is not None
    before = {"sum": first.sum, "sum_paid": first.sum_paid or 0, "history": len(first.history or []), "amount": 5}
    call = calls.finplan.request.pay(id=first.id, request_id=first.id, payment_sum=5)
    held = intents.Intent(
        intents.new_id(), 1002, "marina", 1, "requests", f"request:{first.id}", call.name, call.params.body(), before,
        "held", 0, house.desk.now(),
    )  # fmt: skip
    house.desk.db.write_now(lambda connection: intents.create(connection, held))
    await marina.says("/requests")
    await sees(marina, "", "More")
    await tap(marina, "More")
    await tap(marina, "To be paid")
    await tap(marina, "Pay")
    await tap(marina, "It was not paid")
    await marina.card(containing="Have you looked in the workspace")
    return marina, "Yes, it was not paid"
