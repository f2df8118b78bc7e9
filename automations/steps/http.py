"""`http`: a request to a listed host; its value is `{status, headers, body}`.

```yaml
- id: order
  http:
    url: "https://shop.example/api/orders/{{ vars.order | urlencode }}"
    method: PUT
    headers: {Authorization: "Bearer {{ secrets.shop }}"}
    json: {paid: true}
    idempotent: true
    pick: "order.{id: id, state: state}"
```
url         https, or http; no name or password in it
method      GET (where it is left out), POST, PUT, PATCH or DELETE
headers     secrets by name; they never follow a redirect to another host
json        the body as JSON; or `body`, a text; or `form`, a map
expect      json or text; where it is left out, what the answer says it is
status      which are good: 200, or [200, 201]; any from 200 to 299 where it is left out
pick        what of the body is wanted, in JMESPath
idempotent  sending it twice is sending it once: it goes with an `Idempotency-Key`, the same each time

A GET, and what is `idempotent`, is tried again by itself. Anything else is only while nothing has left this machine:
once it may have arrived, and its answer is lost or says that something broke, the run stops and says so. A status from
400 to 499 is a refusal: it is told, and nothing has happened.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlencode

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from automations.errors import Path, StepFailed
from automations.expressions import is_template
from automations.scope import Watched
from automations.shapes import is_list, is_map
from automations.steps import fetch
from automations.steps.base import Given, Step
from automations.steps.documents import Unreadable, json_value
from automations.steps.pick import checked, picked
from automations.triggers import Model, duration
from automations.values import SECRET, json_text, redacted

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*", re.ASCII)
OWN_HEADERS = frozenset(
    ["host", "content-length", "transfer-encoding", "connection", "accept-encoding", "te", "trailer", "upgrade",
     "expect", "keep-alive", "proxy-authorization", "proxy-connection"]
)  # fmt: skip
"""Headers that belong to the connection, not to the request."""
SECRET_HEADERS = frozenset({"cookie", "authorization"})
CHARSET = re.compile(
    r"""charset=["']?(utf-?8|utf-?16(?:le|be)?|us-ascii|iso-8859-(?:1|2|5|7|9|15)|windows-125[0-8]|koi8-[ru])\b""", re.I
)
"""Encodings that are taken at their word; others that Python knows are no plain tables."""
KEPT_HEADERS = ("content-type", "date", "etag", "last-modified", "link", "location", "retry-after", "x-request-id")
KEY = "Idempotency-Key"
LARGEST_BODY = 8 * 1024 * 1024
SHOWN = 200
"""Characters of a refusal's body that are told."""


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


class Exchange(Model):
    """What is asked, and what is wanted of the answer."""

    url: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    json_: JsonValue = Field(None, alias="json")
    body: str | None = None
    form: dict[str, JsonValue] | None = None
    expect: Literal["json", "text"] | None = None
    status: Annotated[
        list[Annotated[int, Field(ge=200, le=599)]],
        BeforeValidator(_one_or_many, json_schema_input_type=int | list[int]),
    ] = Field(default_factory=list[int])
    pick: Annotated[str, AfterValidator(checked)] | None = None
    idempotent: bool = False

    @property
    def bodies(self) -> dict[str, JsonValue]:
        """What the file gives as a body, by key: one at most in a file without findings."""
        own = {"json": ("json_", self.json_), "body": ("body", self.body), "form": ("form", self.form)}
        given: dict[str, tuple[str, Any]] = {**own}
        return {key: value for key, (field, value) in given.items() if field in self.model_fields_set}


