"""Pages and single records, in the shapes of the original's viewer."""

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from worker.api import params, recalling
from worker.api.codec import FIRST_ID, LAST_ID, Query, respond, whole_number
from worker.api.endpoint import Endpoint
from worker.api.params import Flag, Number, Texts
from worker.api.services import Services
from worker.contract import calls
from worker.contract.errors import Invalid, NotFound
from worker.contract.recalls import ObservationRead, PromptRead, Recalled, Recalls, SummaryRead
from worker.contract.records import Observation, Prompt, Record, RecordKey, RecordKind, Summary, items, parse_key
from worker.contract.viewer import ObservationItem, Page, PromptItem, SummaryItem
from worker.store import aliases, recalls, records, search_index
from worker.store.search_index import docid

_WORD = {RecordKind.OBSERVATION: "Observation", RecordKind.SUMMARY: "Session", RecordKind.PROMPT: "Prompt"}
_ITEM: dict[RecordKind, type[ObservationItem] | type[SummaryItem] | type[PromptItem]] = {
    RecordKind.OBSERVATION: ObservationItem,
    RecordKind.SUMMARY: SummaryItem,
    RecordKind.PROMPT: PromptItem,
}
_READ: dict[RecordKind, type[ObservationRead] | type[SummaryRead] | type[PromptRead]] = {
    RecordKind.OBSERVATION: ObservationRead,
    RecordKind.SUMMARY: SummaryRead,
    RecordKind.PROMPT: PromptRead,
}
_KEYS = Texts(("keys",), "records: 118, S14, P40; a hundred at most", required=True)
_RECALLED = Flag(("recalled",), "tell too how often the record was given back, which the original does not")
_SCOPE = (params.PROJECT, params.PLATFORM)
_LIMIT = Number(("limit",), "how many at most; above 100 counts as 100", default=20, low=1, high=100_000)
_OFFSET = Number(("offset",), "how many to pass over", default=0)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def page(request: Request, kind: RecordKind) -> Response:
        query = Query(request)
        limit, offset = min(_LIMIT.of(query), 100), _OFFSET.of(query)
        project, platform = params.PROJECT.of(query), params.PLATFORM.of(query)
        found, more = await services.store.read(
            lambda connection: records.page(
                connection, kind, project=project, platform_source=platform, limit=limit, offset=offset
            )
        )
        shown = tuple(_item(record, kind, content_id) for record, content_id in found)
        return respond(Page(items=shown, hasMore=more, offset=offset, limit=limit))

    def _names(query: Query) -> Sequence[str] | None:
        project = params.PROJECT.of(query)
        return None if project is None else aliases.together(services.store.aliases, project)

    async def one(request: Request, kind: RecordKind) -> Response:
        key = RecordKey(kind, whole_number(request.path_params["id"], "id", low=FIRST_ID, high=LAST_ID))
        query = Query(request)
        found, counts = await services.store.read(
            lambda connection: (records.by_keys(connection, [key]).get(key), recalls.of(connection, [docid(key)]))
        )
        if found is None or not _in_scope(found, _names(query), params.PLATFORM.of(query)):
            raise NotFound(f"{_WORD[kind]} #{key.id} not found", field="id")
        recalling.read(services, request, [key])
        if not _RECALLED.of(query):
            return respond(found)
        recalled = counts.get(docid(key), Recalled())
        return respond(_READ[kind](**msgspec.structs.asdict(found), recalled=recalled))

    async def recalled(request: Request) -> Response:
        keys = [_key(text) for text in _KEYS.of(Query(request))]
        counts = await services.store.read(lambda connection: recalls.of(connection, [docid(key) for key in keys]))
        return respond(Recalls(recalls={str(search_index.key(number)): one for number, one in counts.items()}))

    def listed(path: str, kind: RecordKind, answer: Any) -> Endpoint:
        return Endpoint(
            method="GET",
            path=path,
            run=lambda request: page(request, kind),
            summary="A page of the list, newest first.",
            answers=(answer,),
            params=(*_SCOPE, _LIMIT, _OFFSET),
        )

    def single(path: str, kind: RecordKind, answers: tuple[Any, ...]) -> Endpoint:
        return Endpoint(
            method="GET",
            path=path,
            run=lambda request: one(request, kind),
            summary=f"One {kind.value} in full.",
            answers=answers,
            params=(*_SCOPE, _RECALLED, params.WHO),
        )

    return [
        listed(calls.OBSERVATIONS, RecordKind.OBSERVATION, Page[ObservationItem]),
        listed(calls.SUMMARIES, RecordKind.SUMMARY, Page[SummaryItem]),
        listed(calls.PROMPTS, RecordKind.PROMPT, Page[PromptItem]),
        single(calls.OBSERVATION, RecordKind.OBSERVATION, (Observation, ObservationRead)),
        single(calls.SUMMARY, RecordKind.SUMMARY, (Summary, SummaryRead)),
        single(calls.PROMPT, RecordKind.PROMPT, (Prompt, PromptRead)),
        Endpoint(
            method="GET",
            path=calls.RECALLS,
            run=recalled,
            summary="How often records were given back; those that never were are left out.",
            answers=(Recalls,),
            params=(_KEYS,),
        ),
    ]


def _key(text: str) -> RecordKey:
    key = parse_key(text)
    if key is None:
        raise Invalid(f"keys must be 118, S14 or P40, not {text[:40]!r}", field="keys")
    return key


def _item(record: Record, kind: RecordKind, content_session_id: str) -> ObservationItem | SummaryItem | PromptItem:
    columns = msgspec.structs.asdict(record) | {"session_id": content_session_id}
    if kind is RecordKind.OBSERVATION:
        for name in ("files_read", "files_modified"):
            columns[name] = _shortened(columns[name], columns["project"])
    item = _ITEM[kind]
    return item(**{name: columns[name] for name in item.__struct_fields__})


def _shortened(files: str | None, project: str) -> str | None:
    """JSON list of paths, each cut after `/<last part of the project>/`."""
    marker = f"/{project.rsplit('/', 1)[-1]}/"
    if files is None or marker not in files:
        return files
    return msgspec.json.encode([path.rpartition(marker)[2] for path in items(files)]).decode()


def _in_scope(record: Record, names: Sequence[str] | None, platform: str | None) -> bool:
    merged = getattr(record, "merged_into_project", None)
    return (names is None or record.project in names or merged in names) and (
        platform is None or (record.platform_source or "claude") == platform
    )
