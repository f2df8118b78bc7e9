"""An answer's body as it comes in: inflated here, with a bound, since a few kilobytes can inflate to gigabytes.

chunks ─► Body.take ─► (gzip, deflate: inflated no further than the cap) ─► Body.whole
"""

import zlib

from workspace_api.client.transport import AnswerLost, too_large

ACCEPTED = "gzip, deflate"

_EITHER = 47
"""zlib's window bits for "gzip or zlib, as its header says"."""


class Body:
    """Collects the chunks of one body. Raises AnswerLost over `max_bytes` and where the compression is broken."""

    __slots__ = ("_inflate", "_left", "_limit", "_parts")

    def __init__(self, encoding: str | None, length: str | None, max_bytes: int) -> None:
        self._limit = self._left = max_bytes
        self._parts: list[bytes] = []
        self._inflate = None
        if encoding is not None and encoding.strip().lower() not in ("", "identity"):
            if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
                raise AnswerLost("the answer is compressed in a way that was not asked for", final=True)
            self._inflate = zlib.decompressobj(_EITHER)
        elif length is not None and length.isascii() and length.isdigit() and int(length[:20]) > max_bytes:
            raise too_large(max_bytes)

    def take(self, chunk: bytes) -> None:
        """One more chunk, as it came over the wire."""
        if self._inflate is None:
            self._keep(chunk)
            return
        try:
            while chunk:
                # A gzip body may have several members, one after the other.
                if self._inflate.eof:
                    self._inflate = zlib.decompressobj(_EITHER)
                self._keep(self._inflate.decompress(chunk, self._left + 1))
                chunk = self._inflate.unconsumed_tail or self._inflate.unused_data
        except zlib.error:
            raise AnswerLost("the answer's compression is broken") from None

    def _keep(self, part: bytes) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise too_large(self._limit)
        self._parts.append(part)

    def whole(self) -> bytes:
        """The body, once the last chunk was taken."""
        if self._inflate is not None and self._parts and not self._inflate.eof:
            raise AnswerLost("the answer's compression is broken")
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
