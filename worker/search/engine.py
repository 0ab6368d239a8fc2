"""Carries out a question on the store, and names what was degraded."""

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from worker.contract.errors import Invalid, NotFound
from worker.contract.query import Parsed, parse, shown_span
from worker.contract.records import Observation, Prompt, RecordKey, RecordKind, Summary
from worker.contract.search import (
    Count,
    Degraded,
    Facets,
    Hit,
    Mode,
    Order,
    SearchPage,
    SearchQuery,
    SearchRows,
    Strip,
    Timeline,
    TimelineQuery,
)
from worker.projection.meaning import Meaning, Thought, Unanswered
from worker.search import buckets, fusion, hybrid, terms
from worker.search.hybrid import Placed
from worker.search.phrases import Phrase
from worker.search.showing import Showing
from worker.search.snippet import Highlighter
from worker.search.timeline import Anchor, Moment, Window, parse_anchor, window
from worker.store import axis, candidates, filters, listing, plain, records
from worker.store.axis import Run
from worker.store.finder import Finder
from worker.store.rows import body, texts
from worker.store.tables import Connection, Store

T = TypeVar("T")

_CONCEPTS = 50
_MOST_BUCKETS = 2_000
_WORDLESS = "there is no word in the question, so all that passes the filters is listed"
_UNRANKED = "in an order of time or tokens stands what the words find; meaning ranks by relevance alone"
_LOOSE = "the exact phrase stands nowhere; these have some of its words"
_WORD = {RecordKind.OBSERVATION: "Observation", RecordKind.SUMMARY: "Session", RecordKind.PROMPT: "Prompt"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question as it was understood. match: the words as an FTS5 expression, empty without words.

    unwanted: what it leaves out; where leaves out already what has it exactly. question: the same for both engines.
    meaning, thinking: what is asked and the question on its way to a vector, None where meaning is not asked; unasked:
    why it is not, though it could have helped.
    """

    wanted: terms.Wanted
    match: str
    where: filters.Condition
    notes: tuple[str, ...]
    unwanted: Sequence[Phrase] = ()
    question: hybrid.Asked | None = None
    meaning: Meaning | None = None
    thinking: Future[Thought] | None = None
    unasked: Degraded | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """A page. degraded: why meaning had no say, though it was asked."""

    placed: list[Placed]
    kinds: dict[RecordKind, int]
    strategy: str
    notes: tuple[str, ...] = ()
    degraded: Degraded | None = None


class Engine:
    """Answers over one store.

    meaning: the index by meaning, or why there is none now; None where nobody expects one. zone: of dates without one,
    by default this machine's. recency_days: after so many, what is added for being new has halved; 0 adds nothing.
    asked: told when a question begins. clock, now: in seconds.
    """

    def __init__(
        self,
        store: Store,
        meaning: Callable[[], Meaning | Degraded | None] = lambda: None,
        *,
        zone: dt.tzinfo | None = None,
        recency_days: int = fusion.RECENCY_WINDOW_DAYS,
        asked: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._meaning, self._zone, self._clock, self._now = store, meaning, zone, clock, now
        self._recency_days, self._asked = recency_days, asked
        # Two modules of one form: by FTS5, and without it.
        self._finder: Finder = listing if store.fulltext else plain

    async def search(self, query: SearchQuery, *, marked: bool = True) -> SearchPage:
        """One page of the fused list over all kinds that are asked for.

        marked: with what was found in titles and snippets, which takes longer than a page that shows neither.
        """
        page, _ = await (self._search(query, records.bodies, texts) if marked else self._search(query, records.there))
        return page

    async def search_rows(self, query: SearchQuery) -> SearchRows:
        """The same, with the full rows of its hits."""
        page, rows = await self._search(query, records.by_keys, lambda _, record: body(record))
        found = [rows[hit.key] for hit in page.hits]
        return SearchRows(
            observations=tuple(row for row in found if isinstance(row, Observation)),
            sessions=tuple(row for row in found if isinstance(row, Summary)),
            prompts=tuple(row for row in found if isinstance(row, Prompt)),
            totalResults=page.total,
            query=page.query,
            hits=page.hits,
            offset=page.offset,
            strategy=page.strategy,
            degraded=page.degraded,
            took_ms=page.took_ms,
            notes=page.notes,
        )

    async def _search(
        self,
        query: SearchQuery,
        read: Callable[[Connection, Sequence[RecordKey]], dict[RecordKey, T]],
        read_texts: Callable[[RecordKind, T], Iterable[str]] | None = None,
    ) -> tuple[SearchPage, dict[RecordKey, T]]:
        """A page, and what was read of its records. read_texts: what of that is marked; nothing is without it."""
        started = self._clock()
        self._asked()
        asked = self._understand(query)

        def work(connection: Connection) -> tuple[_Found, list[Hit], dict[RecordKey, T]]:
            marker = Highlighter(asked.wanted.words, asked.wanted.unfinished)
            showing = Showing(connection, read, read_texts, marker)

            def meanwhile(best: Sequence[RecordKey], awaited: Future[Any]) -> None:
                showing.ahead(best[query.offset :], query.limit, awaited)

            found = _find(self._finder, connection, query, asked, meanwhile)
            return found, showing.hits(found.placed), showing.rows

        found, hits, rows = await self._store.read(work)
        page = SearchPage(
            hits=tuple(hits),
            total=sum(found.kinds.values()),
            kinds=found.kinds,
            query=query.text,
            offset=query.offset,
            strategy=found.strategy,
            degraded=self._degraded() or asked.unasked or found.degraded,
            took_ms=round((self._clock() - started) * 1000, 2),
            notes=(*asked.notes, *found.notes),
        )
        return page, rows

    def _understand(self, query: SearchQuery) -> _Asked:
        """What a query's line says."""
        said = parse(query.text, now_epoch_ms=int(self._now() * 1000), zone=self._zone, typing=query.typing)
        wanted = terms.Wanted(said.text, said.phrases, typing=query.typing and said.ends_in_word)
        unwanted = terms.phrases(said.excluded)
        excluding, known = self._finder.found(terms.excluding(unwanted)) if unwanted else None, self._store.aliases
        where = filters.condition(query, said, excluding=excluding, known=known)
        match = terms.expression(wanted)
        asks = said.text.strip() or said.phrases or (said.excluded and not unwanted)
        wordless = (_WORDLESS,) if asks and not match and not query.typing else ()
        span = shown_span(*_span(said, query), self._zone)
        unranked = (_UNRANKED,) if query.mode not in (None, Mode.KEYWORD) and query.order is not Order.RELEVANCE else ()
        beyond = terms.passed_over(wanted, said.excluded)
        notes = (*said.notes, *beyond, *wordless, *unranked, *((span,) if span else ()))
        asked = _Asked(wanted, match, where, notes, unwanted)
        if not match or query.mode is Mode.KEYWORD or query.order is not Order.RELEVANCE:
            return asked
        match self._meaning():
            case None:
                return asked
            case Degraded() as reason:
                return replace(asked, unasked=reason)
            case meaning:
                whole = any((query.types, query.concepts, query.files, said.types, said.concepts, said.files))
                sentence = " ".join((said.text.strip(), *said.phrases)).strip()
                question = self._question(query, asked, sentence, whole=whole)
                return replace(asked, question=question, meaning=meaning, thinking=meaning.think(question.sentence))

    def _question(self, query: SearchQuery, asked: _Asked, sentence: str, *, whole: bool) -> hybrid.Asked:
        return hybrid.Asked(
            sentence,
            asked.match,
            asked.where,
            strict=bool(asked.wanted.phrases),
            whole=whole,
            weighed=self._store.fulltext,
            alone=query.mode is Mode.SEMANTIC,
            now_epoch_ms=int(self._now() * 1000) if self._recency_days else None,
            half_life_days=self._recency_days or fusion.RECENCY_WINDOW_DAYS,
        )

    def _degraded(self) -> Degraded | None:
        if not self._store.fulltext:
            return Degraded.NO_FULLTEXT
        return None if self._store.complete else Degraded.INDEX_STARTING

    async def timeline(self, query: TimelineQuery) -> Timeline:
        """What lies around an anchor. Errors: ``Invalid`` for no anchor, ``NotFound`` for one that does not exist."""
        self._asked()
        anchor = await self._anchor(query)

        def work(connection: Connection) -> Window:
            where = filters.scope(query.project, query.platform_source, query.session, known=self._store.aliases)
            if isinstance(anchor, Moment):
                moment = (anchor.epoch_ms, 0, 0)
            else:
                entry = listing.entries(connection, [anchor]).get(anchor)
                if entry is None:
                    raise NotFound(f"{_WORD[anchor.kind]} #{anchor.id} not found", field="anchor")
                moment = listing.place(entry)
            earlier, later = listing.around(
                connection, where, moment, before=query.depth_before, after=query.depth_after + 1
            )
            return window(earlier, later, anchor, depth_after=query.depth_after)

        found = await self._store.read(work)
        return Timeline(
            entries=found.entries,
            anchor=query.anchor.strip() or str(anchor),
            anchor_index=found.anchor_index,
            query=query.query,
            depth_before=query.depth_before,
            depth_after=query.depth_after,
        )

    async def _anchor(self, query: TimelineQuery) -> Anchor:
        if not query.anchor.strip():
            words = SearchQuery(
                text=query.query, project=query.project, session=query.session,
                platform_source=query.platform_source, limit=1,
            )  # fmt: skip
            page = await self.search(words)
            if not page.hits or page.strategy == "filter":
                raise NotFound(f'No observations found matching "{query.query}". Try a different search query.')
            return page.hits[0].key
        anchor = parse_anchor(query.anchor, self._zone, now_epoch_ms=int(self._now() * 1000))
        if anchor is None:
            raise Invalid(f"Invalid timestamp: {query.anchor}", field="anchor")
        return anchor

    async def facets(
        self, query: SearchQuery, *, most_buckets: int, with_concepts: bool = False, strip: Strip | None = None
    ) -> Facets:
        """What a filtered set is made of. Errors: ``Invalid`` for a strip of too many buckets."""
        self._asked()
        asked = self._understand(query)

        def work(connection: Connection) -> Facets:
            settled, kinds, _ = _settled(self._finder, connection, asked, ranked=False)
            added, _ = _meant(self._finder, connection, settled, kinds, hybrid.added)
            sets = _sets(settled, added)
            groups = [group for each in sets for group in self._finder.groups(connection, *each)]
            first = min((group.first_epoch_ms for group in groups), default=None)
            last = max((group.last_epoch_ms for group in groups), default=None)
            if strip is None:
                width = buckets.width_for(first or 0, last or 0, most_buckets)
                bounds = [] if first is None or last is None else buckets.edges(first, last, width, self._zone)
            else:
                width, bounds = strip.bucket_ms, _bounds(strip, first, last, self._zone)
            every = _CONCEPTS if len(sets) == 1 else -1
            concepts = [
                found for each in sets if with_concepts for found in self._finder.concepts(connection, *each, every)
            ]
            runs = buckets.runs(bounds)
            shown = sets if strip is None else [(words, _within(where, runs, first, last)) for words, where in sets]
            bars = [bar for each in shown if runs for bar in self._finder.histogram(connection, *each, runs)]
            named = buckets.most_frequent((group.type, group.count) for group in groups)
            return Facets(
                total=sum(group.count for group in groups),
                kinds=_counts((group.kind.value, group.count) for group in groups),
                types=_counts((group.type, group.count) for group in groups),
                projects=_counts((group.project, group.count) for group in groups),
                buckets=buckets.stack(bars, bounds, named, empty=strip is not None),
                bucket_ms=width,
                first_epoch_ms=first,
                last_epoch_ms=last,
                concepts=_counts(concepts)[:_CONCEPTS] if with_concepts else (),
            )

        return await self._store.read(work)


def _span(said: Parsed, query: SearchQuery) -> tuple[int | None, int | None]:
    """From when until when is looked, if that is to be told: what the line and the parameters say must both hold."""
    since = [each for each in (said.since_epoch_ms, query.since_epoch_ms) if each is not None]
    until = [each for each in (said.until_epoch_ms, query.until_epoch_ms) if each is not None]
    if said.since_epoch_ms is None and said.until_epoch_ms is None and not query.tell_span:
        return None, None
    return max(since, default=None), min(until, default=None)


def _bounds(strip: Strip, first: int | None, last: int | None, zone: dt.tzinfo | None) -> list[int]:
    """The bounds of a strip's buckets, none where there is no span. Errors: ``Invalid`` for too many of them."""
    start = first if strip.start_epoch_ms is None else strip.start_epoch_ms
    end = last if strip.end_epoch_ms is None else strip.end_epoch_ms
    if start is None or end is None or start > end:
        return []
    if (count := (end - start) // strip.bucket_ms) >= _MOST_BUCKETS:
        raise Invalid(f"bucketMs: {count} buckets in this span, more than {_MOST_BUCKETS}", field="bucketMs")
    return buckets.edges(start, end, strip.bucket_ms, zone)


def _within(where: filters.Condition, runs: Sequence[Run], first: int | None, last: int | None) -> filters.Condition:
    """The same filters, of what lies in the runs alone; first and last moment of what passes the filters."""
    if not runs or first is None or last is None:
        return where
    wide = 2 * (min(last, runs[-1].end_epoch_ms) - max(first, runs[0].start_epoch_ms)) > last - first
    return filters.Condition(f"{where.sql} AND {axis.within(runs, wide=wide)}", where.values)


def _counts(values: Iterable[tuple[str, int]]) -> tuple[Count, ...]:
    """Summed by value, most frequent first."""
    summed: Counter[str] = Counter()
    for value, count in values:
        summed[value] += count
    return tuple(Count(value, count) for value, count in sorted(summed.items(), key=lambda item: (-item[1], item[0])))


def _find(
    finder: Finder, connection: Connection, query: SearchQuery, asked: _Asked, meanwhile: hybrid.Meanwhile
) -> _Found:
    """The page of what fits."""
    if asked.meaning is not None:
        asked.meaning.work_beside()
    asked, kinds, loose = _settled(finder, connection, asked, ranked=query.order is Order.RELEVANCE)
    notes = (_LOOSE,) if kinds and loose else ()
    look = partial(hybrid.window, meanwhile=meanwhile)
    window, degraded = _meant(finder, connection, asked, kinds, look)
    if window is not None:
        placed = hybrid.page(connection, finder, window, limit=query.limit, offset=query.offset)
        counts = window.kinds if window.is_all else _added(kinds, window.kinds)
        return _Found(placed, counts, "semantic" if window.asked.alone else "hybrid", notes, window.degraded)
    there = sum(kinds.values()) > query.offset
    placed = _placed(finder, connection, query, asked.match, asked.where) if there else []
    return _Found(placed, kinds, "keyword" if asked.match else "filter", notes, degraded)


def _meant(
    finder: Finder,
    connection: Connection,
    asked: _Asked,
    kinds: dict[RecordKind, int],
    look: Callable[[Connection, Finder, Meaning, Future[Thought], hybrid.Asked, int], T],
) -> tuple[T | None, Degraded | None]:
    """What both engines find, looked at in one way or another, or None and why there is nothing."""
    if asked.meaning is None or asked.thinking is None or asked.question is None:
        return None, None
    try:
        return look(connection, finder, asked.meaning, asked.thinking, asked.question, sum(kinds.values())), None
    except Unanswered as unanswered:
        return None, unanswered.reason


def _sets(asked: _Asked, added: hybrid.Added | None) -> list[tuple[str, filters.Condition]]:
    """What is found, as sets that do not overlap: what has the words, and what meaning adds."""
    if added is None:
        return [(asked.match, asked.where)]
    if added.everything:
        return [("", asked.where)]
    more = [("", candidates.only(added.numbers))] if added.numbers else []
    alone = asked.question is not None and asked.question.alone
    return more if alone else [(asked.match, asked.where), *more]


def _added(kinds: dict[RecordKind, int], more: dict[RecordKind, int]) -> dict[RecordKind, int]:
    counts = {kind: kinds.get(kind, 0) + more.get(kind, 0) for kind in RecordKind}
    return {kind: count for kind, count in counts.items() if count}


def _settled(
    finder: Finder, connection: Connection, asked: _Asked, *, ranked: bool
) -> tuple[_Asked, dict[RecordKind, int], bool]:
    """The question to go by, how many of each kind it finds, and whether it had to be loosened: a phrase that stands
    nowhere is looked for by its words. ranked: the best of them are asked for next."""
    if not asked.unwanted and not asked.wanted.phrases:
        return asked, finder.count(connection, asked.match, asked.where, ranked=ranked), False
    asked = _changed(asked, asked.match, _without(finder, connection, asked.where, asked.unwanted))
    standing = {phrase: _standing(finder, connection, phrase) for phrase in terms.demands(asked.wanted)}
    near = {phrase: docids for phrase, docids in standing.items() if docids}
    strict = asked
    if near:
        parts = [_either(finder.found(phrase.exact), filters.any_of(docids)) for phrase, docids in near.items()]
        strict = _changed(asked, terms.expression(asked.wanted, near=near), filters.narrowed(asked.where, parts))
    kinds = finder.count(connection, strict.match, strict.where, ranked=ranked)
    if kinds or not asked.wanted.phrases:
        return strict, kinds, False
    loose = _changed(asked, terms.expression(asked.wanted, strict=False), asked.where)
    if loose.question is not None and loose.match != asked.match:
        # A phrase that stands somewhere is a demand for meaning too.
        loose = replace(loose, question=replace(loose.question, strict=False))
    kinds = finder.count(connection, loose.match, loose.where, ranked=ranked)
    return loose, kinds, loose.match != asked.match


def _without(
    finder: Finder, connection: Connection, where: filters.Condition, unwanted: Sequence[Phrase]
) -> filters.Condition:
    """The same filters, without what has phrases otherwise than exactly."""
    docids = [docid for phrase in unwanted for docid in _standing(finder, connection, phrase)]
    sql, values = filters.any_of(docids)
    return filters.narrowed(where, [(f"NOT {sql}", values)] if docids else [])


def _standing(finder: Finder, connection: Connection, phrase: Phrase) -> tuple[int, ...]:
    """The docids of what has a phrase otherwise than exactly."""
    return finder.standing(connection, phrase.exact, phrase.near, phrase.atoms) if phrase.near else ()


def _either(exactly: filters.Part, otherwise: filters.Part) -> filters.Part:
    return f"(d.docid IN ({exactly[0]}) OR {otherwise[0]})", [*exactly[1], *otherwise[1]]


def _changed(asked: _Asked, match: str, where: filters.Condition) -> _Asked:
    question = asked.question and replace(asked.question, match=match, where=where)
    return replace(asked, match=match, where=where, question=question)


def _placed(
    finder: Finder, connection: Connection, query: SearchQuery, match: str, where: filters.Condition
) -> list[Placed]:
    if match:
        ranked = finder.search(connection, match, where, order=query.order, limit=query.limit, offset=query.offset)
        if query.order is Order.RELEVANCE:
            return hybrid.by_words(ranked, query.offset)
        return [Placed(found.key, found.score) for found in ranked]
    order = Order.DATE_DESC if query.order is Order.RELEVANCE else query.order
    keys = listing.listing(connection, where, order=order, limit=query.limit, offset=query.offset)
    return [Placed(key, 0.0) for key in keys]
