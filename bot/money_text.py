"""What people write about money, as entries: `450 taxi`, `доход 5000 аренда`, `transfer 500 cash to bank`.

```
text ─► lines ─► each: parts (kind, day, #hints, @cashbox, sum, route) where they stand ─► what is left: the words
```
A part that was recognised is blanked, so that the next one does not read it. What is not sure is left out: the card
asks. Plain functions over plain text, without I/O.

line      = [kind] { sum | day | hint | word }        at least a sum
kind      = "income" | "доход" | … | "+" before the sum | "transfer" | «перевод» … with a route
route     = ["from"] words ("→" | "to" | «в» | «на») words
hint      = "#" name | "@" name                       a #site where one is called so, else a category; a @cashbox
day       = "yesterday" | «в пятницу» | "3 days ago" | 20.11.2026 | Nov 20
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

from bot.days import AFTER_A_PREPOSITION, WEEKDAYS, Day, dates, near
from bot.likeness import SURE, alike, named
from bot.sums import (
    CURRENCY_WORDS,
    LARGEST,
    PHONE,
    SIGNS,
    NotRepresentable,
    Sum,
    decimal,
    rounded,
    sums,
    to_wire,
)

__all__ = [
    "CURRENCY_WORDS", "LARGEST", "SIGNS", "SURE", "Entry", "Kind", "Known", "NotRepresentable", "Parts", "alike",
    "decimal", "parse", "parse_lines", "parts", "read_lines", "rounded", "to_wire",
]  # fmt: skip

Kind = Literal["in", "out", "move"]
"""As the workspace calls income, expense and move."""

KIND_WORDS: Mapping[str, Kind] = {
    "expense": "out", "spent": "out", "расход": "out", "потратил": "out", "потратила": "out",
    "income": "in", "received": "in", "доход": "in", "приход": "in", "поступление": "in", "получил": "in",
    "получила": "in",
    "transfer": "move", "move": "move", "moved": "move", "перевод": "move", "перевёл": "move", "перевел": "move",
    "перевела": "move", "переместить": "move", "перемещение": "move", "переведи": "move",
}  # fmt: skip

DAYS: Mapping[str, int] = {
    "today": 0, "сегодня": 0, "yesterday": -1, "вчера": -1, "позавчера": -2,
}  # fmt: skip

_BEFORE_A_WEEKDAY = {
    "on", "last", "this", "в", "во", "прошлый", "прошлую", "прошлое", "прошлом", "этот", "эту",
}  # fmt: skip

LATER = re.compile(r"(?<!\w)(?:tomorrow|завтра|послезавтра)(?!\w)", re.IGNORECASE)
"""May be the day of the entry or what was paid for, such as a ticket: nobody can be sure but the person."""

BEFORE_YESTERDAY = re.compile(r"(?<!\w)(?:the )?day before yesterday(?!\w)", re.IGNORECASE)

AGO = re.compile(
    r"(?<!\w)(?:(?:(?P<days>\d{1,2}|an?)\s+days?|(?P<weeks>\d|an?)\s+weeks?)\s+ago"
    r"|(?:(?P<дней>\d{1,2})\s+(?:день|дня|дней)|(?:(?P<недель>\d)\s+)?(?:неделю|недели|недель))\s+назад)(?!\w)",
    re.IGNORECASE,
)

DATED = re.compile(r"(?<!\w)(?:от|on|dated)\s+(\d{1,2})\.(\d{1,2})(?![\w/:-]|[.,]\d)", re.IGNORECASE)

HINT = re.compile(r"(?<![\w#@])(?P<mark>[#@])(?:«(?P<quoted>[^»]+)»|(?P<word>[^\W\d_][\w-]*))")

ARROW = re.compile(r"\s*(?:→|➡\ufe0f?|=>|->|—>|–>|>)\s*")

TO = re.compile(r"\s+(?:to|into|в|во|на)\s+", re.IGNORECASE)

FROM = re.compile(r"^(?:from|out of|из|с|со)\s+", re.IGNORECASE)

ROUTE_ENDS = re.compile(r"\s*[,;:(]\s*|\s+(?:for|для|за|—|–|-)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Known:
    """What the workspace has: codes of currencies, names of sites (`project_id`) and of cashboxes."""

    codes: Iterable[str] = ()
    sites: Mapping[int, str] = field(default_factory=dict[int, str])
    cashboxes: Mapping[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it was understood. `amount` is in whole currency units; words and hints are as they were written.

    `into` is the other cashbox of a move; `site` a `project_id`.
    """

    amount: Decimal
    currency: str | None
    day: date | None
    words: str
    kind: Kind = "out"
    category: str | None = None
    cashbox: str | None = None
    into: str | None = None
    site: int | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """What a text says of an entry, each part or none; as Entry.

    `sure`: no other number could be the sum, and no other day be meant.
    """

    amount: Decimal | None = None
    currency: str | None = None
    day: date | None = None
    words: str = ""
    kind: Kind | None = None
    category: str | None = None
    cashbox: str | None = None
    into: str | None = None
    site: int | None = None
    sure: bool = True


