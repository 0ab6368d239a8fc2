"""Questions about the list: pages, what the set is made of, where in it a record is."""

import asyncio

from msgspec.structs import replace

from tui.gateway.line import Line
from tui.state import chips, facts, filters
from tui.state.facts import Fact
from tui.state.model import PAGE, Ask
from tui.state.needs import NeedList
from worker.contract import calls
from worker.contract.errors import Invalid, MemError
from worker.contract.search import Entry, Mode, SearchPage, SearchQuery, Strip


class Lists:
    """Of one worker."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def listed(self, need: NeedList, *, words_only: bool = False) -> Fact:
        """The first page of an answer, and the one that holds the record to keep, if it can be found."""
        mode = Mode.KEYWORD if words_only else None
        try:
            page = await self._page(need.ask, 0, mode)
            pages: dict[int, tuple[Entry, ...]] = {0: page.hits}
            focus = _row(pages, need.focus)
            if need.focus is not None and focus is None and page.total > PAGE:
                focus = await self._locate(need, need.focus, page, pages, mode)
        except MemError as error:
            return facts.ListFailed(need.seq, error.message, misread=isinstance(error, Invalid))
        return facts.Listed(need.seq, page, pages, focus, words_only)

    async def paged(self, seq: int, ask: Ask, number: int, *, words_only: bool = False, start: int = 0) -> Fact:
        """One more page, or what comes after its first ``start`` rows."""
        try:
            page = await self._page(ask, number, Mode.KEYWORD if words_only else None, start)
        except MemError as error:
            return facts.ListFailed(seq, error.message)
        return facts.Paged(seq, number, page.hits, page.total, words_only, start)

    async def faceted(self, seq: int, ask: Ask, buckets: int, strip: Strip | None = None) -> Fact | None:
        """What the set is made of; None if that cannot be told (the list itself says why)."""
        try:
            return facts.Faceted(seq, await self._line.send(calls.facets(query_of(ask), buckets=buckets, strip=strip)))
        except MemError:
            return None

    async def offered(self, ask: Ask) -> Fact:
        """What each filter would leave: of a field that is filtered already, as if it were not."""
        chosen = [name for name, _ in filters.GROUPS if name in {chip.field for chip in chips.chips(ask.text)}]
        try:
            whole, *parts = await asyncio.gather(
                self._line.send(calls.facets(query_of(ask), buckets=3, concepts=True)),
                *(self._line.send(calls.facets(_without(ask, name), buckets=3, concepts=True)) for name in chosen),
            )
            spans = [chip for _, chip in filters.DATES]
            dated = await asyncio.gather(*(self._line.send(calls.search(_dated(ask, chip))) for chip in spans))
        except MemError as error:
            return filters.OfferFailed(error.message)
        of = {name: whole for name, _ in filters.GROUPS} | dict(zip(chosen, parts, strict=True))
        values = {
            "type": of["type"].types, "project": of["project"].projects, "concept": of["concept"].concepts
        }  # fmt: skip
        dates = {str(chip): page.total for chip, page in zip(spans, dated, strict=True)}
        return filters.Offered(filters.Offer(values, dates))

    async def row_of(self, ask: Ask, entry: Entry) -> int | None:
        """The row of a record in the answer to a question in order of time; None if it is not there."""
        try:
            near = await self._place(ask, entry)
            return await self._seek(ask, entry, near, {}, None) if near is not None else None
        except MemError:
            return None

    async def row_at(self, ask: Ask, epoch_ms: int, *, later: bool) -> int | None:
        """The row of the first record at or after a moment, or of the last one at or before it.

        The list is in order of time. May be beyond either end; None when nobody answers.
        """
        if ask.newest_first:
            query = query_of(ask, limit=1, since_epoch_ms=epoch_ms + (not later))
        else:
            query = query_of(ask, limit=1, until_epoch_ms=epoch_ms - later)
        try:
            counted = (await self._line.send(calls.search(query))).total
        except MemError:
            return None
        return counted - 1 if later is ask.newest_first else counted

    async def _page(self, ask: Ask, number: int, mode: Mode | None, start: int = 0) -> SearchPage:
        query = query_of(ask, limit=PAGE - start, offset=number * PAGE + start, mode=mode)
        return await self._line.send(calls.search(query))

    async def _locate(
        self,
        need: NeedList,
        focus: Entry,
        page: SearchPage,
        pages: dict[int, tuple[Entry, ...]],
        mode: Mode | None,
    ) -> int | None:
        near = await self._place(need.ask, focus)
        near = near if near is not None else need.near
        if near is None:
            return None
        return await self._seek(need.ask, focus, min(near, page.total - 1), pages, mode)

    async def _place(self, ask: Ask, entry: Entry) -> int | None:
        """The row of a record in a list in order of time, or one near it; None in another order.

        Newest first it is how many are as new as the record or newer; oldest first, how many are as old or older.
        """
        at = entry.created_at_epoch
        if ask.newest_first:
            query = query_of(ask, limit=1, since_epoch_ms=at)
        elif ask.oldest_first:
            query = query_of(ask, limit=1, until_epoch_ms=at)
        else:
            return None
        return max(0, (await self._line.send(calls.search(query))).total - 1)

    async def _seek(
        self, ask: Ask, entry: Entry, near: int, pages: dict[int, tuple[Entry, ...]], mode: Mode | None
    ) -> int | None:
        """Look for a record on the page of row ``near`` and on its neighbours."""
        middle = near // PAGE
        close = 1 if near % PAGE >= PAGE // 2 else -1
        for number in (middle, middle + close, middle - close):
            if number >= 0 and number not in pages:
                pages[number] = (await self._page(ask, number, mode)).hits
            if (row := _row(pages, entry)) is not None:
                return row
        return None


def _row(pages: dict[int, tuple[Entry, ...]], entry: Entry | None) -> int | None:
    if entry is None:
        return None
    return next(
        (
            number * PAGE + offset
            for number, page in pages.items()
            for offset, hit in enumerate(page)
            if hit.key == entry.key
        ),
        None,
    )


def _without(ask: Ask, field: str) -> SearchQuery:
    return query_of(replace(ask, text=chips.without(ask.text, field)))


def _dated(ask: Ask, chip: chips.Chip) -> SearchQuery:
    """How many there would be in a span of time, by words, which is quick."""
    return query_of(replace(ask, text=chips.added(ask.text, chip)), limit=1, mode=Mode.KEYWORD)


def query_of(
    ask: Ask,
    *,
    limit: int = 20,
    offset: int = 0,
    since_epoch_ms: int | None = None,
    until_epoch_ms: int | None = None,
    mode: Mode | None = None,
) -> SearchQuery:
    """A question of the list as the worker reads it."""
    if ask.as_of_ms is not None:
        until_epoch_ms = min(ask.as_of_ms, until_epoch_ms if until_epoch_ms is not None else ask.as_of_ms)
    return SearchQuery(
        text=ask.text, kinds=ask.kinds, project=ask.project, session=ask.session or None, order=ask.order,
        limit=limit, offset=offset, typing=not ask.final,
        since_epoch_ms=since_epoch_ms, until_epoch_ms=until_epoch_ms, mode=mode,
    )  # fmt: skip
