"""Pure: what became known, by the worker or by the person. The only way to change the state."""

from collections.abc import Mapping

from msgspec import Struct

from tui.state.basket import BasketFact
from tui.state.changes import ChangeFact
from tui.state.corpora import CorpusFact
from tui.state.costs import CostFact
from tui.state.filters import FilterFact
from tui.state.health import HealthFact
from tui.state.live import LiveFact
from tui.state.model import Counts
from tui.state.next_start import StartFact
from tui.state.reading import ReadingFact
from tui.state.scrub import ScrubFact
from tui.state.session_tree import TreeFact
from tui.state.sought import Sought, WentBack
from worker.contract.records import Record, RecordKey, RecordKind
from worker.contract.search import Entry, Facets, Order, SearchPage, Timeline


class Starting(Struct, frozen=True):
    """The worker is being looked for, or started."""


class Connected(Struct, frozen=True):
    """The worker serves; or, for want of one, the memory is only read from its file: then why that is."""

    file_only: str = ""


class Failed(Struct, frozen=True):
    """The worker does not serve; it is being tried again."""

    reason: str


class StreamOpen(Struct, frozen=True):
    """Events come in."""


class StreamLost(Struct, frozen=True):
    """Events no longer come in; it is being tried again."""

    reason: str


class Silenced(Struct, frozen=True):
    """The worker takes questions and does not answer them, not even whether it is there."""


class Answering(Struct, frozen=True):
    """It does again."""


Silence = Silenced | Answering


class Resync(Struct, frozen=True):
    """Events were lost: what is shown may be old."""


class News(Struct, frozen=True):
    """So many new records, and tool uses that wait to be understood (None: not told)."""

    count: int
    queued: int | None = None


class Counted(Struct, frozen=True):
    """What the memory holds, and of which projects (none: not told)."""

    counts: Counts
    projects: tuple[str, ...] = ()


class Listed(Struct, frozen=True):
    """The answer to a question: pages by number, and the row of the record that was to be kept.

    words_only: the first half of it, found by words; the other follows.
    """

    seq: int
    page: SearchPage
    pages: Mapping[int, tuple[Entry, ...]]
    focus: int | None
    words_only: bool = False


class Paged(Struct, frozen=True):
    """One more page of the same answer, or of its first half; what comes after its first ``start`` rows.

    total: as it is by now.
    """

    seq: int
    number: int
    hits: tuple[Entry, ...]
    total: int
    words_only: bool = False
    start: int = 0


class ListFailed(Struct, frozen=True):
    """No answer to a question. misread: because of how it is put, so that asking again is no use."""

    seq: int
    reason: str
    misread: bool = False


class StillWaiting(Struct, frozen=True):
    """The answer takes long enough to be worth a word."""

    seq: int


class Faceted(Struct, frozen=True):
    """What the filtered set is made of."""

    seq: int
    facets: Facets


class Opened(Struct, frozen=True):
    """A record in full."""

    key: RecordKey
    record: Record
    entry: Entry | None


class OpenFailed(Struct, frozen=True):
    """A record could not be read."""

    key: RecordKey
    reason: str


class Tracked(Struct, frozen=True):
    """The timeline around a record, asked for with ``depth`` entries on each side. landed: the cursor goes there."""

    anchor: RecordKey
    middle: RecordKey
    timeline: Timeline
    depth: int
    landed: bool = False


class TrackFailed(Struct, frozen=True):
    """No timeline around that record."""

    reason: str


class Typed(Struct, frozen=True):
    """The search box holds this now. final: its end is not being typed any more, though it looks unfinished.

    as_of_ms: the moment the text looks from; None for now.
    """

    text: str
    final: bool = False
    as_of_ms: int | None = None


class Scoped(Struct, frozen=True):
    """Only this project; None for all. session: this one alone."""

    project: str | None
    session: str = ""


class Sorted(Struct, frozen=True):
    """Only these kinds; () for all."""

    kinds: tuple[RecordKind, ...]


class Ordered(Struct, frozen=True):
    """In this order."""

    order: Order


class Refreshed(Struct, frozen=True):
    """The list is to be read again. top: the cursor goes to the newest instead of staying on its record."""

    top: bool = False


class Moved(Struct, frozen=True):
    """The cursor moved by so many entries, or to one (-1: the last)."""

    by: int = 0
    to: int | None = None


class Viewed(Struct, frozen=True):
    """These rows are on the screen."""

    first: int
    last: int


class ListChosen(Struct, frozen=True):
    """Back from the timeline. entry: what its cursor stood on; index: that record's row, if it is in the list."""

    index: int | None
    entry: Entry | None


class Found(Struct, frozen=True):
    """The record that was chosen when the app was last open; None: it is gone."""

    entry: Entry | None


class Split(Struct, frozen=True):
    """More or less of the screen for the preview."""

    by: int


class Said(Struct, frozen=True):
    """A word to the person, until the next key."""

    text: str


class Remembered(Struct, frozen=True):
    """This search is kept, or no longer if it was."""

    text: str
    project: str | None


class Switched(Struct, frozen=True):
    """Another memory: all that was known is forgotten."""

    place: str
    demo: bool


SurveyFact = CostFact | TreeFact | StartFact | HealthFact | CorpusFact | Sought | WentBack
"""About the memory as a whole, and the ways from there to its records."""

Fact = (
    Starting | Connected | Failed | StreamOpen | StreamLost | Silence | Resync | News | Counted | Listed | Paged
    | ListFailed | StillWaiting | Faceted | Opened | OpenFailed | Tracked | TrackFailed | Typed | Scoped | Sorted
    | Ordered | Refreshed | Moved | Viewed | ListChosen | Said | Remembered | Switched | FilterFact | BasketFact
    | ReadingFact | ScrubFact | LiveFact | ChangeFact | Found | Split | SurveyFact
)  # fmt: skip