def parse(text: str, today: date, known: Known | Iterable[str] = ()) -> Entry | None:
    """The entry of one line; None where it has no sum above nothing."""
    return _entry(parts(text, today, known))


def parse_lines(text: str, today: date, known: Known | Iterable[str] = ()) -> tuple[Entry, ...]:
    """An entry for each line that has a sum; see read_lines."""
    return tuple(entry for entry in map(_entry, read_lines(text, today, known)) if entry is not None)


def read_lines(
    text: str, today: date, known: Known | Iterable[str] = (), assumed: Kind | None = None
) -> tuple[Parts, ...]:
    """The parts of each line that has a sum.

    A line without one goes on with the words of the entry above. Before the first entry it heads all of them: what it
    says of the day, the cashbox, the site or the category counts where a line says nothing; its words are the first's.
    `assumed`: the kind where no line says one.
    """
    heading, found = Parts(), list[Parts]()
    for line in text.splitlines():
        read = parts(line, today, known, assumed)
        if read.amount is not None:
            found.append(read)
        elif found:
            found[-1] = replace(_headed(found[-1], read), words=f"{found[-1].words} {read.words}".strip())
        else:
            heading = _headed(read, heading)
    whole = [_headed(read, replace(heading, words="")) for read in found]
    words = f"{heading.words} {whole[0].words}".strip() if whole else ""
    return (replace(whole[0], words=words), *whole[1:]) if whole else ()


def _headed(read: Parts, heading: Parts) -> Parts:
    """What a line says, and where it says nothing, what the heading says."""
    return Parts(
        read.amount,
        read.currency or heading.currency,
        read.day or heading.day,
        f"{heading.words} {read.words}".strip(),
        read.kind or heading.kind,
        read.category or heading.category,
        read.cashbox or heading.cashbox,
        read.into or heading.into,
        read.site if read.site is not None else heading.site,
        read.sure,
    )


def _entry(read: Parts) -> Entry | None:
    if read.amount is None:
        return None
    kind = read.kind or "out"
    return Entry(
        read.amount, read.currency, read.day, read.words, kind, read.category, read.cashbox, read.into, read.site
    )


def parts(text: str, today: date, known: Known | Iterable[str] = (), assumed: Kind | None = None) -> Parts:
    """What one line says, part by part; `assumed` is the kind where it says none.

    Of several numbers the one with a currency is the sum, else the one that begins the text, else the one that ends it.
    """
    names = known if isinstance(known, Known) else Known(known)
    kind, rest = _kind(text)
    if kind is None and assumed is not None:
        read = _parts(text, today, names, assumed)
        return replace(read, kind=assumed)
    read = _parts(rest, today, names, kind)
    # “transfer 30 airport” is a ride: without a route the word is one of the description.
    return _parts(text, today, names, None) if kind == "move" and read.kind is None else read


def _parts(text: str, today: date, names: Known, kind: Kind | None) -> Parts:
    read, text = _hints(Parts(), text, names)
    days = list(_days(text, today))
    if days:
        read, text = replace(read, day=days[0].day), _blank(text, days[0].start, days[0].end)
    found = list(sums(text, names.codes, [(one.start, one.end) for one in days[1:]]))
    if found:
        chosen = _chosen(text, found)
        sure = len(found) == 1 or (chosen.currency is not None and sum(one.currency is not None for one in found) == 1)
        sure = sure and LATER.search(text) is None
        read = replace(read, amount=chosen.amount, currency=chosen.currency, sure=sure)
        text = _blank(text, chosen.start, chosen.end)
    return _with_route(replace(read, words=_words(text)), kind, names)


def _words(text: str) -> str:
    return " ".join(text.split()).lstrip(" .,;:–—-").rstrip(" ,;:–—-")


def _blank(text: str, start: int, end: int) -> str:
    """The text with spaces in place of a part, so that the others stay where they are."""
    return text[:start] + " " * (end - start) + text[end:]


