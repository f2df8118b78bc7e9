"""The page as an application: addresses, who is let in, and what a pressed button does.

GET  /  /automations  /automations/NAME  /runs  /runs/RUN     for whoever is let in; `?lang=ru` changes the language
POST /acts/ACT       run, cancel, resume, again, from, undo, answer: a form of ours, then back to where it was
GET, POST /login     where a token is set; `?token=` on any page is turned into the cookie and taken out of the address
GET  /metrics        for Prometheus; with the token as a bearer's
"""

import asyncio
import logging
import secrets as randomness
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit
from zoneinfo import ZoneInfo

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from automations.definition import Automation
from automations.errors import AutomationError, Finding, UnknownAutomation, UnknownRun
from automations.metrics import Metrics
from automations.page import views
from automations.page.choices import may_run
from automations.page.coming import Calendar, calendar
from automations.page.forms import form_of, local, without
from automations.page.guard import NONCE, Guard, is_loopback
from automations.page.past import Past
from automations.page.ports import Acts
from automations.page.sessions import LASTS, Patience, Session, Sessions
from automations.page.words import LANGUAGES, Speech
from automations.ports import Clock
from automations.records import Records

log = logging.getLogger(__name__)

LANGUAGE = "workspace-page-language"
"""The cookie with the language that somebody has chosen."""
CALENDAR_SECONDS = 30.0
"""How long a calendar that was worked out is shown again."""

SAID: Mapping[str, str] = {
    "run": "The run is asked for: a runner begins it within a few seconds.",
    "cancel": "The run ends.",
    "resume": "The run goes on within a few seconds.",
    "again": "The run goes on within a few seconds.",
    "from": "The run goes on within a few seconds.",
    "undo": "The undoing is asked for: this is its run.",
    "answer": "The answer is taken.",
}
"""What is said after an act, by its name; a name stands in the address, never a sentence."""


def _none() -> Sequence[Finding]:
    return ()


@dataclass(frozen=True)
class Page:
    """All that the page shows and does.

    `automations` gives those in force, `findings` what is wrong with the other files. `token`: asked for where it is
    set. `url`: the address that people use, where it is not this machine's own. `acts` is a Control.
    """

    records: Records
    acts: Acts
    automations: Callable[[], Mapping[str, Automation]]
    clock: Clock
    zone: str = "UTC"
    language: str = "en"
    token: str | None = field(default=None, repr=False)
    url: str | None = None
    findings: Callable[[], Sequence[Finding]] = _none
    new_id: Callable[[], str] = lambda: randomness.token_urlsafe(18)


View = Callable[[Request, views.Looker], Awaitable[str]]


class Refused(Exception):
    """What was asked for is not done; the text is a sentence in the reader's language."""

    def __init__(self, sentence: str, status: int = 409) -> None:
        self.status = status
        super().__init__(sentence)


