"""Pure: (state before, state after a fact) → what has to be asked of the worker now."""

from msgspec import Struct

from tui.state import changes
from tui.state.model import PAGE, Ask, View, ViewState
from worker.contract.records import RecordKey
from worker.contract.search import Entry, Facets

_AHEAD = 40
"""Rows loaded before and after those on the screen."""
_EDGE = 12
"""The timeline is read anew when the cursor comes this near to an open end."""


class NeedList(Struct, frozen=True):
    """Answer this question. focus: the record to keep the cursor on, and the row near which it stood (None: nowhere).

    typed: wait until the typing pauses. words_first: hits by words at once, the whole answer after them; not for what
    is shown already, of which a part would be gone for a moment.
    """

    seq: int
    ask: Ask
    focus: Entry | None
    near: int | None
    typed: bool
    words_first: bool = False


class NeedPages(Struct, frozen=True):
    """Load what is missing on the screen and around it."""


class NeedRecord(Struct, frozen=True):
    """Show this record in the preview once the cursor rests, and keep its neighbours ready."""

    entry: Entry
    neighbours: tuple[RecordKey, ...]


class NeedTrack(Struct, frozen=True):
    """The timeline around ``middle``; ``anchor`` stays marked."""

    anchor: RecordKey
    middle: RecordKey
    project: str | None
    as_of_ms: int | None = None
    session: str | None = None


def need_track(anchor: RecordKey, middle: RecordKey, ask: Ask) -> NeedTrack:
    """The timeline of the records that the list is of."""
    return NeedTrack(anchor, middle, ask.project, ask.as_of_ms, ask.session or None)


class NeedOffer(Struct, frozen=True):
    """Count what each filter would leave."""

    ask: Ask


class NeedRelated(Struct, frozen=True):
    """What is related to the record on the whole screen."""

    entry: Entry


class NeedStrip(Struct, frozen=True):
    """The strip at its width, around a moment; None where the whole set is shown."""

    seq: int
    ask: Ask
    width_ms: int
    middle_ms: int | None


class NeedLanes(Struct, frozen=True):
    """The sessions around a moment."""

    ask: Ask
    width_ms: int
    middle_ms: int


Need = NeedStrip | NeedLanes | NeedRelated | NeedList | NeedPages | NeedRecord | NeedTrack | NeedOffer


def needs(old: ViewState, new: ViewState) -> list[Need]:
    """What the change asks for, in the order of its worth."""
    wanted: list[Need] = []
    if new.seq != old.seq and new.waiting:
        same = new.answered == new.ask
        typed = old.ask.text != new.ask.text
        first = not same and new.ask.by_worth and not new.meaning_off
        wanted.append(NeedList(new.seq, new.ask, new.held, new.cursor if same else None, typed, first))
    if missing_pages(new):
        wanted.append(NeedPages())
    # A new answer asks for the record too: the record may have changed, and if not it is at hand.
    answered = old.waiting and not new.waiting
    moved = _key(old.subject) != _key(new.subject) or old.view != new.view
    gone = new.subject is not None and new.shown_failed == changes.gone(new.subject.key)
    if new.subject is not None and (moved or (answered and not gone)):
        wanted.append(NeedRecord(new.subject, neighbours(new)))
    shown = new.subject is not None and new.shown_key == new.subject.key and new.shown is not None
    begun = not old.reading.open or old.shown_key != new.shown_key
    if new.reading.open and begun and new.subject is not None and shown:
        wanted.append(NeedRelated(new.subject))
    track = new.track if new.view is View.TIMELINE else None
    if track is not None and new.entry is not None and answered:
        wanted.append(need_track(track.anchor, new.entry.key, new.ask))
    elif track is not None and new.entry is not None and (_place(old) != _place(new) or old.cuts != new.cuts):
        at_top = track.cursor < _EDGE and not track.at_start
        at_bottom = len(track.entries) - track.cursor <= _EDGE and not track.at_end
        if at_top or at_bottom:
            wanted.append(need_track(track.anchor, new.entry.key, new.ask))
    wanted += _scrubbed(old, new)
    begun = new.choosing.open and not old.choosing.open
    if begun or (new.choosing.open and (answered or new.cuts != old.cuts)):
        wanted.append(NeedOffer(new.ask))
    return wanted


def _scrubbed(old: ViewState, new: ViewState) -> list[Need]:
    """What the strip and the lanes lack: another width, or the cursor is beyond what they show."""
    if new.waiting or new.answered is None:
        return []
    cut = old.cuts != new.cuts
    if new.entry is None:
        return [NeedStrip(new.seq, new.ask, 0, None)] if cut else []
    wanted: list[Need] = []
    moment, scrub = new.entry.created_at_epoch, new.scrub
    zoomed = old.scrub.width_ms != scrub.width_ms
    moved = _key(old.entry) != _key(new.entry)
    if zoomed or cut or (moved and scrub.width_ms and new.facets is not None and not strip_covers(new.facets, moment)):
        wanted.append(NeedStrip(new.seq, new.ask, scrub.width_ms, moment if scrub.width_ms else None))
    opened = old.view is not new.view or (old.waiting and not new.waiting)
    if new.view is View.TIMELINE and (
        opened or cut or old.scrub.lane_ms != scrub.lane_ms or (moved and not scrub.covers(moment))
    ):
        wanted.append(NeedLanes(new.ask, scrub.lane_ms, moment))
    return wanted


def _place(state: ViewState) -> int | None:
    return state.track.cursor if state.track is not None else None


def strip_covers(facets: Facets, epoch_ms: int) -> bool:
    """Whether the strip shows a moment."""
    found = facets.buckets
    return bool(found) and found[0].start_epoch_ms <= epoch_ms < found[-1].start_epoch_ms + facets.bucket_ms


def _key(entry: Entry | None) -> RecordKey | None:
    return entry.key if entry is not None else None


def missing_pages(state: ViewState) -> list[int]:
    """Pages to load, the one on the screen first. None while the question itself is unanswered."""
    if state.answered is None or state.waiting or state.view is not View.LIST:
        return []
    first, last = state.viewed
    numbers = {*state.rows.missing(first - _AHEAD, last + _AHEAD), *state.rows.missing(state.cursor, state.cursor)}
    middle = (first + last) // 2
    return sorted(numbers, key=lambda number: abs(number * PAGE + PAGE // 2 - middle))


def neighbours(state: ViewState, reach: int = 3) -> tuple[RecordKey, ...]:
    """The records just around the cursor, the nearest first."""
    if state.view is View.TIMELINE and state.track is not None:
        entries, here = state.track.entries, state.track.cursor
        around = [
            entries[i] for step in range(1, reach + 1) for i in (here + step, here - step) if 0 <= i < len(entries)
        ]
    else:
        steps = [index for step in range(1, reach + 1) for index in (state.cursor + step, state.cursor - step)]
        around = [entry for index in steps if (entry := state.rows.at(index)) is not None]
    return tuple(entry.key for entry in around)
