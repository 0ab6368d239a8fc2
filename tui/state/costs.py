"""Pure: what memory costs and gives back, of the part of it that a person looks at."""

import enum

from msgspec import Struct
from msgspec.structs import replace

from tui.state.chips import Chip
from worker.contract.costs import Costs, SessionCost, Spent


class Window(enum.StrEnum):
    """The latest records of so long a time; the value is what a query line says after ``since:``."""

    WEEK = "7d"
    MONTH = "30d"
    ALL = "all"


WINDOWS = (Window.WEEK, Window.MONTH, Window.ALL)


class Part(Struct, frozen=True):
    """Which records: a project's, or one session's. Nothing is all."""

    project: str | None = None
    session: SessionCost | None = None

    @property
    def out(self) -> "Part":
        """The part around this one."""
        return Part(self.project) if self.session is not None else Part()


class Costing(Struct, frozen=True):
    """seq: number of the last question. answer: to ``answered``, which may be an older question's.

    began: the part that was looked at first.
    """

    open: bool = False
    seq: int = 0
    window: Window = Window.WEEK
    part: Part = Part()
    began: Part = Part()
    waiting: bool = False
    answer: Costs | None = None
    answered: tuple[Window, Part] | None = None
    failed: str = ""

    @property
    def fits(self) -> bool:
        """Whether the answer is to what is asked now."""
        return self.answered == (self.window, self.part)

    @property
    def deep(self) -> bool:
        """Whether a person went into what is shown, and so can step out of it again."""
        return self.part not in (self.began, Part())


class Begun(Struct, frozen=True):
    """The costs are looked at, first of all those of a project (None: all), or of a session alone."""

    project: str | None
    session: str = ""


class Ended(Struct, frozen=True):
    """Nobody looks any more."""


class Windowed(Struct, frozen=True):
    """Of a longer (1) or a shorter time (-1)."""

    by: int


class Zoomed(Struct, frozen=True):
    """Of this part."""

    part: Part


class Again(Struct, frozen=True):
    """The same once more."""


class Answered(Struct, frozen=True):
    """What it costs."""

    seq: int
    costs: Costs


class AskFailed(Struct, frozen=True):
    """That cannot be told."""

    seq: int
    reason: str


CostFact = Begun | Ended | Windowed | Zoomed | Again | Answered | AskFailed


def after(costing: Costing, fact: CostFact) -> Costing:
    """What is shown after a fact."""
    match fact:
        case Begun(project, session):
            part = Part(project, SessionCost(session=session, spent=Spent()) if session else None)
            return _asked(replace(costing, open=True, part=part, began=part))
        case Ended():
            return replace(costing, open=False, waiting=False)
        case Windowed(by):
            there = max(0, min(WINDOWS.index(costing.window) + by, len(WINDOWS) - 1))
            return _asked(replace(costing, window=WINDOWS[there])) if WINDOWS[there] != costing.window else costing
        case Zoomed(part):
            return _asked(replace(costing, part=part))
        case Again():
            return _asked(costing)
        case Answered(seq, costs) if seq == costing.seq:
            return replace(costing, waiting=False, answer=costs, answered=(costing.window, costing.part), failed="")
        case AskFailed(seq, reason) if seq == costing.seq:
            return replace(costing, waiting=False, failed=reason)
    return costing


def _asked(costing: Costing) -> Costing:
    return replace(costing, seq=costing.seq + 1, waiting=True, failed="")


class Slice(Struct, frozen=True):
    """Something to zoom into, or to look up: a part of its own, or the records of a type in the part that is shown."""

    part: Part | None = None
    type: str = ""


def found_by(costing: Costing, chosen: Slice) -> tuple[str, str | None] | None:
    """(query line, project) of the records of a slice; None for one that no query line can say."""
    part = chosen.part or costing.part
    filters = [Chip("since", costing.window.value)] if costing.window is not Window.ALL else []
    filters += [Chip("session", part.session.session)] if part.session is not None else []
    filters += [Chip("type", chosen.type)] if chosen.part is None else []
    if not all(chip.fits for chip in filters):
        return None
    return " ".join(map(str, filters)), part.project
