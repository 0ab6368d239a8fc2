"""Questions about single records: in full, as lines, what is related, what is around them."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from msgspec import structs

from tui.gateway.line import Line
from tui.state import basket, changes, facts, reading
from tui.state.facts import Fact
from tui.state.model import REACH
from tui.state.needs import NeedTrack
from worker.contract import calls
from worker.contract.errors import MemError, NotFound
from worker.contract.records import Observation, Prompt, Record, RecordKey, RecordKind, Summary, items
from worker.contract.search import Entry, SearchQuery, Timeline, TimelineQuery

_KEPT = 64
"""Records held in full."""
_AT_ONCE = 8
_BESIDE, _PATHS = 4, 5
"""Related records of each sort, and files they are looked for by."""


class Records:
    """Of one worker; those read last are remembered."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._records: OrderedDict[RecordKey, Record] = OrderedDict()

    def forget(self, key: RecordKey | None = None) -> None:
        """Read a record anew from now on, or all of them."""
        if key is None:
            self._records.clear()
        else:
            self._records.pop(key, None)

    async def opened(self, key: RecordKey, entry: Entry | None = None) -> Fact:
        """A record in full, from memory if it was read before."""
        try:
            record = self._records.get(key) or await self._read(key)
        except NotFound:
            return facts.OpenFailed(key, changes.gone(key))
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
            timeline = await self._line.send(calls.timeline(query))
        except NotFound:
            return None
        return next((entry for entry in timeline.entries if entry.key == key), None)

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
            return (await self._line.send(calls.search(query))).hits
        except MemError:
            return ()

    async def tracked(self, need: NeedTrack, depth: int = REACH) -> Fact:
        """The timeline around a record."""
        query = TimelineQuery(
            anchor=str(need.middle), depth_before=depth, depth_after=depth, project=need.project, session=need.session
        )
        try:
            timeline = await self._line.send(calls.timeline(query))
        except MemError as error:
            return facts.TrackFailed(error.message)
        return facts.Tracked(need.anchor, need.middle, _until(timeline, need.as_of_ms), depth)

    async def tracked_at(self, need: NeedTrack, epoch_ms: int, *, later: bool, depth: int = REACH) -> Fact:
        """The timeline around the first record at or after a moment, or the last one at or before it."""
        anchor = f"{max(epoch_ms + (not later), 0):013}"
        query = TimelineQuery(
            anchor=anchor, depth_before=depth, depth_after=depth, project=need.project, session=need.session
        )
        try:
            timeline = _until(await self._line.send(calls.timeline(query)), need.as_of_ms)
        except MemError as error:
            return facts.TrackFailed(error.message)
        entries = timeline.entries
        if not entries:
            return facts.TrackFailed("there is nothing")
        if later:
            here = next((at for at, entry in enumerate(entries) if entry.created_at_epoch >= epoch_ms), -1)
        else:
            here = max((at for at, entry in enumerate(entries) if entry.created_at_epoch <= epoch_ms), default=0)
        key = entries[here].key
        return facts.Tracked(need.anchor, key, timeline, depth, landed=True)

    async def _read(self, key: RecordKey) -> Record:
        match key.kind:
            case RecordKind.OBSERVATION:
                return await self._line.send(calls.observation(key.id))
            case RecordKind.SUMMARY:
                return await self._line.send(calls.summary(key.id))
            case RecordKind.PROMPT:
                return await self._line.send(calls.prompt(key.id))


def _until(timeline: Timeline, as_of_ms: int | None) -> Timeline:
    """The timeline as it was at a moment."""
    if as_of_ms is None:
        return timeline
    return structs.replace(
        timeline, entries=tuple(entry for entry in timeline.entries if entry.created_at_epoch <= as_of_ms)
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
