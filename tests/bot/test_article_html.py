"""Articles as Telegram's HTML: whatever the workspace stores, each page is one that Telegram takes; and the search."""

import re
import sys
from datetime import UTC
from html import escape
from importlib.resources import files
from types import FrameType
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.dialogues.article_html import PAGE, block_html, pages, plain, to_telegram
from bot.dialogues.wiki import rank
from bot.sandbox.html_text import parse, units
from bot.texts import LIMIT, Texts
from workspace_api.contract.wiki import Article, ContentBlock


def block(content: str, kind: str = "text", index: int | None = 0) -> ContentBlock:
    return ContentBlock(type=kind, content=content, sequence_index=index)


def article(number: int, title: str, *texts: str, draft: bool = False) -> Article:
    blocks = [block(text, index=place) for place, text in enumerate(texts)]
    return Article(id=number, title=title, content_blocks=blocks, is_draft=draft)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("<p>One.</p><p>Two.</p>", "One.\n\nTwo."),
        ("<p>One.</p>Two.", "One.\n\nTwo."),
        ("<div>\n  <p>Hello\n  there</p>\n</div>", "Hello there"),
        ("<h2>Title</h2><p>Text</p>", "<b>Title</b>\n\nText"),
        ("<h2><b>Title</b></h2>", "<b>Title</b>"),
        ("<ul><li>a</li><li>b</li></ul><p>c</p>", "• a\n• b\n\nc"),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "• a\n• b"),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n   • b\n2. c"),
        ("<table><tr>\n<th>a</th>\n<th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"),
        ("a<br>b<br/><br><br>c", "a\nb\n\nc"),
        ("<strong>a</strong> <em>b</em> <strike>c</strike> <ins>d</ins>", "<b>a</b> <i>b</i> <s>c</s> <u>d</u>"),
        ("two   words <b> three </b>four", "two words <b>three</b> four"),
        ("<pre>  kept\n    so</pre>after", "<pre>  kept\n    so</pre>\nafter"),
        ('<a href="https://example.com/?a=1&b=2">x</a>', '<a href="https://example.com/?a=1&amp;b=2">x</a>'),
        ("&lt;b&gt; &amp;amp; &nbsp;&copy; &#128640;", "&lt;b&gt; &amp;amp; \u00a0© 🚀"),
        ("5 < 6 & 7 > 4", "5 &lt; 6 &amp; 7 &gt; 4"),
        ("", ""),
    ],
)
def test_known_markup(source: str, shown: str) -> None:
    """What Telegram knows is kept, the rest becomes text with its line breaks."""
    assert to_telegram(source) == shown
    parse(shown)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("<script>alert(1)</script>a", "a"),
        ("<style>p { color: red }</style>a", "a"),
        ("<SCRIPT SRC=x>alert(1)</SCRIPT >a", "a"),
        ("<scr<script>ipt>alert(1)</script>a", "ipt&gt;alert(1)a"),
        ("<iframe src=x>b</iframe>a", "a"),
        ('<img src=x onerror="alert(1)">a', "a"),
        ('<b onclick="x">a</b>', "<b>a</b>"),
        ('<a href="javascript:alert(1)">a</a>', "a"),
        ('<a href=" javascript:alert(1)">a</a>', "a"),
        ('<a href="tg://user?id=1">a</a>', "a"),
        ('<a href="https://x.example/&quot;&gt;<b>">a</a>', '<a href="https://x.example/&quot;&gt;&lt;b&gt;">a</a>'),
        ('<a href="https://a.example">b <a href="https://c.example">d</a></a>', '<a href="https://a.example">b d</a>'),
        ("<b><i>a</b></i>b", "<b><i>a</i></b>b"),
        ("<b>a", "<b>a</b>"),
        ("a</b></i></ul></ol>", "a"),
        ("<b><b><b>a</b></b></b>", "<b>a</b>"),
        ("<tg-spoiler>a</tg-spoiler><blink>b</blink>", "ab"),
        ("<![endif[ a", "&lt;![endif[ a"),
        ("<!DOCTYPE html><!-- a --><?php b ?>c", "c"),
        ("<b", "&lt;b"),
        ("a &bogus; &#xD800; &", "a &amp;bogus; \ufffd &amp;"),
    ],
)
def test_hostile_markup(source: str, shown: str) -> None:
    """Scripts are gone, addresses are http or text, broken nesting is mended."""
    assert to_telegram(source) == shown
    parse(shown)


