"""What the index by meaning has yet to do: records that were added, changed or deleted and are not written there.

`py_pending` gets a record in the very transaction that commits it, so that nothing between that and its vectors can
lose it. `stored` tells that its vectors are kept and Chroma alone lacks them. A record that failed waits until
`not_before` (epoch ms) and keeps the reason. `py_watermarks` has, per project and kind, the highest record id such
that everything at or below it is written or pending.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from worker.store import vectors
from worker.store.rows import placeholders

TABLES = {
    "py_pending": """CREATE TABLE py_pending (
        docid INTEGER PRIMARY KEY, stored INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
        not_before INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '')""",
    "py_watermarks": """CREATE TABLE py_watermarks (
        project TEXT NOT NULL, kind INTEGER NOT NULL, mark INTEGER NOT NULL,
        PRIMARY KEY (project, kind)) WITHOUT ROWID""",
}
MODEL = "vectors_model"
"""The note of the model that vectors are made with."""

_GONE = """NOT EXISTS (SELECT 1 FROM py_docs d WHERE d.docid = v.docid)
    AND NOT EXISTS (SELECT 1 FROM py_queue q WHERE q.docid = v.docid)"""
# What is queued may be there: the index by words may be in the making.

_AGAIN_MS = 2_000
_LATEST_MS = 600_000
_HOPELESS = 4
_ANEW = "ON CONFLICT (docid) DO UPDATE SET stored = 0, tries = 0, not_before = 0, reason = ''"


def note(connection: sqlite3.Connection, numbers: Sequence[int], gone: Sequence[int]) -> None:
    """Records of the index by words were made anew; ``gone`` are no longer there.

    What has vectors of its very seal is not queued: an index by words that is built again embeds nothing.
    """
    if numbers:
        connection.execute(
            f"""INSERT INTO py_pending (docid) SELECT d.docid FROM py_docs d
                WHERE d.docid IN ({placeholders(numbers)}) AND NOT EXISTS (
                    SELECT 1 FROM py_vectors v WHERE v.docid = d.docid AND v.seal = d.seal
                    AND v.model = (SELECT value FROM py_meta WHERE key = '{MODEL}')) {_ANEW}""",
            numbers,
        )
    if gone:
        vectors.let_go(connection, gone)
        connection.execute(
            f"""INSERT INTO py_pending (docid) SELECT DISTINCT docid FROM py_vectors
                WHERE docid IN ({placeholders(gone)}) {_ANEW}""",
            gone,
        )


def queue(connection: sqlite3.Connection, numbers: Iterable[int], *, stored: bool = False) -> None:
    """Have records written. stored: their vectors are kept, Chroma alone lacks them; changes nothing that waits."""
    connection.executemany(
        f"INSERT INTO py_pending (docid, stored) VALUES (?, ?) {'ON CONFLICT DO NOTHING' if stored else _ANEW}",
        [(number, stored) for number in numbers],
    )


def queue_all(connection: sqlite3.Connection, model: str) -> None:
    """Have all stored vectors of a model written to an index that holds none of them."""
    connection.execute(
        """INSERT INTO py_pending (docid, stored) SELECT docid, 1 FROM py_vectors WHERE model = ?
            ON CONFLICT DO NOTHING""",
        (model,),
    )


@dataclass(frozen=True, slots=True)
class Waiting:
    """A record that is pending. seal: as it is indexed now, None when it is not; stored: Chroma alone lacks it."""

    docid: int
    seal: int | None
    stored: bool


def waiting(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[Waiting]:
    """Those of some records that are pending."""
    found = connection.execute(
        f"""SELECT p.docid, d.seal, p.stored FROM py_pending p LEFT JOIN py_docs d ON d.docid = p.docid
            WHERE p.docid IN ({placeholders(numbers)})""",
        numbers,
    )
    return [Waiting(docid, seal, bool(stored)) for docid, seal, stored in found]


def due(connection: sqlite3.Connection, now_ms: int, most: int, *, stored: bool = False) -> list[int]:
    """What may be done now: what is gone first, then the newest records, those that failed last."""
    found = connection.execute(
        """SELECT p.docid FROM py_pending p LEFT JOIN py_docs d ON d.docid = p.docid
            WHERE p.stored = ? AND p.not_before <= ?
            ORDER BY d.docid IS NOT NULL, p.tries, d.epoch DESC, p.docid DESC LIMIT ?""",
        (stored, now_ms, most),
    )
    return [row[0] for row in found]


def tried(connection: sqlite3.Connection) -> set[int]:
    """Records that failed before."""
    return {row[0] for row in connection.execute("SELECT docid FROM py_pending WHERE tries > 0")}


def next_due(connection: sqlite3.Connection, *, stored: bool = False) -> int | None:
    """When the first of what is pending may be done, epoch ms; None when nothing is."""
    found: int | None = connection.execute(
        "SELECT min(not_before) FROM py_pending WHERE stored = ?", (stored,)
    ).fetchone()[0]
    return found


def unwritten(connection: sqlite3.Connection, most: int) -> list[int]:
    """Records whose vectors are kept while Chroma lacks them, in no order."""
    return [row[0] for row in connection.execute("SELECT docid FROM py_pending WHERE stored = 1 LIMIT ?", (most,))]


def counts(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """How many records have yet to be embedded, how many of these failed, and how many Chroma alone lacks."""
    pending, failed, stored = connection.execute(
        """SELECT count(*) FILTER (WHERE stored = 0), count(*) FILTER (WHERE stored = 0 AND tries > 0),
            count(*) FILTER (WHERE stored = 1) FROM py_pending"""
    ).fetchone()
    return pending, failed, stored


def records_waiting(connection: sqlite3.Connection) -> int:
    """How many records of those there are wait for anything."""
    sql = "SELECT count(*) FROM py_pending p JOIN py_docs d ON d.docid = p.docid"
    count: int = connection.execute(sql).fetchone()[0]
    return count


def untried(connection: sqlite3.Connection) -> bool:
    """Whether anything has yet to be embedded that was not tried in vain."""
    found = connection.execute("SELECT 1 FROM py_pending WHERE stored = 0 AND tries = 0 LIMIT 1").fetchone()
    return found is not None


def reason(connection: sqlite3.Connection) -> str:
    """Why the record failed that failed most often."""
    found = connection.execute("SELECT reason FROM py_pending WHERE tries > 0 ORDER BY tries DESC LIMIT 1").fetchone()
    return "" if found is None else str(found[0])


def hold(connection: sqlite3.Connection, seen: Iterable[tuple[int, int | None]]) -> set[int]:
    """Records whose vectors of these seals are kept wait for Chroma alone; the docids for which that is still so."""
    taken: set[int] = set()
    for docid, seal in seen:
        held = connection.execute(
            "UPDATE py_pending SET stored = 1 WHERE docid = ?1 AND (SELECT seal FROM py_docs WHERE docid = ?1) IS ?2",
            (docid, seal),
        )
        if held.rowcount:
            taken.add(docid)
    return taken


def finish(connection: sqlite3.Connection, written: Iterable[tuple[int, int | None]]) -> None:
    """Records and the seals that were written: they wait no longer, unless they changed meanwhile."""
    connection.executemany(
        """DELETE FROM py_pending
            WHERE docid = ?1 AND stored = 1 AND (SELECT seal FROM py_docs WHERE docid = ?1) IS ?2""",
        list(written),
    )


def finish_gone(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Records that were not there, and of which nothing is written any more: they wait no longer unless they came."""
    connection.executemany(
        "DELETE FROM py_pending WHERE docid = ?1 AND NOT EXISTS (SELECT 1 FROM py_docs WHERE docid = ?1)",
        [(number,) for number in numbers],
    )


