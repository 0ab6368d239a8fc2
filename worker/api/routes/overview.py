"""How everything is, in one answer."""

import asyncio
import contextlib
import shutil
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from worker.api.access import TRUSTED
from worker.api.codec import respond
from worker.api.endpoint import Endpoint
from worker.api.peer import is_of_this_machine
from worker.api.services import Services
from worker.api.trouble import trouble
from worker.contract import calls, hook_times, log_files, spool
from worker.contract.hook_settings import HookSettings
from worker.contract.overview import Disk, LastRecord, LogTrouble, Overview
from worker.contract.records import RecordKind
from worker.contract.search import Order, SearchQuery
from worker.store import filters, listing, search_index, spend
from worker.store.tables import Connection
from worker.store.wal import wal_bytes

_LOG_LINES = 2_000
_DAY_MS = 86_400_000


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def overview(request: Request) -> Response:
        known = TRUSTED in request.scope
        near = known or is_of_this_machine(request.client and request.client.host, request.headers)
        records, last, unindexed = await services.store.read(_held)
        spent = await services.store.read(lambda connection: spend.of_day(connection, services.now_ms()))
        spooled, set_aside = await asyncio.to_thread(_spooled, services.data_dir)
        return respond(
            Overview(
                version=services.version,
                uptime_s=round(services.clock() - services.started, 1),
                stream_clients=services.broadcaster.listeners,
                records=records,
                unindexed=unindexed,
                queue=await services.processing(),
                index=await services.index_status(),
                disk=await asyncio.to_thread(_disk, services.data_dir, services.store.path),
                log=await asyncio.to_thread(_log, services, with_lines=near),
                last=last,
                spent_today_tokens=spent,
                spooled=spooled,
                set_aside=set_aside,
                hooks=await asyncio.to_thread(_hooks, services),
            )
        )

    return [
        Endpoint(
            method="GET",
            path=calls.OVERVIEW,
            run=overview,
            answers=(Overview,),
            summary="What was stored last, what waits, what went wrong, what is used of the disk.",
        )
    ]


def _held(connection: Connection) -> tuple[dict[RecordKind, int], LastRecord | None, int]:
    everything = filters.condition(SearchQuery())
    keys = listing.listing(connection, everything, order=Order.DATE_DESC, limit=1, offset=0)
    entries = listing.entries(connection, keys)
    last = [
        LastRecord(key=str(key), project=entry.project, created_at_epoch=entry.created_at_epoch)
        for key, entry in entries.items()
    ]
    return listing.count(connection, "", everything), next(iter(last), None), search_index.queued(connection)


def _disk(data_dir: Path, database: Path) -> Disk:
    log_bytes = wal_bytes(database)
    free: int | None = None
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(data_dir).free
    return Disk(
        data_dir=str(data_dir),
        database_bytes=_size(database) + log_bytes,
        vectors_bytes=sum(map(_size, (data_dir / "vectors").rglob("*"))),
        free_bytes=free,
        wal_bytes=log_bytes,
        logs_bytes=sum(map(_size, (data_dir / "logs").glob("*"))),
    )


def _spooled(data_dir: Path) -> tuple[int, int]:
    """How many events of hooks wait on disk, and how many were set aside."""
    try:
        return len(spool.waiting(str(data_dir))), spool.set_aside_count(str(data_dir))
    except OSError:
        return 0, 0


def _hooks(services: Services) -> tuple[hook_times.HookTimes, ...]:
    of = HookSettings({**services.environ, "CLAUDE_MEM_DATA_DIR": str(services.data_dir)})
    return hook_times.read(services.data_dir, services.now_ms(), of.timeout_s)


def _size(file: Path) -> int:
    """Bytes of a file; 0 for a folder and for what went away meanwhile."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0


def _log(services: Services, *, with_lines: bool) -> LogTrouble:
    since = services.now_ms() - _DAY_MS
    try:
        lines = log_files.tail(services.data_dir / "logs", _LOG_LINES, services.clock()).lines
    except OSError:
        lines = ()
    return trouble(lines, since, with_lines=with_lines)
