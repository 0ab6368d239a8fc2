"""Records, entries and rows with everything that a test does not care about filled in."""

from typing import Any

from worker.contract.records import Observation, Prompt, RecordKind, Summary
from worker.contract.search import Entry, Hit
from worker.contract.transfer import ImportBatch
from worker.contract.when import iso_utc

NOON = 1_772_625_600_000
"""2026-03-04 12:00 UTC."""
MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

Row = dict[str, Any]


def make_observation(**over: Any) -> Observation:
    given: Row = {"id": 118, "memory_session_id": "m-1", "project": "shop", "type": "bugfix"}
    return Observation(**given | _created(over) | over)


def make_summary(**over: Any) -> Summary:
    given: Row = {"id": 14, "memory_session_id": "m-1", "project": "shop"}
    return Summary(**given | _created(over) | over)


def make_prompt(**over: Any) -> Prompt:
    given: Row = {"id": 40, "content_session_id": "c-1", "prompt_number": 1, "prompt_text": "why?"}
    return Prompt(**given | _created(over) | over)


def _created(over: Row) -> Row:
    epoch = over.get("created_at_epoch", NOON)
    return {"created_at": iso_utc(epoch), "created_at_epoch": epoch}


def make_entry(**over: Any) -> Entry:
    return Entry(**_entry() | over)


def make_hit(**over: Any) -> Hit:
    return Hit(**_entry() | over)


def _entry() -> Row:
    return {
        "kind": RecordKind.OBSERVATION,
        "id": 118,
        "type": "bugfix",
        "title": "Expired token accepted",
        "project": "shop",
        "created_at_epoch": NOON,
        "read_tokens": 61,
    }


def session_row(name: str = "1", **over: Any) -> Row:
    """A session to import; its memory id is `m-<name>`, its content id `c-<name>`."""
    return {
        "content_session_id": f"c-{name}",
        "memory_session_id": f"m-{name}",
        "project": "shop",
        "platform_source": "claude",
        "started_at_epoch": NOON - HOUR,
        "status": "completed",
    } | over


def observation_row(title: object = "Expired token accepted", **over: Any) -> Row:
    return {
        "memory_session_id": "m-1",
        "project": "shop",
        "type": "bugfix",
        "title": title,
        "narrative": "",
        "facts": "[]",
        "concepts": "[]",
        "files_read": "[]",
        "files_modified": "[]",
        "created_at_epoch": NOON,
    } | over


def summary_row(request: object = "Fix token expiry", **over: Any) -> Row:
    return {"memory_session_id": "m-1", "project": "shop", "request": request, "created_at_epoch": NOON + HOUR} | over


def prompt_row(text: object = "why does the token still work?", **over: Any) -> Row:
    given = {"content_session_id": "c-1", "prompt_number": 1, "prompt_text": text}
    return given | {"created_at_epoch": NOON - MINUTE} | over


def make_batch(
    observations: list[Row] | None = None,
    *,
    sessions: list[Row] | None = None,
    summaries: list[Row] | None = None,
    prompts: list[Row] | None = None,
) -> ImportBatch:
    """A batch; one session, `m-1`, unless sessions are given."""
    return ImportBatch(
        sessions=tuple([session_row()] if sessions is None else sessions),
        observations=tuple(observations or []),
        summaries=tuple(summaries or []),
        prompts=tuple(prompts or []),
    )
