"""Carries out a question on the store, and names what was degraded."""

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Iterable

from worker.contract.errors import Invalid, NotFound
from worker.contract.records import Observation, Prompt, Record, RecordKey, RecordKind, Summary
from worker.contract.search import (
    Count,
    Degraded,
    Entry,
    Facets,
    Hit,
    Order,
    SearchPage,
    SearchQuery,
    SearchRows,
    Timeline,
    TimelineQuery,
)
from worker.search import buckets, terms
from worker.search.snippet import Highlighter
from worker.search.timeline import Anchor, Moment, Window, parse_anchor, window
from worker.store import filters, listing, records
from worker.store.listing import Ranked
from worker.store.tables import Connection, Store

_WORD = {RecordKind.OBSERVATION: "Observation", RecordKind.SUMMARY: "Session", RecordKind.PROMPT: "Prompt"}


class Engine:
    """Answers over one store. zone: of dates without one, by default this machine's."""

    def __init__(
        self, store: Store, *, zone: dt.tzinfo | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._store, self._zone, self._clock = store, zone, clock

    async def search(self, query: SearchQuery) -> SearchPage:
        """One page of the fused list over all kinds that are asked for."""
        page, _ = await self._search(query)
        return page

    async def search_rows(self, query: SearchQuery) -> SearchRows:
        """The same, with the full rows of its hits."""
        page, rows = await self._search(query)
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
        )

    async def _search(self, query: SearchQuery) -> tuple[SearchPage, dict[RecordKey, Record]]:
        started = self._clock()
        match = terms.expression(query.text, typing=query.typing)

        def work(connection: Connection) -> tuple[list[Hit], int, dict[RecordKey, Record]]:
            where = filters.condition(query)
            ranked = _ranked(connection, query, match, where)
            total = listing.count(connection, match, where)
            keys = [found.key for found in ranked]
            entries = listing.entries(connection, keys)
            rows = records.by_keys(connection, keys)
            marker = Highlighter(terms.terms(query.text), terms.unfinished(query.text) if query.typing else None)
            hits = [_hit(found, entries, rows, marker) for found in ranked if found.key in rows]
            return hits, total, rows

        hits, total, rows = await self._store.read(work)
        page = SearchPage(
            hits=tuple(hits),
            total=total,
            query=query.text,
            offset=query.offset,
            strategy="keyword" if match else "filter",
            degraded=None if self._store.complete else Degraded.INDEX_STARTING,
            took_ms=round((self._clock() - started) * 1000, 2),
        )
        return page, rows

    async def timeline(self, query: TimelineQuery) -> Timeline:
        """What lies around an anchor. Errors: ``Invalid`` for no anchor, ``NotFound`` for one that does not exist."""
        anchor = await self._anchor(query)

        def work(connection: Connection) -> Window:
            where = filters.scope(query.project, query.platform_source)
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
            words = SearchQuery(text=query.query, project=query.project, platform_source=query.platform_source, limit=1)
            page = await self.search(words)
            if not page.hits or page.strategy == "filter":
                raise NotFound(f'No observations found matching "{query.query}". Try a different search query.')
            return page.hits[0].key
        anchor = parse_anchor(query.anchor, self._zone)
        if anchor is None:
            raise Invalid(f"Invalid timestamp: {query.anchor}", field="anchor")
        return anchor

    async def facets(self, query: SearchQuery, *, most_buckets: int) -> Facets:
        """What a filtered set is made of."""
        match = terms.expression(query.text, typing=query.typing)

        def work(connection: Connection) -> Facets:
            where = filters.condition(query)
            groups = listing.groups(connection, match, where)
            first = min((group.first_epoch_ms for group in groups), default=None)
            last = max((group.last_epoch_ms for group in groups), default=None)
            width = buckets.width_for(first or 0, last or 0, most_buckets)
            fine = listing.histogram(connection, match, where, buckets.grain_for(width, self._zone)) if groups else []
            return Facets(
                total=sum(group.count for group in groups),
                kinds=_counts((group.kind.value, group.count) for group in groups),
                types=_counts((group.type, group.count) for group in groups),
                projects=_counts((group.project, group.count) for group in groups),
                buckets=buckets.fold(fine, width, self._zone),
                bucket_ms=width,
                first_epoch_ms=first,
                last_epoch_ms=last,
            )

        return await self._store.read(work)


def _counts(values: Iterable[tuple[str, int]]) -> tuple[Count, ...]:
    """Summed by value, most frequent first."""
    summed: Counter[str] = Counter()
    for value, count in values:
        summed[value] += count
    return tuple(Count(value, count) for value, count in sorted(summed.items(), key=lambda item: (-item[1], item[0])))


def _ranked(connection: Connection, query: SearchQuery, match: str, where: filters.Condition) -> list[Ranked]:
    if match:
        return listing.search(connection, match, where, order=query.order, limit=query.limit, offset=query.offset)
    order = Order.DATE_DESC if query.order is Order.RELEVANCE else query.order
    keys = listing.listing(connection, where, order=order, limit=query.limit, offset=query.offset)
    return [Ranked(key, 0.0) for key in keys]


def _hit(
    found: Ranked,
    entries: dict[RecordKey, Entry],
    rows: dict[RecordKey, Record],
    marker: Highlighter,
) -> Hit:
    entry = entries[found.key]
    return Hit(
        **{name: getattr(entry, name) for name in entry.__struct_fields__},
        score=round(found.score, 4),
        snippet=marker.snippet(rows[found.key]),
        title_matches=marker.spans(entry.title),
    )
