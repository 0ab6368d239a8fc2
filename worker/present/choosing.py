"""Pure: which memories a new session is given, why, and in which order they would go if there is no room for all.

The order is a list of steps, each a whole line or paragraph. A budget takes as many of the first as fit: a larger one
gives the same and more, never something else.
"""

import enum
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from worker.contract.context_settings import FACTS, ContextSettings
from worker.contract.records import Observation, RecordKey, Summary, items, key_of
from worker.contract.tokens import estimate_tokens

NEWEST = 5
"""So many of the latest come before all but what is pinned, whatever they are."""
_LATEST_ROWS = 10
"""Rows before anything is given in full."""
_MOST_FULL_TOKENS = 600
"""A record that is longer is a row, whatever the budget: the agent can fetch it."""
_MOST_SUMMARY_TOKENS = 800
_MOST_TOLD_TOKENS = 300
"""Of a summary that is not the last word."""
_ALIKE = 0.8
"""Share of words in common from which a title is no news beside a newer one."""
_TYPE_VALUE = {
    "decision": 3.0, "security_alert": 3.0, "bugfix": 2.5, "feature": 2.5, "security_note": 2.0, "sensitive": 2.0,
    "refactor": 1.5, "discovery": 1.5, "change": 1.0,
}  # fmt: skip
_UNKNOWN_TYPE_VALUE = 1.5
_FILE_VALUE = 1.5
_SUB_AGENT_VALUE = -6.0
_FADING = 0.97
_NEW_VALUE = 10.0
_ACTIVE_OBSERVATIONS = 10
"""The latest, whose modified files are what is being worked on."""
_WORD = re.compile(r"\w+")


class Part(enum.Enum):
    """What a step adds."""

    ROW = "row"
    FULL = "full"
    SESSION = "session"
    LAST_SUMMARY = "last summary"
    TOLD = "told"
    LAST_MESSAGE = "last message"


@dataclass(frozen=True, slots=True)
class Step:
    """One line or paragraph of a record."""

    part: Part
    key: RecordKey


@dataclass(frozen=True, slots=True)
class Offer:
    """An observation with the reasons that speak for it, or the one for which it is left out."""

    record: Observation
    reasons: tuple[str, ...]
    value: float = 0.0
    pinned: bool = False
    dropped: str = ""

    @property
    def key(self) -> RecordKey:
        """Which record it is."""
        return key_of(self.record)


@dataclass(frozen=True, slots=True)
class Choice:
    """offers: every observation that was looked at, newest first. sessions: summaries, newest first.

    began: where each summary is shown, by id, epoch ms. steps: what would be given with room for all, dearest first.
    """

    offers: tuple[Offer, ...] = ()
    sessions: tuple[Summary, ...] = ()
    began: dict[int, int] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


def choose(
    observations: Sequence[Observation],
    summaries: Sequence[Summary],
    settings: ContextSettings,
    *,
    pinned: Collection[int] = (),
    muted: Collection[int] = (),
    last_message: bool = False,
) -> Choice:
    """The order of what is worth giving. observations, summaries: newest first. pinned, muted: observation ids.

    last_message: whether there is one to be told.

    The summary after the last that may be shown tells when that one began.
    """
    offers = tuple(_offers(observations, pinned, muted))
    sessions = tuple(summaries[: settings.sessions])
    latest = sessions[:1] if settings.last_summary and _is_last_word(summaries, observations) else ()
    steps = tuple(_steps(offers, sessions, latest, settings, last_message=last_message))
    return Choice(offers, sessions, _began(summaries), steps)


def _began(summaries: Sequence[Summary]) -> dict[int, int]:
    """The newest is shown at its own time, every other when its session began: when the one before it was told."""
    older = (*summaries[1:], *summaries[-1:])
    return {
        summary.id: (before if at else summary).created_at_epoch
        for at, (summary, before) in enumerate(zip(summaries, older, strict=True))
    }


def _offers(observations: Sequence[Observation], pinned: Collection[int], muted: Collection[int]) -> Iterator[Offer]:
    active = _active_files(observations)
    outdated = superseded(observations)
    seen = _Titles()
    place = 0
    for record in observations:
        words = _words(record.title or record.narrative or "")
        if record.id in muted:
            yield Offer(record, (), dropped="muted")
            continue
        if record.id in pinned:
            yield Offer(record, ("pinned",), pinned=True)
            seen.add(words, record.id)
            continue
        like = seen.like(words)
        if record.id in outdated:
            yield Offer(record, (), dropped=f"superseded by #{outdated[record.id]}")
        elif like is not None:
            yield Offer(record, (), dropped=f"much like #{like}")
        else:
            seen.add(words, record.id)
            yield _valued(record, place, active)
            place += not record.agent_id


