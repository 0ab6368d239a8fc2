"""What an agent is given when its next session starts: row by row, with the reason for each."""

from typing import Literal

import msgspec

from worker.contract import calls
from worker.contract.calls import Call

Density = Literal["full", "row", "summary"]
Change = Literal["new", "same", "gone"]


class ContextRow(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was thought of. key: `118`, `S14`, `P40`. type: as in ``Entry.type``.

    density: how it is given: in full, as a row of the index, as the summary of its session. read_tokens: what it takes
    of the budget in that form, or would take. kept: whether it is given. reason: why, or why not, in a few words
    (`recent, bugfix`; `superseded by 4771`; `over the budget`). change: against what the last session of the project
    was given; ``gone`` rows were given then and are not kept now. pinned: always given. muted: never given.
    """

    key: str
    title: str
    type: str
    epoch_ms: int
    density: Density
    read_tokens: int
    kept: bool
    reason: str
    change: Change = "same"
    pinned: bool = False
    muted: bool = False


class ContextPlan(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/context/rows``: what a session of the project would be given now.

    budget_tokens: 0 where there is no limit. used_tokens: of ``text``, as ``estimate_tokens`` counts, headings and all.
    text: just what the agent gets. rows: kept ones in the order of the text, then those that are not.
    left_out: records that were thought of and stand in no row. compared: whether a session came before. changed_new,
    changed_gone: rows of that change, those that stand in no row too.
    """

    project: str
    budget_tokens: int
    used_tokens: int
    text: str
    rows: tuple[ContextRow, ...]
    left_out: int = 0
    compared: bool = True
    changed_new: int = 0
    changed_gone: int = 0


class ContextWish(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/context/pin`` and ``/mute``. on: False takes it back."""

    key: str
    on: bool = True


class ContextWished(msgspec.Struct, frozen=True, kw_only=True):
    """How the record stands now. A record is never both: the later wish takes the other back."""

    key: str
    pinned: bool
    muted: bool


def start(
    projects: tuple[str, ...], *, platform_source: str | None = None, everything: bool = False, coloured: bool = False
) -> Call[str]:
    """What a session of these projects is given when it starts, as text; the last is the one that starts."""
    wanted = {
        "projects": ",".join(projects),
        "platformSource": platform_source or "",
        "full": "true" if everything else "",
        "colors": "true" if coloured else "",
    }
    return Call("GET", calls.CONTEXT_INJECT, str, tuple((name, value) for name, value in wanted.items() if value))


def plan(project: str) -> Call[ContextPlan]:
    """What the next session of a project would be given. Errors: ``NotFound`` from a worker that does not tell."""
    return Call("GET", calls.CONTEXT_ROWS, ContextPlan, (("project", project),))


def pin(key: str, *, on: bool) -> Call[ContextWished]:
    """Give this record to every session, or no longer. Errors: ``NotFound``."""
    return Call("POST", calls.CONTEXT_PIN, ContextWished, body=msgspec.json.encode(ContextWish(key=key, on=on)))


def mute(key: str, *, on: bool) -> Call[ContextWished]:
    """Give this record to no session, or again. Errors: ``NotFound``."""
    return Call("POST", calls.CONTEXT_MUTE, ContextWished, body=msgspec.json.encode(ContextWish(key=key, on=on)))
