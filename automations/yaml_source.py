"""YAML as data with places: text → Source(data, line and column of every key and value).

Events of PyYAML's parser are put together here and not by its loader, because a loader reads `on` as true, `NO` as
false and `22:30` as 1350, keeps the last of two equal keys and unfolds alias bombs. Here:

- plain `true`/`false` are booleans, `null`, `~` and nothing are null, decimal numbers are numbers; all else is text,
  numbers with a leading zero, dates and `.inf` included;
- aliases, duplicate keys, tags, several documents, too large, too deep and too many nodes are findings.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from automations.errors import Finding, InvalidAutomation, Path, place_of

MAX_BYTES = 256 * 1024
MAX_DEPTH = 24
MAX_NODES = 20_000
MAX_KEY = 200
"""Characters of a key."""
LONGEST_MESSAGE = 1_000

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})\.[0-9]{1,17}([eE][-+]?[0-9]{1,2})?")
CORE_TAGS = {
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:null",
    "tag:yaml.org,2002:map",
    "tag:yaml.org,2002:seq",
    "!",
}

if TYPE_CHECKING:
    from yaml import SafeLoader as EventLoader
else:
    # The C parser gives the same events about ten times faster; PyYAML may be built without it.
    EventLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Place(NamedTuple):
    """Line and column, from 1; `text_line` is where a block text's own first line stands, else the same line."""

    line: int
    column: int
    text_line: int


@dataclass
class Source:
    """One file as data, with the place of each key (`keys`) and each value (`values`)."""

    file: str
    data: Json = None
    keys: dict[Path, Place] = field(default_factory=dict[Path, Place])
    values: dict[Path, Place] = field(default_factory=dict[Path, Place])

    def finding(self, path: Path, message: str, *, at_key: bool = False, line: int = 1) -> Finding:
        """A finding at `path`, or at its nearest parent that stands in the file; `line` counts within a block text."""
        found = path
        while found and found not in self.values:
            found = found[:-1]
        message = _cut(message, LONGEST_MESSAGE)
        places = self.keys if at_key and path in self.keys else self.values
        place = places.get(found, Place(1, 1, 1))
        if line > 1:
            return Finding(self.file, place.text_line + line - 1, 1, place_of(path), message)
        return Finding(self.file, place.line, place.column, place_of(path), message)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"


class _Refused(Exception):
    def __init__(self, mark: Any, path: Path, message: str) -> None:
        self.finding = (mark, path, message)
        super().__init__(message)


HINTS = (
    ("found a tab", "indent with blanks"),
    ("cannot start any token", "put quotes around a text that starts with this character"),
    ("mapping values are not allowed", "put quotes around a text with a colon in it, and a blank behind a key's colon"),
    ("found unexpected end of stream", "close the quotes"),
    ("could not find expected ':'", "put a colon behind the key"),
    ("did not find expected node content", "close the bracket"),
    ("did not find expected ','", "close the bracket, and put commas between its values"),
    ("did not find expected key", "indent the keys of one map alike"),
    ("did not find expected '-'", "indent the items of one list alike"),
    ("escape c", "use single quotes, or two backslashes for one"),
    ("incompatible YAML document", "leave the directive out"),
    ("expected <document start>", "one file holds one automation"),
)
"""What to do about what the parser says."""
CORE = "tag:yaml.org,2002:"


def _told(error: yaml.MarkedYAMLError, text: str) -> str:
    told = " ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark
    if mark is not None and "cannot start any token" in told and text[mark.index : mark.index + 1] == "\t":
        told = told.replace("character that cannot start any token", "a tab")
    hint = next((hint for words, hint in HINTS if words in told), "")
    return f"is no YAML: {told}{f': {hint}' if hint else ''}"


def _tag(tag: str) -> str:
    shown = f"!!{tag.removeprefix(CORE)}" if tag.startswith(CORE) else tag
    return f"the tag {shown} is not used here: leave it out"


def _scalar(event: Any, path: Path) -> Json:
    text: str = event.value
    if event.tag is not None and event.tag not in {"!", "tag:yaml.org,2002:str"}:
        raise _Refused(event.start_mark, path, _tag(event.tag))
    if not event.implicit[0] or event.tag is not None:
        return text
    if text in {"", "~", "null"}:
        return None
    if text in {"true", "false"}:
        return text == "true"
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else text


