"""`ask`: a question in chat, with a button for each option; the run waits for the answer, for days where it has to.

```yaml
- id: gate
  ask:
    to: "@finance, manager_of(boris)"     # the first of them who answers decides
    text: Rates moved by more than 5%. Set them?
    options: [Set, Skip]                  # 2 to 8; Yes and No where none are named
    timeout: 4h
    default: Skip                         # counts when the time is over; without one the step fails then
    photo: org/moved.svg                  # or file: what is shown with the question
```
While it waits the run holds nothing, and survives restarts. Its value is `{answer, by, at, timed_out}`: the option, the
user id of who chose it (empty where the time ran out), and when, in UTC.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, JsonValue

from automations.errors import Path, StepFailed
from automations.expressions import is_alone, is_template
from automations.ports import Answer, Question
from automations.shapes import is_list, is_map
from automations.steps import recipients
from automations.steps.attachments import Attachment, attached
from automations.steps.base import Given, Step, Wait
from automations.triggers import Duration, Model, duration, utc_text

FEWEST, MOST, LONGEST = 2, 8, 40
"""Options, and characters of one."""

AGAIN, PATIENCE = timedelta(seconds=30), timedelta(minutes=10)
"""How soon a workspace that did not say who is to be asked is asked again, and for how long."""


def _options(value: list[JsonValue] | str) -> list[JsonValue] | str:
    if isinstance(value, str) and not (is_template(value) and is_alone(value)):
        raise ValueError('is a list, or one expression that gives one, such as "{{ vars.choices }}"')
    return value


class Inquiry(Model):
    """What is asked of whom."""

    to: str
    text: str
    options: Annotated[list[JsonValue] | str, AfterValidator(_options)] = Field(
        default_factory=lambda: list[JsonValue](["Yes", "No"])
    )
    timeout: Duration | None = None
    default: str | int | None = None
    photo: str | None = None
    file: str | None = None


class AskStep(Step):
    """Asks in chat and waits for the answer."""

    kind: ClassVar[str] = "ask"

    ask: Inquiry

    @property
    def waits(self) -> bool:
        return True

    def findings(self) -> Iterator[tuple[Path, str]]:
        ask = self.ask
        for wrong in recipients.findings(ask.to):
            yield ("ask", "to"), wrong
        if ask.photo is not None and ask.file is not None:
            yield ("ask", "file"), "is one thing too many: name photo or file"
        if isinstance(ask.options, str):
            return
        if not FEWEST <= len(ask.options) <= MOST:
            yield ("ask", "options"), f"should be {FEWEST} to {MOST} options, these are {len(ask.options)}"
        known: list[str] = []
        for place, option in enumerate(ask.options):
            if is_template(option):
                continue
            problem = _wrong(option)
            if problem is not None:
                yield ("ask", "options", place), problem
            elif str(option).strip() in known:
                yield ("ask", "options", place), f"{option} is there twice: each option needs its own words"
            known.append(str(option).strip())
        if ask.default is None or is_template(ask.default) or any(is_template(option) for option in ask.options):
            return
        if str(ask.default).strip() not in known:
            yield ("ask", "default"), f"{ask.default} is none of the options ({', '.join(known)})"

    def _question(self, given: Given) -> Question:
        """The question with its templates evaluated. Raises StepFailed."""
        ask = self.ask
        text = given.words(ask.text, "text").strip()
        if not text:
            raise StepFailed("text is empty: there is nothing to ask")
        options = self._given_options(given)
        default = None if ask.default is None else given.text(str(ask.default), "default").strip()
        if default is not None and default not in options:
            raise StepFailed(f"default is {default}, which is none of the options ({', '.join(options)})")
        return Question(given.key, given.automation, text, options, self._deadline(given), default)

    def _given_options(self, given: Given) -> tuple[str, ...]:
        value = given.value(self.ask.options)
        if not is_list(value):
            raise StepFailed(f"options should be a list, {str(self.ask.options).strip()[:200]} is none")
        for option in value:
            problem = _wrong(option)
            if problem is not None:
                raise StepFailed(f"options: {problem}")
        options = tuple(str(option).strip() for option in value)
        if not FEWEST <= len(options) <= MOST:
            raise StepFailed(f"options should be {FEWEST} to {MOST}, these are {len(options)}")
        if len(set(options)) != len(options):
            raise StepFailed(f"options should each have words of their own: {', '.join(options)}")
        return options

    def _deadline(self, given: Given) -> datetime | None:
        if self.ask.timeout is None:
            return None
        return (given.begun_at or given.tools.clock()) + duration(self.ask.timeout)

    async def ready(self, given: Given) -> Wait | None:
        question = self._question(given)
        # Who is to be asked is read once: an answer must not wait for a workspace that is down meanwhile.
        to = await given.tools.desk.asked_of(given.key)
        if to is None:
            try:
                to = await recipients.addressees(self.ask.to, given)
            except StepFailed as error:
                begun = given.begun_at or given.tools.clock()
                if error.transient and given.tools.clock() - begun < PATIENCE:
                    return Wait(until=given.tools.clock() + AGAIN)
                raise
            await self._show(given, to)
        if await self._answer(given, to, question) is not None:
            return None
        return Wait(until=question.deadline, on=f"question:{given.key}")

    async def _show(self, given: Given, to: str) -> None:
        """What goes with the question comes before it."""
        picture = attached(given, self.ask.file, self.ask.photo)
        if picture is not None:
            await _said(given, to, picture)

    async def _answer(self, given: Given, to: str, question: Question) -> Answer | None:
        try:
            return await given.tools.desk.ask(given.run_id, to, question)
        except ValueError as error:
            raise StepFailed(f"nobody was asked: {error}") from None

    async def intent(self, given: Given) -> dict[str, Any]:
        return self._shown(given, await recipients.addressees(self.ask.to, given))

    def _shown(self, given: Given, to: str) -> dict[str, Any]:
        files = {name: path for name, path in (("photo", self.ask.photo), ("file", self.ask.file)) if path is not None}
        question = self._question(given)
        told: dict[str, Any] = {"ask": to, "text": question.text, "options": list(question.options)}
        told |= {name: given.text(path, name) for name, path in files.items()}
        if self.ask.timeout is not None:
            told |= {"timeout": self.ask.timeout, "default": question.default}
        return told

    async def run(self, given: Given) -> Any:
        question = self._question(given)
        given.tell(**self._shown(given, await given.tools.desk.asked_of(given.key) or ""))
        answer = await self._answer(given, self.ask.to, question)
        if answer is None:
            raise StepFailed("the question is open still", transient=True)
        if answer.option is None:
            by = f" by {utc_text(question.deadline)}" if question.deadline is not None else ""
            raise StepFailed(f"nobody answered “{question.text[:200]}”{by}")
        return {"answer": answer.option, "by": answer.by, "at": answer.at, "timed_out": answer.timed_out}


def _wrong(option: object) -> str | None:
    """What is wrong with one option."""
    if option is None or isinstance(option, bool) or is_list(option) or is_map(option):
        return "should be words, such as Set or Skip; in quotes where they are true, false or null"
    words = str(option).strip()
    if not words:
        return "is empty: each option needs words"
    return f"{words[:20]}… has {len(words)} characters, at most {LONGEST} fit" if len(words) > LONGEST else None


async def _said(given: Given, to: str, picture: Attachment) -> None:
    try:
        await given.tools.messenger.say(to, "", file=picture.path, photo=picture.photo, key=f"{given.key}:shown")
    except ValueError as error:
        raise StepFailed(f"nobody was asked: {error}") from None
