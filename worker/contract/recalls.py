"""What memory gave back, and how often: the counts that tell which records are worth keeping.

Returned to an agent counts; shown to a person who browses does not. So whoever asks says who it is in the header
``CALLER``: what ``APP`` is answered is not counted, nor what a web page is answered (it sends an ``Origin``); all else
is, also where the header is missing. An entry in an index is ``listed``, a whole record is ``read``. Counts are some
seconds old.
"""

import msgspec

from worker.contract.records import Observation, Prompt, Summary

CALLER = "X-Claude-Mem-Caller"
APP = "app"
"""People who look around."""
MCP = "mcp"
CLI = "cli"
HOOK = "hook"
"""Tells an agent the titles of what is known of a file, and no more of it."""


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """How often a record was given to those whom it matters to. last_epoch_ms: when last, None if never."""

    listed: int = 0
    read: int = 0
    last_epoch_ms: int | None = None


class Recalls(msgspec.Struct, frozen=True, kw_only=True):
    """Counts by key (`118`, `S14`, `P40`); what never came back is left out."""

    recalls: dict[str, Recalled]


class ObservationRead(Observation, frozen=True, kw_only=True):
    """An observation that is read by itself."""

    recalled: Recalled = Recalled()


class SummaryRead(Summary, frozen=True, kw_only=True):
    """A summary that is read by itself."""

    recalled: Recalled = Recalled()


class PromptRead(Prompt, frozen=True, kw_only=True):
    """A prompt that is read by itself."""

    recalled: Recalled = Recalled()
