"""The rows of a company file, table by table. What a file leaves out gets the value that a new record would have."""

from collections.abc import Sequence

from workspace_api.server.company_file import Calendar
from workspace_api.server.company_shape import Access, CompanyFile, ContentPart
from workspace_api.server.habits import Happened
from workspace_api.server.json_values import as_map
from workspace_api.server.moments import stored
from workspace_api.server.tx import Row, dumps

FOUNDED = "2009-03-02 00:00:00"
"""When what has no date of its own was created."""


def currencies(company: CompanyFile, calendar: Calendar) -> list[Row]:
    return [
        {
            **part.model_dump(),
            "name": calendar.words(part.name),
            "decimal": calendar.words(part.decimal),
            "thousand_separator": calendar.words(part.thousand_separator),
            "is_main": number == 0,
        }
        for number, part in enumerate(company.currencies)
    ]


def rates(company: CompanyFile, calendar: Calendar) -> list[Row]:
    return [{**part.model_dump(), "date": calendar.day(part.date).isoformat()} for part in company.rates]


def org(company: CompanyFile, calendar: Calendar) -> list[Row]:
    part = company.org
    values: Row = {**part.model_dump(), "name": calendar.words(part.name), "creation_date": FOUNDED}
    for name, level in values.items():
        words = as_map(level) if name.startswith("level") else None
        if words is not None:
            values[name] = dumps({key: calendar.words(as_map(text) or str(text)) for key, text in words.items()})
    return [values]


def blocks(company: CompanyFile, calendar: Calendar) -> list[Row]:
    """Parents before their children, which foreign keys need."""
    rows: list[Row] = [
        {
            **part.model_dump(),
            "name": calendar.words(part.name),
            "position": calendar.words(part.position),
            "org_id": str(company.org.id),
            "color_chevron": part.color,
            "creation_date": FOUNDED,
        }
        for part in company.blocks
    ]
    return _parents_first(rows)


def _parents_first(rows: list[Row]) -> list[Row]:
    waiting, placed, ordered = list(rows), set[int | None]([None]), list[Row]()
    while waiting:
        ready = [row for row in waiting if row["parent_id"] in placed]
        # A circle: what is left goes in as it stands, and the database refuses it.
        ready = ready or waiting
        ordered += ready
        placed |= {row["id"] for row in ready}
        waiting = [row for row in waiting if row not in ready]
    return ordered


def users(company: CompanyFile, calendar: Calendar) -> list[Row]:
    rows: list[Row] = []
    for number, part in enumerate(company.users, 1):
        row = part.model_dump(exclude={"blocks", "is_probation"})
        for name in ("birth_date", "hiring_date", "firing_date"):
            row[name] = calendar.kept(row[name])
        row |= {
            "id": number,
            "user_name": calendar.words(part.user_name),
            "comment": calendar.words(part.comment),
            "deletion_date": row["firing_date"] if part.is_deleted else None,
        }
        rows.append(row)
    return rows


def workers(company: CompanyFile, calendar: Calendar) -> list[Row]:
    rows: list[Row] = []
    for part in company.users:
        left = part.is_deleted or (part.firing_date is not None and calendar.day(part.firing_date) <= calendar.today)
        for place, block_id in enumerate(part.blocks):
            rows.append(
                {
                    "id": len(rows) + 1,
                    "block_id": block_id,
                    "user_id": part.user_id,
                    "is_probation": part.is_probation,
                    "is_primary": place == 0 and not left,
                    "creation_date": calendar.kept(part.hiring_date) or FOUNDED,
                    "deletion_date": calendar.kept(part.firing_date) if left else None,
                    "is_deleted": left,
                }
            )
    return rows


def planning(company: CompanyFile, _calendar: Calendar) -> list[Row]:
    part = company.finplan_settings
    return [
        {
            **part.model_dump(),
            "manager_blocks": dumps(part.manager_blocks),
            "skip_blocks": dumps(part.skip_blocks),
            "creation_date": FOUNDED,
        }
    ]


def _access(items: Sequence[Access]) -> str:
    return dumps(
        [
            {"id": number, "type": "block", "nested": False, "parents": False} | item
            for number, item in enumerate(items, 1)
        ]
    )


def cashboxes(company: CompanyFile, calendar: Calendar) -> list[Row]:
    return [
        {
            **part.model_dump(),
            "name": calendar.words(part.name),
            "access_blocks": _access(part.access_blocks),
            "is_add_opening_balance": part.opening_balance != 0,
            "opening_balance_date": calendar.kept(part.opening_balance_date),
            "is_system": False,
            "is_default": number == 0,
            "author_id": company.users[0].user_id,
            "last_editor_id": company.users[0].user_id,
            "creation_date": calendar.kept(part.opening_balance_date) or FOUNDED,
            "update_date": calendar.kept(part.opening_balance_date) or FOUNDED,
        }
        for number, part in enumerate(company.cashboxes)
    ]


