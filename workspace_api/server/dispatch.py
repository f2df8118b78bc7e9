"""From a checked HTTP request to the bytes of its answer.

```
bytes ─► read_fields ─► Operation.call ─► handler(tx, viewer, params) ─► profile ─► bytes
                                             │ reads: on the loop, answers kept while nothing changed
                                             └ writes: in the writer thread, with the answer of their Idempotency-Key
```
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection

from storage import Database
from workspace_api.contract import Call, Effect, InvalidArguments, Operation
from workspace_api.server import idempotency
from workspace_api.server.body import read_fields
from workspace_api.server.changes import bump, changes_of
from workspace_api.server.errors import InvalidRequest, NotImplementedYet, Unauthorized
from workspace_api.server.handlers import HANDLERS, WRITING_READS
from workspace_api.server.keys import Holder, find_holder, hash_key
from workspace_api.server.profile import Profile
from workspace_api.server.tx import Handler, Tx

KEPT_BYTES = 64 * 1024 * 1024
"""How much memory kept answers may take."""

LARGE_BYTES = 1024 * 1024
"""An operation whose last answer was larger makes its next one in a thread, so that the others need not wait."""

Version = tuple[int, datetime]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request after its header was read."""

    operation: Operation[Any]
    body: bytes
    query: tuple[tuple[str, str], ...]
    holder: Holder
    idempotency_key: str | None


class Dispatcher:
    """Serves operations on one database. One for each process."""

    def __init__(self, database: Database, *, profile: Profile, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._profile = profile
        self._clock = clock
        self._changes = changes_of(database)
        self._version: Version | None = None
        self._holders: dict[str, Holder] = {}
        self._answers: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self._kept = 0
        self._sizes: dict[str, int] = {}

    def close(self) -> None:
        """Gives back its connection; the database stays open."""
        self._changes.close()

    def _refresh(self) -> Version:
        """Forgets whatever was kept before the last change, or before this minute: dismissals come with time too."""
        version = (self._changes.version(), self._clock().replace(second=0, microsecond=0))
        if version != self._version:
            self._version = version
            self._holders.clear()
            self._answers.clear()
            self._kept = 0
        return version

    def holder(self, key: str | None) -> Holder:
        """Whom the key stands for. Raises Unauthorized or PermissionDenied."""
        if not key:
            raise Unauthorized("Send your API key in the header Api-key.")
        self._refresh()
        digest = hash_key(key)
        found = self._holders.get(digest)
        if found is None:
            with self._database.read() as connection:
                found = find_holder(Tx(connection, self._clock()), digest)
            self._holders[digest] = found
        return found

    async def answer(self, asked: Asked) -> bytes:
        """The envelope of a success. Raises an ApiError for everything else."""
        name = asked.operation.name
        handler = HANDLERS.get(name)
        if handler is None:
            raise NotImplementedYet(f"{name} is documented, but this workspace does not offer it yet.")
        if asked.operation.effect is Effect.READ:
            return await self._read(asked, handler)
        call = self._call(asked)
        key = asked.idempotency_key if self._profile.keeps_idempotency else None
        return await self._database.write(lambda connection: self._write(connection, asked, call, handler, key))

    @staticmethod
    def _call(asked: Asked) -> Call[Any]:
        fields = read_fields(asked.body)
        known = asked.operation.params.query_fields()
        for name, text in asked.query:
            if name not in known:
                raise InvalidRequest(f"{asked.operation.name} has no query parameter {name[:40]!r}.")
            if name in fields:
                raise InvalidRequest(f"{name} stands in the query string and in the body: send it once.")
            fields[name] = text
        if asked.operation.effect is Effect.SAVE and fields.get("id") == "":
            # An empty id creates (part 1, §4.1, rule 5), and an empty text is one way to say so.
            del fields["id"]
        try:
            return asked.operation.call(fields)
        except InvalidArguments as error:
            raise InvalidRequest(str(error)) from None

    async def _read(self, asked: Asked, handler: Handler) -> bytes:
        version = self._refresh()
        key = (asked.operation.name, asked.holder.viewer.scope, asked.body, asked.query)
        kept = self._answers.get(key)
        if kept is not None:
            self._answers.move_to_end(key)
            return kept
        call = self._call(asked)
        if asked.operation.name in WRITING_READS:
            answer = await self._database.write(lambda connection: self._write(connection, asked, call, handler, None))
        elif self._sizes.get(asked.operation.name, 0) > LARGE_BYTES:
            answer = await asyncio.to_thread(self._read_now, asked, call, handler)
        else:
            answer = self._read_now(asked, call, handler)
        self._sizes[asked.operation.name] = len(answer)
        # Whatever changed meanwhile, by this very call too, is noticed and forgotten before the next answer.
        if version == self._version:
            self._keep(key, answer)
        return answer

    def _read_now(self, asked: Asked, call: Call[Any], handler: Handler) -> bytes:
        with self._database.read() as connection:
            data = handler(Tx(connection, self._clock()), asked.holder.viewer, self._profile.params(call.params))
            return self._envelope(asked.operation.name, data)

    def _keep(self, key: tuple[object, ...], answer: bytes) -> None:
        self._answers[key] = answer
        self._kept += len(answer) + len(repr(key))
        while self._kept > KEPT_BYTES and self._answers:
            old, dropped = self._answers.popitem(last=False)
            self._kept -= len(dropped) + len(repr(old))

    def _write(self, connection: Connection, asked: Asked, call: Call[Any], handler: Handler, key: str | None) -> bytes:
        """Effect and kept answer in one savepoint: there is never one without the other."""
        tx = Tx(connection, self._clock())
        # First, since it makes the writers of several processes wait for each other here and nowhere else.
        bump(connection)
        # The key may have been revoked while this write waited for its turn.
        find_holder(tx, asked.holder.digest)
        request = b"\x00".join((asked.operation.path.encode(), repr(asked.query).encode(), asked.body))
        digest = hashlib.sha256(request).hexdigest() if key is not None else ""
        if key is not None:
            earlier = idempotency.earlier_answer(tx, asked.holder.key_id, key, digest)
            if earlier is not None:
                return earlier
        data = handler(tx, asked.holder.viewer, self._profile.params(call.params))
        answer = self._envelope(asked.operation.name, data)
        if key is not None:
            idempotency.keep(tx, asked.holder.key_id, key, digest, answer)
        return answer

    def _envelope(self, name: str, data: object) -> bytes:
        return orjson.dumps({"status": "success", "data": self._profile.data(name, data)})
