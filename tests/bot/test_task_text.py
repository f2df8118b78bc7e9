"""A task from a text: name, day and people, in both languages. Today is Saturday, 21 November 2026."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.days import WEEKDAYS, near
from bot.dialogues.task_text import parse

TODAY = date(2026, 11, 21)

PEOPLE = {
    "anna": "Анна Беляева", "boris": "Борис Клюев", "pavel": "Павел Орлов", "peter": "Пётр Резников",
    "ilya": "Илья Сомов", "yulia": "Юлия Ветрова", "maria": "Мария Котова", "mark": "Марк Елисеев",
    "vera": "Вера Хохлова", "andrey": "Андрей Зуев", "igor": "Игорь Лис", "ann": "Ann Lee", "bob": "Bob Stone",
    "nobody": "", "blank": " ",
}  # fmt: skip


def day(text: str) -> date | None:
    return parse(text, TODAY, {}).day


@pytest.mark.parametrize(
    ("text", "name", "due"),
    [
        ("call Anna tomorrow", "Call Anna", date(2026, 11, 22)),
        ("позвонить Анне завтра", "Позвонить Анне", date(2026, 11, 22)),
        ("завтра позвонить Анне", "Позвонить Анне", date(2026, 11, 22)),
        ("Сдать отчёт сегодня!", "Сдать отчёт", date(2026, 11, 21)),
        ("послезавтра созвон", "Созвон", date(2026, 11, 23)),
        ("Send the report by Friday", "Send the report", date(2026, 11, 27)),
        ("on Monday, call the bank", "Call the bank", date(2026, 11, 23)),
        ("report by fri", "Report", date(2026, 11, 27)),
        ("sit in the sun", "Sit in the sun", None),
        ("отчёт в субботу", "Отчёт", date(2026, 11, 28)),
        ("отчёт к пятнице", "Отчёт", date(2026, 11, 27)),
        ("отчёт до понедельника", "Отчёт", date(2026, 11, 23)),
        ("до пт сдать отчёт", "Сдать отчёт", date(2026, 11, 27)),
        ("в следующую среду встреча", "Встреча", date(2026, 11, 25)),
        ("отчёт об охране среды", "Отчёт об охране среды", None),
        ("pay the invoice 2026-12-01", "Pay the invoice", date(2026, 12, 1)),
        ("оплатить счёт до 01.12.2026.", "Оплатить счёт", date(2026, 12, 1)),
        ("оплатить счёт 1.12.26", "Оплатить счёт", date(2026, 12, 1)),
        ("оплатить счёт 25.12", "Оплатить счёт", date(2026, 12, 25)),
        ("оплатить счёт 05.02", "Оплатить счёт", date(2027, 2, 5)),
        ("оплатить счёт до 5.2", "Оплатить счёт", date(2027, 2, 5)),
        ("25 ноября собрать бригаду", "Собрать бригаду", date(2026, 11, 25)),
        ("собрать бригаду 3 декабря 2027 г.", "Собрать бригаду", date(2027, 12, 3)),
        ("book a room for Nov 30th", "Book a room for", date(2026, 11, 30)),
        ("book a room on 1 May", "Book a room", date(2027, 5, 1)),
        ("call Bob in 2 weeks", "Call Bob", date(2026, 12, 5)),
        ("через 3 дня сдать отчёт", "Сдать отчёт", date(2026, 11, 24)),
        ("сдать отчёт через неделю", "Сдать отчёт", date(2026, 11, 28)),
        ("Prepare today's menu", "Prepare today's menu", None),
        ("move the Monday meeting to Friday", "Move the Monday meeting to", date(2026, 11, 27)),
        ("buy 12.5 litres of oil", "Buy 12.5 litres of oil", None),
        ("call +7 915 123-45-67", "Call +7 915 123-45-67", None),
        ("read pages 10-12", "Read pages 10-12", None),
        ("  call   Anna  ", "Call Anna", None),
        ("", "", None),
    ],
)
def test_name_and_day(text: str, name: str, due: date | None) -> None:
    """The last day that is named is the due day and leaves the name with its preposition."""
    parsed = parse(text, TODAY, {})
    assert (parsed.name, parsed.day) == (name, due)


@pytest.mark.parametrize("text", ["31.02.2026 x", "2026-13-01 x", "40.40 x", "31 ноября x", "Feb 30 x", "2026-02-29 x"])
def test_invalid_dates_stay_in_the_name(text: str) -> None:
    """A day that does not exist is no day; nothing of the text is lost."""
    parsed = parse(text, TODAY, {})
    assert parsed.day is None
    assert parsed.name == text[:1].upper() + text[1:]


@pytest.mark.parametrize(("text", "name"), [("tomorrow", "Tomorrow"), ("к пятнице", "К пятнице"), ("25.12!", "25.12!")])
def test_a_day_alone_is_still_a_name(text: str, name: str) -> None:
    """A task is never nameless."""
    parsed = parse(text, TODAY, {})
    assert parsed.name == name
    assert parsed.day is not None


@pytest.mark.parametrize(("word", "number"), WEEKDAYS.items())
def test_weekdays_are_ahead(word: str, number: int) -> None:
    """The next such day; on a Saturday «суббота» is in a week, not today."""
    due = day(f"отчёт {word}")
    assert due is not None
    assert due.weekday() == number
    assert 1 <= (due - TODAY).days <= 7


def test_a_day_without_a_year() -> None:
    """Today counts, yesterday is next year; 29 February waits for its leap year."""
    assert near(11, 21, TODAY) == TODAY
    assert near(11, 20, TODAY) == date(2027, 11, 20)
    assert near(2, 29, TODAY) == date(2028, 2, 29)
    assert near(11, 21, TODAY, past=True) == TODAY
    assert near(11, 22, TODAY, past=True) == date(2025, 11, 22)
    assert near(2, 29, TODAY, past=True) == date(2024, 2, 29)
    assert near(2, 30, TODAY) is None


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("позвонить Анне", ("anna",)),
        ("спросить у Анны и Бориса", ("anna", "boris")),
        ("встреча с Борисом", ("boris",)),
        ("передать Павлу, Петру и Пётру", ("pavel", "peter")),
        ("вместе с Ильёй", ("ilya",)),
        ("отдать Юлии", ("yulia",)),
        ("письмо Марии", ("maria",)),
        ("письмо Марку", ("mark",)),
        ("отчёт от Андрея для Игоря", ("andrey", "igor")),
        ("БОРИС!", ("boris",)),
        ("call Ann and Bob", ("ann", "bob")),
        ("Bob's invoice", ("bob",)),
        ("Верно ли это? Проверь анналы", ()),
        ("купить марки и маркер", ()),
        ("borscht", ()),
        ("ан", ()),
    ],
)
def test_people(text: str, people: tuple[str, ...]) -> None:
    """First names in any Russian case, in the order of the text, each once; words that only begin alike are nobody."""
    assert parse(text, TODAY, PEOPLE).people == people


@given(text=st.text(max_size=80))
def test_any_text_is_a_task(text: str) -> None:
    """No text is an error, and a text with words has a name."""
    parsed = parse(text, TODAY, PEOPLE)
    assert bool(parsed.name.strip()) >= any(character.isalnum() for character in text)
