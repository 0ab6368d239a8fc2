"""Pure: what the agent's next session will be given, as far as the worker told."""

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:  # with it come all calls: 8 ms that the first paint does not wait for
    from worker.contract.context import ContextPlan, ContextRow, ContextWished


class Preparing(Struct, frozen=True):
    """project: whose next session; None while it is not clear which. silent: this worker does not tell.

    raw: the text itself is shown. changed: only what differs from the last session.
    """

    open: bool = False
    seq: int = 0
    project: str | None = None
    waiting: bool = False
    plan: "ContextPlan | None" = None
    silent: bool = False
    failed: str = ""
    raw: bool = False
    changed: bool = False

    @property
    def rows(self) -> "tuple[ContextRow, ...]":
        """The rows that are shown: those that are given, then the others."""
        if self.plan is None or self.raw:
            return ()
        rows = self.plan.rows
        shown = tuple(row for row in rows if row.change != "same") if self.changed else rows
        return tuple(sorted(shown, key=lambda row: not row.kept))


class Begun(Struct, frozen=True):
    """Somebody looks at what a project's next session gets."""

    project: str | None


class Ended(Struct, frozen=True):
    """Nobody looks any more."""


class Again(Struct, frozen=True):
    """Look once more."""


class Planned(Struct, frozen=True):
    """What it gets."""

    seq: int
    plan: "ContextPlan"


class PlanFailed(Struct, frozen=True):
    """That cannot be told now; silent: by this worker never."""

    seq: int
    reason: str
    silent: bool = False


class RawShown(Struct, frozen=True):
    """The text instead of the rows, or the other way round."""


class ChangesShown(Struct, frozen=True):
    """Only what differs from the last session, or everything."""


class Wished(Struct, frozen=True):
    """A record was pinned or muted, or is so no longer; the plan itself is asked for anew."""

    wished: "ContextWished"


StartFact = Begun | Ended | Again | Planned | PlanFailed | RawShown | ChangesShown | Wished


def after(start: Preparing, fact: StartFact) -> Preparing:
    """What is shown after a fact."""
    match fact:
        case Begun(project):
            known = start if project == start.project else Preparing(seq=start.seq)
            return _asked(replace(known, open=True, project=project, raw=False, changed=False))
        case Ended():
            return replace(start, open=False, waiting=False)
        case Again():
            return _asked(start)
        case Planned(seq, plan) if seq == start.seq:
            return replace(start, waiting=False, plan=plan, failed="", silent=False)
        case PlanFailed(seq, reason, silent) if seq == start.seq:
            return replace(start, waiting=False, failed=reason, silent=silent)
        case RawShown():
            return replace(start, raw=not start.raw)
        case ChangesShown():
            return replace(start, changed=not start.changed, raw=False)
        case Wished(wished) if start.plan is not None:
            rows = tuple(_wished(row, wished) for row in start.plan.rows)
            return _asked(replace(start, plan=_with(start.plan, rows)))
    return start


def _asked(start: Preparing) -> Preparing:
    return replace(start, seq=start.seq + 1, waiting=start.project is not None, failed="")


def _wished(row: "ContextRow", wished: "ContextWished") -> "ContextRow":
    if row.key != wished.key:
        return row
    return msgspec.structs.replace(row, pinned=wished.pinned, muted=wished.muted)


def _with(plan: "ContextPlan", rows: "tuple[ContextRow, ...]") -> "ContextPlan":
    return msgspec.structs.replace(plan, rows=rows)
