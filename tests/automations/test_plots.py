"""Bar plots: a picture of the right size for any labels, with bars as long as their sums."""

import threading
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from automations.plots import BEFORE_COLOUR, MARGIN, MOST_ROWS, NOW_COLOUR, STRONG_COLOUR, WIDTH, bars, drawable

LEGEND = ("October 2026", "September 2026")


def euros(amount: int) -> str:
    return f"{amount} €"


def picture(content: bytes) -> Image.Image:
    return Image.open(BytesIO(content)).convert("RGB")


def colour(code: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(code[1:]))


def widest(drawn: Image.Image, code: str) -> int:
    """The longest run from the left margin of one colour: the longest bar of that kind."""
    wanted, longest = colour(code), 0
    for y in range(drawn.height):
        x = MARGIN + 8
        while x < drawn.width and drawn.getpixel((x, y)) == wanted:
            x += 1
        longest = max(longest, x - MARGIN - 8)
    return longest


def test_bars_are_as_long_as_their_sums() -> None:
    """The largest fills the width, the one before it its share."""
    drawn = picture(bars("Expenses", [("Taxi", 400, 100), ("Fuel", 200, None)], euros, LEGEND))
    full = WIDTH - 2 * MARGIN
    assert widest(drawn, NOW_COLOUR) == pytest.approx(full, abs=20)
    assert widest(drawn, BEFORE_COLOUR) == pytest.approx(full / 4, abs=20)


def test_the_row_that_stands_out_has_its_own_colour() -> None:
    """The request itself, beside the months."""
    rows = [("July", 300, None), ("This request", 300, None)]
    assert widest(picture(bars("By month", rows, euros, strong=1)), STRONG_COLOUR) > 0
    assert widest(picture(bars("By month", rows, euros)), STRONG_COLOUR) == 0


def test_a_sum_below_zero_has_no_bar() -> None:
    """Its number says it."""
    assert widest(picture(bars("Odd", [("Refund", -500, None), ("Zero", 0, None)], euros)), NOW_COLOUR) == 0


def test_it_is_as_wide_as_a_phone_wants_it_and_as_high_as_it_must_be() -> None:
    """More rows are higher; more than fit are left out."""
    few, many = (picture(bars("Expenses", [("Taxi", 1, 2)] * count, euros, LEGEND)) for count in (2, MOST_ROWS))
    most = picture(bars("Expenses", [("Taxi", 1, 2)] * 200, euros, LEGEND))
    assert few.width == many.width == WIDTH
    assert few.height < many.height == most.height < 4000


@pytest.mark.parametrize(
    "label",
    [
        "Древесина и плитные материалы для офисного центра «Халден», вторая очередь, четвёртый этаж" * 3,
        "$x$ \\alpha_{2} $",
        "🚕 такси",
        "出租车",
        "",
        "\n\t",
        "x" * 5000,
    ],
)
def test_any_label_is_drawn_without_a_warning(label: str) -> None:
    """Long, Cyrillic, formulas, emoji, signs that the font lacks, nothing: warnings are errors here."""
    drawn = picture(bars(label, [(label, 10**12, 10**15)], lambda amount: f"${amount} {label[:20]}", (label, label)))
    assert drawn.width == WIDTH
    margin = {drawn.getpixel((x, y)) for x in (WIDTH - 4, WIDTH - 20, 4, 20) for y in range(drawn.height)}
    assert margin == {(255, 255, 255)}, "something runs over the edge"


def test_what_the_font_lacks_is_left_out() -> None:
    """The signs of currencies stay."""
    assert drawable("🚕 Taxi  出") == "Taxi"
    assert drawable("1 250 ₽ € $ £ ₸ ₺ ₴ −5", bold=True) == "1 250 ₽ € $ £ ₸ ₺ ₴ −5"
    assert drawable("🚕") == "–"


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=40), st.integers(-(10**15), 10**15), st.none() | st.integers(0, 10**15))))
def test_any_rows_are_drawn(rows: list[tuple[str, int, int | None]]) -> None:
    """No rows, no sums, sums beyond reason."""
    assert bars("Any", rows, euros, LEGEND).startswith(b"\x89PNG")


def test_many_at_once() -> None:
    """Two people ask at the same time: both get the picture that one alone would get."""
    rows = [(f"Row {number}", number, number) for number in range(6)]
    alone = bars("Expenses", rows, euros, LEGEND)
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(bars("Expenses", rows, euros, LEGEND))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4
