"""Pure: records that were deleted or edited, by whomever, in all that shows them.

Only their own rows change: a cursor stays on its record, or goes to the one that takes the place of it.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Set

from msgspec import Struct, structs
from msgspec.structs import replace

from tui.state import basket, reading, session_tree
from tui.state.model import PAGE, Rows, Track, View, ViewState
from worker.contract.records import RecordKey
from worker.contract.search import Entry, Hit, Snippet

_DELETED = "deleted"


class Deleted(Struct, frozen=True):
    """These are gone from the memory."""

    keys: frozenset[RecordKey]


class Changed(Struct, frozen=True):
    """These read otherwise now; how, is not told."""

    keys: frozenset[RecordKey]


class Edited(Struct, frozen=True):
    """How they read now."""

    entries: tuple[Entry, ...]


ChangeFact = Deleted | Changed | Edited


def after(state: ViewState, fact: ChangeFact) -> ViewState:
    """The state after a fact. While all is paused, what is shown stays, and catches up when it goes on."""
    match fact:
        case Deleted(keys) if state.live.paused:
            return replace(state, live=replace(state.live, gone=state.live.gone | keys))
        case Deleted(keys):
            return without(state, keys)
        case Changed() | Edited() if state.live.paused:
            return replace(state, live=replace(state.live, missed=True))
        case Changed():
            return replace(state, doubts=state.doubts + 1)
        case Edited(entries):
            return _renewed(state, {entry.key: entry for entry in entries})


def gone(key: RecordKey) -> str:
    """What is said of a record that cannot be read any more."""
    return f"{key} is gone; it was deleted meanwhile"


def shown(state: ViewState) -> Set[RecordKey]:
    """The records that are in any list, or were put aside."""
    return {entry.key for entry in _entries(state)}


def _entries(state: ViewState) -> Iterator[Entry]:
    for page in state.rows.pages.values():
        yield from page
    if state.track is not None:
        yield from state.track.entries
    yield from state.basket.entries
    yield from state.reading.entries
    yield from session_tree.entries(state.sessions)


def without(state: ViewState, keys: Set[RecordKey]) -> ViewState:
    """The state without these records."""
    if not keys:
        return state
    count = len(shown(state) & keys)
    rows, cursor = _cut(state.rows, state.cursor, keys)
    track = _shortened(state.track, keys) if state.track is not None else None
    state = _unread(state, keys)
    said = not state.notice or state.notice.endswith(_DELETED)
    return replace(
        state,
        rows=rows,
        cursor=cursor,
        held=rows.at(cursor) if state.held is not None and state.held.key in keys else state.held,
        left=replace(state.left, entry=_kept(state.left.entry, keys)) if state.left is not None else None,
        track=track,
        view=state.view if track is not None else View.LIST,
        basket=basket.without(state.basket, keys),
        reading=reading.without(state.reading, keys),
        sessions=session_tree.without(state.sessions, keys),
        cuts=state.cuts + 1,
        notice=f"{count:,} record{'s' if count != 1 else ''} {_DELETED}" if count and said else state.notice,
    )


def _unread(state: ViewState, keys: Set[RecordKey]) -> ViewState:
    """A record that fills the screen does not give way to another one: it is said to be gone."""
    subject = state.subject
    if state.reading.open and subject is not None and subject.key in keys:
        return replace(
            state, reading=replace(state.reading, entry=subject), shown=None, shown_key=subject.key, shown_entry=None,
            shown_failed=gone(subject.key),
        )  # fmt: skip
    if state.shown_key in keys:
        return replace(state, shown=None, shown_key=None, shown_entry=None, shown_failed="")
    return state


def _kept(entry: Entry | None, keys: Set[RecordKey]) -> Entry | None:
    return entry if entry is not None and entry.key not in keys else None


def _cut(rows: Rows, cursor: int, keys: Set[RecordKey]) -> tuple[Rows, int]:
    """The list without these records, and where its cursor is then. Those below move up, into other pages too."""
    loaded = {number * PAGE + offset: entry for number, page in rows.pages.items() for offset, entry in enumerate(page)}
    cut = sorted(row for row, entry in loaded.items() if entry.key in keys)
    if not cut:
        return rows, cursor
    total = max(rows.total - len(cut), 0)
    left = {row - bisect_left(cut, row): entry for row, entry in loaded.items() if entry.key not in keys}
    pages: dict[int, tuple[Entry, ...]] = {}
    torn: set[int] = set()
    for number in sorted({row // PAGE for row in left}):
        first, whole = number * PAGE, min(PAGE, total - number * PAGE)
        page = [left[row] for row in range(first, first + whole) if row in left]
        if first in left:  # else what was at the beginning of the next page is all there is of it
            pages[number] = tuple(page)
            torn |= {number} if len(page) < whole else set()
    return Rows(total, pages, frozenset(torn)), max(0, min(cursor - bisect_left(cut, cursor), total - 1))


def _shortened(track: Track, keys: Set[RecordKey]) -> Track | None:
    left = tuple(entry for entry in track.entries if entry.key not in keys)
    if len(left) == len(track.entries):
        return track
    if not left:
        return None
    above = sum(entry.key in keys for entry in track.entries[: track.cursor])
    cursor = min(track.cursor - above, len(left) - 1)
    anchor = track.anchor if track.anchor not in keys else left[cursor].key
    return replace(track, entries=left, cursor=cursor, anchor=anchor)


def _renewed(state: ViewState, entries: Mapping[RecordKey, Entry]) -> ViewState:
    """The state with these records as they are now, each in its place."""

    def now(entry: Entry) -> Entry:
        return _as_it_is(entry, entries[entry.key]) if entry.key in entries else entry

    pages = {number: _each(page, now) for number, page in state.rows.pages.items()}
    same = all(page is state.rows.pages[number] for number, page in pages.items())
    track = state.track
    if track is not None and (around := _each(track.entries, now)) is not track.entries:
        track = replace(track, entries=around)
    return replace(
        state,
        rows=state.rows if same else replace(state.rows, pages=pages),
        held=now(state.held) if state.held is not None else None,
        track=track,
        basket=basket.renewed(state.basket, now),
        reading=reading.renewed(state.reading, now),
        sessions=session_tree.renewed(state.sessions, now),
    )


def _each(page: tuple[Entry, ...], now: "basket.Renewal") -> tuple[Entry, ...]:
    renewed = tuple(map(now, page))
    return page if all(old is new for old, new in zip(page, renewed, strict=True)) else renewed


def _as_it_is(old: Entry, new: Entry) -> Entry:
    """A hit keeps its place among the others, and its score; what was found in a text is not where it was."""
    values = {name: getattr(new, name) for name in Entry.__struct_fields__}
    if all(getattr(old, name) == value for name, value in values.items()):
        return old
    if not isinstance(old, Hit):
        return new
    return structs.replace(old, **values, title_matches=(), snippet=Snippet(""))
