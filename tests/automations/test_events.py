"""Changes in the workspace become lines of the ledger: each once, whatever crashes, and none for what was there."""

import asyncio
from copy import deepcopy
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection

from automations.engine import Cause
from automations.events import LEASE, Watcher, Wish
from automations.ledger import Ledger, LedgerLine
from automations.ports import Caller
from automations.sources import (
    KINDS,
    MOST_KNOWN,
    SOURCES,
    Articles,
    Event,
    Reading,
    Source,
    Structure,
    Tasks,
    packed,
    unpacked,
)
from tests.automations.ops import NOW, Ops, ledger_of
from tests.automations.world import TableCaller
from workspace_api.contract import Call, NotSent, Refused
from workspace_api.embedded import open_async_workspace

REQUESTS = "finplan.request.list"


def request(number: int, status: str = "progress", **more: Any) -> dict[str, Any]:
    return {"id": number, "name": f"Request {number}", "status": status, "sum": 100, "author_id": "anna", **more}


class World:
    """A workspace, a watcher, and the ledger that it enters things into."""

    def __init__(self, ops: Ops, caller: Caller | None = None) -> None:
        self.ops = ops
        self.answers: dict[str, Any] = {REQUESTS: []}
        self.caller = TableCaller(self.answers)
        self.watcher = self.another(caller)

    def another(self, caller: Caller | None = None, ops: Ops | None = None) -> Watcher:
        """A watcher of its own process."""
        ops = ops or self.ops
        return Watcher(
            ops.database,
            caller or self.caller,
            lambda: ops.now,
            notices=ops.notices,
            words=ops.words,
            zone="Europe/Moscow",
            web_url="https://work.example.com",
        )

    async def look(self, *wishes: Wish, watcher: Watcher | None = None) -> int:
        """One look, a poll later."""
        self.ops.later(seconds=31)
        return await (watcher or self.watcher).look(wishes or (Wish("new", "request.created"),))

    def lines(self) -> list[LedgerLine]:
        return sorted(Ledger(self.ops.database).newest(None, 1000), key=lambda line: (line.automation, line.occasion))

    def occasions(self) -> list[str]:
        return [line.occasion for line in self.lines()]


async def test_the_first_look_knows_everything(each_ops: Ops) -> None:
    """What is there when somebody begins to watch fires nothing; what comes then is due, with what it is."""
    world = World(each_ops)
    world.answers[REQUESTS] = [request(1), request(2)]
    assert await world.look() == 0
    world.answers[REQUESTS] = [request(1), request(2), request(3, currency_code="RUB")]
    assert await world.look() == 1
    assert await world.look() == 0
    (line,) = world.lines()
    assert (line.automation, line.occasion, line.state, line.cause) == ("new", "request.created:3", "due", Cause.EVENT)
    assert line.run_id == "new:request.created:3"
    assert line.details["event"] == {
        "kind": "request.created",
        "id": 3,
        "title": "Request 3",
        "author_id": "anna",
        "sum": 100,
        "sum_paid": None,
        "currency": "RUB",
        "period": "",
        "status": "progress",
        "previous_status": "",
        "by": "",
        "at": "",
        "url": "https://work.example.com",
    }


async def test_a_status_that_changes_back_and_forth_fires_each_time(ops: Ops) -> None:
    """Each time is an occasion of its own."""
    world, wish = World(ops), Wish("moved", "request.status_changed")
    for status in ("progress", "accept", "progress", "accept", "accept"):
        world.answers[REQUESTS] = [request(7, status, history=[{"author_id": "boris"}])]
        await world.look(wish)
    assert world.occasions() == [
        "request.status_changed:7:accept:1",
        "request.status_changed:7:accept:3",
        "request.status_changed:7:progress:2",
    ]
    event = world.lines()[0].details["event"]
    assert (event["previous_status"], event["status"], event["by"]) == ("progress", "accept", "boris")


async def test_what_is_gone_for_a_while_fires_nothing_when_it_is_back(ops: Ops) -> None:
    """A right that is missing for an hour makes no new requests; what is deleted makes none either."""
    world = World(ops)
    world.answers[REQUESTS] = [request(1), request(2)]
    await world.look()
    for answer in ([], [request(1), request(2)], [request(1), request(2), request(3, is_deleted=True)], [request(3)]):
        world.answers[REQUESTS] = answer
        await world.look()
    assert world.occasions() == []