def _valued(record: Observation, place: int, active: Collection[str]) -> Offer:
    reasons = [record.type]
    value = _NEW_VALUE * _FADING**place + _TYPE_VALUE.get(record.type, _UNKNOWN_TYPE_VALUE)
    touched = [path for path in items(record.files_modified) if path in active]
    if record.agent_id:
        reasons.append("sub-agent")
        value += _SUB_AGENT_VALUE
    else:
        reasons.insert(0, "recent" if place < NEWEST else f"{_ordinal(place + 1)} newest")
    if touched:
        reasons.append(f"touched {touched[0].rsplit('/', 1)[-1]}")
        value += _FILE_VALUE
    return Offer(record, tuple(reasons), value)


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def _steps(
    offers: Sequence[Offer],
    sessions: Sequence[Summary],
    latest: Sequence[Summary],
    settings: ContextSettings,
    *,
    last_message: bool,
) -> Iterator[Step]:
    kept = [offer for offer in offers if not offer.dropped]
    main = [offer for offer in kept if not offer.record.agent_id]
    pinned = [offer for offer in kept if offer.pinned]
    latest_ones = [offer for offer in main if not offer.pinned][:NEWEST]
    first = {offer.key for offer in (*pinned, *latest_ones)}
    others = sorted((offer for offer in kept if offer.key not in first), key=lambda offer: -offer.value)
    order = [*pinned, *latest_ones, *others][: settings.observations]
    chosen = {offer.key for offer in order}
    in_full = [offer for offer in main if offer.key in chosen][: settings.full_count]
    for offer in order[:_LATEST_ROWS]:
        yield Step(Part.ROW, offer.key)
    for summary in latest:
        if sum(estimate_tokens(text) for _, text in said(summary)) <= _MOST_SUMMARY_TOKENS:
            yield Step(Part.LAST_SUMMARY, key_of(summary))
    for summary in sessions:
        yield Step(Part.SESSION, key_of(summary))
    if last_message and order:
        yield Step(Part.LAST_MESSAGE, order[0].key)
    for offer in in_full:
        if 0 < estimate_tokens("\n".join(detail(offer.record, settings.full_field))) <= _MOST_FULL_TOKENS:
            yield Step(Part.FULL, offer.key)
    for summary in sessions if settings.last_summary else ():
        if summary not in latest and 0 < sum(estimate_tokens(text) for _, text in told(summary)) <= _MOST_TOLD_TOKENS:
            yield Step(Part.TOLD, key_of(summary))
    for offer in order[_LATEST_ROWS:]:
        yield Step(Part.ROW, offer.key)


def detail(record: Observation, full_field: str) -> list[str]:
    """What an observation says in full: its facts, else its narrative, or the other way round."""
    facts, narrative = list(items(record.facts)), [record.narrative or record.text or ""]
    first, second = (facts, narrative) if full_field == FACTS else (narrative, facts)
    return first if any(text.strip() for text in first) else [text for text in second if text.strip()]


def said(summary: Summary) -> list[tuple[str, str]]:
    """(heading, text) of what a summary has to tell beside its request."""
    fields = (
        ("Investigated", summary.investigated), ("Learned", summary.learned), ("Completed", summary.completed),
        ("Next Steps", summary.next_steps),
    )  # fmt: skip
    return [(name, text) for name, text in fields if text and text.strip()]


def told(summary: Summary) -> list[tuple[str, str]]:
    """What of it is told under the row of its session."""
    return [(name, text) for name, text in said(summary) if name != "Investigated"]


def work_once(records: Sequence[Observation], shared: Collection[int] = ()) -> int:
    """Tokens that finding these out cost, each answer of a model counted once.

    The original notes the tokens of an answer on each record of it: equal ones of one session and moment are one
    answer. shared: ids of records among which we shared them out ourselves.
    """
    answers: dict[tuple[str, int, int], int] = {}
    total = 0
    for record in records:
        tokens = record.discovery_tokens or 0
        if record.id in shared:
            total += tokens
        else:
            answers[record.memory_session_id, record.created_at_epoch, tokens] = tokens
    return total + sum(answers.values())


def _is_last_word(summaries: Sequence[Summary], observations: Sequence[Observation]) -> bool:
    """Whether the newest summary tells how things stand: nothing was learned since, and it says something."""
    if not summaries or not said(summaries[0]):
        return False
    return not observations or summaries[0].created_at_epoch > observations[0].created_at_epoch


def _active_files(observations: Sequence[Observation]) -> set[str]:
    return {path for record in observations[:_ACTIVE_OBSERVATIONS] for path in items(record.files_modified)}


def superseded(observations: Sequence[Observation]) -> dict[int, int]:
    """Old id → the newer one that says it takes its place."""
    found: dict[int, int] = {}
    for record in observations:
        if not record.metadata:
            continue
        try:
            told = msgspec.json.decode(record.metadata)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        old = told.get("supersedes") if isinstance(told, dict) else None
        for number in old if isinstance(old, list) else [old]:
            if isinstance(number, int) and number != record.id:
                found[number] = record.id
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(f"{word}:{count}" for word, count in Counter(_WORD.findall(text.lower())).items())


class _Titles:
    """The words of titles. Two that are alike have one of their alphabetically first words in common, since all but a
    few of both are shared; so only a few are compared."""

    def __init__(self) -> None:
        self._by_first: dict[str, list[tuple[frozenset[str], int]]] = {}

    def add(self, words: frozenset[str], number: int) -> None:
        """The words of a record's title."""
        for word in _first(words):
            self._by_first.setdefault(word, []).append((words, number))

    def like(self, words: frozenset[str]) -> int | None:
        """The newest record with a title like this."""
        known = (each for word in _first(words) for each in self._by_first.get(word, ()))
        return max((number for other, number in known if _alike(words, other)), default=None)


def _first(words: frozenset[str]) -> list[str]:
    return sorted(words)[: len(words) - math.ceil(_ALIKE * len(words)) + 1]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)
