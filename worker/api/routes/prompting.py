"""What memory has to say to a prompt."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from worker.api import giving, recalling
from worker.api.codec import body, respond
from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls
from worker.contract.context_settings import MEASURED_MODELS
from worker.contract.records import RecordKind, key_of
from worker.contract.search import MOST_CHARS, SearchQuery
from worker.present import prompt_block
from worker.present.choosing import superseded
from worker.store import given, search_index
from worker.store.sessions import normalised_platform
from worker.store.tables import Connection

_MOST = 20


class Prompted(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt. limit: records at most. contentSessionId: the session, so that it is given nothing twice."""

    q: str = ""
    project: str | None = None
    limit: int | str | None = None
    platformSource: str | None = None
    contentSessionId: str | None = None


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What memory has to say; empty when nothing is near enough."""

    context: str = ""
    count: int = 0


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def semantic(request: Request) -> Response:
        return respond(await _remembered(services, request, await _prompted(request)))

    return [
        Endpoint(
            method="POST",
            path=calls.CONTEXT_SEMANTIC,
            run=semantic,
            answers=(Remembered,),
            body=Prompted,
            reads=True,
            summary="What memory has to say to a prompt.",
        )
    ]


async def _prompted(request: Request) -> Prompted:
    """The body, or the same names in the query string."""
    if await request.body():
        return await body(request, Prompted)
    names = Prompted.__struct_fields__
    return msgspec.convert(
        {name: request.query_params[name] for name in names if name in request.query_params}, Prompted
    )


async def _remembered(services: Services, request: Request, asked: Prompted) -> Remembered:
    settings = giving.settings(services)
    words = prompt_block.as_words(asked.q)[:MOST_CHARS]
    if len(asked.q.strip().encode(errors="replace")) < prompt_block.LEAST_BYTES or not words:
        return Remembered()
    scope = f"session:{asked.contentSessionId}"

    def look(connection: Connection) -> frozenset[int]:
        return given.given(connection, scope) | given.wishes(connection).muted

    numbers = await services.store.read(look)
    known = {key.id for key in map(search_index.key, numbers) if key.kind is RecordKind.OBSERVATION}
    most = _most(asked.limit, settings.semantic_limit)
    query = SearchQuery(
        text=words,
        kinds=(RecordKind.OBSERVATION,),
        project=asked.project or None,
        platform_source=normalised_platform(asked.platformSource) if asked.platformSource else None,
        limit=_MOST + len(known),
    )
    rows = await services.engine.search_rows(query)
    by_id = {record.id: record for record in rows.observations}
    found = ((hit, by_id[hit.id]) for hit in rows.hits if hit.id in by_id)
    measured = settings.embedding_model in MEASURED_MODELS
    known |= set(superseded(rows.observations))
    near = prompt_block.chosen(found, asked.q, known=known, most=most, measured=measured)
    text, records = prompt_block.block(near, settings.semantic_budget, services.zone)
    if not records:
        return Remembered()
    keys = [key_of(record) for record in records]
    recalling.read(services, request, keys)
    if asked.contentSessionId:
        await giving.note(services, [scope], list(map(search_index.docid, keys)))
    return Remembered(context=text, count=len(records))


def _most(asked: int | str | None, default: int) -> int:
    try:
        return min(_MOST, max(1, int(asked if asked is not None else default)))
    except ValueError:
        return default