async def test_an_event_is_judged_by_the_trigger_s_condition(ops: Ops) -> None:
    """What it does not want is not entered; what cannot be judged is, where people see it."""
    world = World(ops)
    wishes = [
        Wish("large", "request.created", "{{ event.sum > 1000 }}"),
        Wish("never", "request.created", False),
        Wish("wrong", "request.created", "{{ event.nothing > 1 }}"),
    ]
    await world.look(*wishes)
    world.answers[REQUESTS] = [request(1), request(2, sum=5000)]
    await world.look(*wishes)
    lines = world.lines()
    assert [(line.automation, line.occasion, line.state) for line in lines] == [
        ("large", "request.created:2", "due"),
        ("wrong", "request.created:1", "skipped"),
        ("wrong", "request.created:2", "skipped"),
    ]
    assert "nothing" in lines[-1].reason


async def test_whoever_begins_to_watch_later_begins_then(ops: Ops) -> None:
    """Another automation of a kind has no part in what came before it; one that is gone and comes back neither."""
    world = World(ops)
    first, second = Wish("first", "request.created"), Wish("second", "request.created")
    await world.look(first)
    world.answers[REQUESTS] = [request(1)]
    await world.look(first, second)
    world.answers[REQUESTS] = [request(1), request(2)]
    await world.look(first, second)
    assert [line.run_id for line in world.lines()] == [
        "first:request.created:1",
        "first:request.created:2",
        "second:request.created:2",
    ]
    await world.look(Wish("other", "org.changed"))
    world.answers[REQUESTS] = [request(number) for number in range(1, 6)]
    assert await world.look(first) == 0


async def test_a_list_is_read_once_a_poll_by_one_of_the_replicas(each_ops: Ops) -> None:
    """Three that look at the same moment read it once, and enter what has happened once."""
    world = World(each_ops)
    await world.look()
    world.answers[REQUESTS] = [request(1)]
    first = each_ops
    url = None if first.database.is_sqlite else first.database.engine.url.render_as_string(hide_password=False)
    folder = first.database.path.parent if first.database.path else Path()
    first.later(seconds=31)
    with ledger_of(folder, url) as second, ledger_of(folder, url) as third:
        others = [world.another(ops=Ops(one, now=first.now)) for one in (second, third)]
        before = len(world.caller.calls)
        wish = Wish("new", "request.created")
        await asyncio.gather(*(one.look([wish]) for one in (world.watcher, *others)))
        assert len(world.caller.calls) == before + 1
    assert world.occasions() == ["request.created:1"]


async def test_a_crash_before_the_commit_loses_nothing(ops: Ops) -> None:
    """Killed while reading, or in the very transaction: the next process sees the same change."""

    class Killed(TableCaller):
        async def attempt_raw(self, call: Call[Any], /) -> Any:
            raise asyncio.CancelledError

    world = World(ops)
    await world.look()
    world.answers[REQUESTS] = [request(1)]
    with pytest.raises(asyncio.CancelledError):
        await world.look(watcher=world.another(Killed()))
    assert await world.look() == 0, "its claim stands for a while"
    ops.now += LEASE
    assert await world.look() == 1


async def test_a_transaction_that_fails_leaves_the_change_unseen(ops: Ops) -> None:
    """What is seen and what is due are written together, or not at all."""
    world = World(ops)
    await world.look()
    world.answers[REQUESTS] = [request(1)]

    def forbid(connection: Connection) -> None:
        connection.exec_driver_sql(
            "CREATE TRIGGER no BEFORE INSERT ON automation_ticks BEGIN SELECT RAISE(ABORT, 'disk'); END"
        )

    await ops.database.write(forbid)
    with pytest.raises(Exception, match="disk"):
        await world.look()
    await ops.database.write(lambda connection: connection.exec_driver_sql("DROP TRIGGER no"))
    ops.now += LEASE
    assert await world.look() == 1


