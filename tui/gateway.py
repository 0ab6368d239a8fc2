"""The only user of the worker's client: calls and the stream, as facts.

Every method answers with a fact, also when the worker does not answer: a ``MemError`` never gets past here.
"""

import asyncio
import contextlib
import random
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from tui.state import basket, chips, facts, filters, reading
from tui.state.facts import Fact
from tui.state.model import PAGE, REACH, Ask, Counts
from tui.state.needs import NeedList, NeedTrack
from worker.contract import calls, launch
from worker.contract.calls import Call
from worker.contract.errors import Invalid, MemError, NotFound
from worker.contract.events import StreamEvent
from worker.contract.records import Observation, Prompt, Record, RecordKey, RecordKind, Summary, items
from worker.contract.search import Entry, Mode, SearchPage, SearchQuery, TimelineQuery
from worker.contract.settings import Settings

T = TypeVar("T")
R = TypeVar("R")
_NEWS = {"new_observation", "new_summary", "new_prompt"}
_KEPT = 64
"""Records held in full."""
_AT_ONCE = 8
_BESIDE, _PATHS = 4, 5
"""Related records of each sort, and files they are looked for by."""


class Client(Protocol):
    """What is used of ``WorkerClient``."""

    async def send(self, call: Call[T]) -> T:
        """The answer."""

    def events(self, *, after: int | None = None) -> AsyncIterator[StreamEvent]:
        """The stream."""

    async def close(self) -> None:
        """The end."""


def connect(settings: Settings) -> Client:
    """A client of the worker at the configured address."""
    from worker.contract.client import WorkerClient  # httpx: 90-120 ms that the first paint does not wait for

    return WorkerClient(settings.host, settings.port, timeout_s=settings.timeout_s, token=settings.credential)


