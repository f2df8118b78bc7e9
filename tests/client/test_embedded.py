"""The embedded workspace in process, through the real client: both clients, both profiles, the way a script uses it."""

import json
from pathlib import Path

import pytest

from workspace_api import Done, KeyRejected, PermissionDenied, WorkspaceError
from workspace_api.contract.task_fields import TaskFilter
from workspace_api.embedded import open_async_workspace, open_workspace
from workspace_api.server.profile import ProfileName

PROFILES: tuple[ProfileName, ...] = ("standard", "hosted")
PERIODS = [f"2026-{month:02d}-01" for month in range(1, 13)] + [f"2027-{month:02d}-01" for month in range(1, 7)]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_script_of_a_manager(profile: ProfileName) -> None:
    """List, approve as Anna, pay as Marina, log an expense, make a task, read an article: on both profiles."""
    with open_workspace(sample="en", profile=profile) as owner:
        anna, marina = owner.as_user("anna"), owner.as_user("marina")
        requests = {r.id: r for r in anna.finplan.request.list(finplans=PERIODS)}
        assert requests[1].can_accept
        assert requests[1].creation_date is not None
        assert requests[1].creation_date.tzinfo is not None
        approved = anna.outcome.finplan.request.review(request_ids=[1], review_type="accept", block_id=10)
        after = {r.id: r for r in anna.finplan.request.list(finplans=PERIODS)}[1]
        assert [entry.author_id for entry in after.history or [] if entry.type == "accept"] == ["anna"]
        assert isinstance(approved, Done) or profile == "hosted"
        accepted = next(r for r in marina.finplan.request.list(finplans=PERIODS) if r.status == "accept" and r.can_paid)
        assert marina.finplan.request.pay(id=accepted.id, request_id=accepted.id, payment_sum=1) is True
        box = next(box for box in anna.finance.transaction.cashbox_list() if box.currency_code == "EUR")
        out = next(c for c in anna.fintransaction.category.list() if c.transaction_type == "out")
        assert box.id is not None
        assert out.id is not None
        saved = anna.fintransaction.transaction.create(
            type="out", sum=450, cashbox_id=box.id, category_id=out.id, data={"source": "script"}
        )
        assert saved.sum == 450
        assert (saved.data == {"source": "script"}) is (profile == "standard")
        task = anna.tasks.task.create(name="Call Boris", responsible_user_ids=["boris"])
        mine = anna.tasks.task.list(filter=TaskFilter(responsible_user_ids=["boris"]))
        assert task.id in {found.id for found in mine}
        assert len(anna.user.profile.list()) == 63
        assert anna.wiki.article.get(id=41).content_blocks


@pytest.mark.parametrize("profile", PROFILES)
async def test_the_async_client_reads_the_same(profile: ProfileName) -> None:
    """Every read of the first half that takes no argument answers on both profiles."""
    async with open_async_workspace(sample="ru", profile=profile) as api:
        assert len(await api.user.profile.list()) == 63
        assert len(await api.company.staff.list()) == 63
        assert len(await api.finplan.request.list(finplans=PERIODS)) == 25
        assert (await api.finplan.settings.list()).manager_blocks == [2, 4]
        assert len(await api.orgschema.block.list()) == 36
        assert (await api.orgschema.orgschema.export()).block
        assert len(await api.wiki.article.list()) == 30
        assert len(await api.finance.currency.list()) == 3


def test_a_revoked_and_a_wrong_key() -> None:
    """A key that is not known is KeyRejected; what a person may not see is PermissionDenied."""
    with open_workspace(sample="en") as owner:
        with pytest.raises(KeyRejected):
            owner.with_options(api_key="wk_unknown").finance.currency.list()
        with pytest.raises(PermissionDenied):
            owner.as_user("boris").finplan.request.review(request_ids=[2], review_type="accept", block_id=10)


def test_a_company_file_of_ones_own(tmp_path: Path) -> None:
    """The smallest company: one person, one block; a folder keeps it."""
    company = {
        "company": {"name": "Small", "timezone": "Europe/Riga"},
        "currencies": [{"id": 1, "code": "EUR", "name": "Euro", "sign": "€"}],
        "blocks": [{"id": 1, "name": "Office", "position": "Director"}],
        "users": [{"user_id": "ann", "user_name": "Ann", "blocks": [1]}],
    }
    (tmp_path / "small.json").write_text(json.dumps(company))
    with open_workspace(company=tmp_path / "small.json", data=tmp_path / "data") as api:
        assert [profile.user_id for profile in api.user.profile.list()] == ["ann"]
    with open_workspace(data=tmp_path / "data", user_id="ann") as again:
        assert [block.name for block in again.orgschema.block.list()] == ["Office"]


def test_a_workspace_without_people_says_what_to_do() -> None:
    """Nobody is there: no key can be made, and the sentence says how to get people."""
    with pytest.raises(Exception, match="load a company"), open_workspace():
        pass


def test_what_is_not_there_yet_is_refused_in_words() -> None:
    """An operation of a later issue is refused as not implemented, not unknown."""
    with open_workspace(sample="en") as api, pytest.raises(WorkspaceError, match="not_implemented"):
        api.store.item.list()
