"""What the page's endpoints take: the shapes of their bodies, read strictly, and refusals as JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.sandbox.faults import FaultKind, When
from bot.sandbox.refusals import Refused, bad
from bot.sandbox.wire import Json


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Act(Body):
    who: int = Field(alias="as")


class NewPerson(Body):
    first_name: str = Field(min_length=1, max_length=64)
    id: int | None = Field(default=None, gt=0, lt=2**52)
    last_name: str | None = None
    username: str | None = None
    language_code: str = Field(default="en", pattern="^[a-z]{2}(-[A-Za-z]+)?$")


class Say(Act):
    text: str
    reply_to: int | None = None
    thread: int | None = None
    anonymous: bool = False


class Start(Act):
    payload: str = ""


class OfMessage(Act):
    message: int


class Edit(OfMessage):
    text: str


class React(OfMessage):
    emoji: str | None = None


class PressIt(Act):
    message: int | None = None
    data: str | None = None
    label: str | None = None
    wait: float = 0


class Ask(Act):
    bot: int
    query: str
    offset: str = ""
    wait: float = 0


class Choose(Act):
    query: str
    result: str


class Block(Act):
    blocked: bool


class Member(Act):
    person: int


class BotOut(Act):
    bot: int


class NewGroup(Body):
    title: str
    members: list[int]
    bot_is_admin: bool = False


class DeliveryFaults(Body):
    twice: bool | None = None
    out_of_order: bool | None = None
    delay: float | None = Field(default=None, ge=0, le=3600)
    age: float | None = Field(default=None, ge=0)
    inaccessible: bool | None = None


class Order(Body):
    kind: FaultKind | None = None
    when: When = "before"
    method: str | None = None
    times: int = Field(default=1, ge=1, le=1000)
    retry_after: int = Field(default=1, ge=1)
    delivery: DeliveryFaults | None = None


B = TypeVar("B", bound=Body)
Endpoint = Callable[[Request], Awaitable[Response]]


def answered(endpoint: Endpoint) -> Endpoint:
    """The endpoint with its refusals as JSON."""

    async def guarded(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refused as refused:
            body: Json = {"error": refused.description}
            return JSONResponse(body, refused.status)

    return guarded


async def read_body(request: Request, shape: type[B]) -> B:
    try:
        return shape.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        raise bad(f"{where}: {first['msg']}") from None


def number(text: str) -> int:
    if not text.isdigit() or len(text) > 18:
        raise bad(f"{text!r} is no number")
    return int(text)


def viewer(request: Request) -> int:
    text = request.query_params.get("as", "")
    if not text:
        raise bad("as: say who you are, with a person's id")
    return number(text)
