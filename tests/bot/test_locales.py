"""Every sentence of the bot has its translation, and every translation its sentence.

The sentences are extracted from the sources and templates; the catalogues are those that the bot reads at start.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po

import bot
from bot.dialogues import COMMANDS
from bot.texts import LANGUAGES, LOCALES, catalogues, translations

HERE = Path(bot.__file__).parent

KEYWORDS = {"t": None, "html": None, "n": (1, 2), "sentence": None, "_": None, "gettext": None, "ngettext": (1, 2)}

IN_TABLES = re.compile(r"(\w+\.)?(?P<table>[A-Z][A-Z_]*)(\[.+\]|\.get\(.+\))$|sentence$")
"""What is translated by `t` and is no literal: a row of a table with marks (or, by `.get`, a word of the workspace's
own, which is shown as it is), and what `Turn.t` hands on."""

TOAST = 200
"""Characters of the answer to a tapped button; what is longer is cut."""

PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]")
TAG = re.compile(r"</?[a-z][^>]*>")


def sources() -> list[Path]:
    """The Python files that speak to people; Local Telegram and the migrations do not."""
    return [path for path in sorted(HERE.rglob("*.py")) if not {"sandbox", "migrations"} & set(path.parts)]


def templates() -> list[Path]:
    return sorted((HERE / "templates").glob("*.html"))


def forms(identity: str | Iterable[str] | None) -> tuple[str, ...]:
    """A sentence, or its forms that count, as a tuple."""
    return (identity,) if isinstance(identity, str) else tuple(identity or ())


def speaks(sentence: str) -> bool:
    """Whether it has words of its own beside tags and placeholders."""
    return re.search(r"[^\W\d_ℹ]", PLACEHOLDER.sub("", TAG.sub("", sentence))) is not None


def extracted() -> dict[tuple[str, ...], str]:
    """The sentences, each with the file where it stands first."""
    found: dict[tuple[str, ...], str] = {}
    methods = [("python", path) for path in sources()] + [("jinja2.ext:babel_extract", path) for path in templates()]
    for method, path in methods:
        for _, identity, _, _ in extract_from_file(method, path, keywords=KEYWORDS):
            if speaks(forms(identity)[0]):
                found.setdefault(forms(identity), str(path.relative_to(HERE)))
    return found


def catalogs(language: str) -> list[Catalog]:
    found: list[Catalog] = []
    for path in catalogues(language):
        with path.open("rb") as source:
            found.append(read_po(source, locale=language))
    return found


def translated(language: str) -> dict[tuple[str, ...], Message]:
    return {forms(message.id): message for catalog in catalogs(language) for message in catalog if message.id}


def pairs(language: str) -> Iterator[tuple[str, str]]:
    """Each form of a translation beside the English form it is compared with: the plural one where there are two."""
    for identity, message in translated(language).items():
        for form in forms(message.string):
            yield identity[-1], form


OTHERS = [language for language in LANGUAGES if language != "en"]

every_language = pytest.mark.parametrize("language", OTHERS)


@every_language
def test_every_sentence_is_translated(language: str) -> None:
    """A sentence without a translation would be shown in English in the middle of another language."""
    known = translated(language)
    missing = {identity: where for identity, where in extracted().items() if identity not in known}
    assert not missing


@every_language
def test_no_translation_is_left_over(language: str) -> None:
    """A translation whose sentence is gone only misleads the next translator; commented-out ones too."""
    assert not set(translated(language)) - set(extracted())
    assert not [catalog for catalog in catalogs(language) if catalog.obsolete]


@every_language
def test_each_sentence_is_translated_once(language: str) -> None:
    """Two translations of one sentence in two files would hide one of them."""
    said = [forms(message.id) for catalog in catalogs(language) for message in catalog if message.id]
    assert not {identity for identity in said if said.count(identity) > 1}


@every_language
def test_no_translation_is_empty_fuzzy_or_short_of_a_plural(language: str) -> None:
    """Each sentence has all the forms that its language needs; what is fuzzy is not shown at all."""
    plurals = {catalog.num_plurals for catalog in catalogs(language)}
    assert len(plurals) == 1, "every file states the same plural forms"
    for identity, message in translated(language).items():
        assert not message.fuzzy, identity
        assert all(form.strip() for form in forms(message.string)), identity
        assert len(forms(message.string)) == (min(plurals) if len(identity) > 1 else 1), identity


@every_language
def test_placeholders_and_tags_are_the_same(language: str) -> None:
    """A lost placeholder loses a sum or a name, an invented one is an error when the sentence is said."""
    for english, other in pairs(language):
        assert sorted(PLACEHOLDER.findall(english)) == sorted(PLACEHOLDER.findall(other)), english
        assert TAG.findall(english) == TAG.findall(other), english


@every_language
def test_commands_are_the_same(language: str) -> None:
    """A /command in a sentence is what one types, in every language."""
    for english, other in pairs(language):
        assert sorted(re.findall(r"/[a-z]+", TAG.sub("", english))) == sorted(
            re.findall(r"/[a-z]+", TAG.sub("", other))
        ), english


def test_russian_is_russian() -> None:
    """No translation is a copy of the English: each has Cyrillic letters, and no Latin word but names and commands."""
    for english, russian in pairs("ru"):
        said = PLACEHOLDER.sub("", TAG.sub("", russian))
        assert re.search(r"[а-яё]", said.lower()), english
        assert not set(re.findall(r"(?<!/)\b[a-zA-Z]+", said)) - {"Telegram"}, russian


@every_language
def test_a_sentence_fits_into_a_toast(language: str) -> None:
    """What answers a tapped button is cut at 200 characters; the English sentences and the others stay well below."""
    for english, other in pairs(language):
        assert len(english) <= TOAST - 10, english
        assert len(other) <= TOAST - 10, other


def tables(tree: ast.Module) -> Iterator[tuple[str, ast.Dict]]:
    """The dictionaries of a module that are named in capitals."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id.isupper():
                yield target.id, node.value