def fail(connection: sqlite3.Connection, failures: Iterable[tuple[int, str]], now_ms: int) -> None:
    """Records that could not be written, and why: each waits longer every time."""
    connection.executemany(
        f"""UPDATE py_pending SET tries = tries + 1, reason = ?,
            not_before = ? + min({_LATEST_MS}, {_AGAIN_MS} << min(tries, 10)) WHERE docid = ?""",
        [(why, now_ms, docid) for docid, why in failures],
    )


def hurry(connection: sqlite3.Connection, *, also_hopeless: bool = False) -> None:
    """Try at once what failed: what stood in its way is gone.

    also_hopeless: also what failed time and again, and may be what brings the model or Chroma down.
    """
    most = 2**62 if also_hopeless else _HOPELESS
    connection.execute("UPDATE py_pending SET not_before = 0 WHERE not_before > 0 AND tries < ?", (most,))


def restart(connection: sqlite3.Connection) -> None:
    """Everything that waits is to be embedded: its vectors are of another model."""
    connection.execute("UPDATE py_pending SET stored = 0, tries = 0, not_before = 0, reason = ''")


def behind(connection: sqlite3.Connection, model: str, after: int, most: int) -> tuple[list[int], int | None]:
    """Of the ``most`` records after a docid: those without vectors of their seal that do not wait; and the last docid
    looked at, None at the end."""
    found = connection.execute(
        """SELECT d.docid, d.seal, v.seal, p.docid FROM py_docs d
            LEFT JOIN py_vectors v ON v.docid = d.docid AND v.model = ?
            LEFT JOIN py_pending p ON p.docid = d.docid
            WHERE d.docid > ? ORDER BY d.docid LIMIT ?""",
        (model, after, most),
    ).fetchall()
    return [row[0] for row in found if row[1] != row[2] and row[3] is None], (found[-1][0] if found else None)


