"""What the bot says: Jinja2 templates and short sentences under gettext, numbers and dates as a person writes them.

templates/*.html hold the longer texts; autoescape escapes every value, so nothing from the workspace becomes markup.
locales/<language>/LC_MESSAGES/*.po hold the translations, a file for each part of the bot; they are read at start, so
there is nothing to compile.
"""

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Any, cast

from babel.dates import format_date, format_datetime
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import escape

from workspace_api.contract.finance import Currency

HERE = Path(__file__).parent
LANGUAGES = ("en", "ru")
LOCALES = {"en": "en_GB", "ru": "ru_RU"}
LIMIT = 4096


@cache
def translations(language: str) -> NullTranslations:
    """The catalogue of a language; English is the language of the source."""
    found: NullTranslations = NullTranslations()
    for path in catalogues(language):
        with path.open("rb") as source:
            catalog = read_po(source, locale=language)
        compiled = BytesIO()
        write_mo(compiled, catalog)
        compiled.seek(0)
        part = GNUTranslations(compiled)
        part.add_fallback(found)
        found = part
    return found


def catalogues(language: str) -> list[Path]:
    """The files that hold the translations into a language."""
    return sorted((HERE / "locales" / language / "LC_MESSAGES").glob("*.po"))


def sentence(english: str) -> str:
    """The sentence itself; marks one that stands in a table and is translated where it is used."""
    return english


@cache
def _environment(language: str) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    install: Any = cast("Any", environment).install_gettext_translations
    install(translations(language), newstyle=True)
    return environment


@dataclass(frozen=True, slots=True)
class Texts:
    """One person's language, zone and the company's money scale."""

    language: str
    zone: tzinfo
    scale: int = 0

    def t(self, sentence: str, **values: object) -> str:
        """A short sentence in the person's language, as plain text; values go in by name, a Decimal as written here."""
        translated = translations(self.language).gettext(sentence)
        said = {name: self._number(v) if isinstance(v, Decimal) else v for name, v in values.items()}
        return translated % said if values else translated

    def _number(self, number: Decimal) -> str:
        """`1 200,5`"""
        return format_decimal(number, locale=self._locale, decimal_quantization=False)

    def n(self, one: str, many: str, count: int, **values: object) -> str:
        """A sentence that counts, with the plural forms of the language."""
        return translations(self.language).ngettext(one, many, count) % {"count": count, **values}

    def html(self, sentence: str, **values: object) -> str:
        """A short sentence as HTML: the sentence may hold tags, the values are escaped."""
        translated = translations(self.language).gettext(sentence)
        return translated % {name: escape(value) for name, value in values.items()}

    def render(self, template: str, **values: Any) -> str:
        """A template as HTML that fits into one message."""
        text = _environment(self.language).get_template(template).render(**values, texts=self)
        return fit(re.sub(r"\n{3,}", "\n\n", text).strip())

    def day(self, moment: datetime | None) -> str:
        """A day, such as `21 Nov 2026`, in the person's zone."""
        return "" if moment is None else format_date(moment.astimezone(self.zone), "d MMM y", locale=self._locale)

    def moment(self, moment: datetime | None) -> str:
        """A day and time, such as `21 Nov, 12:30`, in the person's zone."""
        if moment is None:
            return ""
        return format_datetime(moment.astimezone(self.zone), "d MMM, HH:mm", locale=self._locale)

    def month(self, period: str | None) -> str:
        """A planning period such as `2026-11-01` as `November 2026`; other texts as they are."""
        try:
            return format_date(datetime.fromisoformat(period or ""), "LLLL y", locale=self._locale).capitalize()
        except ValueError:
            return period or ""

    @property
    def _locale(self) -> str:
        return LOCALES.get(self.language, "en_GB")

    def money(self, amount: int | None, currency: Currency | None, code: str | None = None) -> str:
        """A sum in the workspace's scale, with the currency's own sign and separators."""
        if amount is None:
            return "?"
        if currency is None:
            # The workspace does not say how this is written: as the person's language does.
            number = Decimal(amount).scaleb(-self.scale)
            digits = format_decimal(number, "#,##0" + "." * bool(self.scale) + "0" * self.scale, self._locale)
            return f"{digits.replace('-', '−')}\u00a0{code or ''}".rstrip()
        return money(amount, self.scale, currency, code)


