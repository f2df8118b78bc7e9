"""The fault switches over HTTP: what goes wrong next, and how updates are delivered (see `faults`)."""

from __future__ import annotations

import dataclasses

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.bodies import Order, answered, read_body
from bot.sandbox.faults import Fault, Faults
from bot.sandbox.wire import as_json
from bot.sandbox.world import Delivery, Event, World


class FaultDoor:
    """`/sandbox/faults`: GET tells, POST orders, DELETE clears."""

    def __init__(self, world: World, faults: Faults) -> None:
        self._world = world
        self._faults = faults

    def routes(self) -> list[Route]:
        path = "/sandbox/faults"
        return [
            Route(path, answered(self.ordered), methods=["GET"]),
            Route(path, answered(self.order), methods=["POST"]),
            Route(path, answered(self.clear), methods=["DELETE"]),
        ]

    async def ordered(self, _: Request) -> Response:
        return self._ordered()

    async def order(self, request: Request) -> Response:
        given = await read_body(request, Order)
        if given.kind is not None:
            self._faults.add(
                Fault(
                    kind=given.kind,
                    when=given.when,
                    method=given.method or None,
                    times=given.times,
                    retry_after=given.retry_after,
                )
            )
        if given.delivery is not None:
            changes = given.delivery.model_dump(exclude_none=True)
            self._world.delivery = dataclasses.replace(self._world.delivery, **changes)
        self._world.tell(Event(kind="faults"))
        return self._ordered()

    async def clear(self, _: Request) -> Response:
        self._faults.clear()
        self._world.delivery = Delivery()
        self._world.tell(Event(kind="faults"))
        return self._ordered()

    def _ordered(self) -> Response:
        return JSONResponse({"faults": as_json(self._faults.ordered), "delivery": as_json(self._world.delivery)})
