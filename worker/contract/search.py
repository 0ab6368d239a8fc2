"""Questions to memory and the answers: search, timeline, facets, batch."""

import enum

import msgspec

from worker.contract.records import Observation, Prompt, RecordKey, RecordKind, Summary

MOST_CHARS = 5_000
"""Of a question's line that are read. As a part of an address, with twelve characters for one, they fit into 64 kB."""


class Order(enum.StrEnum):
    """Order of a result. ``relevance`` without words is newest first.

    read: tokens to read the record. work: tokens that it once cost to find out. ratio: work for each token of reading.
    With words, every order but relevance lists what the words find, without a say of meaning.
    """

    RELEVANCE = "relevance"
    DATE_DESC = "date_desc"
    DATE_ASC = "date_asc"
    READ_DESC = "read_desc"
    READ_ASC = "read_asc"
    WORK_DESC = "work_desc"
    WORK_ASC = "work_asc"
    RATIO_DESC = "ratio_desc"
    RATIO_ASC = "ratio_asc"


class Mode(enum.StrEnum):
    """Which engines look: both, words alone, meaning alone."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"


class Degraded(enum.StrEnum):
    """Why an answer is less than it could be.

    no_fulltext: this SQLite has no FTS5. The others: meaning had no say, because the index by meaning is being opened
    or holds too little yet, cannot be used, took too long, or is switched off.
    """

    NO_FULLTEXT = "no_fulltext"
    INDEX_STARTING = "index_starting"
    INDEX_FAILED = "index_failed"
    INDEX_SLOW = "index_slow"
    INDEX_OFF = "index_off"


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for.

    text: the line as typed, in the query language (``query``). Without a letter or digit: filters only.
    kinds, types, concepts, files, project: filters, all must hold; within one, any value will do.
    files: part of a path. project: rows merged into it count too; `shop/*`: also its worktrees; None leaves internal
    projects out. session: as in ``Entry.session``, or what else names one in a query line.
    since_epoch_ms, until_epoch_ms: inclusive.
    typing: the last word may be unfinished. mode: which engines look; None is both, as far as they can.
    tell_span: say in the notes from when until when was looked, as for dates in the line.
    """

    text: str = ""
    kinds: tuple[RecordKind, ...] = ()
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    project: str | None = None
    session: str | None = None
    platform_source: str | None = None
    since_epoch_ms: int | None = None
    until_epoch_ms: int | None = None
    order: Order = Order.RELEVANCE
    limit: int = 20
    offset: int = 0
    typing: bool = False
    mode: Mode | None = None
    tell_span: bool = False


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A record as one line of an index: enough to choose by, and what it would cost to read.

    kind, id: the key. type: observation type, ``session`` or ``prompt``. title: never empty, one line, not escaped.
    read_tokens: estimate for the whole record. discovery_tokens: what it once cost to find out, 0 if unknown.
    """

    kind: RecordKind
    id: int
    type: str
    title: str
    project: str
    created_at_epoch: int
    read_tokens: int
    discovery_tokens: int = 0
    session: str | None = None
    prompt_number: int | None = None
    platform_source: str | None = None

    @property
    def key(self) -> RecordKey:
        """Which record it is."""
        return RecordKey(self.kind, self.id)


class Snippet(msgspec.Struct, frozen=True):
    """A piece of the record around what was found.

    matches: (start, end) in characters (code points) of ``text``, end exclusive, in order, not overlapping.
    """

    text: str
    matches: tuple[tuple[int, int], ...] = ()


class Hit(Entry, frozen=True, kw_only=True):
    """An entry that was found. score: larger is better, comparable within one answer only; 0 without words.

    title_matches: what was found in ``title``, as in a snippet. keyword_rank, vector_rank: its place, from 1, in the
    list of each engine that found it among its best; None where it did not. cosine: how near it is to the question in
    meaning, by the nearest of its texts, comparable between answers of one model; None where that was not asked.
    """

    score: float = 0.0
    snippet: Snippet = Snippet("")
    title_matches: tuple[tuple[int, int], ...] = ()
    keyword_rank: int | None = None
    vector_rank: int | None = None
    cosine: float | None = None


class SearchPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of one fused list over all kinds.

    total: how many there are in all, ``kinds`` how many of each kind. strategy: ``filter`` (no words),
    ``keyword``, ``hybrid`` or ``semantic``.
    notes: what a person should know of how the question was understood: the span of time with its zone, a phrase that
    stands nowhere, a filter that could not be read.
    """

    hits: tuple[Hit, ...]
    total: int
    kinds: dict[RecordKind, int] = {}
    query: str = ""
    offset: int = 0
    strategy: str = "filter"
    degraded: Degraded | None = None
    took_ms: float = 0.0
    notes: tuple[str, ...] = ()


