"""A company from files into an empty workspace.

```
YAML or JSON ─► read_company ─► CompanyFile (checked) ─► load_company ─► rows: bulk for most, requests through the rules
```
Errors are one sentence with file and place: `acme.yaml: users[3].blocks[0]: there is no block 12`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any, Literal, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml
from pydantic import ValidationError
from sqlalchemy import Connection, Table, func, insert, select, text

from storage import Database
from workspace_api.contract.problems import problems_of
from workspace_api.server import schema
from workspace_api.server.changes import bump
from workspace_api.server.company_shape import CompanyFile, Text
from workspace_api.server.habits import expand
from workspace_api.server.json_values import as_map
from workspace_api.server.moments import stored
from workspace_api.server.replay import replay
from workspace_api.server.tx import Row

Language = Literal["en", "ru"]
SEED = 20261101

# The C loader reads ten times as fast; pure-Python builds of PyYAML have none.
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class CompanyFileError(Exception):
    """A company file cannot be loaded; the text names the file and the place in it."""


class Source(Protocol):
    """A file that can be read: a path, or a resource inside the package."""

    @property
    def name(self) -> str: ...

    def read_text(self, encoding: str) -> str: ...


def read_company(sources: Sequence[Source | Path]) -> CompanyFile:
    """The files put together and checked. A section may stand in one of them only."""
    sections: Row = {}
    places: dict[str, str] = {}
    for source in sources:
        for section, value in _read(source).items():
            if section in sections:
                raise CompanyFileError(f"{source.name}: {section}: stands in {places[section]} too")
            sections[section], places[section] = value, source.name
    try:
        company = CompanyFile.model_validate(sections)
    except ValidationError as error:
        problem = problems_of(error, CompanyFile)[0]
        file = places.get(str(problem.path[0]) if problem.path else "", sources[0].name)
        raise CompanyFileError(f"{file}: {problem.place or 'top'}: {problem.text}") from None
    _check_references(company, places)
    return company


def _read(source: Source | Path) -> Mapping[str, Any]:
    try:
        content = source.read_text(encoding="utf-8")
    except OSError as error:
        raise CompanyFileError(f"{source.name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CompanyFileError(f"{source.name}: is no UTF-8 text") from None
    try:
        found = json.loads(content) if source.name.endswith(".json") else yaml.load(content, _LOADER)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{mark.line + 1}:{mark.column + 1}" if mark is not None else "1:1"
        raise CompanyFileError(f"{source.name}:{place}: {error.problem}") from None
    except (json.JSONDecodeError, yaml.YAMLError, RecursionError) as error:
        raise CompanyFileError(f"{source.name}: cannot be read: {error}") from None
    sections = as_map(found)
    if sections is None:
        raise CompanyFileError(f"{source.name}: must hold sections, such as company, blocks and users")
    return sections


def _check_references(company: CompanyFile, places: Mapping[str, str]) -> None:
    """Ids that point nowhere, named by their place."""
    blocks = {block.id for block in company.blocks}
    people = {user.user_id for user in company.users}
    boxes = {cashbox.id for cashbox in company.cashboxes}
    kinds = {category.id: category.transaction_type for category in company.categories}
    codes = {currency.code for currency in company.currencies}

    def must(section: str, place: str, what: str, value: object, known: Iterable[object]) -> None:
        if value is not None and value not in known:
            raise CompanyFileError(f"{places[section]}: {section}{place}: there is no {what} {value}")

    for number, block in enumerate(company.blocks):
        must("blocks", f"[{number}].parent_id", "block", block.parent_id, blocks)
    for number, user in enumerate(company.users):
        for place, block_id in enumerate(user.blocks):
            must("users", f"[{number}].blocks[{place}]", "block", block_id, blocks)
    for name in ("manager_blocks", "skip_blocks"):
        for place, block_id in enumerate(getattr(company.finplan_settings, name)):
            must("finplan_settings", f".{name}[{place}]", "block", block_id, blocks)
    for number, cashbox in enumerate(company.cashboxes):
        must("cashboxes", f"[{number}].currency_code", "currency", cashbox.currency_code, codes)
    for number, category in enumerate(company.categories):
        must("categories", f"[{number}].parent_id", "category", category.parent_id, kinds)
        must("categories", f"[{number}].block_id", "block", category.block_id, blocks)
    for section in ("patterns", "transactions"):
        for number, part in enumerate(getattr(company, section)):
            for name in ("cashbox_id", "cashbox_id_charge", "cashbox_id_topup"):
                must(section, f"[{number}].{name}", "cashbox", getattr(part, name), boxes)
            must(section, f"[{number}].user_id", "user", part.user_id, people)
            of_type = [category for category, kind in kinds.items() if kind == part.type]
            must(section, f"[{number}].category_id", f"{part.type} category", part.category_id, of_type)
    for number, request in enumerate(company.requests):
        must("requests", f"[{number}].author_id", "user", request.author_id, people)
        must("requests", f"[{number}].author_block_id", "block", request.author_block_id, blocks)
    for number, task in enumerate(company.tasks):
        for person in (task.owner_user_id, *task.responsible_user_ids, *task.auditors, *task.watchers):
            must("tasks", f"[{number}]", "user", person, people)
    spaces = {space.id for space in company.spaces}
    for number, article in enumerate(company.articles):
        must("articles", f"[{number}].space_ids[0]", "space", article.space_ids[0], spaces)
        must("articles", f"[{number}].author_id", "user", article.author_id, people)


@dataclass(frozen=True)
class Calendar:
    """Moments of a file, counted from the day of loading, as they are kept."""

    today: date
    zone: tzinfo
    language: Language

    def day(self, text: str) -> date:
        """The day of a moment."""
        first = text.split(" ", maxsplit=1)[0]
        return self.today + timedelta(days=int(first[:-1])) if first.endswith("d") else date.fromisoformat(first)

    def moment(self, text: str) -> datetime:
        """The moment, aware."""
        _, _, clock = text.partition(" ")
        local = datetime.combine(self.day(text), time.fromisoformat(clock) if clock else time())
        return local.replace(tzinfo=self.zone)

    def kept(self, text: str | None) -> str | None:
        """The moment as it is kept; a bare date is that day's midnight in UTC, so that it stays the same date."""
        if text is None:
            return None
        if " " not in text:
            return f"{self.day(text).isoformat()} 00:00:00"
        return stored(self.moment(text))

    def month(self, text: str) -> str:
        """A planning period: months from the current one, or a date."""
        if not text.endswith("m"):
            return text
        months = self.today.year * 12 + self.today.month - 1 + int(text[:-1])
        return f"{months // 12:04}-{months % 12 + 1:02}-01"

    def words(self, text: Text | None) -> str:
        """The text in the language of loading, else in the first one there is."""
        if isinstance(text, str):
            return text
        return "" if not text else text.get(self.language) or next(iter(text.values()))


