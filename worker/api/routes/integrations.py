"""What stands beside the worker: vector index, cloud, MCP entry; and how all of it is used."""

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import Query, body, respond
from worker.api.endpoint import Endpoint
from worker.api.params import Choice, Flag
from worker.api.services import Services
from worker.contract import calls
from worker.contract.errors import Conflict
from worker.contract.index import IndexState
from worker.contract.present import Text, text
from worker.contract.upkeep import ChromaStatus, McpStatus, McpToggle, McpToggled, SyncStatus
from worker.contract.when import iso_utc
from worker.present.instructions import OPERATIONS, TOPICS

_DEEP = Flag(("deep",), "ask the index itself, which takes longer")
_TOPIC = Choice(("topic",), "what to read about", {name: name for name in TOPICS}, "all")
_OPERATION = Choice(("operation",), "one operation instead of a topic", {name: name for name in OPERATIONS}, "")


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""
    entry = services.data_dir / ".mcp.json"

    async def chroma(request: Request) -> Response:
        now, deep = iso_utc(services.now_ms()), _DEEP.of(Query(request))
        found = await services.index_status()
        connected = found.chroma == "ready"
        status = "disabled" if found.state is IndexState.OFF else "healthy" if connected else "unhealthy"
        said = found.reason or found.chroma or found.state
        return respond(ChromaStatus(status=status, connected=connected, timestamp=now, details=said, deep=deep))

    async def sync(request: Request) -> Response:
        return respond(SyncStatus())

    async def mcp(request: Request) -> Response:
        return respond(McpStatus(enabled=await asyncio.to_thread(entry.is_file)))

    async def toggle(request: Request) -> Response:
        asked = await body(request, McpToggle)
        await asyncio.to_thread(_switch, entry, asked.enabled)
        return respond(McpToggled(success=True, enabled=asked.enabled))

    async def instructions(request: Request) -> Response:
        query = Query(request)
        topic, operation = _TOPIC.of(query), _OPERATION.of(query)
        return respond(text(OPERATIONS[operation] if operation else TOPICS[topic]))

    return [
        Endpoint(
            method="GET", path=calls.CHROMA, run=chroma, answers=(ChromaStatus,), params=(_DEEP,),
            summary="Whether the vector index is there.",
        ),
        Endpoint(method="GET", path=calls.SYNC, run=sync, answers=(SyncStatus,), summary="Whether a cloud is synced."),
        Endpoint(
            method="GET", path=calls.MCP, run=mcp, answers=(McpStatus,),
            summary="Whether the data directory's `.mcp.json` is switched on.",
        ),
        Endpoint(
            method="POST", path=calls.MCP_TOGGLE, run=toggle, answers=(McpToggled,), body=McpToggle, errors=(Conflict,),
            local=True, summary="Switch it: `.mcp.json` is renamed to `.mcp.json.disabled` and back.",
        ),
        Endpoint(
            method="GET", path=calls.INSTRUCTIONS, run=instructions, answers=(Text,), params=(_TOPIC, _OPERATION),
            summary="How to use the memory, as text for an agent.",
        ),
    ]  # fmt: skip


def _switch(entry: Path, enabled: bool) -> None:
    """Errors: ``Conflict`` when there is nothing to switch."""
    off = entry.with_name(f"{entry.name}.disabled")
    source, target = (off, entry) if enabled else (entry, off)
    if target.is_file() and not source.exists():
        return
    try:
        source.rename(target)
    except FileNotFoundError as error:
        raise Conflict(f"there is no {entry} to switch") from error
    except OSError as error:
        raise Conflict(f"{source} cannot be renamed: {error.strerror or error}") from error
