"""What is set for a person: by themselves in /settings, or by ops. Kept by user id, so that it outlives a new link.

| name | value | set by |
| --- | --- | --- |
| `limit` | the sum above which approving and paying ask again, in the workspace's scale | ops |
| `pin` | how the PIN for payments is kept (access.py) | the person |
| `quiet` | `["22:00", "07:00"]`: nothing is pushed between them, in the person's zone | the person |
| `batch` | true: what waits comes as one card | the person |
| `autosave` | true: an entry that is not in doubt is saved at once | the person |
| `site` | the site of the last entry | the person |
| `menu` | the language and the mark of the command menu that Telegram shows them | the bot |
| `reasons` | the last reasons for rejecting and returning | the bot |
"""

import json
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from bot.tables import preferences


def get(connection: Connection, user_id: str, name: str, default: Any = None) -> Any:
    """What is set, or the default."""
    query = select(preferences.c.value).where(preferences.c.user_id == user_id, preferences.c.name == name)
    found = connection.execute(query).scalar()
    return default if found is None else json.loads(found)


def put(connection: Connection, user_id: str, name: str, value: Any) -> None:
    """Sets it."""
    drop(connection, user_id, name)
    connection.execute(insert(preferences).values(user_id=user_id, name=name, value=json.dumps(value)))


def drop(connection: Connection, user_id: str, name: str) -> None:
    """The default counts again."""
    connection.execute(delete(preferences).where(preferences.c.user_id == user_id, preferences.c.name == name))
