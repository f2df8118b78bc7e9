"""The knowledge base through the API: who reads and writes, versions, views, slugs, trees."""

import pytest
from sqlalchemy import select

from tests.server.world import World
from workspace_api.server.schema import article_versions

SAVE = "wiki.article.save"


async def test_spaces_and_articles_are_listed(world: World) -> None:
    """Public ones for everybody, in their order."""
    timothy = world.person("timothy")
    assert [each["slug"] for each in await timothy.call("wiki.space.list")] == ["handbook", "money", "production", "it"]
    everything = await timothy.call("wiki.article.list")
    assert len(everything) == 30
    of_one = await timothy.call("wiki.article.list", space_id=2)
    assert [each["id"] for each in of_one] == [each["id"] for each in everything if each["space_ids"] == [2]]
    assert (await timothy.refused("wiki.article.list", space_id=99)).status == 404


async def test_a_private_space_is_hidden(world: World) -> None:
    """With its articles."""
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql(
            'UPDATE spaces SET is_public = false, access = \'[{"block_id": 4, "nested": true}]\' WHERE id = 2'
        )
    timothy = world.person("timothy")
    assert 2 not in {each["id"] for each in await timothy.call("wiki.space.list")}
    assert await timothy.call("wiki.article.list", space_id=2) == []
    assert (await timothy.refused("wiki.article.get", id=20)).status == 403
    assert (await world.person("lily").call("wiki.article.get", id=20))["space_ids"] == [2]


async def test_each_reading_counts_a_view(world: World) -> None:
    """And each reader is remembered once."""
    vera, boris = world.person("vera"), world.person("boris")
    before = (await vera.call("wiki.article.list"))[0]["view_count"]
    assert (await vera.call("wiki.article.get", id=1))["view_count"] == before + 1
    assert (await vera.call("wiki.article.get", id=1))["view_count"] == before + 2
    seen = await boris.call("wiki.article.get", id=1)
    assert (seen["view_count"], seen["viewed_user_ids"]) == (before + 3, ["boris", "vera"])


async def test_an_article_is_written_and_each_save_is_a_version(world: World) -> None:
    """Published at once; blocks in order with ids; content as it came."""
    victor = world.person("victor")
    html = '<p onclick="x()">Raw &amp; kept</p>'
    made = await victor.call(
        SAVE, space_ids=[1], parent_ids=[1], title=" Как работать? ", last_editor_id="anna", orders=[1],
        appearance={"cover": 1},
        content_blocks=[
            {"type": "text", "content": html, "sequence_index": 2},
            {"type": "heading", "content": "First", "sequence_index": 1, "id": 7},
        ],
    )  # fmt: skip
    assert (made["title"], made["slug"], made["is_draft"]) == ("Как работать?", "как-работать", False)
    assert (made["author_id"], made["last_editor_id"], made["view_count"]) == ("victor", "victor", 0)
    assert [(each["id"], each["content"], each["sequence_index"]) for each in made["content_blocks"]] == [
        (7, "First", 0), (1, html, 1),
    ]  # fmt: skip
    world.passes(hours=1)
    changed = await victor.call(SAVE, id=made["id"], title="How to work", access=[{"block_id": 4}])
    assert (changed["title"], changed["content_blocks"]) == ("How to work", made["content_blocks"])
    assert (changed["creation_date"], changed["modification_date"]) == ("2026-11-21 12:00:00", "2026-11-21 13:00:00")
    assert changed["access"] == [{"block_id": 4}]
    assert (await world.person("boris").refused("wiki.article.get", id=made["id"])).status == 403
    with world.database.read() as connection:
        query = select(article_versions.c.title).where(article_versions.c.article_id == made["id"])
        assert connection.execute(query).scalars().all() == ["Как работать?", "How to work"]


async def test_slugs_are_unique_in_their_space(world: World) -> None:
    """A taken one gets a number; a title of signs alone gets a plain word."""
    victor = world.person("victor")
    slugs = [(await victor.call(SAVE, space_ids=[1], title=title))["slug"] for title in ("Welcome", "welcome!", "!!!")]
    assert slugs == ["welcome-2", "welcome-3", "article"]
    moved = await victor.call(SAVE, id=1, space_ids=[2], parent_ids=[])
    assert (moved["space_ids"], moved["slug"]) == ([2], "welcome")
    named = await victor.call(SAVE, id=1, slug="Start here")
    assert named["slug"] == "start-here"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"title": "x"}, 400),
        ({"space_ids": [1]}, 400),
        ({"space_ids": [1], "title": " "}, 400),
        ({"space_ids": [1], "title": "x" * 501}, 400),
        ({"space_ids": [1, 2], "title": "x"}, 400),
        ({"space_ids": [99], "title": "x"}, 404),
        ({"space_ids": [1], "title": "x", "parent_ids": [20]}, 400),
        ({"space_ids": [1], "title": "x", "parent_ids": [999]}, 404),
        ({"space_ids": [1], "title": "x", "parent_ids": [1, 2]}, 400),
        ({"id": 1, "parent_ids": [2]}, 400),
        ({"id": 999, "title": "x"}, 404),
    ],
)
async def test_an_article_that_cannot_be(world: World, fields: dict[str, object], status: int) -> None:
    """One space, one parent in it, no circle."""
    assert (await world.person("victor").refused(SAVE, **fields)).status == status


async def test_authors_edit_their_own(world: World) -> None:
    """Writing in a space is for its editors."""
    author = world.person("natalie")
    assert (await author.call(SAVE, id=3, title="Leave"))["last_editor_id"] == "natalie"
    assert (await author.refused(SAVE, id=1, title="x")).status == 403
    assert (await author.refused(SAVE, space_ids=[1], title="x")).status == 403
    assert (await author.refused(SAVE, id=3, space_ids=[2], parent_ids=[])).status == 403
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE spaces SET access_edit = '[{\"block_id\": 6}]' WHERE id = 1")
    assert await author.call(SAVE, space_ids=[1], title="x")


async def test_removed_articles_are_gone(world: World) -> None:
    """For lists and for everything by id."""
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE articles SET removal_date = '2026-11-21 00:00:00' WHERE id = 2")
    owner = world.owner()
    assert 2 not in {each["id"] for each in await owner.call("wiki.article.list")}
    assert (await owner.refused("wiki.article.get", id=2)).status == 404
