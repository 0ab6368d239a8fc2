"""How much is held."""

import sqlite3
from pathlib import Path

from worker.contract.status import DatabaseStats
from worker.store.wal import wal_bytes


def database(connection: sqlite3.Connection, path: Path) -> DatabaseStats:
    """Counts of the main tables and the bytes of the file with its write-ahead log."""
    counts = {
        table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("observations", "sdk_sessions", "session_summaries", "user_prompts")
    }
    first = connection.execute("SELECT created_at FROM observations ORDER BY created_at_epoch, id LIMIT 1").fetchone()
    return DatabaseStats(
        path=str(path),
        size=path.stat().st_size + wal_bytes(path),
        observations=counts["observations"],
        sessions=counts["sdk_sessions"],
        summaries=counts["session_summaries"],
        prompts=counts["user_prompts"],
        firstObservationAt=None if first is None else first[0],
    )


def active_sessions(connection: sqlite3.Connection) -> int:
    """Sessions that were started and not completed."""
    count: int = connection.execute("SELECT count(*) FROM sdk_sessions WHERE status = 'active'").fetchone()[0]
    return count
