"""The heartbeat beats while the runner is well, and is silent while it is not."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from automations.heartbeat import Heartbeat, unwritable
from automations.notices import NotDelivered
from tests.automations.ops import NOW, Ops

URL = "https://beat.example.com/abc"


@dataclass
class Outside:
    """Whoever hears the heartbeat."""

    deaf: bool = False
    heard: list[str] = field(default_factory=list[str])
    hears: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, url: str) -> None:
        if self.deaf:
            raise NotDelivered("beat.example.com answered 500")
        self.heard.append(url)
        self.hears.set()


@dataclass
class Loop:
    """The runner's loop."""

    turned: datetime = NOW


async def test_it_beats_while_the_runner_is_well(ops: Ops) -> None:
    """At once, and then each minute, until the runner stops."""
    outside, stop = Outside(), asyncio.Event()
    beating = asyncio.create_task(Heartbeat(URL, outside, ops.database, lambda: ops.now, lambda: ops.now).run(stop))
    await outside.hears.wait()
    stop.set()
    await beating
    assert outside.heard == [URL]


async def test_a_loop_that_hangs_is_not_well(ops: Ops, caplog: pytest.LogCaptureFixture) -> None:
    """Silence, told in the log once; and once that it goes on."""
    outside, loop = Outside(), Loop()
    heart = Heartbeat(URL, outside, ops.database, lambda: loop.turned, lambda: ops.now)
    assert await heart.beat()
    ops.later(minutes=3)
    assert not await heart.beat()
    assert not await heart.beat()
    loop.turned = ops.now
    assert await heart.beat()
    assert [record.getMessage() for record in caplog.records] == [
        "no heartbeat is sent: the runner's loop has not turned for 180 s",
        "the heartbeat is sent again",
    ]
    assert len(outside.heard) == 2


async def test_a_database_that_cannot_be_written_is_not_well(ops: Ops) -> None:
    """It is written, not only read."""
    outside = Outside()
    heart = Heartbeat(URL, outside, ops.database, lambda: ops.now, lambda: ops.now)
    assert await unwritable(ops.database, lambda: ops.now) is None
    await ops.database.write(lambda connection: connection.exec_driver_sql("DROP TABLE automation_watches"))
    assert not await heart.beat()
    assert outside.heard == []


async def test_a_closed_database_is_not_well(ops: Ops) -> None:
    """A runner that is stopping sends nothing."""
    ops.database.close()
    heart = Heartbeat(URL, Outside(), ops.database, lambda: ops.now, lambda: ops.now)
    assert not await heart.beat()


async def test_a_heartbeat_that_is_not_heard_is_told_once(ops: Ops, caplog: pytest.LogCaptureFixture) -> None:
    """In the log, for each outage; the runner goes on."""
    outside = Outside(deaf=True)
    heart = Heartbeat(URL, outside, ops.database, lambda: ops.now, lambda: ops.now)
    for _ in range(3):
        assert not await heart.beat()
        ops.now += timedelta(minutes=1)
    outside.deaf = False
    assert await heart.beat()
    assert [record.getMessage() for record in caplog.records] == [
        "the heartbeat is not heard: beat.example.com answered 500",
        "the heartbeat is heard again",
    ]
