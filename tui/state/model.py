"""Pure: all that the screen shows, as one frozen value."""

import enum
from collections.abc import Mapping

from msgspec import Struct, field

from tui.state.basket import Basket
from tui.state.chips import words
from tui.state.corpora import Corpora
from tui.state.costs import Costing
from tui.state.filters import Choosing
from tui.state.health import Healthing
from tui.state.live import Live
from tui.state.next_start import Preparing
from tui.state.reading import Reading
from tui.state.scrub import Scrub
from tui.state.session_tree import Tree
from worker.contract.records import Record, RecordKey, RecordKind
from worker.contract.search import Entry, Facets, Order

PAGE = 100
"""Rows in one request: some 40 kB, 10 ms."""
PAGES_KEPT = 12
"""Pages held at once; those farthest from the cursor go first."""
SPLITS = (-2, -1, 0, 1)
"""How much of the screen the preview has: none, little, as the screen suggests, most of it."""
REACH = 60
"""Entries asked for on each side of the timeline's middle."""


class Link(enum.StrEnum):
    """How we stand with the worker."""

    STARTING = "starting"
    LIVE = "live"
    LOST = "lost"
    FAILED = "failed"


class View(enum.StrEnum):
    """What the list area shows."""

    LIST = "list"
    TIMELINE = "timeline"


class Ask(Struct, frozen=True, eq=False):
    """What the list was asked for. project: None is all, `shop/*` its worktrees too. session: this one alone.

    kinds: () is all.

    final: the end of the text is meant as it stands. It is the same question, so that rows and cursor stay.
    as_of_ms: the moment the text looks from, nothing after it; None for now.
    """

    text: str = ""
    project: str | None = None
    session: str = ""
    kinds: tuple[RecordKind, ...] = ()
    order: Order = Order.RELEVANCE
    final: bool = False
    as_of_ms: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ask) and self._question == other._question

    def __hash__(self) -> int:
        return hash(self._question)

    @property
    def _question(self) -> tuple[object, ...]:
        return self.text, self.project, self.session, self.kinds, self.order

    @property
    def bare(self) -> bool:
        """Whether there are no words, so that the order is newest first."""
        return not any(char.isalnum() for char in words(self.text))

    @property
    def by_worth(self) -> bool:
        """Whether the best hit comes first, so that meaning has a say."""
        return not self.bare and self.order is Order.RELEVANCE

    @property
    def oldest_first(self) -> bool:
        """Whether the list goes on in time."""
        return self.order is Order.DATE_ASC

    @property
    def newest_first(self) -> bool:
        """Whether the list goes back in time."""
        return self.order is Order.DATE_DESC or (self.bare and self.order is Order.RELEVANCE)


