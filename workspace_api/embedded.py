"""A client on the embedded workspace in this very process: for tests and scripts, with no port and no set-up.

    from workspace_api.embedded import open_workspace

    with open_workspace(sample="en") as api:
        api.finplan.request.list()                      # as the owner, who sees all
        api.as_user("anna").finplan.request.list()      # as somebody else

Without `data` everything is gone at the end; with it the workspace lives in that folder. Needs the `server` extra.
"""

import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal, Self, Unpack

from sqlalchemy import func, select

from storage import Database, migrate, open_database
from workspace_api.client.asgi_transport import AsgiTransport, SyncAsgiTransport
from workspace_api.client.workspace import AsyncWorkspace, OptionChanges, Workspace
from workspace_api.server.app import create_app
from workspace_api.server.company_file import load_company
from workspace_api.server.keys import issue_key
from workspace_api.server.opening import MIGRATIONS, VERSION_TABLE, database_address
from workspace_api.server.profile import ProfileName, profile_named
from workspace_api.server.sample import load_sample
from workspace_api.server.schema import users

Language = Literal["en", "ru"]

ADDRESS = "http://embedded"


class EmbeddedWorkspace(Workspace):
    """The client, and keys for other people of the same workspace."""

    database: Database

    def as_user(self, user_id: str) -> Self:
        """The workspace as this person sees it, with a key of their own."""
        other = self.with_options(api_key=issue_key(self.database, user_id))
        other.database = self.database
        return other


class AsyncEmbeddedWorkspace(AsyncWorkspace):
    """The same for an event loop."""

    database: Database

    def as_user(self, user_id: str) -> Self:
        """The workspace as this person sees it, with a key of their own."""
        other = self.with_options(api_key=issue_key(self.database, user_id))
        other.database = self.database
        return other


@contextmanager
def open_workspace(
    *,
    sample: Language | None = None,
    company: Path | None = None,
    data: Path | None = None,
    user_id: str | None = None,
    today: date | None = None,
    profile: ProfileName = "standard",
    **options: Unpack[OptionChanges],
) -> Generator[EmbeddedWorkspace]:
    """A sync client; acts as the owner, or as `user_id`.

    A workspace needs people: give it the `sample` company, a `company` file, or a `data` folder that has some.
    The profile `hosted` deviates as hosted workspaces may, with an HTML 502 now and then: for tests of your own.
    """
    with ExitStack() as stack:
        database, key = _prepared(stack, sample, company, data, user_id, today)
        transport = SyncAsgiTransport(create_app(database, profile=profile_named(profile)))
        stack.callback(transport.close)
        api = EmbeddedWorkspace(ADDRESS, key, transport=transport, **options)
        api.database = database
        yield api


@asynccontextmanager
async def open_async_workspace(
    *,
    sample: Language | None = None,
    company: Path | None = None,
    data: Path | None = None,
    user_id: str | None = None,
    today: date | None = None,
    profile: ProfileName = "standard",
    **options: Unpack[OptionChanges],
) -> AsyncGenerator[AsyncEmbeddedWorkspace]:
    """An async client; see `open_workspace`."""
    with ExitStack() as stack:
        database, key = _prepared(stack, sample, company, data, user_id, today)
        transport = AsgiTransport(create_app(database, profile=profile_named(profile)))
        api = AsyncEmbeddedWorkspace(ADDRESS, key, transport=transport, **options)
        api.database = database
        try:
            yield api
        finally:
            await api.aclose()


def _prepared(
    stack: ExitStack,
    sample: Language | None,
    company: Path | None,
    data: Path | None,
    user_id: str | None,
    today: date | None,
) -> tuple[Database, str]:
    """The opened database with its company, and a key."""
    folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="workspace-")))
    database = stack.enter_context(open_database(database_address(folder)))
    migrate(database, MIGRATIONS, version_table=VERSION_TABLE)
    day = today or datetime.now(UTC).date()
    with database.read() as connection:
        nobody = connection.execute(select(func.count()).select_from(users)).scalar_one() == 0
    if nobody and company is not None:
        load_company(database, [company], sample or "en", day)
    elif nobody and sample is not None:
        load_sample(database, sample, today=day)
    return database, issue_key(database, user_id, owner=user_id is None)
