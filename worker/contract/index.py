"""The index by meaning: how far it is, and what is done to it."""

import enum

import msgspec

from worker.contract.records import RecordKind


class IndexState(enum.StrEnum):
    """What the index by meaning is doing.

    off: switched off by a setting. starting: the model or Chroma is being opened. catching_up: records wait to be
    embedded; ready: none does. paused: by a person. failed: it cannot be used, ``reason`` says why; searches go by
    keyword and it tries again.
    """

    OFF = "off"
    STARTING = "starting"
    CATCHING_UP = "catching_up"
    READY = "ready"
    PAUSED = "paused"
    FAILED = "failed"


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a project's records of one kind can be found by meaning.

    records: there are. embedded: are found by meaning. watermark: every record with an id up to this one is written,
    or waits again because it failed or changed. pending: records at or below the watermark that wait.
    """

    project: str
    kind: RecordKind
    records: int
    embedded: int
    watermark: int
    pending: int


class IndexStatus(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/index/status``. Counts are of records, but for ``documents``.

    pending: not yet searchable by meaning as they are now. failed: of these, tried in vain. unwritten: searchable, and
    yet to be written to Chroma. documents: fragments that
    Chroma says it holds, None when it cannot be asked. rate_per_s: records embedded a second, of late; left_s: time
    until nothing is pending at that rate. serving: model that answers meanwhile, another than ``model`` while that one
    is being built. chroma: ``ready`` or why it is not; without it vectors are compared one by one.
    """

    state: IndexState
    reason: str = ""
    records: int = 0
    embedded: int = 0
    pending: int = 0
    failed: int = 0
    unwritten: int = 0
    documents: int | None = None
    rate_per_s: float = 0.0
    left_s: float | None = None
    model: str = ""
    dimension: int = 0
    serving: str = ""
    backend: str = "local"
    collection: str = ""
    chroma: str = ""
    covered: tuple[Coverage, ...] = ()


class IndexFaults(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison of the index with the records found; examples: document ids, a hundred at most.

    checked: records that were compared. waiting: records that wait to be embedded or to be written to Chroma, and were
    passed over. chroma: why Chroma was not compared; empty when it was, and when there is to be none.
    missing: documents of records that Chroma does not hold. orphans: documents of no record. stale: records whose
    vectors are of an older text. repaired: whether they were queued to be written, and the orphans removed.
    """

    checked: int = 0
    waiting: int = 0
    chroma: str = ""
    missing: int = 0
    orphans: int = 0
    stale: int = 0
    examples: tuple[str, ...] = ()
    repaired: bool = False


class IndexOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What ``POST /api/index/rebuild`` is asked. reembed: throw the stored vectors away too, and embed all anew."""

    reembed: bool = False
