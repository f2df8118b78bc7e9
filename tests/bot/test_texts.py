"""What the bot says in numbers, days and cut texts: values in, words out."""

import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.sandbox.html_text import parse, units
from bot.texts import LANGUAGES, LIMIT, Texts, fit, money, short, size, split
from workspace_api.contract.finance import Currency

MOSCOW = timezone(timedelta(hours=3))

EURO = Currency(code="EUR", sign="€", is_prefix_sign=True, decimal=".", thousand_separator=",")
ROUBLE = Currency(code="RUB", sign="₽", is_prefix_sign=False, decimal=",", thousand_separator=" ")
FRANC = Currency(code="CHF", is_prefix_sign=True, decimal=".", thousand_separator="'")
PLAIN = Currency(code="XXX", decimal=",", thousand_separator="")


@pytest.mark.parametrize(
    ("amount", "scale", "currency", "said"),
    [
        (1250, 0, EURO, "€1,250"),
        (125050, 2, EURO, "€1,250.50"),
        (5, 2, EURO, "€0.05"),
        (-125050, 2, EURO, "−€1,250.50"),
        (0, 2, EURO, "€0.00"),
        (1250, 0, ROUBLE, "1\u00a0250\u00a0₽"),
        (125050, 2, ROUBLE, "1\u00a0250,50\u00a0₽"),
        (-999, 0, ROUBLE, "−999\u00a0₽"),
        (1234567890, 0, ROUBLE, "1\u00a0234\u00a0567\u00a0890\u00a0₽"),
        (1250, 0, FRANC, "CHF\u00a01'250"),
        (1234567, 2, PLAIN, "12345,67\u00a0XXX"),
        (1250, 0, Currency(), "1\u00a0250"),
        (1250, 0, None, "1\u00a0250"),
        (1250, 2, None, "12.50"),
    ],
)
def test_money(amount: int, scale: int, currency: Currency | None, said: str) -> None:
    """Sign, its side and both separators are the currency's own; a sum is never broken over two lines."""
    assert money(amount, scale, currency) == said
    assert " " not in said


def test_money_of_a_currency_that_is_not_known() -> None:
    """The bare code stands for the sign; no sum is a question mark, not a zero."""
    assert money(1250, 0, None, "THB") == "1\u00a0250\u00a0THB"
    assert Texts("en", UTC, 2).money(1250, EURO) == "€12.50"
    assert Texts("ru", UTC, 2).money(-125050, None) == "−1\u00a0250,50"
    assert Texts("en", UTC).money(1250, None, "THB") == "1,250\u00a0THB"
    assert Texts("en", UTC).money(None, EURO) == "?"


@settings(max_examples=200)
@given(amount=st.integers(-(10**15), 10**15), scale=st.sampled_from([0, 2, 3]))
def test_money_says_every_digit(amount: int, scale: int) -> None:
    """What is written is the sum, to the last digit."""
    said = money(amount, scale, ROUBLE)
    assert int(re.sub(r"\D", "", said)) == abs(amount)
    assert said.startswith("−") == (amount < 0)


LATE = datetime(2026, 11, 20, 22, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "day", "moment", "month"),
    [
        ("en", "21 Nov 2026", "21 Nov, 01:30", "November 2026"),
        ("ru", "21 нояб. 2026", "21 нояб., 01:30", "Ноябрь 2026"),
        ("de", "21 Nov 2026", "21 Nov, 01:30", "November 2026"),
    ],
)
def test_days_and_months(language: str, day: str, moment: str, month: str) -> None:
    """In the person's language and zone; an unknown language is English."""
    texts = Texts(language, MOSCOW)
    assert texts.day(LATE) == day
    assert texts.moment(LATE) == moment
    assert texts.month("2026-11-01") == texts.month("2026-11-01T00:00:00Z") == month


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_has_no_day(language: str) -> None:
    """Nothing is said of what is not there; a period that is no date is shown as it is."""
    texts = Texts(language, UTC)
    assert (texts.day(None), texts.moment(None), texts.month(None)) == ("", "", "")
    assert texts.month("Q4 2026") == "Q4 2026"


