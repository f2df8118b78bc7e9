"""Opening a database, its one writer, migrations. Knows nothing of the rest of the house.

```
open_database(url) ─► Database ─┬─ read()       a read transaction on a pooled connection
                                ├─ write(fn)    awaits fn(connection), run by the one writer thread, committed
                                └─ write_now(fn) the same for callers without a loop
migrate(database, "package:folder", version_table=…)   Alembic at start, under a lock, after a copy
```
SQLite and PostgreSQL by URL; SQLAlchemy Core, no ORM.
"""

from storage.database import Database, StorageError, open_database
from storage.migrate import migrate, run_migrations

__all__ = ["Database", "StorageError", "migrate", "open_database", "run_migrations"]
