"""/task call Anna tomorrow → draft ──(Create)──► creating ──► card with status buttons
/tasks → my open tasks, page by page ──(one)──► card ──(In progress, Review, Finished)──► …
"""

from datetime import date, datetime, timedelta
from typing import Any

from bot.cards import Button, Card, View
from bot.desk import Intended, Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues import task_text
from bot.dialogues.requests import under_way
from bot.directory import is_active
from bot.intents import Intent, Settled, Verdict
from bot.texts import sentence, short
from workspace_api import calls
from workspace_api.contract.task_fields import TaskFilter
from workspace_api.contract.task_records import Task

PAGE = 8

STATUSES = {
    "new": sentence("New"),
    "in_progress": sentence("In progress"),
    "review": sentence("In review"),
    "finished": sentence("Finished"),
}
"""The usual keys and what they are called; a project may have others, which are shown as they are."""

MARKS = {"new": "⚪", "in_progress": "🔵", "review": "🟡", "finished": "✅"}


class Tasks(Dialogue):
    """Tasks of a person."""

    name = "tasks"
    commands = (
        Command("task", sentence("A new task: /task call Anna tomorrow")),
        Command("tasks", sentence("My open tasks")),
    )

    async def command(self, turn: Turn, command: str, words: str) -> None:
        if command == "tasks":
            await self._list(turn, turn.new_card(self.name, screen="list", page=0))
        elif words:
            await self._from_text(turn, turn.new_card(self.name, screen="draft"), words)
        else:
            card = turn.new_card(self.name, screen="draft")
            question = turn.texts.html(
                "<b>%(what)s</b>", what=turn.t("What is to be done? Write it, with a day if you like.")
            )
            turn.show(card, View(question, ((Button(turn.t("Cancel"), "cancel"),),)), expect="text")

    async def _from_text(self, turn: Turn, card: Card, text: str) -> None:
        today = turn.today.date()
        people = await turn.desk.directory.people()
        working = {u: p.user_name or p.name or "" for u, p in people.items() if is_active(p, today.isoformat())}
        me = turn.known().user_id
        parsed = task_text.parse(short(text, 500), today, working)
        others = [user for user in parsed.people if user != me][:3]
        day = parsed.day.isoformat() if parsed.day else None
        await self._draft(turn, card.with_state(name=parsed.name, day=day, who=me, others=others))

    async def _draft(self, turn: Turn, card: Card, head: str | None = None) -> None:
        state, me = card.state, turn.known().user_id
        names = {user: await turn.desk.directory.name(user) for user in [me, *state["others"]]}
        rows: list[tuple[Button, ...]] = [(Button(turn.t("Create"), "create", style="success"),)]
        if state["others"]:
            choices = [me, *state["others"]]
            rows.append(
                tuple(
                    Button(
                        turn.t("For me") if user == me else turn.t("For %(name)s", name=names[user]),
                        "set",
                        {"who": user},
                    )
                    for user in choices
                    if user != state["who"]
                )
            )
        today = turn.today.date()
        days = [
            (turn.t("Today"), today),
            (turn.t("Tomorrow"), today + timedelta(days=1)),
            (turn.t("In a week"), today + timedelta(days=7)),
        ]
        rows.append(
            tuple(
                Button(label, "set", {"day": day.isoformat()}) for label, day in days if day.isoformat() != state["day"]
            )
        )
        rows.append((Button(turn.t("Change the text"), "rename"), Button(turn.t("Cancel"), "cancel")))
        title = head or turn.texts.html("📝 <b>%(title)s</b>", title=turn.t("Task, not created yet"))
        turn.show(card, View(await self._draft_text(turn, card, title), tuple(rows)))

    async def _draft_text(self, turn: Turn, card: Card, head: str) -> str:
        state = card.state
        return turn.texts.render(
            "task.html",
            head=head,
            name=state["name"],
            description="",
            status=None,
            mark="📌",
            day=turn.texts.day(_at(turn, state["day"])) if state["day"] else None,
            overdue=False,
            who=await turn.desk.directory.name(state["who"]),
            owner=None,
        )

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "cancel":
            turn.show(card, View(turn.t("Cancelled; nothing was saved.")))
        elif action == "set":
            await self._draft(turn, card.with_state(**args))
        elif action == "rename":
            question = turn.texts.html(
                "<b>%(what)s</b>", what=turn.t("What is to be done? Write it, with a day if you like.")
            )
            turn.show(card, View(question, ((Button(turn.t("‹ Back"), "draft"),),)), expect="text")
        elif action == "draft":
            await self._draft(turn, card)
        elif action == "create":
            await self._create(turn, card)
        elif action == "list":
            await self._list(turn, card.with_state(screen="list", page=args.get("page", 0)))
        elif action == "open":
            await self._open(turn, card.with_state(screen="task", task=args["task"]))
        elif action == "status":
            await self._set_status(turn, card, str(args["status"]))

    async def abandoned(self, turn: Turn, card: Card) -> None:
        turn.show(card, View(turn.t("Cancelled; nothing was saved.")))

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        await self._from_text(turn, card, text)

    async def _create(self, turn: Turn, card: Card) -> None:
        await turn.still_works_here()
        state, me = card.state, turn.known().user_id
        fields: dict[str, Any] = {"finish_date": _at(turn, state["day"])} if state["day"] else {}
        call = calls.tasks.task.create(
            name=state["name"],
            owner_user_id=me,
            responsible_user_ids=[state["who"]],
            status_key="new",
            integration_data={"source": "chat"},
            **fields,
        )
        head = turn.texts.html("⏳ <b>%(doing)s</b>", doing=turn.t("Creating …"))
        text = await self._draft_text(turn, card, head)
        turn.show(card, View(text), intend=Intended(call, f"newtask:{card.id}", {"act": "create"}))

    async def _mine(self, turn: Turn) -> list[Task]:
        me = turn.known().user_id
        found = await turn.api().tasks.task.list(filter=TaskFilter(responsible_user_ids=[me]))
        # A workspace may ignore the filter.
        mine = [
            t
            for t in found
            if me in (t.responsible_user_ids or []) and not t.is_finished and t.status_key != "finished"
        ]
        return sorted(mine, key=_urgency)

    async def _list(self, turn: Turn, card: Card) -> None:
        tasks = await self._mine(turn)
        page = min(int(card.state.get("page", 0)), max(0, (len(tasks) - 1) // PAGE))
        if not tasks:
            turn.show(card, View(turn.t("You have no open tasks. /task makes one.")))
            return
        shown = tasks[page * PAGE : (page + 1) * PAGE]
        rows = [
            (
                Button(
                    f"{MARKS.get(t.status_key or '', '▫️')} {short(t.name, 40)}{self._due(turn, t)}",
                    "open",
                    {"task": t.id},
                ),
            )
            for t in shown
        ]
        turning: list[Button] = []
        if page:
            turning.append(Button("‹", "list", {"page": page - 1}))
        if len(tasks) > (page + 1) * PAGE:
            turning.append(Button("›", "list", {"page": page + 1}))
        count = turn.texts.n("%(count)d open task", "%(count)d open tasks", len(tasks))
        text = turn.texts.html("<b>%(count)s</b>", count=count)
        turn.show(card.with_state(page=page), View(text, (*rows, tuple(turning))))

    def _due(self, turn: Turn, task: Task) -> str:
        if task.finish_date is None:
            return ""
        mark = " ⚠️" if task.finish_date.date() < turn.today.date() else ""
        return f"{mark} {turn.texts.day(task.finish_date)}"

    async def _open(self, turn: Turn, card: Card, head: str | None = None) -> None:
        task = await turn.api().tasks.task.get(id=card.state["task"])
        turn.show(card, View(await self._text(turn, task, head), self._buttons(turn, card, task)))

    async def _text(self, turn: Turn, task: Task, head: str | None) -> str:
        from bot.dialogues.article_html import plain

        names = [await turn.desk.directory.name(user) for user in task.responsible_user_ids or []]
        owner = task.owner_user_id if task.owner_user_id not in (task.responsible_user_ids or []) else None
        late = task.finish_date is not None and task.finish_date.date() < turn.today.date() and not task.is_finished
        return turn.texts.render(
            "task.html",
            head=head,
            name=task.name or "",
            description=short(plain(task.description or ""), 1500),
            status=turn.t(STATUSES.get(task.status_key or "", task.status_key or "")),
            mark=MARKS.get(task.status_key or "", "▫️"),
            day=turn.texts.day(task.finish_date) if task.finish_date else None,
            overdue=late,
            who=", ".join(names),
            owner=await turn.desk.directory.name(owner) if owner else None,
        )

    def _buttons(self, turn: Turn, card: Card, task: Task) -> tuple[tuple[Button, ...], ...]:
        rows: list[tuple[Button, ...]] = []
        if task.can_change_status is not False:
            others = [key for key in STATUSES if key != task.status_key]
            row = [Button(f"{MARKS[key]} {turn.t(STATUSES[key])}", "status", {"status": key}) for key in others]
            rows += [tuple(row[:2]), tuple(row[2:])]
        if "page" in card.state:
            rows.append((Button(turn.t("‹ My tasks"), "list", {"page": card.state["page"]}),))
        return tuple(rows)

    async def _set_status(self, turn: Turn, card: Card, status: str) -> None:
        await turn.still_works_here()
        task = await turn.api().tasks.task.get(id=card.state["task"])
        call = calls.tasks.task.update(id=card.state["task"], fields={"status_key": status})
        head = turn.texts.html("⏳ <b>%(doing)s</b>", doing=turn.t("Saving …"))
        before = {"act": "status", "task": card.state["task"], "status": status}
        text = await self._text(turn, task, head)
        turn.show(card, View(text), intend=Intended(call, f"task:{card.state['task']}", before))

    async def refresh(self, turn: Turn, card: Card) -> None:
        if under_way(turn, card):
            turn.toast(turn.t("This is already under way."))
        elif card.state["screen"] == "list":
            await self._list(turn, card)
        elif card.state["screen"] == "task":
            await self._open(turn, card)
        elif "name" in card.state:
            await self._draft(turn, card)

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        creating = intent.before["act"] == "create"
        if settled.kind == "done":
            number = settled.data["id"] if creating else card.state["task"]
            words = turn.t("Created, no. %(id)s", id=number) if creating else turn.t("Saved")
            head = turn.texts.html("✅ <b>%(words)s</b>", words=words)
            await self._open(turn, card.with_state(screen="task", task=number), head)
            return
        words = {
            "checking": turn.t("The workspace has not confirmed it yet. I am checking; do not do it again."),
            "refused": turn.t("The workspace refused: %(why)s", why=settled.message),
        }.get(settled.kind, turn.t("It was not seen in the workspace. Check there before you do it again."))
        head = turn.texts.html("⚠️ <b>%(words)s</b>", words=words)
        if settled.kind == "checking":
            turn.show(card, View(await self._draft_text(turn, card, head) if creating else head))
        elif creating:
            await self._draft(turn, card, head)
        else:
            await self._open(turn, card, head)

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        if intent.before["act"] == "status":
            task = await turn.api().tasks.task.get(id=intent.before["task"])
            return Verdict(task.status_key == intent.before["status"], {"id": task.id})
        found = await turn.api().tasks.task.list(filter=TaskFilter(owner_user_id=[intent.user_id]))
        for task in found:
            if (task.integration_data or {}).get("operation_id") == intent.id:
                return Verdict(True, {"id": task.id})
        twins = [
            t
            for t in found
            if not t.integration_data
            and t.name == intent.body["name"]
            and t.owner_user_id == intent.user_id
            and t.creation_date is not None
            and t.creation_date.timestamp() >= intent.created_at - 5
        ]
        return Verdict(len(twins) == 1, {"id": twins[0].id} if len(twins) == 1 else None)


def _urgency(task: Task) -> tuple[bool, str, int]:
    return (task.finish_date is None, task.finish_date.isoformat() if task.finish_date else "", task.id or 0)


def _at(turn: Turn, day: str) -> datetime:
    """The end of the working day of a date, in the house's zone."""
    chosen = date.fromisoformat(day)
    return turn.today.replace(
        year=chosen.year, month=chosen.month, day=chosen.day, hour=18, minute=0, second=0, microsecond=0
    )
