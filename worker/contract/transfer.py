"""Records brought in from elsewhere and taken out: ``POST /api/import`` and ``GET /api/export``."""

import enum
from typing import Any

import msgspec

from worker.contract.records import RecordKind

SHARED = "discovery_tokens_shared"
"""On a session's row beside the table's own columns, where it is so: each of its records has a part of what an answer
cost, and equal ones are not the whole of it over again. The original passes it over."""


NTH = "nth_of_equal"
"""On a row of a source that has others equal to it: which of them it is, from 1, so that each is a row of its own."""

BEFORE_ALL = -(2**63)
"""Before the id of every row; SQLite and programs that write to it do give ids below 1."""


class RowKind(enum.StrEnum):
    """The four kinds of row that are moved, in the order in which they depend on each other."""

    SESSION = "session"
    PROMPT = RecordKind.PROMPT.value
    OBSERVATION = RecordKind.OBSERVATION.value
    SUMMARY = RecordKind.SUMMARY.value

    @property
    def plural(self) -> str:
        """The key under which a batch and a JSON export hold rows of this kind."""
        return "summaries" if self is RowKind.SUMMARY else f"{self.value}s"


EQUAL_IN: dict[RowKind, tuple[str, ...]] = {
    RowKind.PROMPT: ("content_session_id", "platform_source", "created_at_epoch", "prompt_number", "prompt_text"),
    RowKind.OBSERVATION: (
        "memory_session_id", "created_at_epoch", "project", "prompt_number", "type", "title", "subtitle", "narrative",
        "text", "facts", "concepts", "files_read", "files_modified",
    ),
    RowKind.SUMMARY: (
        "memory_session_id", "created_at_epoch", "project", "prompt_number", "request", "investigated", "learned",
        "completed", "next_steps", "notes", "files_read", "files_edited",
    ),
}  # fmt: skip
"""Rows are equal that are equal in these: all but what the original's imports leave out, ids and the hash among it, and
what becomes of a row after it was written. A session is told by its ids alone."""


class ImportBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Table-like rows with the original's column names; JSON columns as JSON text or as lists.

    A row names its session by ``memory_session_id`` (observations, summaries) or ``content_session_id`` (prompts).
    Equal rows are as many as their ids, or say which they are (``NTH``); without both they are one.
    """

    sessions: tuple[dict[str, Any], ...] = ()
    summaries: tuple[dict[str, Any], ...] = ()
    observations: tuple[dict[str, Any], ...] = ()
    prompts: tuple[dict[str, Any], ...] = ()


class ImportStats(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows were new and how many were there already."""

    sessionsImported: int = 0
    sessionsSkipped: int = 0
    summariesImported: int = 0
    summariesSkipped: int = 0
    observationsImported: int = 0
    observationsSkipped: int = 0
    promptsImported: int = 0
    promptsSkipped: int = 0


class Mended(msgspec.Struct, frozen=True, kw_only=True):
    """A value that could not be stored, and what was in its place.

    row: `observations[3].created_at_epoch`. given, taken: as JSON or text, cut.
    """

    row: str
    problem: str
    given: str
    taken: str


class ImportResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The whole batch is in, or (on an error answer) nothing of it. mended: only where that was asked for."""

    success: bool
    stats: ImportStats
    mended: tuple[Mended, ...] = ()


class ExportQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A page of rows of one kind, in the order of their ids.

    after, upto: ids, exclusive and inclusive; ``upto`` keeps what is written meanwhile out of an export.
    project: rows merged into it count too; None is every project, internal ones as well.
    since_epoch_ms, until_epoch_ms: inclusive. A session counts also when a row of it does.
    limit: rows; a page ends sooner when its rows are long.
    """

    kind: RowKind
    after: int = BEFORE_ALL
    upto: int | None = None
    limit: int = 500
    project: str | None = None
    since_epoch_ms: int | None = None
    until_epoch_ms: int | None = None


class ExportPage(msgspec.Struct, frozen=True, kw_only=True):
    """Rows as JSON objects with the table's own columns, and of their session what an import needs (``SHARED``).

    next: the ``after`` of the next page, None when this was the last. newest: the largest id of the kind right now.
    """

    rows: tuple[msgspec.Raw, ...]
    next: int | None
    newest: int
