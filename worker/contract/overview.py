"""How everything is, in one answer: what was stored last, what waits, what is wrong, what is used of the disk."""

import msgspec

from worker.contract.hook_times import HookTimes
from worker.contract.index import IndexStatus
from worker.contract.records import RecordKind
from worker.contract.upkeep import ProcessingStatus


class LastRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The newest record. key: `118`, `S14`, `P40`."""

    key: str
    project: str
    created_at_epoch: int


class Disk(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory takes, and what is left. database_bytes: with its write-ahead log, wal_bytes: that alone.

    logs_bytes: of all log files. free_bytes: None if unknown.
    """

    data_dir: str
    database_bytes: int
    vectors_bytes: int
    free_bytes: int | None = None
    wal_bytes: int = 0
    logs_bytes: int = 0


class LogTrouble(msgspec.Struct, frozen=True, kw_only=True):
    """Errors and warnings in the log since a moment, as far as its last two thousand lines reach.

    lines: the last twenty of them, oldest first; empty for those who ask from another machine without the worker's
    token. The log never holds what a memory or a question says.
    """

    errors: int = 0
    warnings: int = 0
    since_epoch_ms: int
    lines: tuple[str, ...] = ()


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/overview``. records: how many of each kind. unindexed: how many of them wait to be found by words.

    queue: what waits to become a memory. index: by meaning. stream_clients: who follows the live events.
    spent_today_tokens: what models were asked for memories since midnight UTC. spooled, set_aside: what hooks wrote to
    disk because nobody answered, and what of that could not be taken. hooks: how long they took today, event by event.
    """

    version: str
    uptime_s: float
    stream_clients: int
    records: dict[RecordKind, int]
    unindexed: int
    queue: ProcessingStatus
    index: IndexStatus
    disk: Disk
    log: LogTrouble
    last: LastRecord | None = None
    spent_today_tokens: int = 0
    spooled: int = 0
    set_aside: int = 0
    hooks: tuple[HookTimes, ...] = ()
