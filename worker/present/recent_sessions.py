"""Pure: the last sessions of a project as text. Source of the form: contract/http-api.md, section 7."""

import datetime as dt
from collections.abc import Iterator, Sequence

from worker.contract.records import Summary, items
from worker.present import marks, quoting
from worker.store.recent import RecentSession

_MOST_CHARS = 2_000


def recent_sessions(sessions: Sequence[RecentSession], project: str, zone: dt.tzinfo | None) -> str:
    """Oldest first, as they are given."""
    name = quoting.line(project, 80)
    if not sessions:
        return f"# Recent Session Context\n\nNo previous sessions found for project **{name}**."
    lines = ["# Recent Session Context", "", f"Showing last {len(sessions)} session(s) for **{name}**:", ""]
    for session in sessions:
        lines += ["---", "", *_session(session, zone), ""]
    return "\n".join(lines).rstrip() + "\n"


def _session(session: RecentSession, zone: dt.tzinfo | None) -> Iterator[str]:
    if session.summary is not None:
        yield from _summary(session.summary, zone)
        return
    if session.status != "active":
        yield f"**{session.status.capitalize()}**: no summary available"
    else:
        yield "**In Progress**"
    if session.request.strip():
        yield f"**Request:** {quoting.line(session.request, _MOST_CHARS)}"
    if session.titles:
        yield f"**Observations ({len(session.titles)}):**"
        yield from (f"- {quoting.line(title)}" for title in session.titles)
    yield f"**Date:** {_date(session.started_epoch_ms, zone)}"


def _summary(summary: Summary, zone: dt.tzinfo | None) -> Iterator[str]:
    number = f" (Prompt #{summary.prompt_number})" if summary.prompt_number else ""
    yield f"**Summary{number}**"
    for name, text in (
        ("Request", summary.request), ("Completed", summary.completed), ("Learned", summary.learned),
        ("Next Steps", summary.next_steps),
    ):  # fmt: skip
        if text and text.strip():
            yield f"**{name}:** {quoting.line(text, _MOST_CHARS)}"
    for name, column in (("Files Read", summary.files_read), ("Files Edited", summary.files_edited)):
        if files := items(column):
            yield f"**{name}:** {quoting.line(', '.join(files), _MOST_CHARS)}"
    yield f"**Date:** {_date(summary.created_at_epoch, zone)}"


def _date(epoch_ms: int, zone: dt.tzinfo | None) -> str:
    return f"{marks.day(epoch_ms, zone)}, {marks.clock(epoch_ms, zone)}"
