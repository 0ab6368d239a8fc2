"""What a session is given at its start, and why."""

import logging
from collections.abc import Sequence

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from worker.api import giving, params, recalling
from worker.api.codec import Query, body, respond
from worker.api.endpoint import Endpoint
from worker.api.params import Flag, Number, Text, Texts
from worker.api.services import Services
from worker.contract import calls, present
from worker.contract.context import ContextPlan, ContextWish, ContextWished
from worker.contract.errors import Invalid, NotFound
from worker.contract.records import Observation, RecordKind, parse_key
from worker.present import composing
from worker.present.composing import Composed, ContextQuery
from worker.present.recent_sessions import recent_sessions
from worker.store import aliases, given, recent
from worker.store.records import by_keys
from worker.store.search_index import docid

_PROJECTS = Texts(("projects", "project"), "the projects, the one that starts last", required=True)
_ONE = Text(("project",), "the project", required=True)
_COLOURS = Flag(("colors",), "for a person at a terminal, with ANSI colours")
_FULL = Flag(("full",), "everything, without a budget")
_WHO = Text(("contentSessionId", "session"), "the session that is given it, so that it gets nothing twice")
_LIMIT = Number(("limit",), "sessions", default=3, low=1, high=50)
_log = logging.getLogger("worker.api")


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def composed(query: Query, projects: Sequence[str]) -> Composed:
        # Of the names of a project the one that was asked for counts last, which is that of the session.
        others = (other for name in projects for other in aliases.together(services.store.aliases, name))
        both = tuple(dict.fromkeys((*(other for other in others if other not in projects), *projects)))
        asked = ContextQuery(
            projects=both,
            platform=params.PLATFORM.of(query),
            everything=_FULL.of(query),
            viewer=f"http://localhost:{services.port}/",
            session=_WHO.of(query) or "",
        )
        return await composing.compose(
            services.store,
            asked,
            giving.settings(services),
            now_ms=services.now_ms(),
            zone=services.zone,
            last_said=lambda content_id: giving.last_message(services, content_id),
        )

    async def inject(request: Request) -> Response:
        query = Query(request)
        projects = _PROJECTS.of(query)
        if not projects:
            raise Invalid("Project(s) parameter is required", field="projects")
        if services.opened is None:
            # A session must be able to start while the worker does.
            return respond(present.text(""))
        made = await composed(query, projects)
        if _COLOURS.of(query):
            return PlainTextResponse(made.coloured())
        recalling.listed(services, request, made.listed)
        recalling.read(services, request, made.read)
        scopes = [f"project:{projects[-1]}"] + ([f"session:{who}"] if (who := _WHO.of(query)) else [])
        task = BackgroundTask(giving.note, services, scopes, made.numbers)
        return PlainTextResponse(made.block.text, background=task)

    async def preview(request: Request) -> Response:
        query = Query(request)
        return PlainTextResponse((await composed(query, [_project(query)])).coloured())

    async def rows(request: Request) -> Response:
        query = Query(request)
        return respond((await composed(query, [_project(query)])).plan())

    async def last(request: Request) -> Response:
        query = Query(request)
        project, platform, limit = _project(query), params.PLATFORM.of(query), _LIMIT.of(query)
        found = await services.store.read(lambda connection: recent.sessions(connection, project, platform, limit))
        return respond(present.text(recent_sessions(found, project, services.zone)))

    def wishing(*, pinned: bool) -> Endpoint:
        async def wish(request: Request) -> Response:
            asked = await body(request, ContextWish)
            return respond(await _wished(services, asked, pinned=pinned))

        return Endpoint(
            method="POST", path=calls.CONTEXT_PIN if pinned else calls.CONTEXT_MUTE, run=wish, answers=(ContextWished,),
            body=ContextWish, errors=(NotFound,), writes=True,
            summary=f"{'Always' if pinned else 'Never'} give a record to a session that starts.",
        )  # fmt: skip

    return [
        Endpoint(
            method="GET", path=calls.CONTEXT_INJECT, run=inject, answers=(str, present.Text), media="text/plain",
            params=(_PROJECTS, _COLOURS, _FULL, _WHO, params.PLATFORM, params.WHO),
            summary="What a session is given when it starts.",
        ),
        Endpoint(
            method="GET", path=calls.CONTEXT_PREVIEW, run=preview, answers=(str,), media="text/plain",
            params=(_ONE, params.PLATFORM, _FULL), summary="The same for a person, and nothing is counted.",
        ),
        Endpoint(
            method="GET", path=calls.CONTEXT_ROWS, run=rows, answers=(ContextPlan,),
            params=(_ONE, params.PLATFORM, _FULL),
            summary="The same row by row, with reasons, tokens, and what changed since the last start.",
        ),
        Endpoint(
            method="GET", path=calls.CONTEXT_RECENT, run=last, answers=(present.Text,),
            params=(_ONE, _LIMIT, params.PLATFORM), summary="What the last sessions of a project came to.",
        ),
        wishing(pinned=True),
        wishing(pinned=False),
    ]  # fmt: skip


def _project(query: Query) -> str:
    project = _ONE.of(query)
    if not project:
        raise Invalid("Project parameter is required", field="project")
    return project


async def _wished(services: Services, asked: ContextWish, *, pinned: bool) -> ContextWished:
    key = parse_key(asked.key)
    if key is None or key.kind is not RecordKind.OBSERVATION:
        raise Invalid("key must be the number of an observation, such as 118", field="key")
    found = await services.store.read(lambda connection: by_keys(connection, [key]))
    if not isinstance(found.get(key), Observation):
        raise NotFound(f"there is no observation #{key}")
    number = docid(key)
    wishes = await services.store.write(lambda connection: given.wish(connection, number, pinned=pinned, on=asked.on))
    return ContextWished(key=str(key), pinned=number in wishes.pinned, muted=number in wishes.muted)