class _Named(Mapping[str, str]):
    """In place of secrets, their names: for what is shown to people."""

    def __init__(self, secrets: Any) -> None:
        self._secrets = secrets

    def __getitem__(self, name: str) -> str:
        if name not in self._secrets:
            raise KeyError(name)
        return f"(secret {name})"

    def __contains__(self, name: object) -> bool:
        return name in self._secrets

    def why_missing(self, name: str) -> str:
        """What an expression says that names a secret which is not there."""
        return self._secrets.why_missing(name) if isinstance(self._secrets, Watched) else f"{name} is no secret"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class HttpStep(Step):
    """Sends a request to a listed host."""

    kind: ClassVar[str] = "http"

    http: Exchange

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice is sending it once."""
        return self.http.method == "GET" or self.http.idempotent

    @property
    def leaves_traces(self) -> bool:
        return not self.repeatable

    @property
    def only_reads(self) -> bool:
        return self.http.method == "GET"

    def findings(self) -> Iterator[tuple[Path, str]]:
        http = self.http
        yield from self._url_findings()
        bodies = list(http.bodies)
        if http.method == "GET" and bodies:
            yield ("http", bodies[0]), "a GET has no body: say which method, such as POST"
        for name in bodies[1:]:
            yield ("http", name), f"give one body: {bodies[0]} or {name}"
        if http.method == "GET" and http.idempotent:
            yield ("http", "idempotent"), "a GET is repeatable without it: leave it out"
        seen: set[str] = set()
        for name, value in http.headers.items():
            told = _header_finding(name, value, seen)
            if told is not None:
                yield ("http", "headers", name), told
            seen.add(name.lower())

    def _url_findings(self) -> Iterator[tuple[Path, str]]:
        url = self.http.url
        try:
            if not is_template(url):
                fetch.target_of(url)
            elif not url.startswith(("https://", "http://", "{{")):
                yield ("http", "url"), "should begin with https:// or http://"
        except fetch.NotFetched as error:
            yield ("http", "url"), str(error)

    def _request(self, given: Given) -> fetch.Request:
        """What is to be sent. Raises StepFailed."""
        http = self.http
        headers = {name: given.text(value, f"headers.{name}") for name, value in http.headers.items()}
        kind, body = self._body(given)
        names = {name.lower() for name in headers}
        if kind is not None and "content-type" not in names:
            headers["Content-Type"] = kind
        if http.idempotent and KEY.lower() not in names:
            headers[KEY] = sha256(given.key.encode()).hexdigest()[:40]
        for name, value in headers.items():
            if HEADER_VALUE.fullmatch(value) is None:
                raise StepFailed(f"headers.{name} holds a character that no header may have")
        return fetch.Request(given.text(http.url, "url"), http.method, headers, body)

    def _body(self, given: Given) -> tuple[str | None, bytes | None]:
        """Its type and itself."""
        http = self.http
        try:
            if "json_" in http.model_fields_set:
                kind, text = "application/json", json_text(given.value(http.json_))
            elif http.body is not None:
                kind, text = "text/plain; charset=utf-8", given.text(http.body, "body")
            elif http.form is not None:
                kind, text = "application/x-www-form-urlencoded", _form(given.value(dict(http.form)))
            else:
                return None, None
            body = text.encode()
        except UnicodeEncodeError:
            raise StepFailed("the body holds half a character (a lone surrogate)") from None
        except ValueError as error:
            raise StepFailed(f"the body cannot be written: {error}") from None
        if len(body) > LARGEST_BODY:
            raise StepFailed(f"the body is larger than {LARGEST_BODY // 1024 // 1024} MB")
        return kind, body

    def _shown(self, given: Given) -> dict[str, Any]:
        """What is to be sent, for people's eyes: names in place of secrets, and no query."""
        eyes = replace(given, scope={**given.scope, "secrets": _Named(given.scope.get("secrets", {}))}, told={})
        request = self._request(eyes)
        target = _target(request.url)
        path = target.path.partition("?")[0]
        shown: dict[str, Any] = {"http": request.method, "host": target.authority, "path": path}
        headers = {name: value for name, value in request.headers.items() if name not in {KEY, "Content-Type"}}
        if headers:
            shown["headers"] = redacted(headers)
        if request.body is not None:
            shown |= redacted(eyes.value(self.http.bodies))
        return shown

    async def intent(self, given: Given) -> dict[str, Any]:
        return self._shown(given)

    async def run(self, given: Given) -> Any:
        request = self._request(given)
        given.tell(**self._shown(given))
        named = f"{request.method} {_target(request.url).shown}"
        if given.taken_up and not self.repeatable:
            raise _doubt(named, "the runner was stopped while it was under way")
        own = duration(self.timeout).total_seconds() if self.timeout is not None else 0.0
        try:
            answer = await fetch.send(request, given.tools.hosts, seconds=max(own, fetch.SECONDS))
        except fetch.NotFetched as error:
            if error.arrived and not self.repeatable:
                raise _doubt(named, str(error)) from None
            raise StepFailed(f"{named}: {error}", transient=error.passing, retry_after=error.retry_after) from None
        self._judge(answer, named)
        try:
            return self._value(answer)
        except StepFailed as error:
            if not self.repeatable:
                raise _doubt(named, f"it answered {answer.status}, but {error}") from None
            raise StepFailed(f"{named}: {error}") from None

    def _judge(self, answer: fetch.Answer, named: str) -> None:
        """Raises StepFailed for a status that is not good."""
        good = answer.status in self.http.status if self.http.status else 200 <= answer.status < 300
        if good:
            return
        if not self.repeatable and not 400 <= answer.status < 500:
            raise _doubt(named, f"it answered {answer.status}")
        transient = self.repeatable and answer.status in fetch.PASSING
        message = f"{named} answered {answer.status}{_said(answer)}"
        raise StepFailed(message, transient=transient, retry_after=answer.retry_after)

    def _value(self, answer: fetch.Answer) -> dict[str, Any]:
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not answer.body:
            body: Any = None
        elif self.http.expect == "json" or (self.http.expect is None and kind.endswith(("/json", "+json"))):
            try:
                body = json_value(answer.body)
            except Unreadable as error:
                raise StepFailed(f"its body {error}") from None
        else:
            body = _text(answer)
        if self.http.pick is not None:
            body = picked(self.http.pick, body)
        headers = {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers}
        return {"status": answer.status, "headers": headers, "body": body}


