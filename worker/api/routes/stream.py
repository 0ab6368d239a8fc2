"""The live stream."""

from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from worker.api.endpoint import Endpoint
from worker.api.params import Param
from worker.api.services import Services
from worker.contract import calls
from worker.store import sessions

_LAST = Param((), "the `id` of the last event that came: what came since is sent again", headers=("Last-Event-ID",))

_OF_OTHERS = 0
"""An id that was never ours: whoever names one has seen something, and is told to read again."""


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def stream(request: Request) -> Response:
        catalogue = await services.store.read(sessions.projects)
        queue = await services.processing()
        greeting: list[dict[str, Any]] = [
            {"type": "connected"},
            {
                "type": "initial_load",
                "projects": catalogue.projects,
                "sources": catalogue.sources,
                "projectsBySource": catalogue.projectsBySource,
            },
            {"type": "processing_status", "isProcessing": queue.isProcessing, "queueDepth": queue.queueDepth},
        ]
        last = request.headers.get(_LAST.headers[0], "")
        known = last.isascii() and last.isdigit() and len(last) < 19
        after = int(last) if known else _OF_OTHERS if last else None

        async def frames() -> AsyncIterator[bytes]:
            with services.broadcaster.listen(greeting, after) as coming:
                async for frame in coming:
                    yield frame

        headers = {"Cache-Control": "no-cache", "Connection": "keep-alive", "X-Accel-Buffering": "no"}
        if request.method == "HEAD":
            return Response(media_type="text/event-stream", headers=headers)
        return StreamingResponse(frames(), media_type="text/event-stream", headers=headers)

    return [
        Endpoint(
            method="GET",
            path=calls.STREAM,
            run=stream,
            summary="What changes, as server-sent events.",
            answers=(str,),
            params=(_LAST,),
            media="text/event-stream",
        )
    ]
