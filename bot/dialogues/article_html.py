"""An article's content blocks as Telegram's HTML, in pages.

The workspace stores HTML of any kind; Telegram knows a dozen tags. What it does not know becomes text: headings bold,
list items with a dot, table rows joined by bars, links kept where they are http. Everything else is escaped.
"""

from html import escape
from html.parser import HTMLParser

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
"""Characters of one page, which leaves room for the title."""


class _Telegram(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open: list[tuple[str, str]] = []  # the tag as written, what closes it here
        self._lists: list[int | None] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN:
            self._hidden += 1
        elif tag == "br":
            self.parts.append("\n")
        elif tag in {"ul", "ol"}:
            self._lists.append(0 if tag == "ol" else None)
            self.parts.append("\n")
        elif tag == "li":
            self.parts.append("\n" + self._bullet())
        elif tag == "tr":
            self.parts.append("\n")
        elif tag in {"td", "th"}:
            self.parts.append(" | " if self.parts and not self.parts[-1].endswith("\n") else "")
        elif tag in HEADINGS:
            self.parts.append("\n\n<b>")
            self._open.append((tag, "</b>\n"))
        elif tag in BREAKS:
            self.parts.append("\n\n")
        elif tag == "a":
            target = dict(attrs).get("href") or ""
            if target.startswith(("http://", "https://")):
                self.parts.append(f'<a href="{escape(target)}">')
                self._open.append((tag, "</a>"))
        elif tag in KEPT:
            self.parts.append(f"<{KEPT[tag]}>")
            self._open.append((tag, f"</{KEPT[tag]}>"))

    def _bullet(self) -> str:
        indent = "   " * max(0, len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        if number is None:
            return f"{indent}• "
        self._lists[-1] = number + 1
        return f"{indent}{number + 1}. "

    def handle_endtag(self, tag: str) -> None:
        if tag in HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
            self.parts.append("\n")
        elif any(name == tag for name, _ in self._open):
            # Tags that were left open inside are closed with it.
            while self._open:
                name, closing = self._open.pop()
                self.parts.append(closing)
                if name == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            text = data if any(name == "pre" for name, _ in self._open) else " ".join(data.split("\n"))
            self.parts.append(escape(text, quote=False))

    def result(self) -> str:
        while self._open:
            self.parts.append(self._open.pop()[1])
        lines = [
            line.rstrip() if "<pre>" in line else " ".join(line.split(" ")).rstrip()
            for line in "".join(self.parts).split("\n")
        ]
        text = "\n".join(lines).strip()
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        return text


def to_telegram(source: str) -> str:
    """Any HTML as Telegram's; never raises, never passes unknown markup on."""
    parser = _Telegram()
    parser.feed(source)
    parser.close()
    return parser.result()


def plain(source: str) -> str:
    """Any HTML as plain text."""
    parser = _Plain()
    parser.feed(source)
    parser.close()
    return " ".join("".join(parser.parts).split())


class _Plain(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append(" ")


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
    """The article in pages, cut between paragraphs, a long paragraph between lines or words."""
    ordered = sorted(blocks, key=lambda block: (block.sequence_index is None, block.sequence_index or 0))
    pieces: list[str] = []
    for block in ordered:
        whole = block_html(block)
        if whole:
            pieces.extend(whole.split("\n\n") if "<pre>" not in whole and "<blockquote>" not in whole else [whole])
    found: list[str] = []
    current = ""
    for piece in pieces:
        for part in _parts(piece, limit):
            if current and len(current) + len(part) + 2 > limit:
                found.append(current)
                current = part
            else:
                current = f"{current}\n\n{part}" if current else part
    return [*found, current] if current else found or [""]


def _parts(piece: str, limit: int) -> list[str]:
    if len(piece) <= limit:
        return [piece]
    # A single paragraph longer than a page loses its markup: half an open tag would be refused.
    words = plain(piece)
    parts: list[str] = []
    while len(words) > limit:
        cut = words.rfind(" ", 1, limit)
        cut = limit if cut < 1 else cut
        parts.append(escape(words[:cut], quote=False))
        words = words[cut:].lstrip()
    return [*parts, escape(words, quote=False)]