def left_over(connection: sqlite3.Connection) -> list[int]:
    """Records that are gone, have vectors or parts, and do not wait."""
    found = connection.execute(
        f"""SELECT DISTINCT v.docid FROM py_vectors v WHERE {_GONE}
            AND NOT EXISTS (SELECT 1 FROM py_pending p WHERE p.docid = v.docid)"""
    )
    return [row[0] for row in found]


def move_marks(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Everything up to these records is written or pending."""
    _raise_marks(connection, f"docid IN ({placeholders(numbers)})", numbers)


def set_marks(connection: sqlite3.Connection) -> None:
    """Everything there is is written or pending."""
    connection.execute("DELETE FROM py_watermarks")
    _raise_marks(connection, "1", ())


def _raise_marks(connection: sqlite3.Connection, where: str, values: Sequence[int]) -> None:
    connection.execute(
        f"""INSERT INTO py_watermarks SELECT project, kind, max(record_id) FROM py_docs WHERE {where}
            GROUP BY project, kind ON CONFLICT (project, kind) DO UPDATE SET mark = max(mark, excluded.mark)""",
        values,
    )


def noted(connection: sqlite3.Connection, name: str) -> str:
    """What is noted under a name; empty when nothing is."""
    found = connection.execute("SELECT value FROM py_meta WHERE key = ?", (name,)).fetchone()
    return "" if found is None else str(found[0])


def write_note(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Note something; an empty value takes the note away."""
    if value:
        connection.execute("INSERT OR REPLACE INTO py_meta VALUES (?, ?)", (name, value))
    else:
        connection.execute("DELETE FROM py_meta WHERE key = ?", (name,))


def forget(connection: sqlite3.Connection, prefix: str) -> None:
    """Take away all notes whose names begin so."""
    connection.execute("DELETE FROM py_meta WHERE substr(key, 1, ?) = ?", (len(prefix), prefix))


def drop_waiting_for_index(connection: sqlite3.Connection) -> None:
    """Nothing waits for an index any more, as there is none; what is gone is done with."""
    connection.execute(f"DELETE FROM py_vectors WHERE docid IN (SELECT v.docid FROM py_vectors v WHERE {_GONE})")
    connection.execute("DELETE FROM py_pending WHERE stored = 1")
