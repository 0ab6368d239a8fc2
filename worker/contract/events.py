"""What the live stream carries, one JSON object an event; ``type`` tells which.

Rows in events have the original's stream keys (contract/stream.md), not those of the database.
"""

from typing import Any

import msgspec

from worker.contract import sse
from worker.contract.index import IndexStatus


class StreamEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Any event. Types we do not know arrive too; ``id`` is the frame's, None if it had none.

    type: connected, initial_load, processing_status, new_observation, new_summary, new_prompt, session_started,
    session_completed, observation_queued; of our own changed_observation, changed_summary, changed_prompt,
    record_deleted (``kind``, ``record_id``), session_changed (``sessionDbId``, ``project``: what its own row says),
    ``index_status`` (``index``: how far the index by meaning is) and ``resync`` (events were lost: read the lists
    again).
    """

    type: str
    timestamp: int = 0
    observation: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    prompt: dict[str, Any] | None = None
    projects: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    projectsBySource: dict[str, tuple[str, ...]] | None = None
    isProcessing: bool | None = None
    queueDepth: int | None = None
    sessionDbId: int | None = None
    project: str | None = None
    kind: str | None = None
    record_id: int | None = None
    index: IndexStatus | None = None
    id: int | None = None


def from_frame(frame: sse.Frame) -> StreamEvent | None:
    """The event in a frame, None for one that is no event of ours."""
    try:
        event = msgspec.json.decode(frame.data, type=StreamEvent)
    except msgspec.MsgspecError:
        return None
    known = frame.id if frame.id is not None and frame.id.isdigit() else None
    return event if known is None else msgspec.structs.replace(event, id=int(known))