async def _on_thread(function: Callable[[Settings], R], settings: Settings) -> R:
    """What the function gives, called on a thread that no one waits for when the app ends meanwhile."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[R] = loop.create_future()

    def tell(settle: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
            loop.call_soon_threadsafe(lambda: None if answer.done() else settle())

    def work() -> None:
        failure = MemError(f"internal fault in {getattr(function, '__name__', 'a call')}")
        try:
            outcome = function(settings)
            tell(lambda: answer.set_result(outcome))
        except MemError as error:
            failure = error
        finally:  # any other error is a fault of ours: it is told too, or the app would wait for ever
            tell(lambda: answer.set_exception(failure))

    threading.Thread(target=work, daemon=True, name="gateway").start()
    return await answer


def backoff_s(attempt: int, chance: float) -> float:
    """Seconds before the next try: doubling from half a second to 10, of which ``chance`` takes off up to half."""
    return float(min(10.0, 0.5 * 2 ** min(attempt, 6)) * (1 - chance / 2))


class Gateway:
    """One worker, as facts. ensure: finds or starts it, called on a thread. pause_s: (attempt) → wait."""

    def __init__(
        self,
        settings: Settings,
        *,
        ensure: Callable[[Settings], object] = launch.ensure,
        connect: Callable[[Settings], Client] = connect,
        pause_s: Callable[[int], float] = lambda attempt: backoff_s(attempt, random.random()),
    ) -> None:
        self.settings = settings
        self._ensure = ensure
        self._connect = connect
        self._pause_s = pause_s
        self._client: Client | None = None
        self._records: OrderedDict[RecordKey, Record] = OrderedDict()

    @property
    def ready(self) -> bool:
        """Whether there is somebody to ask."""
        return self._client is not None

    async def start(self) -> Fact:
        """Find the worker or start it."""
        try:
            await _on_thread(self._ensure, self.settings)
        except MemError as error:
            return facts.Failed(error.message)
        if self._client is None:
            self._client = await _on_thread(self._connect, self.settings)
        return facts.Connected()

    async def close(self) -> None:
        """Give the connections back."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def forget(self) -> None:
        """Read records anew from now on."""
        self._records.clear()

    async def counted(self) -> Fact:
        """What the memory holds."""
        try:
            stats = await self._send(calls.stats())
        except MemError as error:
            return facts.Said(error.message)
        held = stats.database
        return facts.Counted(Counts(held.observations, held.summaries, held.prompts))

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

    async def paged(self, seq: int, ask: Ask, number: int, *, words_only: bool = False) -> Fact:
        """One more page."""
        try:
            page = await self._page(ask, number, Mode.KEYWORD if words_only else None)
        except MemError as error:
            return facts.ListFailed(seq, error.message)
        return facts.Paged(seq, number, page.hits, page.total, words_only)

    async def faceted(self, seq: int, ask: Ask, buckets: int) -> Fact | None:
        """What the set is made of; None if that cannot be told (the list itself says why)."""
        try:
            return facts.Faceted(seq, await self._send(calls.facets(_query(ask), buckets=buckets)))
        except MemError:
            return None

    async def offered(self, ask: Ask) -> Fact:
        """What each filter would leave: of a field that is filtered already, as if it were not."""
        chosen = [name for name, _ in filters.GROUPS if name in {chip.field for chip in chips.chips(ask.text)}]
        try:
            whole, *parts = await asyncio.gather(
                self._send(calls.facets(_query(ask), buckets=3, concepts=True)),
                *(self._send(calls.facets(_without(ask, name), buckets=3, concepts=True)) for name in chosen),
            )
            spans = [chip for _, chip in filters.DATES]
            dated = await asyncio.gather(*(self._send(calls.search(_dated(ask, chip))) for chip in spans))
        except MemError as error:
            return filters.OfferFailed(error.message)
        of = {name: whole for name, _ in filters.GROUPS} | dict(zip(chosen, parts, strict=True))
        values = {
            "type": of["type"].types, "project": of["project"].projects, "concept": of["concept"].concepts
        }  # fmt: skip
        dates = {str(chip): page.total for chip, page in zip(spans, dated, strict=True)}
        return filters.Offered(filters.Offer(values, dates))

    async def opened(self, key: RecordKey, entry: Entry | None = None) -> Fact:
        """A record in full, from memory if it was read before."""
        try:
            record = self._records.get(key) or await self._read(key)
        except NotFound:
            return facts.OpenFailed(key, f"{key} is gone; it was deleted meanwhile")
        except MemError as error:
            return facts.OpenFailed(key, error.message)
        self._records[key] = record
        self._records.move_to_end(key)
        while len(self._records) > _KEPT:
            self._records.popitem(last=False)
        return facts.Opened(key, record, entry)

    async def entries(self, keys: Sequence[RecordKey]) -> tuple[Entry, ...]:
        """Records as lines of a list, those that are gone left out. Errors: ``MemError`` when nobody answers."""
        found: list[Entry] = []
        for start in range(0, len(keys), _AT_ONCE):
            asked = (self._entry(key) for key in keys[start : start + _AT_ONCE])
            found += [entry for entry in await asyncio.gather(*asked) if entry is not None]
        return tuple(found)

    async def _entry(self, key: RecordKey) -> Entry | None:
        query = TimelineQuery(anchor=str(key), depth_before=0, depth_after=0)
        try:
            timeline = await self._send(calls.timeline(query))
        except NotFound:
            return None
        return next((entry for entry in timeline.entries if entry.key == key), None)

    async def projects(self) -> tuple[str, ...]:
        """Names of projects, most recently used first; none when nobody answers."""
        try:
            return (await self._send(calls.projects())).projects
        except MemError:
            return ()

    async def found(self, key: RecordKey) -> Fact:
        """A record that was chosen before."""
        try:
            entries = await self.entries((key,))
        except MemError:
            entries = ()
        return facts.Found(entries[0] if entries else None)

    async def refilled(self, keys: Sequence[RecordKey]) -> Fact | None:
        """What was marked before; None if that cannot be told now."""
        try:
            return basket.Refilled(await self.entries(keys))
        except MemError:
            return None

    async def related(self, entry: Entry, record: Record) -> Fact:
        """The prompt behind a record, others of its session, others about its files, as far as they are known."""
        session = (
            await self._relatives(SearchQuery(text=f'session:"{entry.session}"', limit=60)) if entry.session else ()
        )
        asked = (hit for hit in session if hit.kind is RecordKind.PROMPT and hit.prompt_number == entry.prompt_number)
        prompt = next((hit for hit in asked if hit.key != entry.key), None)
        beside = [hit for hit in session if hit.key not in (entry.key, prompt.key if prompt is not None else None)]
        beside.sort(key=lambda hit: abs(hit.created_at_epoch - entry.created_at_epoch))
        known = {entry.key, *(hit.key for hit in session)}
        paths = _paths(record)
        about = await self._relatives(SearchQuery(files=paths, limit=20)) if paths else ()
        files = tuple(hit for hit in about if hit.key not in known)
        return reading.Related(entry.key, prompt, tuple(beside[:_BESIDE]), files[:_BESIDE])

    async def _relatives(self, query: SearchQuery) -> tuple[Entry, ...]:
        try:
            return (await self._send(calls.search(query))).hits
        except MemError:
            return ()

    async def tracked(self, need: NeedTrack, depth: int = REACH) -> Fact:
        """The timeline around a record."""
        query = TimelineQuery(anchor=str(need.middle), depth_before=depth, depth_after=depth, project=need.project)
        try:
            timeline = await self._send(calls.timeline(query))
        except MemError as error:
            return facts.TrackFailed(error.message)
        return facts.Tracked(need.anchor, need.middle, timeline, depth)

    async def row_of(self, ask: Ask, entry: Entry) -> int | None:
        """The row of a record in the answer to a question in order of time; None if it is not there."""
        try:
            near = await self._place(ask, entry)
            return await self._seek(ask, entry, near, {}, None) if near is not None else None
        except MemError:
            return None

    async def follow(self) -> AsyncIterator[Fact]:
        """What happens at the worker, for ever: a lost stream is said and taken up again where it broke off."""
        attempt: int | None = 0  # None once something was heard
        after: int | None = None
        while self._client is not None:
            try:
                async for event in self._client.events(after=after):
                    if attempt is not None:
                        attempt = None
                        yield facts.StreamOpen()
                    after = event.id if event.id is not None else after
                    if event.type == "resync":
                        self.forget()
                        yield facts.Resync()
                    elif event.type in _NEWS or event.queueDepth is not None:
                        yield facts.News(int(event.type in _NEWS), event.queueDepth)
                reason = "the worker closed the connection"
            except MemError as error:
                reason = error.message
            self.forget()
            yield facts.StreamLost(reason)
            attempt = attempt or 0
            await asyncio.sleep(self._pause_s(attempt))
            attempt += 1

    async def _send(self, call: Call[T]) -> T:
        if self._client is None:
            raise MemError("the worker is not there yet")
        return await self._client.send(call)

    async def _read(self, key: RecordKey) -> Record:
        match key.kind:
            case RecordKind.OBSERVATION:
                return await self._send(calls.observation(key.id))
            case RecordKind.SUMMARY:
                return await self._send(calls.summary(key.id))
            case RecordKind.PROMPT:
                return await self._send(calls.prompt(key.id))

    async def _page(self, ask: Ask, number: int, mode: Mode | None) -> SearchPage:
        return await self._send(calls.search(_query(ask, limit=PAGE, offset=number * PAGE, mode=mode)))

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
            query = _query(ask, limit=1, since_epoch_ms=at)
        elif ask.oldest_first:
            query = _query(ask, limit=1, until_epoch_ms=at)
        else:
            return None
        return max(0, (await self._send(calls.search(query))).total - 1)

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