def _target(url: str) -> fetch.Target:
    try:
        return fetch.target_of(url)
    except fetch.NotFetched as error:
        raise StepFailed(str(error)) from None


def _header_finding(name: str, value: str, seen: set[str]) -> str | None:
    small = name.lower()
    if HEADER_NAME.fullmatch(name) is None:
        return "is no name for a header"
    if small in OWN_HEADERS:
        return "belongs to the connection: leave it out"
    if small in seen:
        return "is given twice: capitals do not count"
    if not is_template(value) and HEADER_VALUE.fullmatch(value) is None:
        return "holds a character that no header may have"
    if (small in SECRET_HEADERS or SECRET.search(name)) and not is_template(value):
        return 'a secret does not belong into the file: name it, as in "Bearer {{ secrets.shop }}"'
    return None


def _form(fields: Any) -> str:
    if not is_map(fields):
        raise ValueError("form should be a map")
    pairs: list[tuple[str, str]] = []
    for name, value in fields.items():
        for one in value if is_list(value) else [value]:
            if one is None:
                continue
            if is_map(one) or is_list(one):
                raise ValueError(f"form.{name} should be a text, a number, or a list of them")
            pairs.append((name, one if isinstance(one, str) else json_text(one)))
    return urlencode(pairs)


def _text(answer: fetch.Answer) -> str:
    """The body in the encoding that the answer names, UTF-8 where it names none that is known."""
    named = CHARSET.search(answer.headers.get("content-type", ""))
    return answer.body.decode(named[1] if named else "utf-8", errors="replace")


def _said(answer: fetch.Answer) -> str:
    """The beginning of what a refusal says, where it is made for reading."""
    kind = answer.headers.get("content-type", "")
    if not kind.startswith(("application/json", "text/plain", "application/problem+json")):
        return ""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in _text(answer)[: 2 * SHOWN]).split())
    return f": {text[:SHOWN]}" if text else ""


def _doubt(named: str, reason: str) -> StepFailed:
    return StepFailed(
        f"{named} may have gone through ({reason}). It is not repeated by itself: look there first, then resume the "
        "run with --again, which does this step once more",
        doubtful=True,
    )
