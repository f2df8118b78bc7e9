"""The ops page: what it shows of real runs, what its buttons do, and each of its locks."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from automations.control import Control
from automations.engine import RecordedStep
from automations.errors import Finding
from automations.ledger import LedgerLine, RunLine
from automations.page.choices import choices
from automations.page.coming import calendar
from automations.page.past import Missed, gaps_of
from automations.page.serving import refuse_open_doors, serve_page, serve_page_when_free
from automations.page.timeline import Timeline, timeline
from automations.page.words import CAUSES, NUMBERED, RUSSIAN, STATES, Speech
from tests.automations.page_world import TOKEN, House, Visitor
from tests.automations.world import automation
from workspace_api.contract import Unknown

NOON = datetime(2026, 11, 23, 9, tzinfo=UTC)
"""A Monday."""
TEMPLATES = Path(__file__).parents[2] / "automations/page"


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Automations, and nothing that has run."""
    return House(tmp_path)


@asynccontextmanager
async def running(house: House) -> AsyncGenerator[None]:
    """A runner while the block lasts."""
    stop, ready = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(house.runner().run_forever(stop, ready.set))
    try:
        await ready.wait()
        yield
    finally:
        stop.set()
        await task


async def until(visitor: Visitor, address: str, words: str) -> str:
    """Looks again and again until the page says so."""
    async with asyncio.timeout(30):
        while words not in await visitor.opens(address):
            await asyncio.sleep(0.05)
    return visitor.text


# What it shows


async def test_an_empty_house(house: House) -> None:
    """Nothing has run and no runner was ever alive: it says so, and what comes next."""
    house.now = NOON
    async with house.visited() as visitor:
        text = await visitor.opens("/")
        assert "No runner is alive: nothing runs. Start one with: workspace run" in text
        assert "12:30</time> <a" in text
        assert 'overdue-digest</a> <span class="soft">(every 15m, next 12:15)' in text
        assert "has never run" in await visitor.opens("/automations")
        assert "There is none." in await visitor.opens("/runs")


async def test_gaps_questions_failures_and_files(house: House) -> None:
    """Gaps in red from the ledger's lines, the last failures, files that are wrong, and a runner last heard of."""
    house.now = NOON
    at = NOON - timedelta(hours=3)
    lines = [
        LedgerLine("nightly-org-export", "2026-11-21T23:00:00Z", "Europe/Moscow", "lost", "too old"),
        LedgerLine("daily-rates", "2026-11-22T23:00:00Z", "Europe/Moscow", "skipped", "its automation is gone"),
    ]
    await house.ledger(*lines, at=at)
    await house.beats(timedelta(hours=2))
    house.findings = (Finding("a.yaml", 7, 1, "steps", "<b>is wrong</b>"),)
    house.caller.answers = {"orgschema.orgschema.export": Unknown("read timeout"), "finplan.request.list": []}
    house.now = None
    failed = await house.runner().run_once("pay-rent")
    house.now = NOON
    async with house.visited() as visitor:
        text = await visitor.opens("/")
        assert "No runner is alive: nothing runs. One was last heard of 2 h ago." in text
        assert "No runner was alive from 22 Nov, 02:00 to 23 Nov, 09:00." in text
        assert "2 ticks missed:" in text
        assert "1 skipped, 1 lost." in text
        assert "a.yaml:7:1: steps: &lt;b&gt;is wrong&lt;/b&gt;" in text
        assert failed.run_id in text
        missed = await visitor.opens("/runs?state=missed")
        assert "its automation is gone" in missed
        assert "такой автоматизации больше нет" in await visitor.opens("/runs?state=missed&lang=ru")


def missed(tick: str, recorded: str, state: str = "skipped") -> Missed:
    return Missed("a", datetime.fromisoformat(tick), state, "", datetime.fromisoformat(recorded))


