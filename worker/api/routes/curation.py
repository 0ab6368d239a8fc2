"""Records, and other rows that hold texts, taken away on purpose."""

import re

from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import FIRST_ID, LAST_ID, respond
from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls
from worker.contract.curation import Deleted
from worker.contract.errors import Invalid
from worker.contract.records import RecordKey, RecordKind
from worker.store import forget

_CANONICAL = re.compile(r"0|-?[1-9][0-9]{0,18}")


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def delete(request: Request, kind: RecordKind) -> Response:
        key = RecordKey(kind, _canonical(request.path_params["id"]))
        await services.store.write(lambda connection: forget.delete(connection, key))
        return respond(Deleted(success=True, id=str(key.id), kind=kind.value))

    def route(path: str, kind: RecordKind) -> Endpoint:
        return Endpoint(
            method="DELETE",
            path=path,
            run=lambda request: delete(request, kind),
            summary=f"Take the {kind.value} away for good; listeners of the stream are told.",
            answers=(Deleted,),
            writes=True,
        )

    async def delete_tool_use(request: Request) -> Response:
        row_id = _canonical(request.path_params["id"])
        await services.store.write(lambda connection: forget.delete_tool_use(connection, row_id))
        return respond(Deleted(success=True, id=str(row_id), kind="tool_use"))

    async def clear_session(request: Request) -> Response:
        row_id = _canonical(request.path_params["id"])
        project = await services.store.write(lambda connection: forget.clear_session(connection, row_id))
        tell = services.tell or services.broadcaster.send
        tell({"type": "session_changed", "sessionDbId": row_id, "project": project})
        return respond(Deleted(success=True, id=str(row_id), kind="session"))

    return [
        route(calls.OBSERVATION, RecordKind.OBSERVATION),
        route(calls.SUMMARY_ROW, RecordKind.SUMMARY),
        route(calls.PROMPT, RecordKind.PROMPT),
        Endpoint(
            method="DELETE", path=calls.TOOL_USE, run=delete_tool_use, answers=(Deleted,), writes=True,
            summary="Take what an agent did with a tool away for good, by the number of its row.",
        ),
        Endpoint(
            method="DELETE", path=calls.SESSION_TEXTS, run=clear_session, answers=(Deleted,), writes=True,
            summary="Take the texts of a session's own row (first prompt, title) away for good; its records stay.",
        ),
    ]  # fmt: skip


def _canonical(text: str) -> int:
    """A record number in the one form it has. Stricter than for reading: what is meant must be beyond doubt."""
    if _CANONICAL.fullmatch(text) and FIRST_ID <= int(text) <= LAST_ID:
        return int(text)
    raise Invalid(f"id must be a record number such as 118, not {text[:40]!r}", field="id")
