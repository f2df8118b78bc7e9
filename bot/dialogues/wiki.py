"""/wiki words → ranked articles ──(one)──► the article, page by page ──(Back)──► the list

Ranking: words in the title weigh most, then headings and the text; a word counts with small typing errors too.
"""

import re
from typing import Any

from rapidfuzz import fuzz

from bot.cards import Button, Card, View
from bot.desk import Turn
from bot.dialogue import Command, Dialogue
from bot.dialogues.article_html import pages, plain
from bot.intents import Intent, Settled, Verdict
from bot.texts import sentence, short
from workspace_api.contract.wiki import Article

SHOWN = 8
"""Articles on the list."""


class Wiki(Dialogue):
    """The knowledge base."""

    name = "wiki"
    commands = (Command("wiki", sentence("Find an article: /wiki travel expenses")),)

    async def command(self, turn: Turn, command: str, words: str) -> None:
        card = turn.new_card(self.name, words=words)
        if words:
            await self._list(turn, card)
        else:
            question = turn.texts.html("<b>%(what)s</b>", what=turn.t("What are you looking for? Write a few words."))
            turn.show(card, View(question, ((Button(turn.t("Cancel"), "cancel"),),)), expect="words")

    async def abandoned(self, turn: Turn, card: Card) -> None:
        turn.show(card, View(turn.t("Cancelled; nothing was saved.")))

    async def answered(self, turn: Turn, card: Card, question: str, text: str) -> None:
        await self._list(turn, card.with_state(words=short(text, 200)))

    async def _list(self, turn: Turn, card: Card) -> None:
        words = str(card.state["words"])
        found = rank(words, await turn.api().wiki.article.list())[:SHOWN]
        if not found:
            text = turn.texts.html(turn.t("Nothing about “%(words)s”. Try other words."), words=words)
            turn.show(card, View(text, ((Button(turn.t("Cancel"), "cancel"),),)), expect="words")
            return
        rows = tuple(
            (Button(short(article.title, 60), "open", {"article": article.id, "page": 0}),) for article in found
        )
        count = turn.texts.n("%(count)d article", "%(count)d articles", len(found))
        text = turn.texts.html("📚 <b>%(count)s</b>: %(words)s", count=count, words=words)
        turn.show(_without_article(card), View(text, (*rows, (Button(turn.t("Close"), "cancel"),))))

    async def tapped(self, turn: Turn, card: Card, action: str, args: dict[str, Any]) -> None:
        if action == "cancel":
            turn.show(card, View(turn.t("Closed. /wiki finds an article.")))
        elif action == "list":
            await self._list(turn, card)
        elif action == "open":
            await self._open(turn, card.with_state(article=args["article"], page=args["page"]))

    async def _open(self, turn: Turn, card: Card) -> None:
        article = await turn.api().wiki.article.get(id=card.state["article"])
        parts = pages(article.content_blocks or [])
        page = min(int(card.state["page"]), len(parts) - 1)
        place = turn.t("page %(number)d of %(count)d", number=page + 1, count=len(parts)) if len(parts) > 1 else ""
        text = turn.texts.render(
            "article.html",
            title=article.title or "",
            content=parts[page],
            place=place,
            day=turn.texts.day(article.modification_date or article.creation_date),
        )
        turning: list[Button] = []
        if page:
            turning.append(
                Button(turn.t("‹ Page %(number)d", number=page), "open", {"article": article.id, "page": page - 1})
            )
        if page + 1 < len(parts):
            turning.append(
                Button(turn.t("Page %(number)d ›", number=page + 2), "open", {"article": article.id, "page": page + 1})
            )
        back = (Button(turn.t("‹ Back to the list"), "list"),)
        turn.show(card, View(text, (tuple(turning), back)))

    async def refresh(self, turn: Turn, card: Card) -> None:
        if "article" in card.state:
            await self._open(turn, card)
        elif card.state.get("words"):
            await self._list(turn, card)

    async def settled(self, turn: Turn, card: Card, intent: Intent, settled: Settled) -> None:
        """Reading makes no intent."""

    async def read_back(self, turn: Turn, intent: Intent) -> Verdict:
        """Reading makes no intent."""
        return Verdict(False)


def _without_article(card: Card) -> Card:
    return Card(
        card.telegram_id,
        card.chat_id,
        card.dialogue,
        {"words": card.state["words"]},
        None,
        False,
        card.id,
        card.version,
        card.message_id,
    )


def rank(words: str, articles: list[Article]) -> list[Article]:
    """The articles about the words, best first; those that say nothing of them left out.

    A word that stands in most articles says little: where others are rarer, it does not count.
    """
    wanted = [word for word in re.findall(r"\w+", words.lower()) if len(word) > 1]
    texts = [_Text(article) for article in articles if not article.is_draft]
    common = {word for word in wanted if sum(text.times(word) > 0 for text in texts) * 2 > len(texts)}
    counted = [word for word in wanted if word not in common] or wanted
    scored = [(text.score(counted), text.article) for text in texts]
    found = [(score, article) for score, article in scored if score > 0]
    return [article for _, article in sorted(found, key=lambda pair: (-pair[0], pair[1].id or 0))]


class _Text:
    """An article as words."""

    def __init__(self, article: Article) -> None:
        self.article = article
        self._title = re.findall(r"\w+", (article.title or "").lower())
        blocks = " ".join(plain(block.content or "") for block in article.content_blocks or [])
        self._body = re.findall(r"\w+", blocks.lower())

    def times(self, word: str) -> int:
        """How often a word, or another form of it, stands in the article."""
        stem = word[: max(4, len(word) - 2)]
        return sum(1 for other in self._body if other == word or (len(word) > 3 and other.startswith(stem)))

    def score(self, wanted: list[str]) -> float:
        """More for the title than for the text; a word that is missing costs."""
        score = 0.0
        for word in wanted:
            in_title = max((_alike(word, other) for other in self._title), default=0.0)
            here = 10.0 * in_title + min(self.times(word), 5)
            score += here if here else -2.0
        return score


def _alike(word: str, other: str) -> float:
    if word == other:
        return 1.0
    if len(word) > 3 and other.startswith(word[: max(4, len(word) - 2)]):
        return 0.8
    return 0.6 if len(word) > 3 and fuzz.ratio(word, other) >= 80 else 0.0