def money(amount: int, scale: int, currency: Currency | None, code: str | None = None) -> str:
    """`1 250,50 €` from an int in the scale; separators and sign as the currency has them."""
    decimal = (currency.decimal if currency else None) or "."
    thousand = "\u00a0" if currency is None or currency.thousand_separator is None else currency.thousand_separator
    # A plain space would break the sum over two lines.
    thousand = thousand.replace(" ", "\u00a0")
    whole, rest = divmod(abs(amount), 10**scale)
    digits = f"{whole:,}".replace(",", thousand)
    if scale:
        digits += f"{decimal}{rest:0{scale}d}"
    sign = (
        (currency.sign if currency and currency.sign else None) or (currency.code if currency else None) or code or ""
    )
    minus = "−" if amount < 0 else ""
    if currency is not None and currency.is_prefix_sign:
        # A code in letters, such as CHF, would run into the digits.
        return f"{minus}{sign}\u00a0{digits}" if sign[-1:].isalpha() else f"{minus}{sign}{digits}"
    return f"{minus}{digits}\u00a0{sign}".strip()


TOKEN = re.compile(r"</?[a-z][^<>]*>|&#?\w{1,10};|\s|[^<&\s]{1,16}|[<&]")
"""A tag, an entity, a white space, a piece of a word: between two of them HTML may be cut."""


def size(text: str) -> int:
    """Length in UTF-16 code units, as Telegram counts."""
    return len(text) + sum(character > "\uffff" for character in text)


def fit(text: str, limit: int = LIMIT) -> str:
    """HTML cut to the limit at a word's end, its open tags closed; markup counts too, which errs on the safe side."""
    if size(text) <= limit:
        return text
    tokens = TOKEN.findall(text)
    end, opened = _cut(tokens, 0, (), limit - 1, (" ",))
    return "".join(tokens[:end]).rstrip() + "…" + _closing(opened)


def split(text: str, limit: int) -> list[str]:
    """HTML in pages up to the limit: cut between paragraphs, else lines, else words.

    Tags that are open at a cut are closed there and opened again on the next page.
    """
    tokens = TOKEN.findall(text)
    found: list[str] = []
    opened: tuple[str, ...] = ()
    start = 0
    while start < len(tokens):
        end, after = _cut(tokens, start, opened, limit, ("\n\n", "\n", " "))
        if end == start:
            # Not even one piece fits beside its tags: the page is as short as it can be.
            end, after = start + 1, _opened(opened, tokens[start])
        found.append("".join([*opened, *tokens[start:end]]).rstrip() + _closing(after))
        start, opened = end, after
        while start < len(tokens) and (tokens[start] == "\n" or (tokens[start].isspace() and "<pre>" not in opened)):
            start += 1
    return found or [""]


def _cut(
    tokens: list[str], start: int, opened: tuple[str, ...], limit: int, breaks: tuple[str, ...]
) -> tuple[int, tuple[str, ...]]:
    """Where what begins at `start` has to end to keep to the limit, and the tags that are open there.

    The first kind of break that fills at least half of the limit is taken.
    """
    length = sum(size(tag) for tag in opened)
    best: dict[str, tuple[int, tuple[str, ...]]] = {}
    for place in range(start, len(tokens)):
        token = tokens[place]
        after = _opened(opened, token)
        if length + size(token) + size(_closing(after)) > limit:
            return next((best[kind] for kind in breaks if kind in best), (place, opened))
        length += size(token)
        opened = after
        if token.isspace() and 2 * length >= limit:
            here = (place + 1, opened)
            best[" "] = here
            if tokens[place] == "\n":
                best["\n\n" if place > start and tokens[place - 1] == "\n" else "\n"] = here
    return len(tokens), opened


def _opened(opened: tuple[str, ...], token: str) -> tuple[str, ...]:
    """The open tags after a token."""
    if token.startswith("</"):
        return opened[:-1]
    return (*opened, token) if token.startswith("<") and token.endswith(">") else opened


def _closing(opened: tuple[str, ...]) -> str:
    return "".join(f"</{tag[1:-1].split()[0]}>" for tag in reversed(opened))


def short(text: str | None, limit: int) -> str:
    """Plain text of one field, shortened at a word."""
    plain = " ".join((text or "").split())
    if len(plain) <= limit:
        return plain
    cut = plain[: limit - 1]
    words = cut.rsplit(" ", 1)[0]
    # A very long word is cut rather than dropped.
    return (words if 2 * len(words) >= limit else cut).rstrip() + "…"
