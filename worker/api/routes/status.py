"""How the worker is and what it holds."""

import os
import sys

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from worker.api import params
from worker.api.codec import Query, respond
from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls
from worker.contract.status import PROGRAM, Health, Projects, Readiness, Stats, Version, WorkerStats
from worker.contract.upkeep import Done, PlainHealth, ProcessingStatus
from worker.store import sessions, stats


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def health(request: Request) -> Response:
        open_now = services.opened is not None
        return respond(
            Health(
                status="degraded" if services.trouble else "read-only" if services.read_only else "ok",
                program=PROGRAM,
                uptime=round(services.clock() - services.started, 1),
                pid=os.getpid(),
                initialized=open_now,
                mcpReady=open_now,
                workerPath=sys.argv[0],
                platform=sys.platform,
                dataDir=str(services.data_dir),
                ai=_observer(services),
                dependencies=msgspec.to_builtins(services.dependencies),
            )
        )

    async def plain_health(request: Request) -> Response:
        active = await services.store.read(stats.active_sessions) if services.opened else 0
        return respond(
            PlainHealth(status="ok", timestamp=services.now_ms(), activeSessions=active, pid=os.getpid()),
        )

    async def alive(request: Request) -> Response:
        return respond(Done("ok"))

    async def readiness(request: Request) -> Response:
        if services.opened is None:
            why = services.failure or "the database is being opened"
            return respond(Readiness(status="initializing", mcpReady=False, message=why), 503)
        return respond(Readiness(status="ready"))

    async def version(request: Request) -> Response:
        return respond(Version(services.version))

    async def statistics(request: Request) -> Response:
        path = services.store.path
        database, active = await services.store.read(
            lambda connection: (stats.database(connection, path), stats.active_sessions(connection))
        )
        worker = WorkerStats(
            version=services.version,
            uptime=round(services.clock() - services.started, 1),
            activeSessions=active,
            sseClients=services.broadcaster.listeners,
            port=services.port,
        )
        return respond(Stats(worker=worker, database=database))

    async def projects(request: Request) -> Response:
        platform = params.PLATFORM.of(Query(request))
        return respond(await services.store.read(lambda connection: sessions.projects(connection, platform)))

    async def processing(request: Request) -> Response:
        return respond(await services.processing())

    return [
        Endpoint(method="GET", path=calls.HEALTH, run=health, summary="Who answers, and how it is.", answers=(Health,)),
        Endpoint(
            method="GET", path=calls.READINESS, run=readiness, summary="Whether requests are served.",
            answers=(Readiness,), other={503: Readiness},
        ),
        Endpoint(method="GET", path=calls.VERSION, run=version, summary="The worker's version.", answers=(Version,)),
        Endpoint(
            method="GET", path=calls.PLAIN_HEALTH, run=plain_health, summary="Whether the process answers.",
            answers=(PlainHealth,),
        ),
        Endpoint(method="GET", path=calls.ALIVE, run=alive, summary="Whether the process answers.", answers=(Done,)),
        Endpoint(method="GET", path=calls.STATS, run=statistics, summary="Sizes and counts.", answers=(Stats,)),
        Endpoint(
            method="GET", path=calls.PROJECTS, run=projects, summary="Projects, most recently used first.",
            answers=(Projects,), params=(params.PLATFORM,),
        ),
        Endpoint(
            method="GET", path=calls.PROCESSING, run=processing, summary="What waits to become a memory.",
            answers=(ProcessingStatus,),
        ),
    ]  # fmt: skip


def _observer(services: Services) -> dict[str, object]:
    """Who makes memories of what is captured, in the original's words; state and reason are our own."""
    known = {"authMethod": "none", "lastInteraction": None}
    if services.observer is None:
        return {"provider": "none", **known}
    status = services.observer.status
    return {"provider": status.provider, **known, "state": status.state, "reason": status.reason}