def test_gaps_are_told_from_other_skips() -> None:
    """A tick that was entered in time belongs to no gap, whatever became of it; two absences are two gaps."""
    lines = [
        missed("2026-11-21T02:00:00Z", "2026-11-21T02:00:01Z"),
        missed("2026-11-21T03:00:00Z", "2026-11-21T06:30:00Z", "late"),
        missed("2026-11-21T04:00:00Z", "2026-11-21T06:30:01Z"),
        missed("2026-11-22T04:00:00Z", "2026-11-22T05:00:00Z", "lost"),
    ]
    newer, older = gaps_of(lines)
    assert (older.since, older.until) == (lines[1].tick, lines[1].recorded_at)
    assert (older.late, older.skipped, older.lost) == (1, 1, 0)
    assert (newer.late, newer.skipped, newer.lost) == (0, 0, 1)


async def test_a_run_step_by_step(house: House) -> None:
    """Its steps with inputs and answers, secrets hidden, items under one row, what failed and why."""
    house.caller.answers = {"tasks.task.list": {"password": "xyz-secret", "title": "<script>alert(1)</script>"}}
    report = await house.runner().run_once("overdue-digest", by="anna")
    async with house.visited() as visitor:
        text = await visitor.opens(f"/runs/{report.run_id}")
        assert "by hand, anna" in text
        assert "(hidden)" in text
        assert "xyz-secret" not in text
        assert "&lt;script&gt;alert(1)" in text
        assert "×3" in text
        assert "told[2]" in text
        assert "tasks.task.list" in text
        assert visitor.status == 200
        await visitor.opens("/runs/overdue-digest:no-such-run")
        assert visitor.status == 404
        await visitor.opens("/nowhere")
        assert (visitor.status, "There is nothing here." in visitor.text) == (404, True)


async def test_runs_by_automation_state_and_page(house: House) -> None:
    """Filters hold, and the page after the first begins where it ended, also for runs of one moment."""
    runner = house.runner()
    await runner.run_once("nightly-org-export")
    house.now = NOON
    with Control(house.data, None, house.clock) as control:
        for number in range(60):
            house.now = NOON + timedelta(microseconds=number)
            await control.ask_for_run("nightly-org-export", "anna")
    async with house.visited() as visitor:
        seen: list[str] = []
        address = "/runs?state=active&automation=nightly-org-export"
        while True:
            text = await visitor.opens(address)
            seen += re.findall(r'<tr><td><a href="/runs/([^"]+)">', text)
            older = re.search(r'<a href="(/runs\?[^"]+)">Older ones', text)
            if older is None:
                break
            address = older[1].replace("&amp;", "&")
        assert len(seen) == len(set(seen)) == 60
        assert "There is none." in await visitor.opens("/runs?state=done&automation=pay-rent")
        assert "manual-" in await visitor.opens("/runs?state=done")


def step(name: str, start: float, end: float, **output: object) -> RecordedStep:
    """A record that began and ended so many seconds after noon."""
    moments = [NOON + timedelta(seconds=seconds) for seconds in (start, end)]
    return RecordedStep(1, name, {"state": "done", **output}, moments[0], moments[1])


def line(state: str, **more: str) -> RunLine:
    return RunLine("a:1", "a", "d", "2026-11-23T09:00:00Z", "UTC", "tick", {}, state, **more)


ASKING = automation(
    "steps:\n"
    "  - {id: one, set: 1}\n"
    "  - {id: gate, ask: {to: '@ops', text: Go?, options: [A, B]}}\n"
    "  - {id: last, telegram: {to: a, text: a}, undo: {telegram: {to: a, text: b}}}\n"
)


def drawn(state: str, *records: RecordedStep, now: float = 0, **more: str) -> Timeline:
    return timeline(line(state, **more), records, ASKING.definition, NOON + timedelta(seconds=now))


