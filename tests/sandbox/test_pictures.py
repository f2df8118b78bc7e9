"""Kinds and sizes of pictures, read from their first bytes."""

from __future__ import annotations

import struct

import pytest

from bot.sandbox.methods.pictures import picture
from tests.sandbox.bots import PNG

_FRAME = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 20, 30)
_WEBP = b"RIFF\x00\x00\x00\x00WEBP"


@pytest.mark.parametrize(
    ("content", "mime", "size"),
    [
        (PNG, "image/png", (1, 1)),
        (b"GIF89a" + struct.pack("<HH", 4, 5), "image/gif", (4, 5)),
        (b"\xff\xd8\xff\xe0\x00\x04ab" + _FRAME, "image/jpeg", (30, 20)),
        (_WEBP + b"VP8X" + bytes(8) + b"\x09\x00\x00\x13\x00\x00", "image/webp", (10, 20)),
        (_WEBP + b"VP8L" + bytes(5) + ((9) | (19 << 14)).to_bytes(4, "little"), "image/webp", (10, 20)),
        (_WEBP + b"VP8 " + bytes(10) + struct.pack("<HH", 10, 20), "image/webp", (10, 20)),
    ],
)
def test_known_kinds(content: bytes, mime: str, size: tuple[int, int]) -> None:
    """PNG, GIF, JPEG and the three kinds of WebP."""
    found = picture(content)
    assert found is not None
    assert (found.mime, (found.width, found.height)) == (mime, size)


@pytest.mark.parametrize(
    "content",
    [b"", b"text", PNG[:20], b"\xff\xd8\xff\xe0\x00\x04ab", b"\xff\xd8ab" + bytes(9), _WEBP + b"NONE", _WEBP + b"VP8 "],
)
def test_anything_else(content: bytes) -> None:
    """No picture, an unknown one, or one that is cut off."""
    assert picture(content) is None
