"""What the tests of automations share: a workspace that answers from a table, a chat that remembers, a journal."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from json import dumps
from pathlib import Path
from textwrap import dedent
from typing import Any, Generic, TypeVar

from automations.definition import Automation, read_automation
from automations.engine import Ticket
from automations.interpret import interpret
from automations.ports import Answer as Reply
from automations.ports import Caller, Question
from automations.shapes import is_list
from automations.steps import Tools
from workspace_api.contract import Call, Done, NotSent, Raw, Refused, Unknown

NOW = datetime(2026, 11, 21, 2, tzinfo=UTC)
"""When the runs of these tests are."""

C = TypeVar("C", bound=Caller)

Answer = Done[Raw[Any]] | Refused | NotSent | Unknown


def done(data: Any) -> Done[Raw[Any]]:
    """The workspace's answer with that `data`."""
    return Done(Raw(200, {}, dumps({"status": "success", "data": data}).encode(), 0.01, 1, data))


@dataclass
class TableCaller:
    """Answers each operation from a table: one answer for all calls, or a list for one call after another."""

    answers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])

    async def attempt_raw(self, call: Call[Any], /) -> Answer:
        self.calls.append((call.name, call.params.body()))
        answer = self.answers.get(call.name, True)
        if is_list(answer) and answer and isinstance(answer[0], (Done, Refused, NotSent, Unknown)):
            outcome: Answer = answer.pop(0)
            return outcome
        return answer if isinstance(answer, (Refused, NotSent, Unknown)) else done(answer)


@dataclass
class Chat:
    """Remembers what was said, each key once."""

    said: dict[str, tuple[str, str, Path | None]] = field(default_factory=dict[str, tuple[str, str, Path | None]])

    asked: dict[str, tuple[str, Question]] = field(default_factory=dict[str, tuple[str, Question]])
    settled: dict[str, str] = field(default_factory=dict[str, str])

    async def say(self, to: str, text: str, *, file: Path | None = None, photo: bool = False, key: str) -> None:
        if to == "@nobody":
            raise ValueError("@nobody is not known to the bot")
        self.said.setdefault(key, (to, text, file))

    async def ask(self, to: str, question: Question) -> None:
        if to == "@nobody":
            raise ValueError("@nobody is not known to the bot")
        self.asked.setdefault(question.key, (to, question))

    async def settle(self, key: str, words: str) -> None:
        self.settled[key] = words


@dataclass
class MemoryDesk:
    """A desk in memory: `answers` by the key of the question, `last` values by name, `children` by automation."""

    chat: Chat
    answers: dict[str, Reply] = field(default_factory=dict[str, Reply])
    last: dict[str, Any] = field(default_factory=dict[str, Any])
    kept: dict[str, Any] = field(default_factory=dict[str, Any])
    children: dict[str, tuple[str, str | None]] = field(default_factory=dict[str, tuple[str, str | None]])
    past: dict[str, list[tuple[str, dict[str, Any]]]] = field(
        default_factory=dict[str, list[tuple[str, dict[str, Any]]]]
    )
    now: Callable[[], datetime] = lambda: NOW

    async def ask(self, run_id: str, to: str, question: Question) -> Reply | None:
        if question.key not in self.answers and question.deadline is not None and self.now() >= question.deadline:
            return Reply(question.default, "", "", timed_out=True)
        if question.key not in self.answers:
            await self.chat.ask(to, question)
        return self.answers.get(question.key)

    async def asked_of(self, key: str) -> str | None:
        return self.chat.asked[key][0] if key in self.chat.asked else None

    async def last_value(self, automation: str, name: str, run_id: str) -> tuple[bool, Any]:
        return name in self.last, self.last.get(name)

    async def keep_value(self, automation: str, name: str, run_id: str, value: Any) -> None:
        self.kept[name] = value

    async def run_child(
        self, automation: str, parent: str, step: str, values: Mapping[str, Any]
    ) -> tuple[str, str, str | None]:
        state, message = self.children.setdefault(automation, ("waiting", None))
        return f"{automation}:of-{step}", state, message

    async def recorded(self, run_id: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
        return self.past[run_id]


@dataclass
class MemoryJournal:
    """A journal in memory; handed on with another incarnation, it is the record of a run taken up again."""

    incarnation: str = "first"
    records: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    position: int = 0

    async def record(self, name: str, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        if self.position == len(self.records):
            self.records.append((name, await work()))
        recorded, outcome = self.records[self.position]
        assert recorded == name
        self.position += 1
        return outcome

    def after(self, count: int, incarnation: str = "second") -> "MemoryJournal":
        """What a process leaves behind that was killed after so many records."""
        return MemoryJournal(incarnation, self.records[:count])


def automation(text: str, folder: Path = Path()) -> Automation:
    """A definition from the YAML of its steps."""
    text = dedent(text)
    body = text if text.startswith("name:") else f"name: test\n{text}"
    return read_automation(body, folder / "test.yaml")


def ticket(one: Automation, tick: str = "2026-11-21T02:00:00Z", zone: str = "Europe/Moscow") -> Ticket:
    return Ticket(f"{one.name}:{tick}", one.name, one.data, str(one.file.parent), tick, zone)


@dataclass
class Bench(Generic[C]):
    """Runs automations in memory."""

    files: Path
    caller: C
    chat: Chat = field(default_factory=Chat)
    hosts: set[str] = field(default_factory=set[str])
    waits: list[float] = field(default_factory=list[float])
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    now: datetime = NOW
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.desk = MemoryDesk(self.chat, now=lambda: self.now)

    def tools(self) -> Tools:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return Tools(
            self.caller,
            self.chat,
            self.files,
            self.hosts,
            sleep,
            lambda: 1.0,
            self.desk,
            lambda: self.now,
            self.secrets,
        )

    async def run(
        self, text: str, journal: MemoryJournal | None = None, cause: str = "tick", **details: Any
    ) -> dict[str, Any]:
        """The result of a run."""
        self.journal = journal or MemoryJournal()
        one = automation(text, self.files.parent)
        return await interpret(replace(ticket(one), cause=cause, details=details), self.journal, self.tools())

    def value(self, step: str) -> Any:
        """What a step recorded."""
        return next(outcome for name, outcome in self.journal.records if name == step)["value"]