def translated_tables() -> set[str]:
    """The tables whose rows are handed to `t`, `n` or `html` somewhere."""
    found: set[str] = set()
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"t", "html"}:
                matched = IN_TABLES.match(ast.unparse(node.args[0])) if node.args else None
                if matched and matched["table"]:
                    found.add(matched["table"])
    return found


def test_tables_hold_marked_sentences_only() -> None:
    """What a table or the menu says has been found by the extractor: no mark was forgotten."""
    known, said = set(extracted()), translated_tables()
    assert not [command.words for command in COMMANDS if (command.words,) not in known]
    for path in sources():
        for name, table in tables(ast.parse(path.read_text())):
            marked = [ast.unparse(value).startswith("sentence(") for value in table.values]
            assert name not in said or all(marked), f"{path.name}: {name}"


def test_nothing_is_said_that_the_extractor_cannot_see() -> None:
    """`t`, `n` and `html` get literals; else a sentence would escape all the other tests here."""
    unseen: list[str] = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in {"t", "n", "html"}
            ):
                for given in node.args[: 2 if node.func.attr == "n" else 1]:
                    written = ast.unparse(given)
                    nested = isinstance(given, ast.Call) and ast.unparse(given.func).endswith(".t")
                    table = IN_TABLES.match(written)
                    if not (isinstance(given, ast.Constant) or nested or table):
                        unseen.append(f"{path.name}:{node.lineno}: {written}")
    assert not unseen


def test_templates_say_nothing_outside_of_gettext() -> None:
    """Words in a template that are not in `_()` would stay English."""
    for path in templates():
        bare = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", "", path.read_text(), flags=re.DOTALL)
        said = re.findall(r"[^\W\d_]+", re.sub(r"/[a-z]+", "", TAG.sub("", bare)))
        assert not set(said) - {"Telegram"}, path.name


@every_language
def test_the_bot_reads_the_catalogue(language: str) -> None:
    """What stands in the .po file is what is said, each plural form in its place."""
    assert translations(language).gettext("Save") == forms(translated(language)[("Save",)].string)[0]
    assert language in LOCALES


@pytest.mark.parametrize(
    ("count", "words"),
    [(1, "1 статья"), (2, "2 статьи"), (5, "5 статей"), (11, "11 статей"), (21, "21 статья"), (112, "112 статей")],
)
def test_russian_counts(count: int, words: str) -> None:
    """The three Russian forms."""
    said = translations("ru").ngettext("%(count)d article", "%(count)d articles", count)
    assert said % {"count": count} == words


def test_english_needs_no_catalogue() -> None:
    """English is the language of the sources."""
    assert translations("en").gettext("Save") == "Save"
    assert translations("en").ngettext("%(count)d article", "%(count)d articles", 1) == "%(count)d article"
