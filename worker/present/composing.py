"""The session-start context: what is there, what of it is chosen, and as what text it is given."""

import datetime as dt
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from worker.contract.context import Change, ContextPlan, ContextRow, Density
from worker.contract.context_settings import ContextSettings
from worker.contract.records import RecordKey, RecordKind, Summary, key_of
from worker.contract.tokens import estimate_tokens
from worker.present import choosing, context_block, context_colours, marks
from worker.present.choosing import Choice, Offer, Part
from worker.present.context_block import Block, Frame
from worker.store import context_rows, search_index
from worker.store.context_rows import Looked, Wanted
from worker.store.tables import Connection, Store

_ALL = 999_999
_AHEAD = 4
"""Candidates for each place: as many as may be repetitions."""
_LEAST_CANDIDATES = 50
_MOST_CANDIDATES = 1_000
_MOST_REASON_CHARS = 200
_MOST_MESSAGE_CHARS = 1_200
"""The end of it, where an agent says what it came to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """Whose context. projects: the last is the one that starts. everything: without any limit.

    viewer: where a person can look at the memory. session: the one that starts, by its content id.
    """

    projects: tuple[str, ...]
    platform: str | None = None
    everything: bool = False
    viewer: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Composed:
    """A context before it is given away."""

    query: ContextQuery
    frame: Frame
    choice: Choice
    block: Block
    looked: Looked

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not self.choice.steps

    @property
    def listed(self) -> list[RecordKey]:
        """What stands in it as a row."""
        full = set(self.read)
        return [key for key in self._keys if key not in full]

    @property
    def read(self) -> list[RecordKey]:
        """What stands in it in full."""
        return [step.key for step in self.block.taken if step.part in (Part.FULL, Part.LAST_SUMMARY, Part.TOLD)]

    @property
    def numbers(self) -> list[int]:
        """The docids of all that is in it."""
        return [search_index.docid(key) for key in self._keys]

    @property
    def _keys(self) -> list[RecordKey]:
        return list(dict.fromkeys(step.key for step in self.block.taken))

    def coloured(self) -> str:
        """The same for a person at a terminal."""
        return context_colours.coloured(self.choice, self.frame, self.block)

    def plan(self) -> ContextPlan:
        """Row by row, with the reasons."""
        rows = [*_kept(self), *_not_kept(self)]
        known = {row.key for row in rows}
        gone = [number for number in self.looked.before if str(search_index.key(number)) not in known]
        return ContextPlan(
            project=self.query.projects[-1],
            budget_tokens=0 if self.query.everything else self.frame.settings.budget,
            used_tokens=self.block.tokens,
            text=self.block.text,
            rows=tuple(rows),
            left_out=self.looked.hidden,
            compared=bool(self.looked.before),
            changed_new=sum(row.change == "new" for row in rows),
            changed_gone=sum(row.change == "gone" for row in rows) + len(gone),
        )


async def compose(
    store: Store,
    query: ContextQuery,
    settings: ContextSettings,
    *,
    now_ms: int,
    zone: dt.tzinfo | None,
    last_said: Callable[[str], str] = lambda _: "",
) -> Composed:
    """The context of a session that starts now. last_said: what the agent said last in a session, by content id."""
    if query.everything:
        settings = replace(settings, observations=_ALL, sessions=_ALL, budget=_ALL * 1_000)
    most = max(_LEAST_CANDIDATES, settings.observations * _AHEAD)
    wanted = Wanted(
        projects=query.projects,
        platform=query.platform,
        types=settings.types,
        concepts=settings.concepts,
        observations=most if query.everything else min(_MOST_CANDIDATES, most),
        summaries=settings.sessions + 1,
    )
    looked = await store.read(lambda connection: context_rows.look(connection, wanted))
    said = await _last_message(store, looked, query, last_said) if settings.last_message else ""
    frame = Frame(query.projects, now_ms, settings, zone, looked.read, looked.shared, said, query.viewer)
    choice = choosing.choose(
        looked.observations,
        looked.summaries,
        settings,
        pinned=_observations(looked.wishes.pinned),
        muted=_observations(looked.wishes.muted),
        last_message=bool(said),
    )
    return Composed(query, frame, choice, context_block.fitted(choice, frame), looked)


async def _last_message(store: Store, looked: Looked, query: ContextQuery, last_said: Callable[[str], str]) -> str:
    memories = tuple(dict.fromkeys(record.memory_session_id for record in looked.observations))

    def look(connection: Connection) -> str:
        names = context_rows.content_ids(connection, memories[:2])
        found = (names[memory] for memory in memories[:2] if names.get(memory, query.session) != query.session)
        content_id = next(found, "")
        return last_said(content_id)[-_MOST_MESSAGE_CHARS:].strip() if content_id else ""

    return await store.read(look)


def _observations(numbers: frozenset[int]) -> set[int]:
    keys = map(search_index.key, numbers)
    return {key.id for key in keys if key.kind is RecordKind.OBSERVATION}


def _kept(composed: Composed) -> Iterator[ContextRow]:
    """In the order of the text."""
    parts: dict[RecordKey, set[Part]] = {}
    for step in composed.block.taken:
        parts.setdefault(step.key, set()).add(step.part)
    began = composed.choice.began
    rows: list[tuple[int, int, ContextRow]] = []
    for offer in composed.choice.offers:
        if offer.key in parts:
            row = _observation(composed, offer, in_full=Part.FULL in parts[offer.key], kept=True)
            rows.append((row.epoch_ms, offer.record.id, row))
    for summary in composed.choice.sessions:
        key = key_of(summary)
        if key in parts:
            row = _summary(composed, summary, parts[key], kept=True)
            rows.append((began[summary.id], summary.id, row))
    yield from (row for _, _, row in sorted(rows, key=lambda each: each[:2]))


def _not_kept(composed: Composed) -> Iterator[ContextRow]:
    kept = {step.key for step in composed.block.taken}
    for offer in composed.choice.offers:
        if offer.key not in kept:
            yield _observation(composed, offer, in_full=False, kept=False)
    for summary in composed.choice.sessions:
        if key_of(summary) not in kept:
            yield _summary(composed, summary, set(), kept=False)


def _observation(composed: Composed, offer: Offer, *, in_full: bool, kept: bool) -> ContextRow:
    record = offer.record
    density: Density = "full" if in_full else "row"
    reason = offer.dropped or ", ".join(offer.reasons)
    if not kept and not offer.dropped:
        reason = f"{_why_not(composed, offer.key)}; {reason}"
    lines = list(context_block.row(record, "12:00p", in_full, composed.frame))
    number = search_index.docid(offer.key)
    return ContextRow(
        key=str(offer.key),
        title=marks.one_line(record.title or record.narrative or "Untitled"),
        type=record.type,
        epoch_ms=record.created_at_epoch,
        density=density,
        read_tokens=estimate_tokens("\n".join(lines)),
        kept=kept,
        reason=marks.one_line(reason, _MOST_REASON_CHARS),
        change=_change(composed, number, kept),
        pinned=number in composed.looked.wishes.pinned,
        muted=number in composed.looked.wishes.muted,
    )


def _summary(composed: Composed, summary: Summary, parts: Collection[Part], *, kept: bool) -> ContextRow:
    key = key_of(summary)
    texts = [summary.request or ""]
    last_word = Part.LAST_SUMMARY in parts
    if last_word or Part.TOLD in parts:
        texts += [text for _, text in (choosing.said if last_word else choosing.told)(summary)]
    return ContextRow(
        key=str(key),
        title=marks.one_line(summary.request or "Session started"),
        type="session",
        epoch_ms=summary.created_at_epoch,
        density="summary",
        read_tokens=estimate_tokens("\n".join(texts)),
        kept=kept,
        reason="how things stand" if last_word else "recent session" if kept else _why_not(composed, key),
        change=_change(composed, search_index.docid(key), kept),
    )


def _why_not(composed: Composed, key: RecordKey) -> str:
    wanted = {step.key for step in composed.choice.steps}
    return "over the budget" if key in wanted else f"beyond {composed.frame.settings.observations} rows"


def _change(composed: Composed, number: int, kept: bool) -> Change:
    before = composed.looked.before
    if not before or kept == (number in before):  # the first session of a project has nothing to be compared with
        return "same"
    return "new" if kept else "gone"