def test_a_night_of_waiting_leaves_room_for_the_steps() -> None:
    """Parked time is hatched and drawn shorter, never more than two thirds; pieces stay within the width."""
    found = drawn(
        "done",
        step("one", 0, 5),
        step("gate begun", 5, 5, state="begun"),
        step("gate", 36000, 36001, value={"answer": "A"}),
        step("last", 36001, 36005),
    )
    assert found.shortened
    one, gate, last = found.rows
    assert [piece.parked for piece in gate.pieces] == [True, False]
    assert gate.waited == timedelta(seconds=35995)
    assert one.pieces[0].x == 0
    assert one.pieces[0].width == pytest.approx(16.67, abs=0.01)
    assert gate.pieces[0].width == pytest.approx(66.67, abs=0.01)
    assert last.pieces[0].x + last.pieces[0].width == pytest.approx(100, abs=0.02)


def test_a_parked_run_waits_up_to_now_and_shows_what_is_to_come() -> None:
    """The step that waits reaches to the present; the steps after it are named."""
    found = drawn("parked", step("one", 0, 1), step("gate begun", 1, 1, state="begun"), now=61, step="gate")
    assert [(row.name, row.state) for row in found.rows] == [("one", "done"), ("gate", "parked"), ("last", "coming")]
    assert found.rows[1].waited == timedelta(seconds=60)
    assert found.end == NOON + timedelta(seconds=61)


def test_items_that_ran_together_are_one_row() -> None:
    """Items of one record, and of many records, fold into the row of their step; the failed one colours it."""
    together = step("one[0-1]", 0, 2, items=[{"state": "done", "value": 1}, {"state": "failed", "message": "no"}])
    found = drawn("failed", together, *(step(f"gate[{number}]", 2, 3) for number in range(200)))
    one, gate = found.rows[:2]
    assert (one.state, one.message, one.count) == ("failed", "no", 2)
    assert one.took == timedelta(seconds=2)
    assert (gate.count, len(gate.items), len(gate.pieces)) == (200, 50, 1)
    assert found.rows[2].state == "never"


@pytest.mark.parametrize(
    ("state", "acts"),
    [
        ("asked", ("cancel",)),
        ("running", ("cancel",)),
        ("parked", ("cancel",)),
        ("failed", ("resume", "from", "undo")),
        ("stopped", ("again", "from", "undo")),
        ("cancelled", ("resume", "from", "undo")),
        ("done", ("from", "undo")),
    ],
)
def test_only_what_makes_sense_is_offered(state: str, acts: tuple[str, ...]) -> None:
    """By the state of a run; undo only where something is to be undone and nobody has asked for it."""
    found = drawn(state, step("one", 0, 1), step("last", 1, 2))
    offered = choices(line(state), found, ASKING.definition, None)
    assert offered.acts == acts
    if "from" in acts:
        assert offered.steps == ("one", "last")
    assert "undo" not in choices(line(state), found, ASKING.definition, line("done")).acts
    assert choices(line(state, wanted="resume"), found, ASKING.definition, None).acts == ()
    only_one = drawn(state, step("one", 0, 1))
    assert "undo" not in choices(line(state), only_one, ASKING.definition, None).acts


def test_the_calendar_marks_clock_changes() -> None:
    """On the clocks of the house; days with a change of clocks in the tick's own zone are marked; often is apart."""
    known = {
        name: automation(f"name: {name}\ntrigger: {trigger}\nsteps: [{{set: 1}}]")
        for name, trigger in (
            ("berlin", '{cron: "30 2 * * *", timezone: Europe/Berlin}'),
            ("often", "{every: 5h}"),
            ("daily", "{every: 6h}"),
        )
    }
    found = calendar(known, datetime(2026, 10, 20, 9, tzinfo=UTC), "Europe/Moscow")
    assert [one.automation for one in found.often] == ["often"]
    berlin = [tick for day in found.days for tick in day.ticks if tick.automation == "berlin"]
    odd = [tick for tick in berlin if tick.mark]
    assert [tick.at.day for tick in odd] == [25]
    assert "first" in odd[0].mark
    assert {f"{tick.at:%H:%M}" for tick in berlin} == {"03:30", "04:30"}
    assert [len(day.ticks) for day in found.days][1] == 5


# What its buttons do


