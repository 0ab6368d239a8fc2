"""Pure: whole records without the columns that tell an agent nothing."""

from typing import Any

import msgspec

from worker.contract.records import Observation, items

_BOOKKEEPING = frozenset(
    ("content_hash", "relevance_count", "synced_at", "origin_device_id", "origin_local_id", "sync_rev", "agent_id")
)
_LISTS = ("facts", "concepts", "files_read", "files_modified")


def row(record: Observation) -> dict[str, Any]:
    """All columns, as the original answers."""
    return msgspec.structs.asdict(record)


def lean_row(record: Observation) -> dict[str, Any]:
    """What is not empty and not bookkeeping; lists as lists, not as JSON inside JSON."""
    columns = row(record) | {name: list(items(getattr(record, name))) for name in _LISTS}
    return {
        name: value for name, value in columns.items() if value not in (None, "", [], 0) and name not in _BOOKKEEPING
    }
