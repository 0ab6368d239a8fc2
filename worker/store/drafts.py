"""What the observer found out, on its way into the memory: observations and summaries of a session, stored once.

Both the observer and a memory saved on purpose are written by ``observations.add``, which knows what is the same.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from worker.contract.clean import cleaned
from worker.contract.when import iso_utc
from worker.store import observations
from worker.store.rows import placeholders

Metadata = tuple[tuple[str, str], ...]
Likeness = Callable[[str | None, str | None], str]
_NEAR = 60
"""Observations of a session that a new one is held against."""
_CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An observation to be. tokens: what it cost. tool_use_ids: what it was made of.

    trifle: says so little that one like it in the same session will do.
    """

    type: str
    title: str
    subtitle: str | None = None
    narrative: str | None = None
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    tokens: int = 0
    metadata: Metadata = ()
    tool_use_ids: tuple[str, ...] = ()
    trifle: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDraft:
    """A summary to be."""

    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""
    notes: str = ""
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    tokens: int = 0

    @property
    def says_anything(self) -> bool:
        """Whether it is worth keeping."""
        return bool(self.request or self.investigated or self.learned or self.completed or self.next_steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where drafts come from: one turn of a session. epoch_ms: of the oldest event; model: what wrote them.

    parent: the project under which it is found too. provider: begins the memory id of a session that has none yet.
    """

    session_db_id: int
    content_session_id: str
    project: str
    epoch_ms: int
    parent: str | None = None
    prompt_number: int = 0
    agent_id: str | None = None
    agent_type: str | None = None
    provider: str = "local"
    model: str = "local"


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a session before its next events are looked at. prompts: by their numbers."""

    prompts: dict[int, str] = field(default_factory=dict)
    titles: tuple[str, ...] = ()


def keep(
    connection: sqlite3.Connection,
    origin: Origin,
    drafts: Sequence[Draft],
    summary: SummaryDraft | None,
    like: Likeness,
) -> tuple[int, ...]:
    """Store what was found out; the ids of the observations, those of equal ones that were there already included.

    like: texts that are the same for all but their figures give the same.
    """
    if not drafts and summary is None:
        return ()
    memory = memory_session(connection, origin)
    ids = tuple(_observation(connection, origin, memory, draft, like) for draft in drafts)
    for draft, number in zip(drafts, ids, strict=True):
        _link(connection, origin, memory, draft.tool_use_ids, number)
    if summary is not None:
        _summary(connection, origin, memory, summary)
    return ids


def memory_session(connection: sqlite3.Connection, origin: Origin) -> str:
    """The id that a session's records stand under, given when it is first needed."""
    row = connection.execute(
        "SELECT memory_session_id FROM sdk_sessions WHERE id = ?", (origin.session_db_id,)
    ).fetchone()
    if row is not None and row[0]:
        return str(row[0])
    memory = f"{origin.provider}-{origin.content_session_id}-{origin.epoch_ms}"
    taken = connection.execute("SELECT 1 FROM sdk_sessions WHERE memory_session_id = ?", (memory,)).fetchone()
    memory = f"{memory}-{origin.session_db_id}" if taken else memory
    connection.execute("UPDATE sdk_sessions SET memory_session_id = ? WHERE id = ?", (memory, origin.session_db_id))
    return memory


def past(connection: sqlite3.Connection, session_db_id: int, prompt_numbers: Sequence[int]) -> Past:
    """What a session's events are to be read with: the prompts up to them, and what this turn already gave."""
    last = max(prompt_numbers, default=0)
    prompts = connection.execute(
        """SELECT prompt_number, prompt_text FROM user_prompts WHERE session_db_id = ? AND prompt_number <= ?
            ORDER BY prompt_number DESC, id LIMIT 10""",
        (session_db_id, last),
    ).fetchall()
    titles = connection.execute(
        """SELECT o.title FROM observations o JOIN sdk_sessions s ON s.memory_session_id = o.memory_session_id
            WHERE s.id = ? AND o.prompt_number = ? AND o.title IS NOT NULL ORDER BY o.id LIMIT 30""",
        (session_db_id, last or None),
    )
    # Cleaned: a session may have begun with the original, which masks nothing.
    asked = {row["prompt_number"]: cleaned(row["prompt_text"]) for row in prompts}
    return Past(asked, tuple(cleaned(row[0]) for row in titles))


def turn_files(
    connection: sqlite3.Connection, session_db_id: int, prompt_number: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files read and files modified by the observations of a turn, each once."""
    found = connection.execute(
        """SELECT o.files_read, o.files_modified FROM observations o
            JOIN sdk_sessions s ON s.memory_session_id = o.memory_session_id
            WHERE s.id = ? AND o.prompt_number IS ? ORDER BY o.id""",
        (session_db_id, prompt_number or None),
    ).fetchall()
    read, modified = ([path for row in found for path in _paths(row[column])] for column in (0, 1))
    return tuple(dict.fromkeys(read)), tuple(dict.fromkeys(modified))


_COMPLETED = """FROM py_heard t JOIN sdk_sessions s ON s.id = t.session_db_id
    WHERE t.ended_epoch_ms IS NOT NULL AND s.status = 'active'
    AND NOT EXISTS (SELECT 1 FROM py_captured c WHERE c.session_db_id = s.id)"""


def has_completed(connection: sqlite3.Connection) -> bool:
    """Whether there are sessions for ``complete``."""
    return connection.execute(f"SELECT 1 {_COMPLETED} LIMIT 1").fetchone() is not None


def complete(connection: sqlite3.Connection, now_epoch_ms: int) -> tuple[int, ...]:
    """Mark the sessions as completed that have ended and of which nothing waits any more; which those are."""
    ids = tuple(row[0] for row in connection.execute(f"SELECT s.id {_COMPLETED}").fetchall())
    connection.executemany(
        "UPDATE sdk_sessions SET status = 'completed', completed_at = ?, completed_at_epoch = ? WHERE id = ?",
        [(iso_utc(now_epoch_ms), now_epoch_ms, number) for number in ids],
    )
    return ids


def _observation(connection: sqlite3.Connection, origin: Origin, memory: str, draft: Draft, like: Likeness) -> int:
    if draft.trifle:
        same = like(draft.title, draft.narrative)
        recent = connection.execute(
            "SELECT id, title, narrative FROM observations WHERE memory_session_id = ? ORDER BY id DESC LIMIT ?",
            (memory, _NEAR),
        )
        known = next((row for row in recent if like(row["title"], row["narrative"]) == same), None)
        if known is not None:
            return int(known["id"])
    return observations.add(
        connection,
        {
            "memory_session_id": memory,
            "project": origin.project,
            "type": draft.type,
            "title": draft.title,
            "subtitle": draft.subtitle,
            "narrative": draft.narrative,
            "facts": _json(draft.facts),
            "concepts": _json(draft.concepts),
            "files_read": _json(draft.files_read),
            "files_modified": _json(draft.files_modified),
            "prompt_number": origin.prompt_number or None,
            "created_at": iso_utc(origin.epoch_ms),
            "created_at_epoch": origin.epoch_ms,
            "discovery_tokens": draft.tokens,
            "generated_by_model": origin.model,
            "agent_type": origin.agent_type,
            "agent_id": origin.agent_id,
            "merged_into_project": origin.parent,
            "metadata": msgspec.json.encode(dict(draft.metadata)).decode() if draft.metadata else None,
        },
    )


def _summary(connection: sqlite3.Connection, origin: Origin, memory: str, summary: SummaryDraft) -> None:
    columns = {
        "memory_session_id": memory,
        "project": origin.project,
        **{name: getattr(summary, name) for name in ("request", "investigated", "learned", "completed", "next_steps")},
        "notes": summary.notes or None,
        "files_read": _json(summary.files_read),
        "files_edited": _json(summary.files_edited),
        "prompt_number": origin.prompt_number or None,
        "created_at": iso_utc(origin.epoch_ms),
        "created_at_epoch": origin.epoch_ms,
        "discovery_tokens": summary.tokens,
        "merged_into_project": origin.parent,
    }
    connection.execute(
        f"INSERT INTO session_summaries ({', '.join(columns)}) VALUES ({placeholders(columns)})",
        tuple(columns.values()),
    )


def _link(
    connection: sqlite3.Connection, origin: Origin, memory: str, tool_use_ids: Sequence[str], observation_id: int
) -> None:
    """Tell the uses of tools what came of them; what was told first stays."""
    for at in range(0, len(tool_use_ids), _CHUNK):
        chunk = tool_use_ids[at : at + _CHUNK]
        connection.execute(
            f"""UPDATE tool_uses SET observation_id = coalesce(observation_id, ?),
                memory_session_id = coalesce(memory_session_id, ?)
                WHERE content_session_id = ? AND tool_use_id IN ({placeholders(chunk)})""",
            (observation_id, memory, origin.content_session_id, *chunk),
        )


def _json(texts: Sequence[str]) -> str:
    return msgspec.json.encode(texts).decode()


def _paths(column: str | None) -> list[str]:
    try:
        return msgspec.json.decode(column or "[]", type=list[str])
    except msgspec.MsgspecError:
        return []
