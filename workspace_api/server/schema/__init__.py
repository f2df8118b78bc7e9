"""The tables of the embedded workspace, in SQLAlchemy Core; `migrations/` brings a database to them."""

from workspace_api.server.schema.columns import MONEY_LIMIT, metadata
from workspace_api.server.schema.money import (
    cashboxes,
    categories,
    currencies,
    custom_rates,
    finplan_settings,
    request_history,
    requests,
    transactions,
)
from workspace_api.server.schema.people import api_keys, blocks, kept_answers, org_settings, users, versions, workers
from workspace_api.server.schema.work import (
    article_versions,
    article_views,
    articles,
    board_panels,
    boards,
    spaces,
    task_plan_items,
    task_plans,
    tasks,
)

__all__ = [
    "MONEY_LIMIT",
    "api_keys",
    "article_versions",
    "article_views",
    "articles",
    "blocks",
    "board_panels",
    "boards",
    "cashboxes",
    "categories",
    "currencies",
    "custom_rates",
    "finplan_settings",
    "kept_answers",
    "metadata",
    "org_settings",
    "request_history",
    "requests",
    "spaces",
    "task_plan_items",
    "task_plans",
    "tasks",
    "transactions",
    "users",
    "versions",
    "workers",
]
