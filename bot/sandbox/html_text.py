"""Telegram's HTML: text with tags -> plain text and entities (strictly), and back for tests and the history.

`parse` refuses what Telegram refuses ("can't parse entities: ..."), with byte offsets into the UTF-8 text;
`to_html` writes entities out again. Offsets and lengths of entities count UTF-16 code units.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field, replace

from bot.sandbox.model import Entity
from bot.sandbox.refusals import Refused, bad

TAGS: dict[str, str] = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}

_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_CHARACTER = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{1,8}));?")
_SPACE = " \t\r\n"


def units(text: str) -> int:
    """Length in UTF-16 code units, the way Telegram counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse(source: str) -> tuple[str, list[Entity]]:
    """HTML -> text and entities; raises `Refused` (400) with Telegram's words."""
    return _Parser(source).run()


@dataclass(slots=True)
class _Open:
    tag: str
    attributes: dict[str, str]
    offset: int
    position: int
    children: list[Entity] = field(default_factory=list[Entity])


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.out: list[str] = []
        self.length = 0
        self.open: list[_Open] = []
        self.entities: list[Entity] = []

    def run(self) -> tuple[str, list[Entity]]:
        while self.at < len(self.source):
            character = self.source[self.at]
            if character == "<":
                self._tag()
            elif character == "&":
                text, self.at = self._character(self.at)
                self._put(text)
            else:
                end = self.at
                while end < len(self.source) and self.source[end] not in "<&":
                    end += 1
                self._put(self.source[self.at : end])
                self.at = end
        if self.open:
            last = self.open[-1]
            raise self._cannot(f'Can\'t find end tag corresponding to start tag "{last.tag}"')
        return "".join(self.out), ordered(self.entities)

    def _put(self, text: str) -> None:
        self.out.append(text)
        self.length += units(text)

    def _cannot(self, reason: str) -> Refused:
        return bad(f"can't parse entities: {reason}")

    def _byte(self, position: int) -> int:
        return len(self.source[:position].encode("utf-8", "surrogatepass"))

    def _character(self, position: int) -> tuple[str, int]:
        found = _CHARACTER.match(self.source, position)
        if found:
            decimal, hexadecimal, name = found.groups()
            if name in _NAMED:
                return _NAMED[name], found.end()
            code = int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else 0
            if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000:
                return chr(code), found.end()
        return "&", position + 1

    def _tag(self) -> None:
        begin = self.at
        if self.source.startswith("</", begin):
            self._end_tag(begin)
        else:
            self._start_tag(begin)

    def _start_tag(self, begin: int) -> None:
        name_end = begin + 1
        while name_end < len(self.source) and self.source[name_end] not in _SPACE + ">":
            name_end += 1
        if name_end >= len(self.source):
            raise self._cannot(f"Unclosed start tag at byte offset {self._byte(begin)}")
        tag = self.source[begin + 1 : name_end].lower()
        if tag not in TAGS:
            raise self._cannot(f'Unsupported start tag "{tag}" at byte offset {self._byte(begin)}')
        attributes, self.at = self._attributes(name_end, tag, begin)
        if tag == "span" and attributes.get("class") != "tg-spoiler":
            raise self._cannot(f'Tag "span" must have class "tg-spoiler" at byte offset {self._byte(begin)}')
        if tag == "tg-emoji" and not attributes.get("emoji-id", "").isdigit():
            raise self._cannot(f'Tag "tg-emoji" must have attribute "emoji-id" at byte offset {self._byte(begin)}')
        self.open.append(_Open(tag, attributes, self.length, len(self.out)))

    def _attributes(self, position: int, tag: str, begin: int) -> tuple[dict[str, str], int]:
        attributes: dict[str, str] = {}
        source, size = self.source, len(self.source)
        unclosed = f"Unclosed start tag at byte offset {self._byte(begin)}"
        while True:
            while position < size and source[position] in _SPACE:
                position += 1
            if position >= size:
                raise self._cannot(unclosed)
            if source[position] == ">":
                return attributes, position + 1
            start = position
            while position < size and source[position] not in _SPACE + "=>":
                position += 1
            name = source[start:position].lower()
            if not name:
                raise self._cannot(f'Empty attribute name in the tag "{tag}" at byte offset {self._byte(begin)}')
            if position >= size:
                raise self._cannot(unclosed)
            if source[position] != "=":
                attributes[name] = ""
                continue
            value, position = self._value(position + 1, tag, begin)
            attributes[name] = value

    def _value(self, position: int, tag: str, begin: int) -> tuple[str, int]:
        source, size = self.source, len(self.source)
        quote = source[position] if position < size and source[position] in "\"'" else None
        value: list[str] = []
        if quote:
            position += 1
        while position < size:
            character = source[position]
            if (quote and character == quote) or (not quote and character in _SPACE + ">"):
                break
            if character == "&":
                text, position = self._character(position)
                value.append(text)
            else:
                value.append(character)
                position += 1
        if position >= size:
            raise self._cannot(f"Unclosed start tag at byte offset {self._byte(begin)}")
        if not quote and not value:
            raise self._cannot(
                f'Expected a value of an attribute of the tag "{tag}" at byte offset {self._byte(position)}'
            )
        return "".join(value), position + 1 if quote else position

    def _end_tag(self, begin: int) -> None:
        if not self.open:
            raise self._cannot(f"Unexpected end tag at byte offset {self._byte(begin)}")
        end = self.source.find(">", begin)
        if end < 0:
            raise self._cannot(f"Unclosed end tag at byte offset {self._byte(begin)}")
        tag = self.source[begin + 2 : end].strip(_SPACE).lower()
        top = self.open[-1]
        if tag and tag != top.tag:
            raise self._cannot(
                f'Unmatched end tag at byte offset {self._byte(begin)}, expected "</{top.tag}>", found "</{tag}>"'
            )
        self.open.pop()
        self.at = end + 1
        self._close(top)

    def _close(self, top: _Open) -> None:
        length = self.length - top.offset
        if length == 0:
            return
        entity = Entity(type=TAGS[top.tag], offset=top.offset, length=length)
        if top.tag == "a":
            linked = link(top.attributes.get("href") or "".join(self.out[top.position :]), entity)
            if linked is None:
                return
            entity = linked
        elif top.tag == "pre":
            inner = next(
                (e for e in self.entities if e.type == "code" and (e.offset, e.length) == (top.offset, length)), None
            )
            if inner is not None:
                self.entities.remove(inner)
                entity = replace(entity, language=inner.language)
        elif top.tag == "code":
            language = top.attributes.get("class", "")
            if language.startswith("language-"):
                entity = replace(entity, language=language.removeprefix("language-"))
        elif top.tag == "blockquote" and "expandable" in top.attributes:
            entity = replace(entity, type="expandable_blockquote")
        elif top.tag == "tg-emoji":
            entity = replace(entity, custom_emoji_id=top.attributes["emoji-id"])
        self.entities.append(entity)