def load_company(
    database: Database, source: CompanyFile | Sequence[Source | Path], language: Language, today: date, seed: int = SEED
) -> None:
    """Loads the company into an empty, migrated workspace, in one transaction.

    Raises CompanyFileError where the files are wrong or somebody is there already.
    """
    company = source if isinstance(source, CompanyFile) else read_company(source)
    calendar = Calendar(today, _zone(company.company.timezone), language)
    database.write_now(lambda connection: _load(connection, company, calendar, seed))


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        raise CompanyFileError(f"company.timezone: there is no time zone {name!r}") from None


def _load(connection: Connection, company: CompanyFile, calendar: Calendar, seed: int) -> None:
    from workspace_api.server import company_rows as rows

    if connection.execute(select(func.count()).select_from(schema.users)).scalar_one():
        raise CompanyFileError("this workspace has a company already: load into another WORKSPACE_DATA")

    def add(table: Table, values: list[Row]) -> None:
        if values:
            connection.execute(insert(table), values)

    add(schema.currencies, rows.currencies(company, calendar))
    add(schema.custom_rates, rows.rates(company, calendar))
    add(schema.org_settings, rows.org(company, calendar))
    add(schema.blocks, rows.blocks(company, calendar))
    add(schema.users, rows.users(company, calendar))
    add(schema.workers, rows.workers(company, calendar))
    add(schema.finplan_settings, rows.planning(company, calendar))
    add(schema.cashboxes, rows.cashboxes(company, calendar))
    add(schema.categories, rows.categories(company, calendar))
    add(schema.transactions, rows.transactions(company, calendar, expand(company.patterns, calendar.today, seed)))
    add(schema.boards, rows.boards(company, calendar))
    add(schema.board_panels, rows.panels(company, calendar))
    add(schema.tasks, rows.tasks(company, calendar))
    add(schema.spaces, rows.spaces(company, calendar))
    add(schema.articles, rows.articles(company, calendar))
    add(schema.article_versions, rows.versions(company, calendar))
    for number, request in sorted(enumerate(company.requests), key=lambda item: item[1].id):
        try:
            replay(connection, request, calendar)
        except ValueError as error:
            raise CompanyFileError(f"requests[{number}]: {error}") from None
    _count_on(connection)
    bump(connection)


def _count_on(connection: Connection) -> None:
    """PostgreSQL does not learn from given ids where to count on; SQLite does."""
    if connection.dialect.name != "postgresql":
        return
    for table in schema.metadata.sorted_tables:
        if "id" in table.c and table.name != "versions":
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "  # noqa: S608 - our own table names
                    f"(SELECT coalesce(max(id), 0) + 1 FROM {table.name}), false)"
                )
            )
