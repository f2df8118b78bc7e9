"""Tasks and the knowledge base in chat."""

from datetime import timedelta

from bot.dialogues.article_html import PAGE
from tests.bot.house import OpenHouse


async def test_a_task_from_a_text(house: OpenHouse) -> None:
    """`/task call Boris tomorrow`: a draft with the day, Create makes it, the card has status buttons."""
    anna = await house.linked("anna")
    await anna.says("/task call Boris tomorrow")
    draft = await anna.card(containing="not created yet")
    tomorrow = house.desk.house.clock() + timedelta(days=1)
    assert "Call Boris" in draft.text
    assert f"{tomorrow.day} " in draft.text
    assert ("For Boris Clarke",) in draft.buttons
    await anna.presses("Create")
    made = await anna.card(containing="Created, no.")
    assert made.id == draft.id
    assert "In progress" in made.buttons[0][0]
    tasks = [task for task in await house.owner.tasks.task.list() if task.name == "Call Boris"]
    assert len(tasks) == 1
    assert tasks[0].responsible_user_ids == ["anna"]
    assert tasks[0].finish_date is not None
    assert tasks[0].finish_date.date() == tomorrow.date()


async def test_a_task_for_somebody_else(house: OpenHouse) -> None:
    """The named person is offered, and becomes the executor."""
    anna = await house.linked("anna")
    await anna.says("/task call Boris tomorrow")
    await anna.card(containing="not created yet")
    await anna.presses("For Boris")
    await anna.card(containing="👤 Boris Clarke")
    await anna.presses("Create")
    await anna.card(containing="Created, no.")
    task = next(task for task in await house.owner.tasks.task.list() if task.name == "Call Boris")
    assert (task.owner_user_id, task.responsible_user_ids) == ("anna", ["boris"])


async def test_a_task_asks_for_its_text(house: OpenHouse) -> None:
    """/task alone asks; the answer becomes the draft on the same message."""
    anna = await house.linked("anna")
    await anna.says("/task")
    asked = await anna.card(containing="What is to be done?")
    await anna.says("Order glass")
    draft = await anna.card(containing="Order glass")
    assert draft.id == asked.id


async def test_my_tasks_and_their_status(house: OpenHouse) -> None:
    """/tasks lists mine; one opens, its status is set, and the way leads back."""
    anna = await house.linked("anna")
    await anna.says("/tasks")
    listed = await anna.card(containing="open task")
    assert listed.buttons
    await anna.presses(listed.buttons[0][0])
    opened = await anna.card(containing="Status:")
    assert opened.id == listed.id
    await anna.presses("✅ Finished")
    done = await anna.card(containing="Status: Finished")
    assert "Saved" in done.text
    await anna.presses("‹ My tasks")
    again = await anna.card(containing="open task")
    assert again.text != listed.text


async def test_an_article_is_found_read_and_left(house: OpenHouse) -> None:
    """/wiki ranks, an article opens on the same message, pages turn, Back leads to the list."""
    anna = await house.linked("anna")
    await anna.says("/wiki safety in the workshop")
    listed = await anna.card(containing="📚")
    assert listed.buttons[0][0].startswith("Safety in the workshop")
    await anna.presses("Safety in the workshop")
    first = await anna.card(containing="page 1 of")
    assert first.id == listed.id
    assert len(first.text) <= PAGE + 200
    await anna.presses("Page 2")
    second = await anna.card(containing="page 2 of")
    assert second.text != first.text
    await anna.presses("‹ Back")
    await anna.card(containing="📚")


async def test_nothing_found_asks_again(house: OpenHouse) -> None:
    """Words that no article has are told so; the next words search again."""
    anna = await house.linked("anna")
    await anna.says("/wiki xylophone")
    await anna.card(containing="Nothing about")
    await anna.says("taxi")
    await anna.card(containing="📚")