def link(url: str, entity: Entity) -> Entity | None:
    """The entity as a link to `url`, a mention for `tg://user?id=`, or None where the address is no address."""
    mention = re.fullmatch(r"tg://user\?id=([0-9]{1,19})", url)
    if mention:
        return replace(entity, type="text_mention", user_id=int(mention[1]))
    if re.match(r"(https?|tg|tel|mailto|ton|tonsite):", url, re.IGNORECASE):
        return replace(entity, type="text_link", url=url)
    if re.fullmatch(r"[\w-]+(\.[\w-]+)+([/?#:].*)?", url):
        return replace(entity, type="text_link", url=f"http://{url}")
    return None


def ordered(entities: list[Entity]) -> list[Entity]:
    """Outer before inner, from left to right. A `code` inside of text keeps no language: only `pre` has one."""
    plain = [replace(e, language=None) if e.type == "code" else e for e in entities]
    return sorted(plain, key=lambda e: (e.offset, -e.length))


def trim(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Leading and trailing white space removed, as Telegram does, entities moved with the text."""
    right = text.rstrip()
    left = right.lstrip()
    skipped, length = units(right) - units(left), units(left)
    kept: list[Entity] = []
    for entity in entities:
        start = min(max(entity.offset - skipped, 0), length)
        end = min(max(entity.offset + entity.length - skipped, 0), length)
        if end > start:
            kept.append(replace(entity, offset=start, length=end - start))
    return left, kept


_WRITTEN: dict[str, tuple[str, str]] = {
    "bold": ("<b>", "</b>"),
    "italic": ("<i>", "</i>"),
    "underline": ("<u>", "</u>"),
    "strikethrough": ("<s>", "</s>"),
    "spoiler": ("<tg-spoiler>", "</tg-spoiler>"),
    "code": ("<code>", "</code>"),
    "blockquote": ("<blockquote>", "</blockquote>"),
    "expandable_blockquote": ("<blockquote expandable>", "</blockquote>"),
}


def to_html(text: str, entities: list[Entity]) -> str:
    """Text and entities as Telegram's HTML; detected links, mentions and commands stay plain text."""
    raw = text.encode("utf-16-le", "surrogatepass")

    def piece(start: int, end: int) -> str:
        return html.escape(raw[2 * start : 2 * end].decode("utf-16-le", "surrogatepass"), quote=False)

    def written(entity: Entity) -> tuple[str, str] | None:
        if entity.type == "text_link":
            return f'<a href="{html.escape(entity.url or "")}">', "</a>"
        if entity.type == "text_mention":
            return f'<a href="tg://user?id={entity.user_id}">', "</a>"
        if entity.type == "pre" and entity.language:
            return f'<pre><code class="language-{html.escape(entity.language)}">', "</code></pre>"
        if entity.type == "pre":
            return "<pre>", "</pre>"
        if entity.type == "custom_emoji":
            return f'<tg-emoji emoji-id="{entity.custom_emoji_id}">', "</tg-emoji>"
        return _WRITTEN.get(entity.type)

    def span(start: int, end: int, inside: list[Entity]) -> str:
        parts: list[str] = []
        at = start
        while inside:
            entity, inside = inside[0], inside[1:]
            stop = entity.offset + entity.length
            inner = [e for e in inside if e.offset < stop]
            inside = [e for e in inside if e.offset >= stop]
            tags = written(entity) or ("", "")
            parts += [piece(at, entity.offset), tags[0], span(entity.offset, stop, inner), tags[1]]
            at = stop
        parts.append(piece(at, end))
        return "".join(parts)

    return span(0, len(raw) // 2, ordered(entities))


_LINKS = re.compile(
    r"(?P<email>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<url>(?<![\w@.])(?:https?://[^\s<>\"]+|(?:[\w-]+\.)+(?:com|org|net|ru|io|dev|me)(?:/[^\s<>\"]*)?(?![\w@])))"
    r"|(?P<bot_command>(?<![\w/@<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/]))"
    r"|(?P<mention>(?<![\w@])@[A-Za-z][A-Za-z0-9_]{3,31}(?!\w))"
    r"|(?P<hashtag>(?<![\w#])#\w*[^\W\d]\w*)"
)


def detect(text: str, entities: list[Entity]) -> list[Entity]:
    """`entities` with the links, e-mail addresses, commands, mentions and hashtags that Telegram finds by itself."""
    taken = [
        (e.offset, e.offset + e.length) for e in entities if e.type in {"code", "pre", "text_link", "text_mention"}
    ]
    found = list(entities)
    for match in _LINKS.finditer(text):
        kind = match.lastgroup or "url"
        value = match[0].rstrip(".,;:!?)'") if kind == "url" else match[0]
        offset, length = units(text[: match.start()]), units(value)
        if not any(start < offset + length and offset < end for start, end in taken):
            found.append(Entity(type=kind, offset=offset, length=length))
    return ordered(found)