class _Composer:
    """Puts events together, with limits; recursion is bounded by MAX_DEPTH."""

    def __init__(self, next_event: Callable[[], Any], source: Source, repeated: list[Finding]) -> None:
        self._next = next_event
        self._source = source
        self._nodes = 0
        self._repeated = repeated

    def document(self) -> Json:
        event = self._next()
        while not isinstance(event, (yaml.DocumentStartEvent, yaml.StreamEndEvent)):
            event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return None
        data = self.value(self._next(), ())
        self._next()
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            raise _Refused(event.start_mark, (), "one file holds one automation: put the second document into its own")
        return data

    def value(self, event: Any, path: Path) -> Json:
        self._admit(event, path)
        mark = event.start_mark
        line = mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            self._source.values[path] = Place(line, mark.column + 1, line + (event.style in {"|", ">"}))
            return _scalar(event, path)
        self._source.values[path] = Place(line, mark.column + 1, line)
        if event.tag is not None and event.tag not in CORE_TAGS:
            raise _Refused(mark, path, _tag(event.tag))
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Json] = []
            while not isinstance(event := self._next(), yaml.SequenceEndEvent):
                items.append(self.value(event, (*path, len(items))))
            return items
        return self._mapping(path)

    def _admit(self, event: Any, path: Path) -> None:
        self._nodes += 1
        if isinstance(event, yaml.AliasEvent):
            raise _Refused(event.start_mark, path, f"aliases (*{event.anchor}) are refused: write the value out")
        if self._nodes > MAX_NODES:
            raise _Refused(event.start_mark, path, f"more than {MAX_NODES} values: split the file")
        if len(path) > MAX_DEPTH:
            raise _Refused(event.start_mark, path, f"nested deeper than {MAX_DEPTH} levels")

    def _mapping(self, path: Path) -> Json:
        members: dict[str, Json] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            mark = event.start_mark
            self._admit(event, path)
            if not isinstance(event, yaml.ScalarEvent):
                raise _Refused(mark, path, "a key is a text; put quotes around a value that starts with {{")
            key = event.value
            if len(key) > MAX_KEY:
                raise _Refused(mark, path, f"has a key of more than {MAX_KEY} characters: {key[:40]}…")
            inner = (*path, key)
            if key == "<<":
                raise _Refused(mark, inner, "merge keys are refused: write the values out")
            twice = key in members
            if twice:
                first = self._source.keys[inner].line
                told = f"is given twice (first in line {first})"
                self._repeated.append(Finding(self._source.file, mark.line + 1, mark.column + 1, place_of(inner), told))
            else:
                line = mark.line + 1
                self._source.keys[inner] = Place(line, mark.column + 1, line)
            value = self.value(self._next(), inner)
            members.setdefault(key, value)
        return members


def read_source(text: str | bytes, file: str) -> Source:
    """Parses one file. Raises InvalidAutomation with the first thing that makes it unreadable, or all repeated keys."""
    source = Source(file)
    raw = text.encode() if isinstance(text, str) else text
    if len(raw) > MAX_BYTES:
        raise InvalidAutomation([Finding(file, 1, 1, "", f"is larger than {MAX_BYTES // 1024} KB")])
    try:
        decoded = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidAutomation([Finding(file, line, 1, "", "is not UTF-8: save it as UTF-8")]) from None
    repeated: list[Finding] = []
    try:
        loader = EventLoader(decoded)
        try:
            next_event: Callable[[], Any] = loader.get_event  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - the stubs leave events untyped
            composer = _Composer(next_event, source, repeated)
            source.data = composer.document()
        finally:
            loader.dispose()
    except _Refused as refused:
        mark, path, message = refused.finding
        found = Finding(file, mark.line + 1, mark.column + 1, place_of(path), message)
        raise InvalidAutomation([*repeated, found]) from None
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        line, column = (at.line + 1, at.column + 1) if at else (1, 1)
        raise InvalidAutomation([Finding(file, line, column, "", _told(error, decoded))]) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        line = decoded.count("\n", 0, position) + 1
        column = position - decoded.rfind("\n", 0, position)
        message = "holds a character that YAML does not allow"
        raise InvalidAutomation([Finding(file, line, column, "", message)]) from None
    if repeated:
        raise InvalidAutomation(repeated)
    return source
