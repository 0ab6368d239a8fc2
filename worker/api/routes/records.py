"""Pages and single records, in the shapes of the original's viewer."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worker.api.codec import Query, respond, whole_number
from worker.api.services import Services
from worker.contract import calls
from worker.contract.errors import NotFound
from worker.contract.records import Observation, Prompt, Record, RecordKey, RecordKind, Summary, items
from worker.store import records

_WORD = {RecordKind.OBSERVATION: "Observation", RecordKind.SUMMARY: "Session", RecordKind.PROMPT: "Prompt"}
_OBSERVATION = (
    "id", "memory_session_id", "project", "merged_into_project", "platform_source", "type", "title", "subtitle",
    "narrative", "text", "facts", "concepts", "files_read", "files_modified", "prompt_number", "created_at",
    "created_at_epoch",
)  # fmt: skip
_SUMMARY = (
    "id", "session_id", "platform_source", "request", "investigated", "learned", "completed", "next_steps", "project",
    "created_at", "created_at_epoch",
)  # fmt: skip
_PROMPT = (
    "id", "content_session_id", "project", "platform_source", "prompt_number", "prompt_text", "created_at",
    "created_at_epoch",
)  # fmt: skip


def routes(services: Services) -> list[Route]:
    """The routes of this topic."""

    async def page(request: Request, kind: RecordKind) -> Response:
        query = Query(request)
        limit = query.number("limit", default=20, low=1, high=100_000)
        limit, offset = min(limit, 100), query.number("offset", default=0)
        project, platform = query.text("project"), query.platform()
        found, more = await services.store.read(
            lambda connection: records.page(
                connection, kind, project=project, platform_source=platform, limit=limit, offset=offset
            )
        )
        items = [_item(record, content_id) for record, content_id in found]
        return respond({"items": items, "hasMore": more, "offset": offset, "limit": limit})

    async def one(request: Request, kind: RecordKind) -> Response:
        key = RecordKey(kind, whole_number(request.path_params["id"], "id", low=1, high=2**62))
        query = Query(request)
        found = (await services.store.read(lambda connection: records.by_keys(connection, [key]))).get(key)
        if found is None or not _in_scope(found, query.text("project"), query.platform()):
            raise NotFound(f"{_WORD[kind]} #{key.id} not found", field="id")
        return respond(found)

    def route(path: str, kind: RecordKind, *, single: bool) -> Route:
        async def endpoint(request: Request) -> Response:
            return await (one if single else page)(request, kind)

        return Route(path, endpoint, name=path)

    return [
        route(calls.OBSERVATIONS, RecordKind.OBSERVATION, single=False),
        route(calls.SUMMARIES, RecordKind.SUMMARY, single=False),
        route(calls.PROMPTS, RecordKind.PROMPT, single=False),
        route(calls.OBSERVATION, RecordKind.OBSERVATION, single=True),
        route(calls.SUMMARY, RecordKind.SUMMARY, single=True),
        route(calls.PROMPT, RecordKind.PROMPT, single=True),
    ]


def _item(record: Record, content_session_id: str) -> dict[str, Any]:
    columns = msgspec.structs.asdict(record) | {"session_id": content_session_id}
    match record:
        case Observation():
            for name in ("files_read", "files_modified"):
                columns[name] = _shortened(columns[name], record.project)
            return {name: columns[name] for name in _OBSERVATION}
        case Summary():
            return {name: columns[name] for name in _SUMMARY}
        case Prompt():
            return {name: columns[name] for name in _PROMPT}


def _shortened(files: str | None, project: str) -> str | None:
    """JSON list of paths, each cut after `/<last part of the project>/`."""
    marker = f"/{project.rsplit('/', 1)[-1]}/"
    if files is None or marker not in files:
        return files
    return msgspec.json.encode([path.rpartition(marker)[2] for path in items(files)]).decode()


def _in_scope(record: Record, project: str | None, platform: str | None) -> bool:
    merged = getattr(record, "merged_into_project", None)
    return (project is None or project in (record.project, merged)) and (
        platform is None or (record.platform_source or "claude") == platform
    )
