"""Rows by what names them: ids, sessions, files."""

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import Response

from worker.api import params, recalling
from worker.api.codec import UNREAD, Query, body, id_list, respond, text_list, whole_number
from worker.api.endpoint import Endpoint
from worker.api.params import Number, Texts
from worker.api.services import Services
from worker.contract import calls
from worker.contract.batches import FileObservations, ObservationBatch, SessionBatch, SessionRow
from worker.contract.errors import Invalid
from worker.contract.records import Observation, key_of
from worker.contract.search import Order
from worker.present.lean import lean_row, row
from worker.store import aliases, observations, session_rows
from worker.store.sessions import normalised_platform
from worker.store.tables import Connection

_PATHS = Texts(("path",), "the whole path of a file, as recorded; may be repeated", required=True)
_PROJECTS = Texts(("projects",), "any of these projects")
_FEW = Number(("limit",), "how many at most; above 100 counts as 100", default=15, low=1, high=100_000)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    def _names(projects: Iterable[str | None]) -> tuple[str, ...]:
        """The projects by all the names that they go by."""
        known = services.store.aliases
        return tuple(dict.fromkeys(name for one in projects if one for name in aliases.together(known, one)))

    async def batch(request: Request) -> Response:
        asked = await body(request, ObservationBatch)
        if asked.platformSource and asked.platform_source:
            request.scope[UNREAD].append("platform_source")
        ids = id_list(asked.ids)
        limit = None if asked.limit is None else whole_number(asked.limit, "limit", low=1)
        found = await services.store.read(lambda connection: observations.by_ids(connection, ids))
        chosen = _chosen(list(found.values()), asked, _names([asked.project]))[:limit]
        recalling.read(services, request, map(key_of, chosen))
        return respond([lean_row(record) if asked.lean else row(record) for record in chosen])

    async def sessions(request: Request) -> Response:
        ids = text_list((await body(request, SessionBatch)).memorySessionIds, "memorySessionIds", most=params.MOST)
        return respond(await services.store.read(lambda connection: session_rows.by_memory_ids(connection, ids)))

    async def by_file(request: Request) -> Response:
        query = Query(request)
        # Not read as comma text: a path may hold a comma.
        paths = tuple(path for path in request.query_params.getlist("path") if path.strip())
        if not paths or len(paths) > params.MOST // 10:
            raise Invalid(f"path must be given once to {params.MOST // 10} times", field="path")
        projects, platform, limit = _PROJECTS.of(query), params.PLATFORM.of(query), min(_FEW.of(query), 100)
        every = _names(projects)

        def look(connection: Connection) -> list[Observation]:
            return observations.of_files(connection, paths, projects=every, platform_source=platform, limit=limit)

        found = await services.store.read(look)
        recalling.of_files(services, request, map(key_of, found))
        return respond(FileObservations(observations=tuple(found), count=len(found)))

    return [
        Endpoint(
            method="POST", path=calls.BATCH, run=batch, summary="Observations in full; unknown ids are left out.",
            answers=(list[Observation], list[dict[str, object]]), body=ObservationBatch, reads=True,
            params=(params.WHO,),
        ),
        Endpoint(
            method="POST", path=calls.SESSIONS_BATCH, run=sessions, summary="Sessions by memory id, newest first.",
            answers=(list[SessionRow],), body=SessionBatch, reads=True,
        ),
        Endpoint(
            method="GET", path=calls.OBSERVATIONS_BY_FILE, run=by_file,
            summary="Observations of files, by whole path, newest first.", answers=(FileObservations,),
            params=(_PATHS, _PROJECTS, params.PLATFORM, _FEW, params.WHO),
        ),
    ]  # fmt: skip


def _chosen(found: list[Observation], asked: ObservationBatch, names: tuple[str, ...]) -> list[Observation]:
    """The observations in the order asked for, of the project and platform asked for."""
    order = asked.orderBy or Order.DATE_DESC.value
    if order not in ("date_desc", "date_asc"):
        raise Invalid("orderBy must be date_desc or date_asc", field="orderBy")
    source = asked.platformSource or asked.platform_source
    platform = normalised_platform(source) if source else None
    kept = [
        record
        for record in found
        if (not names or record.project in names or record.merged_into_project in names)
        and (not platform or (record.platform_source or "claude") == platform)
    ]
    return sorted(kept, key=lambda record: (record.created_at_epoch, record.id), reverse=order == "date_desc")
