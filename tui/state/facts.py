"""Pure: what became known, by the worker or by the person. The only way to change the state."""

from collections.abc import Mapping
from dataclasses import dataclass

from tui.state.basket import BasketFact
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
from tui.state.sought import Sought
from worker.contract.records import Record, RecordKey, RecordKind
from worker.contract.search import Entry, Facets, Order, SearchPage, Timeline


@dataclass(frozen=True, slots=True)
class Starting:
    """The worker is being looked for, or started."""


@dataclass(frozen=True, slots=True)
class Connected:
    """The worker serves; or, for want of one, the memory is only read from its file: then why that is."""

    file_only: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker does not serve, and nobody tries again by himself."""

    reason: str


@dataclass(frozen=True, slots=True)
class StreamOpen:
    """Events come in."""


@dataclass(frozen=True, slots=True)
class StreamLost:
    """Events no longer come in; it is being tried again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Resync:
    """Events were lost: what is shown may be old."""


@dataclass(frozen=True, slots=True)
class News:
    """So many new records, and tool uses that wait to be understood (None: not told)."""

    count: int
    queued: int | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """What the memory holds, and of which projects (none: not told)."""

    counts: Counts
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """The answer to a question: pages by number, and the row of the record that was to be kept.

    words_only: the first half of it, found by words; the other follows.
    """

    seq: int
    page: SearchPage
    pages: Mapping[int, tuple[Entry, ...]]
    focus: int | None
    words_only: bool = False


@dataclass(frozen=True, slots=True)
class Paged:
    """One more page of the same answer, or of its first half. total: as it is by now."""

    seq: int
    number: int
    hits: tuple[Entry, ...]
    total: int
    words_only: bool = False


@dataclass(frozen=True, slots=True)
class ListFailed:
    """No answer to a question. misread: because of how it is put, so that asking again is no use."""

    seq: int
    reason: str
    misread: bool = False


@dataclass(frozen=True, slots=True)
class StillWaiting:
    """The answer takes long enough to be worth a word."""

    seq: int


@dataclass(frozen=True, slots=True)
class Faceted:
    """What the filtered set is made of."""

    seq: int
    facets: Facets


@dataclass(frozen=True, slots=True)
class Opened:
    """A record in full."""

    key: RecordKey
    record: Record
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class OpenFailed:
    """A record could not be read."""

    key: RecordKey
    reason: str


@dataclass(frozen=True, slots=True)
class Tracked:
    """The timeline around a record, asked for with ``depth`` entries on each side. landed: the cursor goes there."""

    anchor: RecordKey
    middle: RecordKey
    timeline: Timeline
    depth: int
    landed: bool = False


@dataclass(frozen=True, slots=True)
class TrackFailed:
    """No timeline around that record."""

    reason: str


@dataclass(frozen=True, slots=True)
class Typed:
    """The search box holds this now. final: its end is not being typed any more, though it looks unfinished.

    as_of_ms: the moment the text looks from; None for now.
    """

    text: str
    final: bool = False
    as_of_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Scoped:
    """Only this project; None for all. session: this one alone."""

    project: str | None
    session: str = ""


@dataclass(frozen=True, slots=True)
class Sorted:
    """Only these kinds; () for all."""

    kinds: tuple[RecordKind, ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """In this order."""

    order: Order


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The list is to be read again. top: the cursor goes to the newest instead of staying on its record."""

    top: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """The cursor moved by so many entries, or to one (-1: the last)."""

    by: int = 0
    to: int | None = None


@dataclass(frozen=True, slots=True)
class Viewed:
    """These rows are on the screen."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ListChosen:
    """Back from the timeline. entry: what its cursor stood on; index: that record's row, if it is in the list."""

    index: int | None
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Found:
    """The record that was chosen when the app was last open; None: it is gone."""

    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Split:
    """More or less of the screen for the preview."""

    by: int


@dataclass(frozen=True, slots=True)
class Said:
    """A word to the person, until the next key."""

    text: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """This search is kept, or no longer if it was."""

    text: str
    project: str | None


@dataclass(frozen=True, slots=True)
class Switched:
    """Another memory: all that was known is forgotten."""

    place: str
    demo: bool


SurveyFact = CostFact | TreeFact | StartFact | HealthFact | CorpusFact | Sought
"""About the memory as a whole, and the ways from there to its records."""

Fact = (
    Starting | Connected | Failed | StreamOpen | StreamLost | Resync | News | Counted | Listed | Paged | ListFailed
    | StillWaiting | Faceted | Opened | OpenFailed | Tracked | TrackFailed | Typed | Scoped | Sorted | Ordered
    | Refreshed | Moved | Viewed | ListChosen | Said | Remembered | Switched | FilterFact | BasketFact
    | ReadingFact | ScrubFact | LiveFact | Found | Split | SurveyFact
)  # fmt: skip