def _paths(record: Record) -> tuple[str, ...]:
    """The first few files of a record: those changed, then those read."""
    match record:
        case Observation():
            columns = (record.files_modified, record.files_read)
        case Summary():
            columns = (record.files_edited, record.files_read)
        case Prompt():
            return ()
    return tuple(dict.fromkeys(path for column in columns for path in items(column) if "," not in path))[:_PATHS]


def _without(ask: Ask, field: str) -> SearchQuery:
    return _query(replace(ask, text=chips.without(ask.text, field)))


def _dated(ask: Ask, chip: chips.Chip) -> SearchQuery:
    """How many there would be in a span of time, by words, which is quick."""
    return _query(replace(ask, text=chips.added(ask.text, chip)), limit=1, mode=Mode.KEYWORD)


def _query(
    ask: Ask,
    *,
    limit: int = 20,
    offset: int = 0,
    since_epoch_ms: int | None = None,
    until_epoch_ms: int | None = None,
    mode: Mode | None = None,
) -> SearchQuery:
    return SearchQuery(
        text=ask.text, kinds=ask.kinds, project=ask.project, order=ask.order, limit=limit, offset=offset,
        typing=not ask.final, since_epoch_ms=since_epoch_ms, until_epoch_ms=until_epoch_ms, mode=mode,
    )  # fmt: skip
