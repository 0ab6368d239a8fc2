"""How the worker is and what it holds; and its end."""

import os
import sys

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worker.api.codec import Query, respond
from worker.api.services import Services
from worker.contract import calls
from worker.contract.status import PROGRAM, Health, Readiness, Stats, Version, WorkerStats
from worker.store import sessions, stats


def routes(services: Services) -> list[Route]:
    """The routes of this topic."""

    async def health(request: Request) -> Response:
        open_now = services.opened is not None
        return respond(
            Health(
                status="degraded" if services.failure else "ok",
                program=PROGRAM,
                uptime=round(services.clock() - services.started, 1),
                pid=os.getpid(),
                initialized=open_now,
                mcpReady=open_now,
                workerPath=sys.argv[0],
                platform=sys.platform,
                dataDir=str(services.data_dir),
                ai={"provider": "none", "authMethod": "none", "lastInteraction": None},
                dependencies={"degraded": False, "statuses": []},
            )
        )

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
        platform = Query(request).platform()
        return respond(await services.store.read(lambda connection: sessions.projects(connection, platform)))

    async def shutdown(request: Request) -> Response:
        response = respond({"status": "shutting_down"})
        response.background = BackgroundTask(stop)
        return response

    async def stop() -> None:
        # A coroutine stays on the loop's thread, to which the streams belong.
        services.stop()

    return [
        Route(calls.HEALTH, health),
        Route(calls.READINESS, readiness),
        Route(calls.VERSION, version),
        Route(calls.STATS, statistics),
        Route(calls.PROJECTS, projects),
        Route(calls.SHUTDOWN, shutdown, methods=["POST"]),
    ]
