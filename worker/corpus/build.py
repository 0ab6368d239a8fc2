"""From an order to a corpus: one search, its records oldest first."""

from collections import Counter
from collections.abc import Collection, Sequence

import msgspec
from msgspec import UNSET

from worker.contract.clean import cleaned
from worker.contract.corpus import MOST_LIMIT, USUAL_LIMIT, CorpusFilter, CorpusStats, DateRange
from worker.contract.records import Observation, RecordKind, items
from worker.contract.search import Degraded, Order, SearchQuery
from worker.contract.when import iso_utc
from worker.corpus import render
from worker.corpus.files import CorpusFile, CorpusObservation
from worker.search.engine import Engine

_PAGE = 500
_WORDS_ALONE = {
    Degraded.NO_FULLTEXT: "this SQLite has no full-text search, so words were looked for one by one",
    Degraded.INDEX_STARTING: "the index is not complete yet, so a rebuild may find more",
    Degraded.INDEX_FAILED: "the index by meaning cannot be used, so the query found what has its words",
    Degraded.INDEX_SLOW: "the index by meaning took too long, so the query found what has its words",
}


def search_of(asked: CorpusFilter, since_epoch_ms: int | None, until_epoch_ms: int | None) -> SearchQuery:
    """The filter as a question to the search; its dates as moments."""
    return SearchQuery(
        text=asked.query or "",
        kinds=(RecordKind.OBSERVATION,),
        types=asked.types,
        concepts=asked.concepts,
        files=asked.files,
        project=asked.project,
        since_epoch_ms=since_epoch_ms,
        until_epoch_ms=until_epoch_ms,
        order=Order.RELEVANCE if asked.query else Order.DATE_DESC,
        limit=min(max(asked.limit, 1), MOST_LIMIT) if asked.limit else USUAL_LIMIT,
    )


async def build(
    engine: Engine, name: str, description: str, asked: CorpusFilter, question: SearchQuery, *, now_ms: int
) -> tuple[CorpusFile, tuple[str, ...]]:
    """The corpus, and what a person should know of how it came about.

    Without a query the newest records that pass the filters, with one those that fit it best.
    """
    found, notes = await _found(engine, question)
    records = tuple(
        _observation(row) for row in sorted(found, key=lambda row: (row.created_at_epoch, row.id))
    )  # fmt: skip
    built = iso_utc(now_ms)
    corpus = CorpusFile(
        name=name,
        description=description,
        created_at=built,
        updated_at=built,
        filter=asked,
        stats=_stats(records, built),
        observations=records,
    )
    return settled(corpus), notes


def without(corpus: CorpusFile, gone: Collection[int]) -> CorpusFile:
    """The corpus without these records, unknown to any model."""
    records = tuple(record for record in corpus.observations if record.id not in gone)
    left = msgspec.structs.replace(
        corpus,
        observations=records,
        stats=_stats(records, corpus.updated_at),
        session_id=None,
        lapsed=True if corpus.session_id or corpus.lapsed is True else UNSET,
        deleted=tuple(sorted({*corpus.left_out, *gone})),
    )
    return settled(left)


def settled(corpus: CorpusFile) -> CorpusFile:
    """With the prompt and the estimate that belong to its records."""
    prompt = render.system_prompt(corpus.name, corpus.filter, corpus.observations)
    blank = msgspec.structs.replace(corpus.stats, token_estimate=0)
    plain = msgspec.structs.replace(corpus, stats=blank)
    stats = msgspec.structs.replace(corpus.stats, token_estimate=render.estimate(plain))
    return msgspec.structs.replace(corpus, system_prompt=prompt, stats=stats)


async def _found(engine: Engine, question: SearchQuery) -> tuple[list[Observation], tuple[str, ...]]:
    """The records in pages, so that no other question waits long behind a large corpus."""
    found: dict[int, Observation] = {}
    notes: dict[str, None] = {}
    passed, total = 0, 1
    while len(found) < question.limit and passed < total:
        page = await engine.search_rows(
            msgspec.structs.replace(question, limit=min(_PAGE, question.limit - len(found)), offset=passed)
        )
        found |= {row.id: row for row in page.observations}
        passed, total = passed + len(page.hits), page.totalResults
        notes |= dict.fromkeys(page.notes)
        if page.degraded in _WORDS_ALONE and (question.text or page.degraded is Degraded.INDEX_STARTING):
            notes[_WORDS_ALONE[page.degraded]] = None
        if not page.hits:
            break
    if total > question.limit:
        which = "that fit best" if question.text else "that are newest"
        notes[f"{total:,} records fit; the {len(found):,} {which} were taken (limit)"] = None
    if not found:
        notes["nothing in memory fits this filter"] = None
    return list(found.values()), tuple(notes)


def _observation(row: Observation) -> CorpusObservation:
    return CorpusObservation(
        id=row.id,
        type=_text(row.type),
        title=_text(row.title or ""),
        subtitle=_known(row.subtitle),
        narrative=_known(row.narrative or row.text),
        facts=_texts(row.facts),
        concepts=_texts(row.concepts),
        files_read=_texts(row.files_read),
        files_modified=_texts(row.files_modified),
        project=_text(row.project),
        created_at=iso_utc(row.created_at_epoch),
        created_at_epoch=row.created_at_epoch,
    )


def _stats(records: Sequence[CorpusObservation], built: str) -> CorpusStats:
    first, last = (records[0].created_at, records[-1].created_at) if records else (built, built)
    return CorpusStats(
        observation_count=len(records),
        token_estimate=0,
        date_range=DateRange(earliest=first, latest=last),
        type_breakdown=dict(Counter(record.type for record in records)),
    )


def _texts(column: str | None) -> tuple[str, ...]:
    return tuple(map(_text, items(column)))


def _known(text: str | None) -> str | None:
    return None if text is None else _text(text)


def _text(text: str) -> str:
    """As it can be written to a file, where half a surrogate pair becomes `?`, and be given to a model: cleaned, for
    records of the original's may hold what ours never do."""
    return cleaned(text.encode("utf-8", "replace").decode())
