"""QR codes for what is printed, such as invitations: text ─► squares ─► SVG without any outside reference."""

from typing import Any, cast

import zxingcpp

MARGIN = 4
"""Light squares around a code, without which readers do not find it."""


def squares(text: str) -> list[list[bool]]:
    """The code as rows of squares, True is dark; without a margin.

    Stands up to 15 % of damage, so that a fold or a coffee stain does no harm. Raises ValueError for an empty text and
    for one of more than about 2,300 bytes.
    """
    library = cast("Any", zxingcpp)  # its own types leave the options and the picture open
    drawn = library.create_barcode(text, library.BarcodeFormat.QRCode, ec_level="M").to_image(add_quiet_zones=False)
    height, width = drawn.shape
    levels = bytes(memoryview(drawn))
    return [[level == 0 for level in levels[row * width : (row + 1) * width]] for row in range(height)]


def svg(text: str) -> str:
    """The code as an SVG element that fills whatever it is put into; its text is not in it."""
    rows = squares(text)
    size = len(rows) + 2 * MARGIN
    path = "".join(
        f"M{start + MARGIN} {y + MARGIN}h{length}v1h-{length}z"
        for y, row in enumerate(rows)
        for start, length in _dark(row)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" shape-rendering="crispEdges" role="img">'
        f'<rect width="{size}" height="{size}" fill="#fff"/><path d="{path}" fill="#000"/></svg>'
    )


def _dark(row: list[bool]) -> list[tuple[int, int]]:
    """Where dark squares begin in a row, and how many there are side by side."""
    found: list[tuple[int, int]] = []
    for place, dark in enumerate(row):
        if dark and place and row[place - 1]:
            start, length = found[-1]
            found[-1] = (start, length + 1)
        elif dark:
            found.append((place, 1))
    return found