def test_a_link_too_long_for_a_page_is_text() -> None:
    """An address of ten thousand characters would leave no page its words."""
    assert to_telegram(f'<a href="https://example.com/{"x" * 10_000}">here</a>') == "here"


def test_blocks_by_their_type() -> None:
    """Headings, code and quotes hold plain text; an unknown type is read as text."""
    assert block_html(block("A & <i>B</i>", "heading")) == "<b>A &amp; B</b>"
    assert block_html(block("if a < b:\n    c", "code")) == "<pre>if a &lt; b:\n    c</pre>"
    assert block_html(block("said", "quote")) == "<blockquote>said</blockquote>"
    assert block_html(block("<p>x</p>", "hologram")) == "x"
    assert block_html(ContentBlock(type="text")) == ""


def test_blocks_in_their_order() -> None:
    """By `sequence_index`; those without one come last, empty ones make no gap."""
    found = pages([block("c", index=None), block("b", index=2), block("", index=1), block("a", index=0)])
    assert found == ["a\n\nb\n\nc"]


@pytest.mark.parametrize("blocks", [[], [block("")], [block("<script>x</script>")], [block("", "code")]])
def test_an_empty_article_has_one_empty_page(blocks: list[ContentBlock]) -> None:
    """There is always a page to show the title on."""
    assert pages(blocks) == [""]


def test_pages_end_between_paragraphs() -> None:
    """Where paragraphs are short, none is cut."""
    found = pages([block("".join(f"<p>Paragraph {n}.</p>" for n in range(100)))], 200)
    assert len(found) > 5
    assert "\n\n".join(found) == "\n\n".join(f"Paragraph {n}." for n in range(100))


def test_markup_goes_on_over_the_page() -> None:
    """What is bold, a link or code at a cut is so on the next page too, and nothing of the text is lost."""
    words = " ".join(f"word{n}" for n in range(400))
    for source in (f"<b>{words}</b>", f'<a href="https://example.com">{words}</a>', f"<i><p>{words}</p></i>"):
        found = pages([block(source)], 500)
        assert len(found) > 4
        assert all(parse(page)[1] for page in found)
        assert " ".join(parse(page)[0] for page in found) == words
    code = "\n".join(f"    line {n}" for n in range(200))
    listing = pages([block(code, "code")], 500)
    assert len(listing) > 4
    assert "\n".join(parse(page)[0] for page in listing).split("\n")[7] == "    line 7"
    assert all(page.startswith("<pre>    line") and page.endswith("</pre>") for page in listing)


HUNDRED_KILOBYTES: list[tuple[str, str]] = [
    ("x" * 100_000, ""),
    ("слово " * 20_000, ""),
    ("🚀" * 50_000, ""),
    ("&amp;" * 20_000, ""),
    ("<b>" * 20_000, "x"),
    ("<p>" * 20_000, "x"),
    ("abc<i>" * 16_000, "abc"),
    ("<ul><li>" * 2_000, "x"),
    ("<b>x</b>" * 10_000, ""),
    ("</" * 50_000, ""),
    ("<!--" * 25_000, ""),
    ("<a href=" * 13_000, ""),
    ("&" * 100_000, ""),
]


@pytest.mark.parametrize(("repeated", "end"), HUNDRED_KILOBYTES, ids=range(13))
def test_a_hundred_kilobytes(repeated: str, end: str) -> None:
    """Any paragraph is cut into pages that Telegram takes."""
    for page in pages([block(repeated + end)]):
        assert units(page) <= PAGE
        parse(page)


