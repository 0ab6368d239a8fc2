"""Pure: the corpora, what is being done to them, and what came of it."""

import enum
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from worker.contract.corpus import CorpusAnswer, CorpusInfo, CorpusLine


class Deed(enum.StrEnum):
    """What can be done to a corpus."""

    BUILD = "build"
    ASK = "ask"
    PRIME = "prime"
    REBUILD = "rebuild"
    DELETE = "delete"


class Doing(Struct, frozen=True):
    """job: tells this deed from an earlier one. text: what is asked."""

    job: int
    deed: Deed
    text: str = ""


class Outcome(Struct, frozen=True):
    """What came of a deed. failed: why it was not done. said: a word about it. fresh: nobody has read it yet."""

    deed: Deed
    text: str = ""
    answer: CorpusAnswer | None = None
    said: str = ""
    failed: str = ""
    fresh: bool = True


class Corpora(Struct, frozen=True):
    """lines: None until they are known. at: the name under the cursor. shown: what is known of some of them in full.

    doing, outcomes: by name, also of corpora that are still to come. writing: what a line is being typed for;
    refused: why what was typed cannot be had. sure: the deed that was asked for and is done when it is asked for again,
    and of which corpus.
    """

    open: bool = False
    seq: int = 0
    waiting: bool = False
    failed: str = ""
    lines: tuple[CorpusLine, ...] | None = None
    at: str | None = None
    shown: Mapping[str, CorpusInfo] = field(default_factory=dict)
    doing: Mapping[str, Doing] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    writing: Deed | None = None
    refused: str = ""
    sure: tuple[Deed, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are there, then those that are being built or could not be."""
        there = tuple(line.name for line in self.lines or ())
        failed = (name for name, outcome in self.outcomes.items() if outcome.deed is Deed.BUILD and outcome.failed)
        return (*there, *(name for name in dict.fromkeys((*self.doing, *failed)) if name not in there))

    def line(self, name: str | None) -> CorpusLine | None:
        """A corpus that is there."""
        return next((line for line in self.lines or () if line.name == name), None)

    @property
    def chosen(self) -> CorpusLine | None:
        """The corpus under the cursor, if it is there."""
        return self.line(self.at)

    @property
    def outcome(self) -> Outcome | None:
        """What came of the last deed to the one under the cursor."""
        return self.outcomes.get(self.at) if self.at is not None else None


class Begun(Struct, frozen=True):
    """Somebody looks at the corpora."""


class Ended(Struct, frozen=True):
    """Nobody looks any more; what is being done goes on."""


class Again(Struct, frozen=True):
    """Look once more."""


class Listed(Struct, frozen=True):
    """All of them, A to Z."""

    seq: int
    lines: tuple[CorpusLine, ...]


class ListFailed(Struct, frozen=True):
    """They cannot be told."""

    seq: int
    reason: str


class Chosen(Struct, frozen=True):
    """The cursor is on this one."""

    name: str


class Shown(Struct, frozen=True):
    """One of them in full."""

    info: CorpusInfo


class Writing(Struct, frozen=True):
    """A line is typed for this deed; None: no longer. refused: why what was typed cannot be had."""

    deed: Deed | None
    refused: str = ""


class Doubted(Struct, frozen=True):
    """Asked once; it is done when it is asked for again."""

    deed: Deed
    name: str


class DeedBegun(Struct, frozen=True):
    """This is being done to a corpus."""

    name: str
    doing: Doing


class DeedEnded(Struct, frozen=True):
    """It is done, or was not. info: the corpus as it is now, where that was told."""

    name: str
    job: int
    outcome: Outcome
    info: CorpusInfo | None = None


class OutcomeRead(Struct, frozen=True):
    """Somebody has seen what came of the last deed."""

    name: str


CorpusFact = (
    Begun | Ended | Again | Listed | ListFailed | Chosen | Shown | Writing | Doubted | DeedBegun | DeedEnded
    | OutcomeRead
)  # fmt: skip


def after(corpora: Corpora, fact: CorpusFact) -> Corpora:
    """What is known after a fact."""
    match fact:
        case Begun() | Again():
            return _asked(corpora, fact)
        case Ended():
            return replace(corpora, open=False, waiting=False, writing=None, sure=None)
        case Listed(seq, lines) if seq == corpora.seq:
            return _placed(replace(corpora, waiting=False, failed="", lines=lines))
        case ListFailed(seq, reason) if seq == corpora.seq:
            return replace(corpora, waiting=False, failed=reason)
        case Chosen(name):
            return replace(corpora, at=name, sure=None)
        case Shown(info):
            return replace(corpora, shown={**corpora.shown, info.name: info})
        case Writing(deed, refused):
            return replace(corpora, writing=deed, refused=refused, sure=None)
        case Doubted(deed, name):
            return replace(corpora, sure=(deed, name))
        case DeedBegun() | DeedEnded():
            return _done(corpora, fact)
        case OutcomeRead(name) if (outcome := corpora.outcomes.get(name)) is not None and outcome.fresh:
            return replace(corpora, outcomes={**corpora.outcomes, name: replace(outcome, fresh=False)})
    return corpora


def _asked(corpora: Corpora, fact: Begun | Again) -> Corpora:
    asked = replace(corpora, seq=corpora.seq + 1, waiting=True, failed="", sure=None)
    if isinstance(fact, Again):
        return asked
    there = {line.name for line in corpora.lines or ()}
    kept = {name: told for name, told in corpora.outcomes.items() if name in there or told.fresh}
    return replace(asked, open=True, outcomes=kept)


def _done(corpora: Corpora, fact: DeedBegun | DeedEnded) -> Corpora:
    doing, outcomes = dict(corpora.doing), dict(corpora.outcomes)
    if isinstance(fact, DeedBegun):
        doing[fact.name] = fact.doing
        outcomes.pop(fact.name, None)
        return replace(corpora, doing=doing, outcomes=outcomes, at=fact.name, sure=None)
    if (known := doing.get(fact.name)) is None or known.job != fact.job:
        return corpora  # of another memory
    del doing[fact.name]
    outcomes[fact.name] = fact.outcome
    if fact.outcome.deed is Deed.DELETE and not fact.outcome.failed:
        del outcomes[fact.name]
        lines = tuple(line for line in corpora.lines or () if line.name != fact.name)
        corpora = replace(corpora, lines=lines)
    shown = {name: info for name, info in corpora.shown.items() if name != fact.name}
    if fact.info is not None:
        shown[fact.name] = fact.info
        lines = (*(line for line in corpora.lines or () if line.name != fact.name), _as_line(fact.info))
        corpora = replace(corpora, lines=tuple(sorted(lines, key=lambda line: line.name)))
    return _placed(replace(corpora, doing=doing, outcomes=outcomes, shown=shown))


def _as_line(info: CorpusInfo) -> CorpusLine:
    return CorpusLine(
        name=info.name, description=info.description, stats=info.stats, session_id=info.session_id, stale=info.stale,
        missing=info.missing, updated_at=info.updated_at,
    )  # fmt: skip


def _placed(corpora: Corpora) -> Corpora:
    """With the cursor on one of them: where it was, or the next one."""
    names = corpora.names
    if corpora.at in names:
        return corpora
    after_it = next((name for name in names if corpora.at is not None and name > corpora.at), None)
    return replace(corpora, at=after_it or next(iter(names[-1:] if corpora.at else names), None))
