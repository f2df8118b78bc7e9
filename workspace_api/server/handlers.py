"""Which function serves which operation: every module's table, joined. What stands in none answers 501."""

from collections.abc import Mapping
from types import MappingProxyType

from workspace_api.server import company, finance, finplan, fintransaction, orgschema, tasks, user, wiki
from workspace_api.server.tx import Handler

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **orgschema.HANDLERS,
        **finplan.HANDLERS,
        **finance.HANDLERS,
        **fintransaction.HANDLERS,
        **user.HANDLERS,
        **company.HANDLERS,
        **tasks.HANDLERS,
        **wiki.HANDLERS,
    }
)

WRITING_READS = frozenset({"wiki.article.get"})
"""Reads by their effect that nevertheless note something down: a view is counted."""
