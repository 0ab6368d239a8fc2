"""Records brought in from elsewhere: the body and the answer of ``POST /api/import``."""

from typing import Any

import msgspec


class ImportBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Table-like rows with the original's column names; JSON columns as JSON text or as lists.

    A row names its session by ``memory_session_id`` (observations, summaries) or ``content_session_id`` (prompts).
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


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """The whole batch is in, or (on an error answer) nothing of it."""

    success: bool
    stats: ImportStats
