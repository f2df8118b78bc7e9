"""Names that are like what somebody wrote: with endings, with typing errors, from the first letters. No I/O."""

import re
from collections.abc import Mapping

from rapidfuzz import fuzz

SURE = 82.0
"""How alike a word and a name must be (0 to 100) to be taken without asking."""

LIKELY = 60.0

AHEAD = 3.0
"""By how much the best must lead to be taken without asking."""


def alike(words: str, names: Mapping[int, str]) -> list[tuple[int, float]]:
    """Ids whose names are most like the words, best first, with how alike they are (0 to 100)."""
    tokens = [token for token in re.findall(r"\w+", words.lower()) if len(token) > 2]
    scored = [(number, _likeness(tokens, name)) for number, name in names.items()]
    return sorted([pair for pair in scored if pair[1] >= LIKELY], key=lambda pair: -pair[1])


def the_one(found: list[tuple[int, float]]) -> int | None:
    """The best where it is sure and leads clearly; None where one has to ask."""
    if not found or found[0][1] < SURE:
        return None
    return found[0][0] if len(found) == 1 or found[0][1] - found[1][1] >= AHEAD else None


def named(hint: str, names: Mapping[int, str]) -> int | None:
    """Whose name this is: written whole, or begun, or with another ending; None where nobody's, or that of several."""
    plain = _plain(hint)
    if not plain:
        return None
    whole = [number for number, name in names.items() if _plain(name) == plain]
    begun = [number for number, name in names.items() if _begins(name, plain)]
    for fits in (whole, begun):
        if fits:
            return fits[0] if len(fits) == 1 else None
    return the_one(alike(hint.replace("_", " "), names))


def _begins(name: str, plain: str) -> bool:
    if _plain(name).startswith(plain):
        return True
    stem = _stem(plain)
    return any(_plain(part).startswith(plain) or _stem(_plain(part)) == stem for part in _parts(name))


def _stem(word: str) -> str:
    """A Russian word without its ending: «кассы» and «кассу» are «касса»."""
    return re.sub(r"(?<=[а-я]{3})(?:[аяыиуюеоьй]|ой|ом|ов|ам)$", "", word)


def search(text: str, names: Mapping[int, str]) -> list[int]:
    """Ids of names that a typed word finds, the best first: the whole name, its beginning, a part of it, its like."""
    plain = _plain(text)
    if not plain:
        return []
    ranks = {number: _rank(plain, name) for number, name in names.items()}
    found = sorted((number for number, rank in ranks.items() if rank), key=lambda number: -ranks[number])
    return found + [number for number, _ in alike(text, names) if not ranks[number]]


def _rank(plain: str, name: str) -> int:
    whole = _plain(name)
    if whole == plain:
        return 4
    if whole.startswith(plain):
        return 3
    if any(_plain(part).startswith(plain) for part in _parts(name)):
        return 2
    return 1 if len(plain) > 2 and plain in whole else 0


def _parts(name: str) -> list[str]:
    return re.findall(r"\w+", name)


def _plain(text: str) -> str:
    """Letters and digits only, «ё» as «е»."""
    return re.sub(r"[\W_]+", "", text.casefold()).replace("ё", "е")


def _likeness(tokens: list[str], name: str) -> float:
    parts = [part for part in re.findall(r"\w+", name.lower()) if len(part) > 2]
    best = 0.0
    for part in parts:
        for token in tokens:
            score = fuzz.ratio(token, part)
            # An inflected word keeps its stem: «материалов» is «материалы».
            if min(len(token), len(part)) >= 4 and token[:4] == part[:4]:
                score = max(score, fuzz.partial_ratio(token, part) * 0.95)
            # A name of one word that is hit says more than one word of a long name.
            best = max(best, score - 2.0 * (len(parts) - 1))
    return best