class Site:
    """Answers requests."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._tables = views.Tables(Past(page.records), page.automations, page.findings, page.acts.alive, page.zone)
        self.sessions = Sessions(page.token, randomness.token_bytes(32), page.new_id, page.clock)
        self._patience = Patience(page.clock)
        self._metrics = Metrics(page.records.database, page.automations, page.clock)
        self._calendar: tuple[float, Mapping[str, Automation], Calendar] | None = None

    def routes(self) -> list[Route]:
        pages = (
            ("/", self.overview),
            ("/automations", self.automations),
            ("/automations/{name}", self.automation),
            ("/runs", self.runs),
            ("/runs/{run_id:path}", self.run),
        )
        return [
            *(Route(path, self._let_in(view), methods=["GET"]) for path, view in pages),
            Route("/acts/{act}", self.act, methods=["POST"]),
            Route("/login", self.login, methods=["GET", "POST"]),
            Route("/logout", self.logout, methods=["POST"]),
            Route("/metrics", self.metrics, methods=["GET"]),
        ]

    # Who is it

    def session(self, request: Request) -> Session | None:
        cookie = request.cookies.get(self._cookie(request))
        return self.sessions.read(cookie) if cookie else None

    def _cookie(self, request: Request) -> str:
        """Cookies are shared between ports of a machine: each page has its own name."""
        return f"workspace-page-{request.url.port or 0}"

    def _set(self, request: Request, response: Response, session: Session) -> None:
        response.set_cookie(
            self._cookie(request),
            self.sessions.cookie(session),
            max_age=int(LASTS.total_seconds()),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )

    def _let_in(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            if "token" in request.query_params:
                return await self._token_in_address(request)
            if request.query_params.get("lang") in LANGUAGES:
                return self._speak(request)
            session = self.session(request)
            if session is None and self.sessions.guarded:
                return RedirectResponse(f"/login?{urlencode({'back': without(request)})}", 303)
            fresh = session is None
            session = session or self.sessions.open()
            looker = self.looker(request, session)
            try:
                response: Response = HTMLResponse(await view(request, looker))
            except (UnknownRun, UnknownAutomation) as error:
                response = self.refused(looker, str(error), 404)
            except AutomationError as error:
                log.warning("the ops page cannot show %s: %s", request.url.path, error)
                sentence = looker.speech.t("This cannot be read just now: {why}", why=error)
                response = self.refused(looker, sentence, 503)
            if fresh:
                self._set(request, response, session)
            return response

        return answer

    def looker(self, request: Request, session: Session | None, *, query: bool = True) -> views.Looker:
        """Who looks at what, in which language."""
        speech = Speech(self._language(request), ZoneInfo(self._page.zone), self._page.clock())
        said = SAID.get(request.query_params.get("said", ""))
        return views.Looker(
            speech,
            request.url.path,
            {key: value for key, value in request.query_params.items() if key not in {"said", "lang"}} if query else {},
            request.scope[NONCE],
            session,
            self.sessions.form_secret(session) if session else "",
            self.sessions.guarded,
            speech.t(said) if said else None,
        )

    def _language(self, request: Request) -> str:
        chosen = request.cookies.get(LANGUAGE, "")
        if chosen in LANGUAGES:
            return chosen
        accepted = request.headers.get("accept-language", "").lower().split(",")
        # Browsers list the languages of their people in order.
        first = (part.partition(";")[0].strip().partition("-")[0] for part in accepted)
        return next((language for language in first if language in LANGUAGES), self._page.language)

    def _speak(self, request: Request) -> Response:
        response = RedirectResponse(without(request), 303)
        response.set_cookie(
            LANGUAGE,
            request.query_params["lang"],
            max_age=31_536_000,
            httponly=True,
            samesite="strict",
        )
        return response

    # Coming in

    async def login(self, request: Request) -> Response:
        """The form, and what it sends."""
        back = local(request.query_params.get("back", "/"))
        if request.method == "GET":
            if not self.sessions.guarded or self.session(request) is not None:
                return RedirectResponse(back, 303)
            return self._login_page(request, back)
        form = await form_of(request)
        return self._try(request, form.get("token", ""), form.get("name", ""), local(form.get("back", "/")))

    async def _token_in_address(self, request: Request) -> Response:
        """The token is taken out of the address, into the cookie."""
        back = without(request)
        if not self.sessions.guarded:
            return RedirectResponse(back, 303)
        return self._try(request, request.query_params["token"], "", back)

    def _try(self, request: Request, token: str, name: str, back: str) -> Response:
        address = request.client.host if request.client else ""
        wait = self._patience.wait(address)
        speech = self.looker(request, None).speech
        if wait > 0:
            length = speech.length(timedelta(seconds=max(1, round(wait))))
            trouble = speech.t("Too many wrong tokens: try again in {length}.", length=length)
            return self._login_page(request, back, trouble, 429, {"Retry-After": str(int(wait) + 1)})
        if not self.sessions.is_right(token):
            self._patience.was_wrong(address)
            log.warning("a wrong token was refused at the ops page, from %s", address)
            return self._login_page(request, back, speech.t("The token is wrong."), 403)
        self._patience.was_right(address)
        response = RedirectResponse(back, 303)
        self._set(request, response, self.sessions.open(name))
        return response

    def _login_page(
        self,
        request: Request,
        back: str,
        trouble: str | None = None,
        status: int = 200,
        headers: dict[str, str] | None = None,
    ) -> Response:
        looker = self.looker(request, None, query=False)
        return HTMLResponse(views.render("login.html", looker, back=back, trouble=trouble), status, headers)

    async def logout(self, request: Request) -> Response:
        """Takes the cookie back."""
        await self._own_form(request)
        response = RedirectResponse("/login", 303)
        response.delete_cookie(self._cookie(request), httponly=True, samesite="strict")
        return response

    # Pages

    async def overview(self, request: Request, looker: views.Looker) -> str:  # noqa: ARG002 - each view has both
        return await asyncio.to_thread(lambda: views.overview(self._tables, looker, self._coming(looker)))

    def _coming(self, looker: views.Looker) -> Calendar:
        known, now = self._page.automations(), looker.speech.now
        kept = self._calendar
        if kept is not None and kept[1] == known and 0 <= now.timestamp() - kept[0] < CALENDAR_SECONDS:
            return kept[2]
        found = calendar(known, now, self._page.zone)
        self._calendar = (now.timestamp(), dict(known), found)
        return found

    async def automations(self, request: Request, looker: views.Looker) -> str:  # noqa: ARG002 - each view has both
        return await asyncio.to_thread(views.automations, self._tables, looker)

    async def automation(self, request: Request, looker: views.Looker) -> str:
        return await asyncio.to_thread(views.automation, self._tables, looker, request.path_params["name"])

    async def runs(self, request: Request, looker: views.Looker) -> str:  # noqa: ARG002 - each view has both
        return await asyncio.to_thread(views.runs, self._tables, looker)

    async def run(self, request: Request, looker: views.Looker) -> str:
        return await asyncio.to_thread(views.run, self._tables, looker, request.path_params["run_id"])

    def refused(self, looker: views.Looker, sentence: str, status: int, back: str = "/") -> Response:
        return HTMLResponse(views.render("refused.html", looker, sentence=sentence, back=back), status)

    # Acts

    async def _own_form(self, request: Request) -> tuple[Session, Mapping[str, str]]:
        """The session and the fields of a form. Raises Refused where it is none of ours."""
        session, form = self.session(request), await form_of(request)
        if session is None or not self.sessions.is_form_of(session, form.get("form", "")):
            speech = self.looker(request, None).speech
            raise Refused(speech.t("This form is old: go back, bring the page up to date, and press again."), 403)
        return session, form

    async def act(self, request: Request) -> Response:
        """What a button asks for."""
        session, form = await self._own_form(request)
        looker = self.looker(request, session)
        back = local(form.get("back", "/"))
        name = request.path_params["act"]
        try:
            there = await self._done(name, form, session, looker.speech)
        except UnknownRun:
            return self.refused(looker, looker.speech.t("There is no run {run}.", run=form.get("run", "")), 404, back)
        except UnknownAutomation:
            sentence = looker.speech.t("There is no automation {name}.", name=form.get("automation", ""))
            return self.refused(looker, sentence, 404, back)
        except Refused as error:
            return self.refused(looker, str(error), error.status, back)
        except AutomationError as error:
            return self.refused(looker, looker.speech.told(str(error)), 409, back)
        log.info(
            "%s on the ops page: %s %s", session.by, name, form.get("run") or form.get("automation") or form.get("key")
        )
        target = urlsplit(there or back)
        query = urlencode([*((key, value) for key, value in parse_qsl(target.query) if key != "said"), ("said", name)])
        return RedirectResponse(f"{target.path}?{query}", 303)

    async def _done(self, name: str, form: Mapping[str, str], session: Session, speech: Speech) -> str | None:
        """Does it; the address to go to where it is not the one before."""
        acts, run_id, by = self._page.acts, form.get("run", ""), session.by
        match name:
            case "run":
                return await self._run_now(form.get("automation", ""), by, speech)
            case "cancel":
                await acts.cancel(run_id, by)
            case "resume":
                await acts.resume(run_id, by)
            case "again":
                await acts.resume(run_id, by, again=True)
            case "from":
                await acts.resume(run_id, by, from_step=form.get("step") or None)
            case "undo":
                return views.run_url(await acts.undo(run_id, by))
            case "answer":
                await self._answer(form.get("key", ""), form.get("option", ""), by, speech)
            case _:
                raise Refused(speech.t("There is nothing here."), 404)
        return None

    async def _run_now(self, name: str, by: str, speech: Speech) -> str:
        known = self._page.automations()
        if name not in known:
            raise UnknownAutomation(name, known)
        people = known[name].definition.people
        if not may_run(people):
            raise Refused(
                speech.t("Only {people} may run {name}, from chat.", people=", ".join(people or ()), name=name), 403
            )
        return views.run_url(await self._page.acts.ask_for_run(name, by))

    async def _answer(self, key: str, option: str, by: str, speech: Speech) -> None:
        answered = await self._page.acts.answer(key, option, by)
        match answered.state:
            case "taken":
                return
            case "before":
                told = speech.t("{by} was quicker: the answer is “{option}”.", by=answered.by, option=answered.option)
            case "late":
                told = speech.t("It is too late for an answer.")
            case "gone":
                told = speech.t("The run does not wait for this answer any more.")
            case "no option":
                told = speech.t("This is none of the answers.")
        raise Refused(told)

    # Metrics

    def bears_token(self, scope: Scope) -> bool:
        """Whether a request for the metrics shows the token: then it may come under any name."""
        if scope["path"] != "/metrics" or not self.sessions.guarded:
            return False
        request = Request(scope)
        address = request.client.host if request.client else ""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or self._patience.wait(address) > 0:
            return False
        if not self.sessions.is_right(token.strip()):
            self._patience.was_wrong(address)
            return False
        return True

    async def metrics(self, request: Request) -> Response:
        """What Prometheus collects."""
        if self.sessions.guarded and not request.scope["bears_token"]:
            return Response("Send the token as a bearer's.", 401, {"WWW-Authenticate": "Bearer"}, "text/plain")
        text, kind = await asyncio.to_thread(self._metrics.exposed)
        return Response(text, 200, {"Content-Type": kind})

    async def on_refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return self.refused(self.looker(request, self.session(request)), str(error), error.status)

    async def nothing_here(self, request: Request, _error: Exception) -> Response:
        looker = self.looker(request, self.session(request))
        return self.refused(looker, looker.speech.t("There is nothing here."), 404)


def application(page: Page, host: str) -> ASGIApp:
    """The page as it is served at a host."""
    site = Site(page)
    app = Starlette(routes=site.routes(), exception_handlers={Refused: site.on_refused, 404: site.nothing_here})
    hosts: Collection[str] = {name for name in (host, urlsplit(page.url or "").hostname) if name}

    def exempt(scope: Scope) -> bool:
        scope["bears_token"] = site.bears_token(scope)
        return bool(scope["bears_token"])

    return Guard(app, hosts=hosts, addresses=not is_loopback(host), new_nonce=page.new_id, exempt=exempt)
