"""What each record cost to find out, so that an answer of a model is counted once.

The original notes the tokens of a whole answer on each record of it: equal ones of one session and moment are one
answer, and each of its records has a part. We share them out before we write, so the records of a session that our
own observer paid for (`py_spend`) cost what stands in them.
"""

import sqlite3
from collections.abc import Collection

from worker.store.filters import Condition
from worker.store.rows import placeholders

_OURS = """SELECT s.memory_session_id FROM sdk_sessions s
    WHERE s.memory_session_id IS NOT NULL AND s.id IN (SELECT session_db_id FROM py_spend)"""
# Tokens and moment first: both are in one index, and most that are unequal in them need not be opened.
WITH_PARTS = f"""WITH alike AS MATERIALIZED (
        SELECT discovery_tokens AS tokens, epoch FROM py_docs WHERE discovery_tokens > 0
        GROUP BY discovery_tokens, epoch HAVING count(*) > 1),
    parts AS MATERIALIZED (
        SELECT docid, tokens / many + (place <= tokens % many) AS part FROM (
            SELECT d.docid, a.tokens, count(*) OVER (PARTITION BY d.session, d.epoch, d.discovery_tokens) AS many,
                row_number() OVER (PARTITION BY d.session, d.epoch, d.discovery_tokens ORDER BY d.docid) AS place
            FROM alike a CROSS JOIN py_docs d ON d.discovery_tokens = a.tokens AND d.epoch = a.epoch
            WHERE d.session IS NOT NULL AND d.session NOT IN ({_OURS}))
        WHERE many > 1)"""
"""Before a SELECT: `parts`, the docids of records that cost only a part of what stands in them."""
OF_PARTS = "FROM parts CROSS JOIN py_docs d ON d.docid = parts.docid"
"""Their rows `d`: few or none, so what stands in all rows is summed first and put right by ``LESS``."""
LESS = "(parts.part - d.discovery_tokens)"


def counted_again(
    connection: sqlite3.Connection, sessions: Collection[str], where: Condition | None = None
) -> dict[str, int]:
    """By how much the sums of some sessions are too large, by memory id; those that are right are left out.

    where: which of their records are summed, all by default.
    """
    narrowed = Condition("1", ()) if where is None else where
    found = connection.execute(
        f"""SELECT session, sum((many - 1) * tokens) FROM (
                SELECT d.session AS session, d.discovery_tokens AS tokens, count(*) AS many FROM py_docs d
                WHERE d.session IN ({placeholders(sessions)}) AND d.discovery_tokens > 0
                    AND d.session NOT IN ({_OURS}) AND {narrowed.sql}
                GROUP BY d.session, d.epoch, d.discovery_tokens HAVING count(*) > 1)
            GROUP BY session""",
        (*sessions, *narrowed.values),
    )
    return {str(row[0]): int(row[1]) for row in found}


def shared_out(connection: sqlite3.Connection, observation_ids: Collection[int]) -> frozenset[int]:
    """Those of some observations among which we shared the cost of an answer out ourselves."""
    if not observation_ids or connection.execute("SELECT 1 FROM py_spend LIMIT 1").fetchone() is None:
        return frozenset()
    found = connection.execute(
        f"""SELECT id FROM observations WHERE id IN ({placeholders(observation_ids)})
            AND memory_session_id IN ({_OURS})""",
        tuple(observation_ids),
    )
    return frozenset(row[0] for row in found)
