"""Reads simple templates with regular expressions: names, numbers, texts, operators between them, filters, and the
blocks `for` and `if` around them.

`{{ steps.rates | length > 2 }} rates` ─► the names that it takes from outside, and where they stand

Whatever is not surely right is left to Jinja's parser, which says what is wrong with it. A large folder is checked
three times as fast for it. The quantifiers are possessive, so that no text takes long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from automations.language import FILTER_NAMES, TAKES_NAMES, TESTS

NAME = r"[A-Za-z][A-Za-z0-9_]*+"
PATH = rf"{NAME}(?:\.{NAME})*+"
NUMBER = r"[0-9]{1,15}+(?:\.[0-9]{1,15}+)?+(?![0-9A-Za-z_.])"
TEXT = r"'[^'\\{}]*+'|\"[^\"\\{}]*+\""
OPERAND = rf"(?:(?!(?:and|or)\b){PATH}|{NUMBER}|{TEXT})"
FILTER = rf"\s*+\|\s*+{NAME}(?:\(\s*+(?:{OPERAND}\s*+(?:,\s*+{OPERAND}\s*+)*+)?+\))?+"
TERM = rf"{OPERAND}(?:{FILTER})*+"
OPERATOR = r"(?:==|!=|>=|<=|>|<|~|\+|-(?!\})|\*|/|(?:and|or)\b)"
EXPRESSION = rf"\s*+{TERM}(?:\s*+{OPERATOR}\s*+{TERM})*+\s*+"
OUTPUT = re.compile(rf"\{{\{{{EXPRESSION}\}}\}}", re.ASCII)
FOR = re.compile(rf"\{{%\s++for\s++({NAME})\s++in\s++({TERM})\s*+%\}}", re.ASCII)
IF = re.compile(rf"\{{%\s++if\s++{EXPRESSION}%\}}", re.ASCII)
END = re.compile(r"\{%\s++(else|endfor|endif)\s*+%\}")
TOKEN = re.compile(rf"(?P<text>{TEXT})|(?P<filter>\|\s*+{NAME})|(?P<path>{PATH})|[0-9.]++", re.ASCII)
NAMED = re.compile(rf"\|\s*+{NAME}\(\s*+({TEXT})\s*+(?:,\s*+({TEXT})\s*+)?+[,)]", re.ASCII)
"""A filter that takes the name of a filter or a test, with its first texts."""

LONGEST = 500
"""Characters of an expression; of a longer one the parser says whether it is nested too deeply."""
DEEPEST = 10
"""Blocks within one another."""

VALUES = frozenset({"true", "false", "none", "True", "False", "None"})
BETWEEN = frozenset({"and", "or"})
RESERVED = frozenset({"not", "in", "is", "if", "else", "range"})


class _NotSimple(Exception):
    """Left to the parser."""


@dataclass(frozen=True, slots=True)
class Simple:
    """The names that a text takes from outside, each with where it stands; `alone`: it is one expression."""

    names: tuple[tuple[tuple[str, ...], int], ...]
    alone: bool


def _is_known(text: str, at: int, name: str) -> bool:
    """Whether there is such a filter, and the filter or test that it is given by name."""
    if name not in TAKES_NAMES:
        return name in FILTER_NAMES
    place, kind = TAKES_NAMES[name]
    given = NAMED.match(text, at)
    if given is None:
        return False
    word = given[place + 1]
    return word is None or word[1:-1] in (FILTER_NAMES if kind == "filter" else TESTS)


def _names(text: str, start: int, end: int) -> Iterator[tuple[tuple[str, ...], int]]:
    """The names of an expression."""
    for token in TOKEN.finditer(text, start, end):
        name = token[0]
        if token["filter"]:
            if not _is_known(text, token.start(), name[1:].lstrip()):
                raise _NotSimple
        elif token["path"] and name not in VALUES and name not in BETWEEN:
            path = tuple(name.split("."))
            if path[0] in RESERVED or path[0] in VALUES:
                raise _NotSimple
            yield path, token.start()


class _Scan:
    """Goes once through a text, with the names that the loops around a place have bound."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[tuple[str, frozenset[str]]] = []
        self._bound: frozenset[str] = frozenset()
        self.found: list[tuple[tuple[str, ...], int]] = []

    def all(self) -> None:
        at = self._text.find("{")
        while at >= 0:
            mark = self._text[at : at + 2]
            if mark == "{{":
                end = self._output(at)
            elif mark == "{%":
                end = self._block(at)
            else:
                end = at + 1
            at = self._text.find("{", end)
        if self._open:
            raise _NotSimple

    def _take(self, start: int, end: int) -> None:
        self.found.extend(name for name in _names(self._text, start, end) if name[0][0] not in self._bound)

    def _output(self, at: int) -> int:
        found = OUTPUT.match(self._text, at)
        if found is None or found.end() - at > LONGEST:
            raise _NotSimple
        self._take(at + 2, found.end())
        return found.end()

    def _block(self, at: int) -> int:
        loop = FOR.match(self._text, at)
        if loop is not None:
            if loop[1] in RESERVED | VALUES | BETWEEN:
                raise _NotSimple
            self._take(*loop.span(2))
            self._enter("endfor", frozenset({loop[1], "loop"}))
            return loop.end()
        condition = IF.match(self._text, at)
        if condition is not None:
            self._take(self._text.index("if", at) + 2, condition.end())
            self._enter("endif", frozenset())
            return condition.end()
        end = END.match(self._text, at)
        if end is None or not self._open or (end[1] == "else" and self._open[-1][0] != "endif"):
            raise _NotSimple
        if end[1] == "else":
            # What follows an `else` cannot be another one.
            self._open[-1] = ("endif ", self._open[-1][1])
        elif self._open[-1][0].strip() == end[1]:
            self._bound = self._open.pop()[1]
        else:
            raise _NotSimple
        return end.end()

    def _enter(self, end: str, names: frozenset[str]) -> None:
        if len(self._open) == DEEPEST:
            raise _NotSimple
        self._open.append((end, self._bound))
        self._bound |= names


def simple(text: str) -> Simple | None:
    """What a text takes from outside; None where that takes a parser."""
    if "{#" in text or "__" in text:
        return None
    scan = _Scan(text)
    try:
        scan.all()
    except _NotSimple:
        return None
    whole = OUTPUT.fullmatch(text.strip())
    return Simple(tuple(scan.found), whole is not None)
