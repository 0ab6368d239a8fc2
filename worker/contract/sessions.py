"""Sessions as people look for them: what was wanted, what came of it, and what it holds."""

import msgspec

from worker.contract.search import Entry


class SessionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions: a page of them, the last started first. project: also what was merged into it.

    since_epoch_ms, until_epoch_ms: inclusive; those that began or have a record in that time.
    as_of_epoch_ms: how they were at that moment; nothing later is found, counted or told.
    """

    project: str | None = None
    platform_source: str | None = None
    since_epoch_ms: int | None = None
    until_epoch_ms: int | None = None
    as_of_epoch_ms: int | None = None
    limit: int = 50
    offset: int = 0


class SessionLine(msgspec.Struct, frozen=True, kw_only=True):
    """A session. Epochs in milliseconds UTC.

    id: of its row. memory_session_id: as in ``Entry.session``; None until anything was learned in it.
    title: what its last summary says was asked, else its own title, else its first prompt; may be empty.
    ended_at_epoch: None while it is open. last_at_epoch: of its last record, or its start. read_tokens, work_tokens: of
    all its records. summary_id and what follows: of its last summary.
    """

    id: int
    content_session_id: str
    memory_session_id: str | None
    project: str
    platform_source: str
    status: str
    title: str
    started_at_epoch: int
    ended_at_epoch: int | None
    last_at_epoch: int
    prompts: int = 0
    observations: int = 0
    summaries: int = 0
    read_tokens: int = 0
    work_tokens: int = 0
    summary_id: int | None = None
    request: str | None = None
    investigated: str | None = None
    learned: str | None = None
    completed: str | None = None
    next_steps: str | None = None


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/sessions``. total: how many there are in all."""

    sessions: tuple[SessionLine, ...]
    total: int
    offset: int = 0


class SessionRecords(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/sessions/{id}``: its prompts, observations and summaries, oldest first. total: of all its records."""

    session: SessionLine
    entries: tuple[Entry, ...]
    total: int
    offset: int = 0
