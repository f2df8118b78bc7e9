"""wiki: spaces, articles (part 2, §4.1). Saving spaces, deleting, versions, questions and courses answer 501 for now.

Each save keeps a version. Content is kept as it comes: it is HTML, and whoever shows it decides what to let through.
"""

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import insert, select, update

from workspace_api.contract.endpoint import NoParams
from workspace_api.contract.wiki import ContentBlock, GetArticle, ListArticles, SaveArticle
from workspace_api.server.errors import InvalidRequest, NotFound, PermissionDenied
from workspace_api.server.rules.access import Viewer, may_edit_article, may_see_article
from workspace_api.server.schema import article_versions, article_views, articles, spaces
from workspace_api.server.tx import Handler, Row, Tx, dumps, loads, models

ACCESS = ("access", "access_edit", "access_comment", "access_rules")
TITLE_LENGTH = 500


def list_spaces(tx: Tx, viewer: Viewer, _params: NoParams) -> list[Row]:
    """The spaces that the viewer may read, in their order; archived ones are for the top of the structure."""
    return [space for space in _spaces(tx).values() if may_see_article(viewer, space, None, tx.structure)]


def _spaces(tx: Tx) -> dict[int, Row]:
    found: dict[int, Row] = {}
    for row in tx.rows(select(spaces).order_by(spaces.c.order, spaces.c.id)):
        space = dict(row)
        for name in ("access", "access_edit", "access_rules"):
            space[name] = loads(row[name])
        found[row["id"]] = space
    return found


def list_articles(tx: Tx, viewer: Viewer, params: ListArticles) -> list[Row]:
    """The articles that the viewer may read, with their content, of one space or of all."""
    by_id = _spaces(tx)
    if params.space_id is not None and params.space_id not in by_id:
        raise NotFound(f"There is no space {params.space_id}.")
    query = select(articles).where(articles.c.removal_date.is_(None)).order_by(articles.c.id)
    if params.space_id is not None:
        query = query.where(articles.c.space_id == params.space_id)
    views = _views(tx)
    found: list[Row] = []
    for row in tx.rows(query):
        article = _record(row, views.get(row["id"], []))
        if may_see_article(viewer, by_id[row["space_id"]], article, tx.structure):
            found.append(article)
    return found


def get(tx: Tx, viewer: Viewer, params: GetArticle) -> Row:
    """One article. Counts a view: one for each person and day."""
    row = _find(tx, params.id)
    space = _spaces(tx)[row["space_id"]]
    if not may_see_article(viewer, space, _record(row, []), tx.structure):
        raise PermissionDenied(f"Article {params.id} is not yours to read.")
    _count_view(tx, viewer, params.id)
    return _record(_find(tx, params.id), _views(tx, params.id).get(params.id, []))


def _count_view(tx: Tx, viewer: Viewer, article_id: int) -> None:
    key = article_views.c.article_id == article_id, article_views.c.user_id == viewer.user_id
    today = tx.now[:10]
    before = tx.row(select(article_views).where(*key))
    if before is None:
        tx.run(insert(article_views).values(article_id=article_id, user_id=viewer.user_id, last_day=today))
    else:
        tx.run(update(article_views).where(*key).values(last_day=today))
    tx.run(update(articles).where(articles.c.id == article_id).values(view_count=articles.c.view_count + 1))


def save(tx: Tx, viewer: Viewer, params: SaveArticle) -> Row:
    """A new article, published at once, or a change of one. `last_editor_id` is the viewer, whatever was sent."""
    article_id = _create(tx, viewer, params) if params.id is None else _change(tx, viewer, params, params.id)
    row = _find(tx, article_id)
    tx.run(
        insert(article_versions).values(
            article_id=article_id,
            title=row["title"],
            content_blocks=row["content_blocks"],
            date=tx.now,
            author_id=viewer.user_id,
        )
    )
    return _record(row, _views(tx, article_id).get(article_id, []))


def _create(tx: Tx, viewer: Viewer, params: SaveArticle) -> int:
    space_id = _single(params.space_ids, "space_ids")
    if space_id is None:
        raise InvalidRequest("An article needs a space: space_ids.")
    _check_space(tx, viewer, space_id)
    if params.title is None:
        raise InvalidRequest("An article needs a title.")
    parent_id = _single(params.parent_ids, "parent_ids")
    _check_parent(tx, None, parent_id, space_id)
    values = _written(params) | {
        "space_id": space_id,
        "parent_id": parent_id,
        "author_id": viewer.user_id,
        "last_editor_id": viewer.user_id,
        "creation_date": tx.now,
        "modification_date": tx.now,
    }
    values["slug"] = _free_slug(tx, params.slug or params.title, space_id, None)
    return tx.insert(articles, values)


