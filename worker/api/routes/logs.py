"""What the worker wrote into its log."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from worker import log
from worker.api.codec import Query, respond
from worker.api.endpoint import Endpoint
from worker.api.params import Number
from worker.api.services import Services
from worker.contract import calls, log_files
from worker.contract.upkeep import Logs, LogsCleared

_LINES = Number(("lines",), "how many of the latest lines", default=1000, low=1, high=10_000)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""
    folder = services.data_dir / "logs"

    async def logs(request: Request) -> Response:
        most = _LINES.of(Query(request))
        tail = await asyncio.to_thread(log_files.tail, folder, most, services.clock())
        told = {"totalLines": tail.total, "returnedLines": len(tail.lines)} if tail.exists else {}
        return respond(Logs(logs="\n".join(tail.lines), path=str(tail.path), exists=tail.exists, **told))

    async def clear(request: Request) -> Response:
        count, newest = await asyncio.to_thread(log.clear, folder)
        message = f"{count} log file(s) emptied" if count else "there is no log yet"
        return respond(LogsCleared(success=True, message=message, path=str(newest or folder)))

    return [
        Endpoint(
            method="GET", path=calls.LOGS, run=logs, answers=(Logs,), params=(_LINES,), local=True,
            summary="The latest lines of the log, oldest first, over as many days as it takes.",
        ),
        Endpoint(
            method="POST", path=calls.LOGS_CLEAR, run=clear, answers=(LogsCleared,), local=True,
            summary="Empty the log of every day.",
        ),
    ]  # fmt: skip
