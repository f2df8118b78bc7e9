"""An article's content blocks as Telegram's HTML, in pages.

The workspace stores HTML of any kind; Telegram knows a dozen tags. What it does not know becomes text: headings bold,
list items with a dot, table rows joined by bars, links kept where they are http. Everything else is escaped.
"""

import re
from html import escape, unescape
from html.parser import HTMLParser

from bot.texts import split
from workspace_api.contract.wiki import ContentBlock

KEPT = {
    "b": "b",
    "strong": "b",
    "i": "i",
    "em": "i",
    "u": "u",
    "ins": "u",
    "s": "s",
    "del": "s",
    "strike": "s",
    "code": "code",
    "pre": "pre",
}
BREAKS = {"p", "div", "ul", "ol", "table", "blockquote", "section", "article"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
HIDDEN = {"script", "style", "head", "title", "iframe"}

PAGE = 3200
"""UTF-16 units of one page, markup included, which leaves room for the title."""

DEEPEST = 4
"""Steps by which a list in a list moves to the right."""

MOST_OPEN = 100
"""Tags in tags that are looked at; more of them are an accident or an attack."""

LONGEST_LINK = 1000
"""Characters of an address; a longer one would not leave its page room for words."""


class _Telegram(HTMLParser):
    """Writes `parts` as it reads. Line ends (`_gap`) and spaces wait for what they stand before, so none is doubled."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open: list[tuple[str, str]] = []  # the tag as written, and its name here: "" where it adds nothing
        self._lists: list[int | None] = []
        self._hidden = 0
        self._fresh = True  # nothing stands on this line that a paragraph would have to leave
        self._gap = 0
        self._space = False
        self._spaced = False  # the space has been written, before a tag

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN:
            self._hidden += 1
        elif tag == "br":
            self._gap = min(2, self._gap + 1)
        elif tag in {"ul", "ol"}:
            self._break(1 if self._lists else 2)
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._gap = max(self._gap, 1)
            self._write(self._bullet())
            # A paragraph that begins the item stays beside its dot.
            self._fresh = True
        elif tag == "tr":
            self._break(1)
        elif tag in {"td", "th"}:
            if not self._fresh and not self._gap:
                self._text(" | ")
        elif tag in HEADINGS:
            self._break(2)
            self._begin(tag, "b")
        elif tag in BREAKS:
            self._break(1 if self._lists else 2)
        elif tag == "a":
            target = dict(attrs).get("href") or ""
            known = re.match(r"https?://\S+$", target) and len(target) <= LONGEST_LINK
            self._begin(tag, "a" if known else "", f' href="{escape(target)}"')
        elif tag in KEPT:
            if tag == "pre":
                self._break(1)
            self._begin(tag, KEPT[tag])

    def _begin(self, tag: str, name: str, attributes: str = "") -> None:
        """Opens a tag, once: what is bold already needs no second <b>."""
        if len(self._open) >= MOST_OPEN:
            return
        if any(name == other for _, other in self._open):
            name = ""
        if name:
            self._write("")
            self.parts.append(f"<{name}{attributes}>")
        self._open.append((tag, name))

    def _bullet(self) -> str:
        indent = "   " * min(DEEPEST, max(0, len(self._lists) - 1))
        number = self._lists[-1] if self._lists else None
        if number is None:
            return f"{indent}• "
        self._lists[-1] = number + 1
        return f"{indent}{number + 1}. "

    def _break(self, lines: int) -> None:
        """At least so many line ends before what comes next."""
        if not self._fresh:
            self._gap = max(self._gap, lines)

    def _write(self, text: str) -> None:
        """Text as it is, after the line ends or the space that wait for it."""
        if self.parts and self._gap:
            self.parts.append("\n" * self._gap)
            self._fresh = True
        elif self._space and not self._fresh and not self._spaced:
            self.parts.append(" ")
            self._spaced = True
        self._gap = 0
        self._space = False
        if text:
            self.parts.append(text)
            self._fresh = self._spaced = False

    def handle_endtag(self, tag: str) -> None:
        if tag in HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in {"ul", "ol"}:
            if self._lists:
                self._lists.pop()
            self._break(1 if self._lists else 2)
        elif any(name == tag for name, _ in self._open):
            # Tags that were left open inside are closed with it.
            written = ""
            while written != tag:
                written, name = self._open.pop()
                self.parts.append(f"</{name}>" if name else "")
            if tag in HEADINGS or tag == "pre":
                self._break(1)
        elif tag in BREAKS:
            self._break(1 if self._lists else 2)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if any(name == "pre" for _, name in self._open):
            self._write(escape(data, quote=False))
        else:
            self._text(data)

    def _text(self, data: str) -> None:
        """White space runs together, and goes where a line begins or ends."""
        words = re.sub(r"[ \t\r\n\f]+", " ", data)
        self._space = self._space or words.startswith(" ")
        if words.strip(" "):
            self._write(escape(words.strip(" "), quote=False))
            self._space = words.endswith(" ")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """`<![…` of kinds that are no HTML: shown as it is, where the standard parser would raise."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            self.handle_data("<!")
            return i + 2

    def result(self) -> str:
        while self._open:
            _, name = self._open.pop()
            self.parts.append(f"</{name}>" if name else "")
        return "".join(self.parts).strip()


def to_telegram(source: str) -> str:
    """Any HTML as Telegram's; never raises, never passes unknown markup on."""
    parser = _Telegram()
    # No tag ends after the last ">"; the standard parser would look for its end again and again, for minutes.
    end = source.rfind(">") + 1
    parser.feed(source[:end] + source[end:].replace("<", "&lt;"))
    parser.close()
    return parser.result()


def plain(source: str) -> str:
    """Any HTML as plain text on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", to_telegram(source))).split())


def block_html(block: ContentBlock) -> str:
    """One content block; the types are not documented, unknown ones are read as text."""
    content = block.content or ""
    if block.type == "heading":
        return f"<b>{escape(plain(content), quote=False)}</b>"
    if block.type == "code":
        return f"<pre>{escape(content, quote=False)}</pre>"
    if block.type == "quote":
        return f"<blockquote>{escape(plain(content), quote=False)}</blockquote>"
    return to_telegram(content)


def pages(blocks: list[ContentBlock], limit: int = PAGE) -> list[str]:
    """The article in pages of at most `limit` UTF-16 units, markup included; at least one, be it empty."""
    ordered = sorted(blocks, key=lambda block: (block.sequence_index is None, block.sequence_index or 0))
    shown = [html for html in map(block_html, ordered) if re.sub(r"<[^>]*>", "", html).strip()]
    return split("\n\n".join(shown), limit)