class Rows(Struct, frozen=True):
    """The list as far as it is known: ``total`` rows, of which some pages are here. pages: by number.

    torn: pages of which the end is not here any more, because rows above it went.
    """

    total: int = 0
    pages: Mapping[int, tuple[Entry, ...]] = field(default_factory=dict)
    torn: frozenset[int] = frozenset()

    def at(self, index: int) -> Entry | None:
        """The entry in a row, None while it is not loaded."""
        page = self.pages.get(index // PAGE, ())
        offset = index % PAGE
        return page[offset] if 0 <= offset < len(page) else None

    def find(self, key: RecordKey) -> int | None:
        """The row of a record, if it is among those loaded."""
        for number, page in self.pages.items():
            for offset, entry in enumerate(page):
                if entry.id == key.id and entry.kind == key.kind:
                    return number * PAGE + offset
        return None

    def missing(self, first: int, last: int) -> list[int]:
        """Numbers of the pages not loaded, or not to their end, between two rows."""
        last = min(last, self.total - 1)
        numbers = range(max(first, 0) // PAGE, last // PAGE + 1)
        return [number for number in numbers if number not in self.pages or number in self.torn]

    def begun(self, number: int) -> int:
        """How much of a torn page is here; nothing of any other has to be kept."""
        return len(self.pages.get(number, ())) if number in self.torn else 0


class Track(Struct, frozen=True):
    """The timeline: entries oldest first. anchor: whom it was opened around. cursor: which entry.

    at_start, at_end: nothing comes before the first, after the last.
    """

    anchor: RecordKey
    entries: tuple[Entry, ...] = ()
    cursor: int = 0
    at_start: bool = False
    at_end: bool = False


class Counts(Struct, frozen=True):
    """What the memory holds."""

    observations: int
    summaries: int
    prompts: int

    @property
    def nothing(self) -> bool:
        """Whether it holds nothing at all."""
        return self.observations + self.summaries + self.prompts == 0


class Left(Struct, frozen=True):
    """What was asked before another screen led to other records, its row, and the question that it led to."""

    ask: Ask
    entry: Entry | None
    text: str
    project: str | None


class ViewState(Struct, frozen=True):
    """What is known and where the person stands. Texts are as stored: widgets clean them.

    seq: number of the last question; answers with another one are late. held: the record the person chose, which a
    new answer keeps the cursor on. viewed: first and last row on the screen. notice: said until the next key.
    merging: the rows were found by words alone, and those found by meaning are on their way. meaning_off: there is no
    search by meaning here, so that nobody waits for it.
    awaited: the record chosen when the app was last open, until it is found. split: of ``SPLITS``.
    program: the words of a shell here that run claude-mem.
    remote: the worker is elsewhere, and not ours to start. guarded: nothing may be changed.
    file_only: why there is no worker and the memory is only read from its file.
    keys: action → its keys, where they are not those of the tables; key_notes: what of the wanted ones cannot be had.
    searches: kept by the person, (line, project) each, the last kept first.
    silent: the worker is lost for the time being because it answers nothing, though no connection broke.
    home: the project given at the start, for the scope key. projects: all there are. visiting: the demo was opened
    from one's own memory, which can be gone back to. cuts: how often records were taken out of what is shown. doubts:
    how often something may have become another, or come, unseen.
    """

    place: str = ""
    program: str = "claude-mem"
    demo: bool = False
    visiting: bool = False
    remote: bool = False
    guarded: bool = False
    file_only: str = ""
    searches: tuple[tuple[str, str | None], ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    key_notes: tuple[str, ...] = ()
    home: str | None = None
    link: Link = Link.STARTING
    trouble: str = ""
    silent: bool = False
    counts: Counts | None = None
    projects: tuple[str, ...] = ()
    queued: int = 0
    fresh: int = 0
    ask: Ask = Ask()
    seq: int = 0
    waiting: bool = False
    slow: bool = False
    merging: bool = False
    meaning_off: bool = False
    failed: str = ""
    misread: bool = False
    answered: Ask | None = None
    rows: Rows = Rows()
    strategy: str = ""
    degraded: str = ""
    took_ms: float = 0.0
    notes: tuple[str, ...] = ()
    cursor: int = 0
    held: Entry | None = None
    left: Left | None = None
    viewed: tuple[int, int] = (0, 0)
    cuts: int = 0
    doubts: int = 0
    facets: Facets | None = None
    view: View = View.LIST
    track: Track | None = None
    shown: Record | None = None
    shown_key: RecordKey | None = None
    shown_entry: Entry | None = None
    shown_failed: str = ""
    notice: str = ""
    costs: Costing = Costing()
    sessions: Tree = Tree()
    next_start: Preparing = Preparing()
    health: Healthing = Healthing()
    corpora: Corpora = Corpora()
    choosing: Choosing = Choosing()
    basket: Basket = Basket()
    reading: Reading = Reading()
    scrub: Scrub = Scrub()
    live: Live = Live()
    awaited: RecordKey | None = None
    split: int = 0

    @property
    def way_back(self) -> Left | None:
        """Where another screen was opened from, as long as what it led to is asked."""
        left, ask = self.left, self.ask
        return left if left is not None and (ask.text, ask.project) == (left.text, left.project) else None

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor of the view that is shown."""
        if self.view is View.TIMELINE and self.track is not None:
            entries = self.track.entries
            return entries[self.track.cursor] if self.track.cursor < len(entries) else None
        return self.rows.at(self.cursor)

    @property
    def subject(self) -> Entry | None:
        """The entry whose record is shown: that under the cursor, or one jumped to from there."""
        return self.reading.entry if self.reading.entry is not None else self.entry

    @property
    def here(self) -> int:
        """The row of the cursor in the view that is shown."""
        return self.track.cursor if self.view is View.TIMELINE and self.track is not None else self.cursor

    @property
    def length(self) -> int:
        """Rows of the view that is shown."""
        return len(self.track.entries) if self.view is View.TIMELINE and self.track is not None else self.rows.total

    def at(self, index: int) -> Entry | None:
        """The entry in a row of the view that is shown, None while it is not loaded."""
        if self.view is View.TIMELINE and self.track is not None:
            return self.track.entries[index] if 0 <= index < len(self.track.entries) else None
        return self.rows.at(index)

    def find(self, key: RecordKey) -> int | None:
        """The row of a record in the view that is shown, if it is among those loaded."""
        if self.view is View.TIMELINE and self.track is not None:
            return next((index for index, entry in enumerate(self.track.entries) if entry.key == key), None)
        return self.rows.find(key)

    @property
    def span(self) -> range:
        """The rows of a range that was begun, the cursor's included; empty if there is none."""
        start = self.find(self.basket.span_from) if self.basket.span_from is not None else None
        return range(min(start, self.here), max(start, self.here) + 1) if start is not None else range(0)

    @property
    def at_newest(self) -> bool:
        """Whether the list stands at its newest record, so that what comes can come in above it."""
        newest_first = self.view is View.LIST and self.ask.newest_first and self.ask.as_of_ms is None
        return newest_first and self.cursor == 0 and self.basket.span_from is None

    @property
    def follows(self) -> bool:
        """Whether new records come in by themselves now; not while one is read on the whole screen."""
        return self.live.on and not self.live.paused and not self.reading.open

    @property
    def empty_memory(self) -> bool:
        """Whether this is a first run: nothing stored yet."""
        return self.counts is not None and self.counts.nothing
