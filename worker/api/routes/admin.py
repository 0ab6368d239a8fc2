"""The worker's end, its restart, and what ails it."""

import asyncio
import os
import shutil

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import respond
from worker.api.endpoint import Endpoint
from worker.api.params import Text
from worker.api.services import Services
from worker.contract import calls, settings_file
from worker.contract.errors import Conflict, MemError
from worker.contract.upkeep import (
    Check,
    Doctor,
    DoctorHealth,
    Done,
    Restarting,
    Supervised,
    Supervisor,
)
from worker.contract.when import iso_utc
from worker.store import checkup

_LITTLE_BYTES = 500 * 2**20
_REASON = Text(("reason",), "why, as the original's clients say it; it changes nothing")


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def shutdown(request: Request) -> Response:
        response = respond(Done("shutting_down"))
        response.background = BackgroundTask(stop)
        return response

    async def stop() -> None:
        # A coroutine stays on the loop's thread, to which the streams belong.
        services.stop()

    async def restart(request: Request) -> Response:
        if services.restart is None:
            raise Conflict("whoever started this worker starts the next one")
        where = await asyncio.to_thread(services.restart)
        response = respond(Restarting("restarting", url=where))
        response.background = BackgroundTask(stop)
        return response

    async def doctor(request: Request) -> Response:
        started = iso_utc(int(services.started * 1000))
        myself = Supervised(id="worker", pid=os.getpid(), type="worker", status="alive", startedAt=started)
        uptime = _span(services.clock() - services.started)
        return respond(
            Doctor(
                supervisor=Supervisor(running=True, pid=os.getpid(), uptime=uptime),
                processes=(myself,),
                health=DoctorHealth(deadProcessPids=(), envClean=True, dependencies=services.dependencies),
                checks=(
                    *await _memory(services),
                    await asyncio.to_thread(_disk, services),
                    await _settings(services),
                ),
            )
        )

    return [
        Endpoint(
            method="POST", path=calls.SHUTDOWN, run=shutdown, answers=(Done,), params=(_REASON,), local=True,
            summary="Finish what is under way and end.",
        ),
        Endpoint(
            method="POST", path=calls.RESTART, run=restart, answers=(Restarting,), local=True,
            errors=(Conflict,),
            summary="End, and start anew where the settings say by now; not if nothing can start there.",
        ),
        Endpoint(
            method="GET", path=calls.DOCTOR, run=doctor, answers=(Doctor,), local=True,
            summary="Whether database, index, disk and settings are in order.",
        ),
    ]  # fmt: skip


async def _memory(services: Services) -> list[Check]:
    """Errors are findings here: whoever asks wants to know them all."""
    found = []
    for name, look in (("database", checkup.integrity), ("index", checkup.completeness)):
        try:
            found.append(await services.store.read(look))
        except MemError as error:
            found.append(Check(name=name, ok=False, message=error.message))
    if services.opened is not None:
        found.append(checkup.fulltext(there=services.store.fulltext))
    return found


def _disk(services: Services) -> Check:
    try:
        free = shutil.disk_usage(services.data_dir).free
    except OSError as error:
        return Check(name="disk", ok=False, message=f"{services.data_dir}: {error.strerror or error}")
    return Check(name="disk", ok=free >= _LITTLE_BYTES, message=f"{free // 2**20} MiB free for {services.data_dir}")


async def _settings(services: Services) -> Check:
    try:
        await asyncio.to_thread(settings_file.shown, services.data_dir, services.environ)
    except MemError as error:
        return Check(name="settings", ok=False, message=error.message)
    return Check(name="settings", ok=True, message="readable")


def _span(seconds: float) -> str:
    """`1h 4m`, `4m`, `12s`."""
    whole = max(0, int(seconds))
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}h {minutes}m" if hours else f"{minutes}m" if minutes else f"{whole}s"