def _change(tx: Tx, viewer: Viewer, params: SaveArticle, article_id: int) -> int:
    row = _find(tx, article_id, lock=True)
    if not may_edit_article(viewer, _spaces(tx)[row["space_id"]], _record(row, []), tx.structure):
        raise PermissionDenied(f"Article {article_id} is not yours to edit.")
    values = _written(params) | {"last_editor_id": viewer.user_id, "modification_date": tx.now}
    space_id = _single(params.space_ids, "space_ids") or row["space_id"]
    if space_id != row["space_id"]:
        _check_space(tx, viewer, space_id)
        values["space_id"] = space_id
    parent_id = row["parent_id"] if params.parent_ids is None else _single(params.parent_ids, "parent_ids")
    _check_parent(tx, article_id, parent_id, space_id)
    values["parent_id"] = parent_id
    if params.slug is not None or space_id != row["space_id"]:
        values["slug"] = _free_slug(tx, params.slug or row["slug"], space_id, article_id)
    tx.run(update(articles).where(articles.c.id == article_id).values(**values))
    return article_id


def _written(params: SaveArticle) -> Row:
    values: Row = {}
    if params.title is not None:
        title = params.title.strip()
        if not 1 <= len(title) <= TITLE_LENGTH:
            raise InvalidRequest(f"An article needs a title of 1 to {TITLE_LENGTH} characters.")
        values["title"] = title
    if params.content_blocks is not None:
        values["content_blocks"] = dumps(_numbered(params.content_blocks))
    for name in ACCESS:
        if getattr(params, name) is not None:
            values[name] = dumps(models(getattr(params, name)))
    if params.orders is not None:
        values["orders"] = dumps(params.orders)
    if params.appearance is not None:
        values["appearance"] = dumps(params.appearance)
    return values


def _numbered(blocks: list[ContentBlock]) -> list[Row]:
    """The blocks in the order of their `sequence_index`, each with an id."""
    given = models(blocks)
    order = sorted(range(len(given)), key=lambda place: (given[place].get("sequence_index") or place, place))
    taken = {block["id"] for block in given if block.get("id") is not None}
    free = (number for number in range(1, len(given) + len(taken) + 1) if number not in taken)
    return [
        {**given[place], "id": given[place].get("id") or next(free), "sequence_index": index}
        for index, place in enumerate(order)
    ]


def _single(ids: list[int] | None, name: str) -> int | None:
    if not ids:
        return None
    if len(ids) > 1:
        raise InvalidRequest(f"{name}: one is supported at present, {len(ids)} were sent.")
    return ids[0]


def _check_space(tx: Tx, viewer: Viewer, space_id: int) -> None:
    space = _spaces(tx).get(space_id)
    if space is None:
        raise NotFound(f"There is no space {space_id}.")
    if not may_edit_article(viewer, space, None, tx.structure):
        raise PermissionDenied(f"Space {space_id} is not yours to write in.")


def _check_parent(tx: Tx, article_id: int | None, parent_id: int | None, space_id: int) -> None:
    if parent_id is None:
        return
    parent = _find(tx, parent_id)
    if parent["space_id"] != space_id:
        raise InvalidRequest(f"Article {parent_id} is in another space: a parent stands in the same one.")
    seen: set[int] = set()
    current: Row | None = parent
    while current is not None and current["id"] not in seen:
        if current["id"] == article_id:
            raise InvalidRequest(f"Article {article_id} cannot stand under itself.")
        seen.add(current["id"])
        above = current["parent_id"]
        current = tx.row(select(articles).where(articles.c.id == above)) if above is not None else None


def _free_slug(tx: Tx, text: str, space_id: int, article_id: int | None) -> str:
    """Letters and digits with dashes between, unique in its space."""
    base = re.sub(r"[\W_]+", "-", text.casefold()).strip("-")[:80] or "article"
    query = select(articles.c.slug).where(articles.c.space_id == space_id, articles.c.id != (article_id or 0))
    taken = {row["slug"] for row in tx.rows(query)}
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def _find(tx: Tx, article_id: int, *, lock: bool = False) -> Row:
    row = tx.one(articles, article_id, "article", lock=lock)
    if row["removal_date"] is not None:
        raise NotFound(f"There is no article {article_id}.")
    return row


def _views(tx: Tx, article_id: int | None = None) -> dict[int, list[str]]:
    """Article → who has viewed it."""
    query = select(article_views.c.article_id, article_views.c.user_id).order_by(article_views.c.user_id)
    if article_id is not None:
        query = query.where(article_views.c.article_id == article_id)
    found: dict[int, list[str]] = {}
    for row in tx.rows(query):
        found.setdefault(row["article_id"], []).append(row["user_id"])
    return found


def _record(row: Row, viewed: list[str]) -> dict[str, Any]:
    names = (
        "id", "title", "slug", "is_draft", "author_id", "creation_date", "modification_date", "last_editor_id",
        "view_count",
    )  # fmt: skip
    return {
        **{name: row[name] for name in names},
        "space_ids": [row["space_id"]],
        "parent_ids": [] if row["parent_id"] is None else [row["parent_id"]],
        "content_blocks": loads(row["content_blocks"]),
        **{name: loads(row[name]) for name in (*ACCESS, "orders", "appearance")},
        "viewed_user_ids": viewed,
    }


HANDLERS: Mapping[str, Handler] = {
    "wiki.space.list": list_spaces,
    "wiki.article.list": list_articles,
    "wiki.article.get": get,
    "wiki.article.save": save,
}