class SearchRows(msgspec.Struct, frozen=True, kw_only=True):
    """``format=json`` of ``/api/search``: the original's keys with the rows, and the page's own.

    The three lists together hold the rows of ``hits``, each list in the order of ``hits``.
    """

    observations: tuple[Observation, ...]
    sessions: tuple[Summary, ...]
    prompts: tuple[Prompt, ...]
    totalResults: int
    query: str
    hits: tuple[Hit, ...]
    offset: int
    strategy: str
    degraded: Degraded | None
    took_ms: float
    notes: tuple[str, ...] = ()


class TimelineQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A moment and how much around it.

    anchor: `118`, `S14`, `P40`, or a date and time; or ``query``, whose best hit is the anchor. Just one of the two.
    depth_before, depth_after: in records of any kind. project, session: as in a search.
    """

    anchor: str = ""
    query: str = ""
    depth_before: int = 10
    depth_after: int = 10
    project: str | None = None
    session: str | None = None
    platform_source: str | None = None


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Records in order of (time, kind, id), oldest first.

    anchor: as asked for, or the key of the best hit. anchor_index: where it stands in ``entries``; for a moment
    the first entry at or after it, else the last one; None if there are no entries.
    """

    entries: tuple[Entry, ...]
    anchor: str
    anchor_index: int | None
    query: str = ""
    depth_before: int = 10
    depth_after: int = 10


class Count(msgspec.Struct, frozen=True):
    """How many records have a value."""

    value: str
    count: int


BUCKET_WIDTHS_MS = (300_000, 900_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000, 2_419_200_000)
"""What a histogram can be zoomed to: 5 and 15 minutes, 1 and 6 hours, a day, 7 and 28 days."""


class Bucket(msgspec.Struct, frozen=True):
    """Records in [start, end).

    types: how many of each type; all but the twelve most frequent types of the set are summed under ``""``.
    """

    start_epoch_ms: int
    count: int
    types: dict[str, int] = {}
    end_epoch_ms: int = 0


class Strip(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a histogram that is wanted, and how fine.

    bucket_ms: one of ``BUCKET_WIDTHS_MS``. start_epoch_ms, end_epoch_ms: inclusive; None for the set's own.
    """

    bucket_ms: int
    start_epoch_ms: int | None = None
    end_epoch_ms: int | None = None


class Facets(msgspec.Struct, frozen=True, kw_only=True):
    """What a filtered set is made of, for chips and the timeline strip.

    buckets: oldest first, each ``bucket_ms`` long (more or less where clocks change) and aligned to local time. At most
    as many as asked for, empty ones left out; of a strip all, each beginning where the one before it ends.
    concepts: the fifty most frequent, if they were asked for.
    """

    total: int
    kinds: tuple[Count, ...]
    types: tuple[Count, ...]
    projects: tuple[Count, ...]
    buckets: tuple[Bucket, ...]
    bucket_ms: int
    first_epoch_ms: int | None
    last_epoch_ms: int | None
    concepts: tuple[Count, ...] = ()


class BatchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Observations by id. Unknown ids are left out of the answer.

    order: newest first, as in the original, or oldest first.
    lean: leave out columns that are empty or that only cloud sync needs (for agents: fewer tokens).
    """

    ids: tuple[int, ...]
    order: Order = Order.DATE_DESC
    limit: int | None = None
    project: str | None = None
    platform_source: str | None = None
    lean: bool = False