async def test_answering_a_question(house: House) -> None:
    """The answer of the page wakes the run, which ends with it; a second answer is told who was quicker."""
    async with running(house), house.visited() as visitor:
        with Control(house.data, None, house.clock) as control:
            run_id = await control.ask_for_run("daily-rates", "anna")
        text = await until(visitor, "/", "Rates moved by 7%. Set them?")
        assert "The run goes on with the answer “Set”." in text
        await visitor.opens(f"/runs/{run_id}")
        first = visitor.text
        assert "The answer is taken." in await visitor.presses("answer", option="Set")
        await until(visitor, f"/runs/{run_id}", "page answered “Set”")
        await until(visitor, f"/runs/{run_id}", "Retry from a step")
        assert [text for _, text, _ in house.chat.said.values()] == ["Set"]
        visitor.text = first
        assert "page was quicker: the answer is “Set”." in await visitor.presses("answer", option="Skip")
        assert visitor.status == 409


async def test_running_resuming_and_undoing(house: House) -> None:
    """A run by a button, a failed one resumed where it failed, and one undone, each by a runner."""
    house.caller.answers = {"tasks.task.list": [{}]}
    async with running(house), house.visited() as visitor:
        await visitor.opens("/automations/overdue-digest")
        text = await visitor.presses("run")
        assert "The run is asked for" in text
        address = visitor.address.partition("?")[0]
        await until(visitor, address, "Undo…")
        assert "by hand, page" in visitor.text
        text = await visitor.presses("undo")
        assert "The undoing is asked for: this is its run." in text
        await until(visitor, visitor.address.partition("?")[0], "state done")
        assert "Never mind" in {text for _, text, _ in house.chat.said.values()}
        assert "Undone by" in await visitor.opens(address)
        assert "Undo…" not in visitor.text
        await visitor.opens("/automations")
        await visitor.presses("run", automation="pay-rent")
        address = visitor.address.partition("?")[0]
        await until(visitor, address, "state failed")
        before = len(house.caller.calls)
        house.caller.answers = {"fintransaction.transaction.create": {"id": 7}}
        text = await visitor.presses("from", step="pay")
        await until(visitor, address, "state done")
        assert [name for name, _ in house.caller.calls[before:]] == ["fintransaction.transaction.create"]


async def test_cancelling_and_what_is_refused(house: House) -> None:
    """A waiting run is cancelled; what cannot be done is told in a sentence and changes nothing."""
    await house.runner().run_once("nightly-org-export")
    with Control(house.data, None, house.clock) as control:
        run_id = await control.ask_for_run("nightly-org-export", "anna")
    async with house.visited() as visitor:
        await visitor.opens(f"/runs/{run_id}")
        secret = visitor.form_secret()
        assert "A runner begins it in a moment." in visitor.text
        await visitor.presses("cancel")
        assert "прекратил: page" in await visitor.opens(f"/runs/{run_id}?lang=ru")
        await visitor.posts("/acts/cancel", {"form": secret, "run": run_id, "back": "/runs"})
        assert (visitor.status, 'href="/runs"' in visitor.text) == (409, True)
        for act, fields, status in (
            ("cancel", {"run": "no:run"}, 404),
            ("resume", {"run": "no:run"}, 404),
            ("run", {"automation": "nobody"}, 404),
            ("run", {"automation": "held"}, 403),
            ("answer", {"key": "none", "option": "A"}, 409),
            ("dance", {}, 404),
        ):
            await visitor.posts(f"/acts/{act}", {"form": secret, **fields})
            assert (visitor.status, act) == (status, act)
        assert "Ничего нет." in await visitor.opens("/runs?automation=held")


# Locks