def test_sentences() -> None:
    """Values go in by name; where they may hold markup they are escaped, in both languages."""
    ru = Texts("ru", UTC)
    assert ru.t("Save") == "Сохранить"
    assert ru.t("Saved, no. %(id)s", id=7) == "Сохранено, № 7"
    assert ru.t("100% unknown") == "100% unknown"
    assert "12,5 " in ru.t(
        "%(sum)s has more decimals than the workspace keeps. Write it with two.", sum=Decimal("12.50")
    )
    assert Texts("en", UTC).t("%(sum)s", sum=Decimal("1200.125")) == "1,200.125"
    assert ru.n("%(count)d file of mine", "%(count)d files of mine", 1) == "1 file of mine"
    assert ru.html("<b>%(words)s</b>", words="<i>&") == "<b>&lt;i&gt;&amp;</b>"
    assert ru.html("I do not know %(command)s. /help shows what I can do.", command="/<b>").count("/&lt;b&gt;") == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_template_escapes_and_fits(language: str) -> None:
    """Nothing from the workspace becomes markup, and no message is too long."""
    values = {
        "head": None,
        "mark": "⚪",
        "status": "<b>x",
        "day": None,
        "overdue": False,
        "who": "A & B",
        "owner": None,
    }
    text = Texts(language, UTC).render("task.html", name="</b><script>", description="<i>слово " * 2000, **values)
    assert size(text) <= LIMIT
    said, _ = parse(text)
    assert "</b><script>" in said
    assert "A & B" in said
    assert "\n\n\n" not in said


TAGS = st.sampled_from(
    ["b", "i", "u", "s", "code", "tg-spoiler", "blockquote expandable", 'a href="https://e.com/a b"']
)
WORDS = st.text(alphabet="ab в🚀\n é", min_size=0, max_size=30) | st.sampled_from(["&lt;", "&amp;", "&#128640;"])


def _wrapped(tag: str, text: str) -> str:
    return f"<{tag}>{text}</{tag.split(maxsplit=1)[0]}>"


def _tagged(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    wrapped = st.builds(_wrapped, TAGS, inner)
    return st.lists(wrapped | WORDS, max_size=5).map("".join)


HTML = st.recursive(WORDS, _tagged, max_leaves=25)


@settings(max_examples=400, deadline=None)
@given(html=HTML, limit=st.integers(250, 600), times=st.integers(1, 8))
@example(html="<b>&amp;&amp;</b>", limit=250, times=8)
def test_fit_never_cuts_markup(html: str, limit: int, times: int) -> None:
    """Any valid HTML stays valid and within the limit; what fits is left as it is, what does not ends with a mark."""
    whole = html * times
    cut = fit(whole, limit)
    assert units(cut) <= limit
    said, _ = parse(cut)
    if units(whole) <= limit:
        assert cut == whole
    else:
        assert said.endswith("…")
        assert parse(whole)[0].startswith(said.removesuffix("…"))


@settings(max_examples=400, deadline=None)
@given(html=HTML, limit=st.integers(250, 600), times=st.integers(1, 8))
def test_split_loses_nothing(html: str, limit: int, times: int) -> None:
    """Every page is valid and within the limit; together they say what the whole says, white space at cuts aside."""
    whole = html * times
    found = split(whole, limit)
    assert all(units(page) <= limit for page in found)
    said = "".join(parse(page)[0] for page in found)
    assert "".join(said.split()) == "".join(parse(whole)[0].split())


@pytest.mark.parametrize(
    ("html", "limit", "cut"),
    [
        ("one two three four", 12, "one two…"),
        ("<b>one two three</b>", 17, "<b>one two…</b>"),
        ("a &amp; b &amp; c", 11, "a &amp; b…"),
        ("🚀🚀🚀", 5, "…"),
        ("x" * 100, 60, "x" * 48 + "…"),
        ("short", 5, "short"),
    ],
)
def test_fit(html: str, limit: int, cut: str) -> None:
    """At a word's end; a character beyond the basic plane counts twice, as Telegram counts it."""
    assert fit(html, limit) == cut


def test_fit_keeps_nearly_all_that_fits() -> None:
    """No more is cut off than a word and the tags to be closed."""
    assert len(fit("<b><i>" + "word " * 2000, 4096)) > 4080


@pytest.mark.parametrize(
    ("text", "limit", "said"),
    [
        (None, 10, ""),
        ("", 10, ""),
        ("  two \n words ", 20, "two words"),
        ("exactly so", 10, "exactly so"),
        ("one two three", 10, "one two…"),
        ("один два три", 10, "один два…"),
        ("a " + "x" * 50, 10, "a xxxxxxx…"),
        ("x" * 50, 10, "xxxxxxxxx…"),
    ],
)
def test_short(text: str | None, limit: int, said: str) -> None:
    """One line, cut at a word; a very long word is cut rather than dropped."""
    assert short(text, limit) == said


@given(text=st.text(), limit=st.integers(2, 50))
def test_short_is_short(text: str, limit: int) -> None:
    """Never longer than asked for, and nothing but the text's own beginning."""
    said = short(text, limit)
    assert len(said) <= limit
    assert " ".join(text.split()).startswith(said.removesuffix("…"))
