"""Bar plots as PNG, for the narrow screen of a phone: each row has its label and sum above its bar.

    title
    ■ this month  ■ the month before
    Taxi                              450 €
    ██████████████████████████
    ▬▬▬▬▬▬▬▬▬▬▬

Drawn in pixels on one empty axis with matplotlib's Agg, never through pyplot, which keeps every figure in memory.
Takes a few tenths of a second: run it in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

Row = tuple[str, int, int | None]
"""Label, sum, and the sum of the period before, if that is compared."""

MOST_ROWS = 24

WIDTH, DPI = 1080, 100
MARGIN, LABEL, BAR, BEFORE, GAP = 48, 52, 30, 14, 26
"""Pixels: around everything, a row's line of text, its bar, the thin bar of the period before, between two rows."""

NOW_COLOUR, BEFORE_COLOUR, STRONG_COLOUR = "#2f7fd1", "#b9c4d0", "#e0812b"
INK, FAINT, PAPER, TRACK = "#1c2733", "#66727f", "#ffffff", "#eef1f4"

ELLIPSIS = "…"


def bars(
    title: str,
    rows: Sequence[Row],
    money: Callable[[int], str],
    legend: tuple[str, str] | None = None,
    *,
    strong: int | None = None,
) -> bytes:
    """A PNG of horizontal bars, from top to bottom as given, at most MOST_ROWS of them.

    `money` writes a sum; `legend`: what the two kinds of bars are; `strong`: the row that stands out. A sum below zero
    has no bar, only its number.
    """
    # A late import: it takes a second, and most of what the bot does needs no picture.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = list(rows)[:MOST_ROWS]
    compared = any(before is not None for _, _, before in rows)
    each = LABEL + BAR + (BEFORE + 4 if compared else 0) + GAP
    head = MARGIN + 64 + (56 if legend and compared else 8)
    height = head + each * len(rows) + MARGIN - GAP
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI, facecolor=PAPER)
    canvas: Any = FigureCanvasAgg(figure)  # the library's types leave half of its calls open
    axes: Any = cast("Any", figure).add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    pen = _Pen(axes, canvas.get_renderer())

    pen.write(MARGIN, MARGIN + 24, title, size=29, bold=True, room=WIDTH - 2 * MARGIN)
    if legend and compared:
        _legend(pen, MARGIN + 86, legend)
    longest = max((max(now, before or 0) for _, now, before in rows), default=0)
    top = head
    for place, (label, now, before) in enumerate(rows):
        value = pen.write(WIDTH - MARGIN, top + 22, money(now), size=23, bold=True, right=True)
        pen.write(MARGIN, top + 22, label, size=23, room=WIDTH - 2 * MARGIN - value - 24)
        colour = STRONG_COLOUR if place == strong else NOW_COLOUR
        pen.bar(top + LABEL, BAR, _share(now, longest), colour)
        if before is not None:
            pen.bar(top + LABEL + BAR + 4, BEFORE, _share(before, longest), BEFORE_COLOUR)
        top += each
    content = BytesIO()
    canvas.print_png(content)
    return content.getvalue()


def _share(value: int, longest: int) -> float:
    return max(0.0, value / longest) if longest > 0 else 0.0


def _legend(pen: _Pen, middle: float, legend: tuple[str, str]) -> None:
    left = float(MARGIN)
    for words, colour in zip(legend, (NOW_COLOUR, BEFORE_COLOUR), strict=True):
        pen.box(left, middle - 11, 22, 22, colour)
        left += 34 + pen.write(left + 34, middle, words, size=20, colour=FAINT, room=WIDTH / 2 - MARGIN - 34) + 40


class _Pen:
    """Writes and draws on one axis whose units are pixels."""

    def __init__(self, axes: Any, renderer: Any) -> None:
        self._axes = axes
        self._renderer = renderer

    def write(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float,
        bold: bool = False,
        right: bool = False,
        colour: str = INK,
        room: float | None = None,
    ) -> float:
        """One line with its middle at `y`, cut where it takes more than `room`; its width in pixels."""
        font = _font(bold).copy()
        font.set_size(size * 72 / DPI)
        said = drawable(words, bold)
        written = self._axes.text(
            x,
            y,
            said,
            fontproperties=font,
            color=colour,
            ha="right" if right else "left",
            va="center",
            # A sum in dollars is no formula.
            parse_math=False,
        )
        width = written.get_window_extent(self._renderer).width
        while room is not None and width > room and len(said) > 1:
            keep = min(len(said) - 1, int(len(said) * room / width))
            said = said[:keep].rstrip(f" {ELLIPSIS}")
            written.set_text(said + ELLIPSIS)
            width = written.get_window_extent(self._renderer).width
        return float(width)

    def bar(self, top: float, height: float, share: float, colour: str) -> None:
        """A bar as long as its share of the width, on a pale track."""
        full = WIDTH - 2 * MARGIN
        self.box(MARGIN, top, full, height, TRACK)
        if share > 0:
            self.box(MARGIN, top, max(4.0, full * share), height, colour)

    def box(self, left: float, top: float, width: float, height: float, colour: str) -> None:
        from matplotlib.patches import FancyBboxPatch

        radius = min(6.0, width / 2, height / 2)
        style = f"round,pad=0,rounding_size={radius}"
        self._axes.add_patch(
            FancyBboxPatch((left, top), width, height, boxstyle=style, facecolor=colour, linewidth=0, mutation_aspect=1)
        )


@cache
def _font(bold: bool) -> FontProperties:
    """The font that comes with the library, by its file: no search among what the machine has."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    return FontProperties(fname=f"{mpl.get_data_path()}/fonts/ttf/DejaVuSans{'-Bold' if bold else ''}.ttf")


@cache
def _known(bold: bool) -> frozenset[int]:
    """The characters that the font has."""
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(_font(bold).get_file())).get_charmap())


def drawable(words: str, bold: bool = False) -> str:
    """One line of what the font can draw; a character that it does not have is left out, as an emoji is."""
    known = _known(bold)
    plain = "".join(character for character in " ".join(words.split()) if ord(character) in known)
    return plain.strip() or "–"
