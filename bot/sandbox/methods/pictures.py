"""What kind of picture some bytes are and how large, from their first bytes alone."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Picture:
    mime: str
    width: int
    height: int


def picture(content: bytes) -> Picture | None:
    """The kind and size in pixels of a PNG, GIF, JPEG or WebP; None for anything else or a cut-off head."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
            width, height = struct.unpack(">II", content[16:24])
            return Picture("image/png", width, height)
        if content[:6] in {b"GIF87a", b"GIF89a"}:
            width, height = struct.unpack("<HH", content[6:10])
            return Picture("image/gif", width, height)
        if content.startswith(b"\xff\xd8"):
            return _jpeg(content)
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return _webp(content)
    except (struct.error, IndexError):
        return None
    return None


def _jpeg(content: bytes) -> Picture | None:
    at = 2
    while at + 9 <= len(content):
        if content[at] != 0xFF:
            return None
        marker = content[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return Picture("image/jpeg", width, height)
        at += 2 + struct.unpack(">H", content[at + 2 : at + 4])[0]
    return None


def _webp(content: bytes) -> Picture | None:
    kind = content[12:16]
    if kind == b"VP8X":
        width = 1 + int.from_bytes(content[24:27], "little")
        height = 1 + int.from_bytes(content[27:30], "little")
    elif kind == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack("<HH", content[26:30]))
    else:
        return None
    return Picture("image/webp", width, height)