async def test_what_happened_while_no_runner_ran_is_seen_later(ops: Ops) -> None:
    """A process that starts anew goes on where the last one was."""
    world = World(ops)
    await world.look()
    ops.later(days=3)
    world.answers[REQUESTS] = [request(1), request(2)]
    assert await world.look(watcher=world.another()) == 2


async def test_a_burst_is_run_and_told(ops: Ops) -> None:
    """All of it; ops hear how much it is."""
    world = World(ops)
    await world.look()
    world.answers[REQUESTS] = [request(number) for number in range(1, 301)]
    assert await world.look() == 300
    await ops.notices.deliver()
    assert ops.heads == ["300 changes at once: request.created, request.status_changed"]


async def test_a_workspace_that_cannot_be_read_is_told_after_a_while(
    ops: Ops, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says so at once, ops hear after ten minutes, once, and once when it is over; nothing is lost."""
    world = World(ops)
    await world.look()
    world.answers[REQUESTS] = NotSent("refused")
    for _ in range(25):
        await world.look()
    world.answers[REQUESTS] = [request(1)]
    assert await world.look() == 1
    await ops.notices.deliver()
    assert ops.heads == ["Changes in the workspace cannot be seen", "Changes in the workspace are seen again"]
    assert "finplan.request.list: refused" in ops.said[0]
    assert len(caplog.records) == 2


async def test_one_list_that_may_not_be_read_leaves_the_others(ops: Ops) -> None:
    """A key without rights in the wiki still sees requests."""
    world = World(ops)
    wishes = (Wish("new", "request.created"), Wish("wiki", "article.changed"))
    world.answers["wiki.article.list"] = Refused("permission_denied", "no rights", 403)
    await world.look(*wishes)
    world.answers[REQUESTS] = [request(1)]
    assert await world.look(*wishes) == 1


async def test_what_nobody_watches_is_not_read(ops: Ops) -> None:
    """A poll costs only what is wanted."""
    world = World(ops)
    await world.look(Wish("paid", "transaction.created"))
    assert [(name, body) for name, body in world.caller.calls] == [
        ("finance.transaction.list", {"type": kind}) for kind in ("in", "out", "move")
    ]


async def test_the_embedded_workspace(ops: Ops) -> None:
    """Every kind of event against a real server: nothing while nothing changes, then each of them."""
    async with open_async_workspace(sample="en") as api:
        world = World(ops, api)
        wishes = [Wish("all", kind) for kind in KINDS]
        await world.look(*wishes)
        await api.user.profile.list()
        assert await world.look(*wishes) == 0
        saved = await api.finplan.request.save(name="Paint", sum=500, finplan="2026-11-01", author_block_id=1)
        await api.tasks.task.create(name="Old one", finish_date=NOW.replace(year=2025))
        space = (await api.wiki.space.list())[0]
        await api.wiki.article.save(title="New", space_ids=[space.id or 0])
        await api.orgschema.block.save(name="New block", parent_id=1)
        cashbox = (await api.finance.transaction.cashbox_list())[0]
        category = (await api.fintransaction.category.list())[0]
        await api.fintransaction.transaction.create(
            type="out", sum=5, cashbox_id=cashbox.id or 0, category_id=category.id or 0
        )
        await world.look(*wishes)
    kinds = [line.occasion.partition(":")[0] for line in world.lines()]
    assert sorted(kinds) == sorted(set(KINDS) - {"request.status_changed"})
    assert f"request.created:{saved.id}" in world.occasions()


# Without a database


def read(source: Source, *answers: Any, zone: str = "Europe/Moscow") -> list[list[Event]]:
    """The events of each reading after another."""
    seen: dict[str, Any] | None = None
    found: list[list[Event]] = []
    for answer in answers:
        before = deepcopy(seen)
        seen, events = source.compare(seen, Reading([answer], NOW, ZoneInfo(zone)))
        assert before is None or source.compare(before, Reading([answer], NOW, ZoneInfo(zone))) == (seen, events)
        found.append(events)
    return found


def task(number: int, finish: str | None, **more: Any) -> dict[str, Any]:
    return {"id": number, "name": "t", "finish_date": finish, **more}


@pytest.mark.parametrize(
    ("finish", "late"),
    [
        ("2026-11-20", True),
        ("2026-11-21", False),
        ("2026-11-20 20:59:59", True),
        ("2026-11-20T21:00:00Z", False),
        ("2026-11-20T20:59:59Z", True),
        (None, False),
        ("soon", False),
    ],
)
def test_a_task_is_overdue_when_its_day_is_over(finish: str | None, late: bool) -> None:
    """On the clocks of the installation."""
    (_, events) = read(Tasks(), [task(1, "2027-01-01")], [task(1, finish)])
    assert [event.occasion for event in events] == ([f"task.overdue:1:{(finish or '')[:10]}"] if late else [])


def test_a_task_is_overdue_once_for_each_date() -> None:
    """Not at the first look, not when it is finished; another date is another time."""
    late, later = task(1, "2026-11-19"), task(1, "2026-11-20")
    found = read(Tasks(), [late], [late], [later], [later], [task(1, "2026-11-18", is_finished=True)], [later])
    assert [[event.occasion for event in events] for events in found] == [
        [], [], ["task.overdue:1:2026-11-20"], [], [], ["task.overdue:1:2026-11-20"],
    ]  # fmt: skip


def test_an_article_fires_when_it_is_saved_and_no_draft() -> None:
    """Being read is no change."""
    draft = {"id": 1, "title": "a", "is_draft": True, "modification_date": "1"}
    article = {"id": 1, "title": "a", "modification_date": "2", "view_count": 1}
    found = read(
        Articles(), [draft], [{**draft, "modification_date": "3"}], [article], [{**article, "view_count": 2}],
        [{**article, "modification_date": "4"}], [{**article, "modification_date": "4"}, {"id": 2, "title": "b"}],
    )  # fmt: skip
    assert [[event.values["change"] for event in events] for events in found] == [
        [], [], ["published"], [], ["changed"], ["created"],
    ]  # fmt: skip


def test_the_structure_says_what_has_changed() -> None:
    """By name; the order of the answer is no change."""
    ann, bob = {"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}
    new = {"org": [1], "block": [bob, {"id": 3, "name": "Cid"}]}
    _, same, changed, moved = read(
        Structure(), {"org": [1], "block": [ann, bob]}, {"org": [1], "block": [bob, ann]}, new, {**new, "org": [2]}
    )
    assert same == []
    values = changed[0].values
    assert (values["added"], values["removed"], values["changed"]) == (["Cid"], ["Ann"], [])
    assert values["title"] == "added: 1, removed: 1"
    assert moved[0].values["settings"] is True


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
@pytest.mark.parametrize(
    "answer", [None, "text", 5, [], {}, [None, 5, "x", [], {}], [{"id": None}, {"id": "x"}, {"id": -1}, {"id": True}]]
)
def test_answers_of_the_wrong_shape_are_no_events(source: Source, answer: Any) -> None:
    """Neither as the first answer nor as a later one."""
    readings = Reading([answer] * len(source.calls), NOW, ZoneInfo("UTC"))
    seen, _ = source.compare(None, readings)
    again, events = source.compare(seen, readings)
    assert (again, events) == (seen, [])


def test_ids_may_be_texts_and_lists_maps() -> None:
    """As some workspaces have them."""
    found = read(Tasks(), {"a": {"id": "7"}}, [{"id": 7}, {"id": "8"}])
    assert found[0] == []
    assert [event.occasion for event in found[1]] == ["task.created:8"]


def test_sets_of_ids_are_kept_short() -> None:
    """Long runs of numbers are two numbers."""
    ids = {*range(1, 100_001), 200_000}
    assert packed(ids) == "1-100000,200000"
    assert unpacked(packed(ids)) == ids
    assert packed([]) == ""


def test_what_is_remembered_is_bounded() -> None:
    """Beyond the bound the smallest ids are forgotten, and old for ever."""
    many = [{"id": number} for number in range(1, MOST_KNOWN + 10)]
    seen, _ = Tasks().compare(None, Reading([many], NOW, ZoneInfo("UTC")))
    assert seen["ids"] == f"10-{MOST_KNOWN + 9}"
    _, events = Tasks().compare(seen, Reading([[{"id": 1}, {"id": MOST_KNOWN + 10}]], NOW, ZoneInfo("UTC")))
    assert [event.occasion for event in events] == [f"task.created:{MOST_KNOWN + 10}"]
