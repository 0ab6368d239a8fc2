"""Sessions as people look for them, and what each holds."""

from starlette.requests import Request
from starlette.responses import Response

from worker.api import params
from worker.api.codec import Query, respond
from worker.api.endpoint import Endpoint
from worker.api.params import Number
from worker.api.services import Services
from worker.contract import calls
from worker.contract.errors import NotFound
from worker.contract.search import Entry
from worker.contract.sessions import SessionLine, SessionPage, SessionQuery, SessionRecords
from worker.store import session_list
from worker.store.tables import Connection

_LIMIT = Number(("limit",), "how many at most", default=50, low=1, high=200)
_RECORDS = Number(("limit",), "records at most", default=params.MOST, low=1, high=params.MOST)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def page(request: Request) -> Response:
        query = Query(request)
        asked = SessionQuery(
            project=params.PROJECT.of(query),
            platform_source=params.PLATFORM.of(query),
            since_epoch_ms=params.SINCE.of(query),
            until_epoch_ms=params.UNTIL.of(query),
            as_of_epoch_ms=params.AS_OF.of(query),
            limit=_LIMIT.of(query),
            offset=params.OFFSET.of(query),
        )
        lines, total = await services.store.read(lambda connection: session_list.page(connection, asked))
        return respond(SessionPage(sessions=tuple(lines), total=total, offset=asked.offset))

    async def one(request: Request) -> Response:
        query, name = Query(request), request.path_params["session"]
        limit, offset, as_of = _RECORDS.of(query), params.OFFSET.of(query), params.AS_OF.of(query)

        def work(connection: Connection) -> tuple[SessionLine, list[Entry]]:
            line = session_list.one(connection, name, as_of)
            if line is None:
                then = "" if as_of is None else " that had begun by then"
                raise NotFound(f"there is no session {name[:80]}{then}", field="session")
            return line, session_list.entries(connection, line, limit=limit, offset=offset, as_of_epoch_ms=as_of)

        line, entries = await services.store.read(work)
        total = line.prompts + line.observations + line.summaries
        return respond(SessionRecords(session=line, entries=tuple(entries), total=total, offset=offset))

    return [
        Endpoint(
            method="GET", path=calls.SESSIONS, run=page, answers=(SessionPage,),
            params=(params.PROJECT, params.PLATFORM, params.SINCE, params.UNTIL, params.AS_OF, _LIMIT, params.OFFSET),
            summary="A page of sessions with what they came to, the last started first.",
        ),
        Endpoint(
            method="GET", path=calls.SESSION, run=one, answers=(SessionRecords,),
            params=(_RECORDS, params.OFFSET, params.AS_OF),
            summary="A session by the id of its row or either of its own ids, and its records, oldest first.",
            errors=(NotFound,),
        ),
    ]  # fmt: skip