def _kind(text: str) -> tuple[Kind | None, str]:
    """The kind that the first word, or a plus before the sum, says."""
    plus = re.match(r"\s*(\+)\s*\d", text)
    if plus and not PHONE.match(text, plus.start(1)):
        return "in", _blank(text, plus.start(1), plus.end(1))
    first = re.match(r"\s*([^\W\d_]+)[:,]?(?=\s|$)", text)
    kind = KIND_WORDS.get(first[1].lower()) if first else None
    if first is None or kind is None or re.match(r"\s*income\s+tax", text, re.IGNORECASE):
        return None, text
    return kind, _blank(text, *first.span())


def _hints(read: Parts, text: str, names: Known) -> tuple[Parts, str]:
    """`#site`, else `#category`; `@cashbox`. The first of each counts, the others stay words."""
    for found in HINT.finditer(text):
        name = found["quoted"] or found["word"]
        site = named(name, names.sites) if found["mark"] == "#" else None
        if site is not None and read.site is None:
            read = replace(read, site=site)
        elif found["mark"] == "#" and site is None and read.category is None:
            read = replace(read, category=name.replace("_", " "))
        elif found["mark"] == "@" and read.cashbox is None:
            read = replace(read, cashbox=name.replace("_", " "))
        elif found["mark"] == "@" and read.into is None:
            read = replace(read, into=name.replace("_", " "))
        else:
            continue
        text = _blank(text, *found.span())
    return read, text


def _chosen(text: str, found: list[Sum]) -> Sum:
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip(" .!?"))
    return min(found, key=lambda one: (one.currency is None, one.start != begin, one.end != end))


def _days(text: str, today: date) -> Iterator[Day]:
    """The days of a text, the surest first; all of them are of the past where they leave it open."""
    for found in BEFORE_YESTERDAY.finditer(text):
        yield Day(found.start(), found.end(), today - timedelta(days=2))
    yield from dates(text, today, past=True)
    for found in DATED.finditer(text):
        meant = near(int(found[2]), int(found[1]), today, past=True)
        if meant is not None:
            yield Day(found.start(), found.end(), meant)
    for found in AGO.finditer(text):
        days, weeks = found["days"] or found["дней"], found["weeks"] or found["недель"]
        count = int(days or weeks or "1") if (days or weeks or "1").isdigit() else 1
        yield Day(found.start(), found.end(), today - timedelta(days=count * (1 if days else 7)))
    yield from _named_days(text, today)


def _named_days(text: str, today: date) -> Iterator[Day]:
    """`yesterday`; a weekday with a preposition, or as the last word."""
    words = list(re.finditer(r"\S+", text))
    for place, found in enumerate(words):
        word = found[0].lower().strip(".,;!?")
        if word in DAYS:
            yield Day(found.start(), found.end(), today + timedelta(days=DAYS[word]))
            continue
        start = found.start()
        for earlier in reversed(words[max(0, place - 2) : place]):
            if earlier[0].lower() not in _BEFORE_A_WEEKDAY:
                break
            start = earlier.start()
        weekday = WEEKDAYS.get(word)
        if weekday is None and start != found.start():
            weekday = AFTER_A_PREPOSITION.get(word)
        if weekday is not None and (start != found.start() or place == len(words) - 1):
            yield Day(start, found.end(), today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1))


def _with_route(read: Parts, kind: Kind | None, names: Known) -> Parts:
    """The cashboxes of a move. Without its word it is one where both ends of an arrow are called as cashboxes are."""
    found = _route(read.words, arrow_only=kind != "move")
    if kind == "move":
        if found is not None:
            source, target, words = found
            return replace(read, kind="move", cashbox=read.cashbox or source, into=read.into or target, words=words)
        return replace(read, kind="move") if not read.words or (read.cashbox and read.into) else read
    if kind is None and found is not None:
        source, target, words = found
        if named(source, names.cashboxes) is not None and named(target, names.cashboxes) is not None:
            return replace(read, kind="move", cashbox=source, into=target, words=words)
    return replace(read, kind=kind)


def _route(words: str, *, arrow_only: bool) -> tuple[str, str, str] | None:
    """From where, to where, and what else is said."""
    separator = ARROW.search(words) or (None if arrow_only else TO.search(words))
    if separator is None:
        return None
    source, rest = FROM.sub("", words[: separator.start()]).strip(), words[separator.end() :]
    end = ROUTE_ENDS.search(rest)
    target, more = (rest[: end.start()], rest[end.end() :]) if end else (rest, "")
    target = target.strip(" .,;:")
    return (source, target, more.strip(" )")) if source and target else None
