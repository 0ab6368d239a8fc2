"""The settings: all of them with their values, and changes to them."""

import asyncio
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import body, respond
from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls, settings_file
from worker.contract.errors import Conflict, Forbidden
from worker.contract.settings_file import Changed
from worker.contract.upkeep import DependencyHealth, SettingsSaved


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""
    # Read, change, write: one at a time.
    turn = asyncio.Lock()

    async def read(request: Request) -> Response:
        return respond(await asyncio.to_thread(settings_file.shown, services.data_dir, services.environ))

    async def change(request: Request) -> Response:
        _refuse_other_pages(request, services.port)
        changes = await body(request, dict[str, object])
        async with turn:
            done = await asyncio.to_thread(settings_file.change, services.data_dir, changes, services.environ)
        return respond(SettingsSaved(success=True, message=_told(done), changed=done.keys, ignored=done.ignored))

    async def dependencies(request: Request) -> Response:
        return respond(services.dependencies)

    return [
        Endpoint(
            method="GET", path=calls.SETTINGS, run=read, answers=(dict[str, object],), errors=(Conflict,), local=True,
            summary="Every setting with its value, secrets masked; unknown keys of the file as they are.",
        ),
        Endpoint(
            method="POST", path=calls.SETTINGS, run=change, answers=(SettingsSaved,), body=dict[str, object],
            errors=(Conflict,), local=True,
            summary="New values for some keys; a masked secret sent back unchanged stays what it is.",
        ),
        Endpoint(
            method="GET", path=calls.DEPENDENCIES, run=dependencies, answers=(DependencyHealth,),
            summary="Programs that are needed and were not found.",
        ),
    ]  # fmt: skip


def _told(done: Changed) -> str:
    parts = ["Settings saved" if done.keys else "Nothing to change"]
    if done.restart:
        parts.append(f"restart the worker for {', '.join(done.restart)}")
    if done.overruled:
        parts.append(f"set in the environment, which goes first: {', '.join(done.overruled)}")
    if done.ignored:
        parts.append(f"no settings, left out: {', '.join(key[:80] for key in done.ignored[:20])}")
    return "; ".join(parts)


def _refuse_other_pages(request: Request, port: int) -> None:
    """Errors: ``Forbidden`` for a page that another program of this machine serves."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).port != port:
        raise Forbidden("pages of other programs may not change settings", field="Origin")
