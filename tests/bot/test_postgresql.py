"""The bot on a PostgreSQL server that restarts under it."""

from functools import partial
from pathlib import Path

from bot.sandbox import PersonChat
from tests.bot.house import open_house
from tests.postgres import open_cluster


async def test_a_server_that_restarts_costs_nothing(tmp_path: Path) -> None:
    """Every connection breaks, twice: what is said meanwhile is answered, and each task is there once."""
    with open_cluster() as cluster, cluster.fresh() as url:
        async with open_house(tmp_path, database_url=url) as house:
            anna = await house.linked("anna")
            for number in range(2):
                await anna.says(f"/task Glass {number}")
                cluster.restart()
                await anna.card(containing=f"Glass {number}", timeout=60)
                await anna.presses("Create", timeout=60)
                await anna.waits(partial(created, times=number + 1), timeout=60)
            names = sorted(task.name or "" for task in await house.owner.tasks.task.list())
    assert [name for name in names if name.startswith("Glass")] == ["Glass 0", "Glass 1"]


def created(chat: PersonChat, times: int) -> bool:
    return sum("Created, no." in each.text for each in chat.messages) >= times