async def test_a_form_without_the_secret_does_nothing(house: House) -> None:
    """Neither without one, nor with one of another session, nor without a cookie."""
    async with house.visited() as visitor, house.visited() as other:
        await visitor.opens("/automations")
        await other.opens("/automations")
        for secret in ("", other.form_secret(), "ж"):
            await visitor.posts("/acts/run", {"form": secret, "automation": "pay-rent"})
            assert (visitor.status, "This form is old" in visitor.text) == (403, True)
        await visitor.opens("/automations")
        own = visitor.form_secret()
        visitor.client.cookies.clear()
        await visitor.posts("/acts/run", {"form": own, "automation": "pay-rent"})
        assert visitor.status == 403
        await visitor.opens("/automations")
        assert visitor.form_secret() != own
        await visitor.posts("/acts/run", {"form": own, "automation": "pay-rent"})
        assert visitor.status == 403
        assert "There is none." in await visitor.opens("/runs")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:8091"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_form_of_another_origin_does_nothing(house: House, headers: dict[str, str]) -> None:
    """Even with the right secret and cookie."""
    async with house.visited() as visitor:
        await visitor.opens("/automations")
        fields = {"form": visitor.form_secret(), "automation": "pay-rent"}
        await visitor.posts("/acts/run", fields, **headers)
        assert (visitor.status, "other origins" in visitor.text) == (403, True)
        assert "There is none." in await visitor.opens("/runs")