def lines_run(source: str) -> int:
    """How many lines of Python the pages of a source take: work, counted without a clock."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        pages([block(source)])
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(("repeated", "end"), HUNDRED_KILOBYTES, ids=range(13))
def test_twice_the_source_is_twice_the_work(repeated: str, end: str) -> None:
    """Nothing is read again and again: the work grows with the length, not with its square."""
    tenth = repeated[: len(repeated) // 10 // 16 * 16]
    assert lines_run(tenth * 2 + end) < 2.5 * lines_run(tenth + end) + 1000


PIECES = st.sampled_from(
    ["<b>", "</b>", "<i>", "</i>", "<p>", "</p>", "<pre>", "</pre>", "<ul>", "</ul>", "<li>", "<h1>", "</h1>", "<td>",
     "<script>", "</script>", "<a href='https://example.com/a'>", "<a href='javascript:x'>", "</a>", "<br>", "<", "&",
     "&lt;", "&amp;amp", "<!--", "-->", "<![x[", "]]>", " ", "\n", "🚀", "слово", "word ", "<x y='>'>", "\u00a0"]
)  # fmt: skip

HOSTILE = st.lists(PIECES | st.text(max_size=20), max_size=60).map("".join)


@settings(max_examples=300, deadline=None)
@given(source=HOSTILE, limit=st.integers(min_value=300, max_value=600))
def test_any_html_makes_good_pages(source: str, limit: int) -> None:
    """Every page keeps to the limit and passes the strict parser, and together they hold the whole text."""
    found = pages([block(source)], limit)
    said = "".join(parse(page)[0] for page in found)
    assert all(units(page) <= limit for page in found)
    assert re.sub(r"\s", "", said) == re.sub(r"\s", "", parse(to_telegram(source))[0])


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=200))
def test_escaped_text_comes_back(text: str) -> None:
    """Plain text that was written as HTML is read as it was, white space aside."""
    visible = "".join(character for character in text if character not in "\0\r" and character.isprintable())
    assert plain(f"<p>{escape(visible)}</p>").split() == visible.split()


def test_plain_leaves_scripts_out_and_words_apart() -> None:
    """What is searched and shortened holds words only, those of two paragraphs not run together."""
    assert plain("<p>One</p><p>two</p><script>x()</script><ul><li>thr<b>ee</b></li></ul>") == "One two • three"


def test_a_page_fits_into_its_message() -> None:
    """Title, date and page in one message, whatever the page holds."""
    for page in pages([block("<b>слово & слово</b> " * 2_000)]):
        text = Texts("ru", UTC).render("article.html", title="Т" * 120, content=page, place="стр. 1 из 9", day="1 мая")
        assert units(text) <= LIMIT
        assert "…" not in text
        parse(text)


LIBRARY = [
    article(1, "Taxi rules", "<p>A taxi is a tool.</p>"),
    article(2, "Business trips", "<p>Take a taxi from the station. A taxi, a taxi!</p>"),
    article(3, "Leave", "<p>Holidays and leave.</p>"),
    article(4, "Taxi: a draft", "<p>taxi</p>", draft=True),
    article(5, "Отпуск", "<p>Заявление на отпуск подают за две недели.</p>"),
    article(6, "Командировочные расходы", "<p>Билеты, гостиница.</p>"),
]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("taxi", [1, 2]),
        ("TAXI", [1, 2]),
        ("taksi", []),
        ("taxy rules", [1]),
        ("busines trip", [2]),
        ("rulles", [1]),
        ("leave", [3]),
        ("отпуск", [5]),
        ("отпуска", [5]),
        ("командировка", [6]),
        ("station", [2]),
        ("zzzz", []),
        ("", []),
        ("?", []),
    ],
)
def test_rank(words: str, found: list[int]) -> None:
    """The title before the text, small errors and endings forgiven, drafts and what says nothing of it left out."""
    assert [one.id for one in rank(words, LIBRARY)] == found


@pytest.mark.parametrize(("language", "first"), [("en", "Travel expenses"), ("ru", "Командировочные расходы")])
def test_the_example_finds_an_article(language: str, first: str) -> None:
    """What /help gives as an example finds something in the sample company, where newcomers try it."""
    written = yaml.safe_load((files("workspace_api.server.sample") / "wiki.yaml").read_text("utf-8"))
    sample = [
        article(one["id"], one["title"][language], *(b["content"][language] for b in one["content_blocks"]))
        for one in written["articles"]
    ]
    example = Texts(language, UTC).t("travel expenses")
    assert f"/wiki {example}" in Texts(language, UTC).render("help.html", name="Anna")
    assert rank(example, sample)[0].title == first


def test_rank_reads_what_is_shown_only() -> None:
    """Words in tags and scripts are not found, and an article without a title or blocks does no harm."""
    odd = [article(1, "A", "<p class='taxi'>x</p><script>taxi()</script>"), Article(id=2), Article(id=3, title="Taxi")]
    assert [one.id for one in rank("taxi", odd)] == [3]