def categories(company: CompanyFile, calendar: Calendar) -> list[Row]:
    rows: list[Row] = [
        {
            **part.model_dump(),
            "name": calendar.words(part.name),
            "author_id": company.users[0].user_id,
            "last_editor_id": company.users[0].user_id,
            "creation_date": FOUNDED,
        }
        for part in company.categories
    ]
    return _parents_first(rows)


def transactions(company: CompanyFile, calendar: Calendar, happened: Sequence[Happened]) -> list[Row]:
    """What the habits made and what is written out, numbered in the order of time."""
    rows = [_made(each, calendar) for each in happened]
    for part in company.transactions:
        moment = calendar.kept(part.date)
        row = part.model_dump(exclude={"date"})
        rows.append({**row, "description": calendar.words(part.description), **_dated(moment)})
    rows.sort(key=lambda row: row["report_date"])
    return [{**row, "id": number} for number, row in enumerate(rows, 1)]


def _made(each: Happened, calendar: Calendar) -> Row:
    habit, moves = each.habit, each.habit.type == "move"
    return {
        "type": habit.type,
        "sum": None if moves else each.sum,
        "cashbox_id": habit.cashbox_id,
        "sum_charge": each.sum if moves else None,
        "sum_topup": each.sum_topup if moves else None,
        "cashbox_id_charge": habit.cashbox_id_charge,
        "cashbox_id_topup": habit.cashbox_id_topup,
        "category_id": habit.category_id,
        "user_id": habit.user_id,
        "description": calendar.words(each.description),
        **_dated(stored(each.moment.replace(tzinfo=calendar.zone))),
    }


def _dated(moment: str | None) -> Row:
    return {"creation_date": moment, "update_date": moment, "report_date": moment}


def boards(company: CompanyFile, calendar: Calendar) -> list[Row]:
    return [
        {
            **part.model_dump(exclude={"panels"}),
            "name": calendar.words(part.name),
            "access_blocks": dumps(part.access_blocks),
            "creation_date": FOUNDED,
        }
        for part in company.boards
    ]


def panels(company: CompanyFile, calendar: Calendar) -> list[Row]:
    return [
        {
            **part.model_dump(),
            "name": calendar.words(part.name),
            "settings": dumps(part.settings),
            "creation_date": FOUNDED,
        }
        for board in company.boards
        for part in board.panels
    ]


def tasks(company: CompanyFile, calendar: Calendar) -> list[Row]:
    rows: list[Row] = []
    for part in company.tasks:
        row = part.model_dump(exclude={"created"})
        for name in ("start_date", "finish_date", "close_date"):
            row[name] = calendar.kept(row[name])
        for name in ("responsible_user_ids", "auditors", "watchers", "tag_keys"):
            row[name] = dumps(row[name])
        row |= {
            "name": calendar.words(part.name),
            "description": calendar.words(part.description),
            "creation_date": calendar.kept(part.created),
        }
        rows.append(row)
    return _parents_first(rows)


def spaces(company: CompanyFile, calendar: Calendar) -> list[Row]:
    return [
        {
            **part.model_dump(),
            "title": calendar.words(part.title),
            "description": calendar.words(part.description),
            "access": _access(part.access),
            "access_edit": _access(part.access_edit),
            "creation_date": FOUNDED,
            "modification_date": FOUNDED,
        }
        for part in company.spaces
    ]


def articles(company: CompanyFile, calendar: Calendar) -> list[Row]:
    rows: list[Row] = []
    for part in company.articles:
        row = part.model_dump(exclude={"created", "space_ids", "parent_ids"})
        row |= {
            "space_id": part.space_ids[0],
            "parent_id": part.parent_ids[0] if part.parent_ids else None,
            "title": calendar.words(part.title),
            "content_blocks": _content(part.content_blocks, calendar),
            "access": _access(part.access),
            "access_edit": _access(part.access_edit),
            "last_editor_id": part.author_id,
            "creation_date": calendar.kept(part.created),
            "modification_date": calendar.kept(part.created),
        }
        rows.append(row)
    return _parents_first(rows)


def _content(parts: Sequence[ContentPart], calendar: Calendar) -> str:
    return dumps(
        [
            {
                "id": number,
                **part.model_dump(),
                "name": calendar.words(part.name),
                "content": calendar.words(part.content),
            }
            for number, part in enumerate(parts, 1)
        ]
    )


def versions(company: CompanyFile, calendar: Calendar) -> list[Row]:
    """Each article begins with its first version."""
    return [
        {
            "article_id": part.id,
            "title": calendar.words(part.title),
            "content_blocks": _content(part.content_blocks, calendar),
            "date": calendar.kept(part.created),
            "author_id": part.author_id,
        }
        for part in company.articles
    ]
