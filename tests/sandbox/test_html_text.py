"""Telegram's HTML: what it becomes, what is refused, and the way back."""

from __future__ import annotations

import pytest

from bot.sandbox.html_text import detect, parse, to_html, trim, units
from bot.sandbox.model import Entity
from bot.sandbox.refusals import Refused


def spans(source: str) -> list[tuple[str, str]]:
    """Entities as (type, the words they cover)."""
    text, entities = parse(source)
    raw = text.encode("utf-16-le")
    return [(e.type, raw[2 * e.offset : 2 * (e.offset + e.length)].decode("utf-16-le")) for e in entities]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<b>a</b><strong>b</strong>", [("bold", "a"), ("bold", "b")]),
        ("<i>a</i><em>b</em>", [("italic", "a"), ("italic", "b")]),
        ("<u>a</u><ins>b</ins>", [("underline", "a"), ("underline", "b")]),
        ("<s>a</s><strike>b</strike><del>c</del>", [("strikethrough", c) for c in "abc"]),
        ("<tg-spoiler>a</tg-spoiler><span class='tg-spoiler'>b</span>", [("spoiler", "a"), ("spoiler", "b")]),
        ("<code>a &lt; b</code>", [("code", "a < b")]),
        ("<pre>a</pre>", [("pre", "a")]),
        ("<blockquote>a</blockquote><blockquote expandable>b</blockquote>",
         [("blockquote", "a"), ("expandable_blockquote", "b")]),
        ("😀<b>x</b>😀<i>y</i>", [("bold", "x"), ("italic", "y")]),
        ("<b>a<i>b</i></b>", [("bold", "ab"), ("italic", "b")]),
        ("<B>a</B>", [("bold", "a")]),
        ("<b>a</>", [("bold", "a")]),
        ("<b></b>", []),
        ('<a href="nonsense">a</a>', []),
        ('<tg-emoji emoji-id="5">x</tg-emoji>', [("custom_emoji", "x")]),
    ],
)  # fmt: skip
def test_each_tag(source: str, found: list[tuple[str, str]]) -> None:
    """Every tag becomes its entity, counted in UTF-16 code units."""
    assert spans(source) == found


def test_links_languages_and_people() -> None:
    """Addresses, languages and mentioned people stand in their entities."""
    _, entities = parse(
        '<a href="https://e.org/?a=1&amp;b=2">x</a><a href=e.org>y</a><a href="tg://user?id=7">z</a>'
        '<pre><code class="language-python">p</code></pre>'
    )
    assert [e.url for e in entities[:2]] == ["https://e.org/?a=1&b=2", "http://e.org"]
    assert (entities[2].type, entities[2].user_id) == ("text_mention", 7)
    assert (entities[3].type, entities[3].language, len(entities)) == ("pre", "python", 4)


@pytest.mark.parametrize(
    ("source", "text"),
    [("&lt;&gt;&amp;&quot;", '<>&"'), ("&#65;&#x42;", "AB"),
     ("a & b &nbsp; &#0; &#xD800;", "a & b &nbsp; &#0; &#xD800;"),
     ("a > b", "a > b")],
)  # fmt: skip
def test_characters(source: str, text: str) -> None:
    """Four named characters and numbers are decoded; anything else stays as it is."""
    assert parse(source)[0] == text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("<b>a", 'Can\'t find end tag corresponding to start tag "b"'),
        ("a</b>", "Unexpected end tag at byte offset 1"),
        ("я<b>a</i>", 'Unmatched end tag at byte offset 6, expected "</b>", found "</i>"'),
        ("1 < 2", 'Unsupported start tag "" at byte offset 2'),
        ("<div>a</div>", 'Unsupported start tag "div" at byte offset 0'),
        ("<b", "Unclosed start tag at byte offset 0"),
        ("<a ", "Unclosed start tag at byte offset 0"),
        ("<a href", "Unclosed start tag at byte offset 0"),
        ('<a href="x', "Unclosed start tag at byte offset 0"),
        ("<a href=>x</a>", 'Expected a value of an attribute of the tag "a" at byte offset 8'),
        ("<a =x>x</a>", 'Empty attribute name in the tag "a" at byte offset 0'),
        ("<b>a</b", "Unclosed end tag at byte offset 4"),
        ("<span>a</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("<tg-emoji>a</tg-emoji>", 'Tag "tg-emoji" must have attribute "emoji-id" at byte offset 0'),
    ],
)
def test_what_does_not_parse(source: str, words: str) -> None:
    """Broken HTML is refused with 400, in Telegram's words and with byte offsets."""
    with pytest.raises(Refused) as refused:
        parse(source)
    assert (refused.value.status, refused.value.description) == (400, f"Bad Request: can't parse entities: {words}")


def test_white_space_is_trimmed_with_its_entities() -> None:
    """Space around a text goes, and the entities move along or vanish."""
    assert trim(*parse("<i> </i>  <b> a</b>b \n")) == ("ab", [Entity(type="bold", offset=0, length=1)])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/start@a_bot x /a/b", [("bot_command", "/start@a_bot")]),
        ("see https://e.org/x?y=1.", [("url", "https://e.org/x?y=1")]),
        ("mail a.b@e.org or @anna1, not x@y", [("email", "a.b@e.org"), ("mention", "@anna1")]),
        ("#taxi #1 #2026q1", [("hashtag", "#taxi"), ("hashtag", "#2026q1")]),
    ],
)
def test_what_is_found_in_plain_text(text: str, found: list[tuple[str, str]]) -> None:
    """Commands, addresses, mentions and hashtags are found without markup."""
    assert [(e.type, text[e.offset : e.offset + e.length]) for e in detect(text, [])] == found


def test_nothing_is_found_in_code() -> None:
    """Code stays code: no command is found inside."""
    text, entities = parse("<code>/start</code> /help")
    assert [e.type for e in detect(text, entities)] == ["code", "bot_command"]


@pytest.mark.parametrize(
    "source",
    [
        "a <b>b <i>c</i></b> &lt;d&gt; &amp; <u>e</u> <s>f</s> <tg-spoiler>g</tg-spoiler> <code>h</code>",
        '<pre><code class="language-py">x</code></pre> <pre>y</pre> <a href="https://e.org/?a&amp;b">z</a>',
        '<blockquote>a</blockquote> <blockquote expandable>b</blockquote> <a href="tg://user?id=1">c</a>',
        '😀 <tg-emoji emoji-id="5">😀</tg-emoji> <b>😀</b>',
    ],
)
def test_there_and_back(source: str) -> None:
    """Entities written out again are the HTML they came from."""
    assert to_html(*parse(source)) == source


def test_detected_entities_stay_plain() -> None:
    """What was found in plain text is written back as plain text."""
    assert to_html("see /help", detect("see /help", [])) == "see /help"


def test_units() -> None:
    """An emoji outside the basic plane counts twice."""
    assert units("a😀я") == 4