@pytest.mark.parametrize(
    ("listens", "host", "let_in"),
    [
        ("127.0.0.1", "evil.example:8090", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "10.0.0.5:8090", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", "[", False),
        ("127.0.0.1", "localhost:8090", True),
        ("127.0.0.1", "[::1]:8090", True),
        ("0.0.0.0", "evil.example:8090", False),
        ("0.0.0.0", "10.0.0.5:8090", True),
        ("0.0.0.0", "ops.example.com", True),
    ],
)
async def test_hosts(house: House, listens: str, host: str, let_in: bool) -> None:
    """A name that is not ours is refused, wherever it leads: a page of its owner would otherwise read this one."""
    async with house.visited(listens, token=TOKEN, url="https://ops.example.com") as visitor:
        await visitor.opens("/", host=host)
        assert (visitor.status == 200) is let_in
        assert ("not served under that name" in visitor.text) is not let_in


async def test_the_headers_of_every_answer(house: House) -> None:
    """A policy without holes, a new nonce each time, and nothing inline that it does not name; also for refusals."""
    async with house.visited() as visitor:
        nonces: set[str] = set()
        for address in ("/", "/automations", "/runs", "/runs/x", "/nowhere"):
            text = await visitor.opens(address)
            policy = visitor.headers["content-security-policy"]
            assert "unsafe" not in policy
            (nonce,) = set(re.findall(r"'nonce-([^']+)'", policy))
            nonces.add(nonce)
            assert set(re.findall(r"<(?:script|style)([^>]*)>", text)) == {f' nonce="{nonce}"'}
            assert not re.search(r"\son\w+=|\sstyle=|javascript:|https?://", text)
            assert visitor.headers["x-frame-options"] == "DENY"
            assert visitor.headers["x-content-type-options"] == "nosniff"
            assert visitor.headers["referrer-policy"] == "same-origin"
            assert visitor.headers["cache-control"] == "no-store"
        assert len(nonces) == 5
        await visitor.opens("/", host="evil.example")
        assert "default-src 'none'" in visitor.headers["content-security-policy"]


async def test_the_cookie(house: House) -> None:
    """HttpOnly and SameSite=Strict; Secure where the page came over TLS; a forged or an old one is none."""
    house.now = NOON
    async with house.visited(token=TOKEN) as visitor:
        answer = await visitor.client.post(
            "/login", data={"token": TOKEN, "name": "Анна"}, headers={"origin": "http://127.0.0.1:8090"}
        )
        kept = answer.headers["set-cookie"]
        assert "HttpOnly" in kept
        assert "SameSite=strict" in kept
        assert "Secure" not in kept
        assert TOKEN not in kept
        visitor.client.cookies.clear()
        secure = await visitor.client.post(
            "https://127.0.0.1:8090/login", data={"token": TOKEN}, headers={"origin": "https://127.0.0.1:8090"}
        )
        assert "Secure" in secure.headers["set-cookie"]
        visitor.client.cookies.clear()
        name, _, value = kept.partition(";")[0].partition("=")
        body, _, signature = value.partition(".")
        for forged in (f"{body}.{signature[:-1]}0", f"{body}.", body, "x.y", f"{body}A.{signature}"):
            await visitor.opens("/", cookie=f"{name}={forged}")
            assert visitor.address.startswith("/login")
        assert "Sign out (Анна)" in await visitor.opens("/", cookie=f"{name}={value}")
        house.now = NOON + timedelta(days=8)
        await visitor.opens("/", cookie=f"{name}={value}")
        assert visitor.address.startswith("/login")
    house.now = NOON
    async with house.visited(token=TOKEN + "-changed") as visitor:
        await visitor.opens("/", cookie=f"{name}={value}")
        assert visitor.address.startswith("/login")


async def test_nothing_is_shown_or_done_without_the_token(house: House) -> None:
    """Every page leads to the form, and it leads back; what is done is recorded under the name that was given."""
    await house.runner().run_once("nightly-org-export")
    async with house.visited(token=TOKEN) as visitor:
        for address in ("/", "/automations", "/automations/pay-rent", "/runs", "/runs/x:y"):
            await visitor.opens(address)
            assert visitor.address.startswith("/login?back=")
            assert "nightly-org-export" not in visitor.text
        await visitor.posts("/acts/run", {"automation": "nightly-org-export"})
        assert visitor.status == 403
        await visitor.opens("/automations/nightly-org-export")
        await visitor.posts("/login", {"token": TOKEN, "name": " Anna\n B ", "back": "/automations/nightly-org-export"})
        assert visitor.address == "/automations/nightly-org-export"
        await visitor.presses("run")
        assert "by hand, Anna B" in visitor.text
        secret = visitor.form_secret()
        await visitor.posts("/logout", {"form": secret})
        await visitor.opens("/")
        assert visitor.address.startswith("/login")


async def test_a_token_in_the_address_becomes_the_cookie(house: House) -> None:
    """And is gone from the address; a wrong one is refused there too."""
    async with house.visited(token=TOKEN) as visitor:
        answer = await visitor.client.get(f"/runs?token={TOKEN}&state=done")
        assert (answer.status_code, answer.headers["location"]) == (303, "/runs?state=done")
        await visitor.opens("/runs")
        assert visitor.address == "/runs"
        visitor.client.cookies.clear()
        await visitor.opens("/runs?token=wrong")
        assert (visitor.status, "wrong" in visitor.address) == (403, True)
        assert 'value="wrong"' not in visitor.text


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"])
async def test_nobody_is_led_away(house: House, back: str) -> None:
    """The way back is one of this page."""
    async with house.visited(token=TOKEN) as visitor:
        headers = {"origin": "http://127.0.0.1:8090"}
        answer = await visitor.client.post("/login", data={"token": TOKEN, "back": back}, headers=headers)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_wrong_tokens_make_one_wait(house: House) -> None:
    """After a few even the right one is not looked at, longer each time, for that address; then it is."""
    house.now = NOON
    async with house.visited(token=TOKEN) as visitor:
        for _ in range(3):
            await visitor.posts("/login", {"token": "wrong"})
            assert (visitor.status, "The token is wrong." in visitor.text) == (403, True)
        await visitor.posts("/login", {"token": TOKEN})
        assert (visitor.status, visitor.headers["retry-after"]) == (429, "3")
        assert "try again in 2.0 s" in visitor.text
        await visitor.opens(f"/?token={TOKEN}")
        assert visitor.status == 429
        house.now += timedelta(seconds=2)
        await visitor.posts("/login", {"token": "wrong"})
        assert visitor.status == 403
        house.now += timedelta(seconds=3)
        await visitor.posts("/login", {"token": TOKEN})
        assert visitor.status == 429
        house.now += timedelta(seconds=1)
        await visitor.posts("/login", {"token": TOKEN})
        assert (visitor.status, visitor.address) == (200, "/")


async def test_a_body_without_end_is_cut(house: House) -> None:
    """A form that is too large is none."""
    async with house.visited() as visitor:
        await visitor.opens("/automations")
        fields = {"form": visitor.form_secret(), "automation": "pay-rent", "more": "x" * 70_000}
        await visitor.posts("/acts/run", fields)
        assert visitor.status == 403


@pytest.mark.parametrize(
    ("host", "url", "token", "open_to_all"),
    [
        ("127.0.0.1", None, None, False),
        ("::1", "http://localhost:8090", None, False),
        ("0.0.0.0", None, None, True),
        ("127.evil.example", None, None, True),
        ("127.0.0.1", "https://ops.example.com", None, True),
        ("0.0.0.0", None, TOKEN, False),
    ],
)
def test_no_page_for_everybody(host: str, url: str | None, token: str | None, open_to_all: bool) -> None:
    """Without a token it is served for this machine alone; the sentence names the setting."""
    if open_to_all:
        with pytest.raises(ValueError, match="WORKSPACE_PAGE_TOKEN"):
            refuse_open_doors(host, url, token)
    else:
        refuse_open_doors(host, url, token)


async def test_served_until_stopped_and_again_when_the_port_is_free(house: House) -> None:
    """A second process at the same port waits for its turn, and its runner is not disturbed."""
    first, second = asyncio.Event(), asyncio.Event()
    listens: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with house.page() as page:
        serving = asyncio.create_task(serve_page(page, "127.0.0.1", 0, first, listens.set_result))
        port = int((await listens).rpartition(":")[2])
        with pytest.raises(OSError, match="Set another WORKSPACE_PAGE"):
            await serve_page(page, "127.0.0.1", port, second)
        waiting = asyncio.create_task(serve_page_when_free(page, "127.0.0.1", port, second))
        await asyncio.sleep(0)
        second.set()
        await waiting
        first.set()
        await serving


# Words


def test_every_sentence_has_its_translation() -> None:
    """Those of the templates and of the code, and no translation without a sentence; placeholders are the same."""
    said: set[str] = set()
    counted: set[str] = set()
    for path in (*TEMPLATES.glob("templates/*.html"), *TEMPLATES.glob("*.py")):
        text = path.read_text()
        said |= set(re.findall(r'\bt\(\s*"([^"]+)"', text)) | set(re.findall(r"\bt\('([^']+)'", text))
        counted |= set(re.findall(r'\bn\([^"]+?, "([^"]+)"', text))
    tables = (TEMPLATES / "app.py").read_text() + (TEMPLATES / "views.py").read_text()
    said |= {sentence for sentence in RUSSIAN if f'"{sentence}"' in tables}
    assert said == set(RUSSIAN)
    assert counted == set(NUMBERED)
    for english, russian in RUSSIAN.items():
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", russian)), english


@pytest.mark.parametrize(("number", "word"), [(1, "1 срок"), (3, "3 срока"), (11, "11 сроков"), (21, "21 срок")])
def test_russian_counts(number: int, word: str) -> None:
    """One, few and many."""
    assert Speech("ru", ZoneInfo("Europe/Moscow"), NOON).n(number, "{n} tick missed").endswith(word)


async def test_languages(house: House) -> None:
    """What the browser asks for, then what somebody has chosen; the house's own where neither is known."""
    async with house.visited(language="ru") as visitor:
        assert 'lang="ru"' in await visitor.opens("/")
        assert "What runs next" in await visitor.opens("/", **{"accept-language": "de, en;q=0.8, ru;q=0.5"})
        assert "Что дальше" in await visitor.opens("/", **{"accept-language": "ru-RU,ru;q=0.9,en;q=0.8"})
        await visitor.opens("/runs?state=done&lang=en")
        assert visitor.address == "/runs?state=done"
        assert 'lang="en"' in await visitor.opens("/", **{"accept-language": "ru"})
        assert all(all(pair) for pair in (*STATES.values(), *CAUSES.values()))
