"""What is done with corpora: one at a time is read by a model or asks it, while files can always be read.

A model's session belongs to the build that it has read: what it comes back with is kept only if that build still
stands in the file.
"""

import asyncio
import contextlib
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import UNSET

from worker.contract.corpus import (
    CorpusAnswer,
    CorpusFilter,
    CorpusInfo,
    CorpusLine,
    Primed,
)
from worker.contract.errors import Conflict, NotFound
from worker.contract.records import Observation, RecordKey, RecordKind
from worker.contract.search import MOST_CHARS, Hit, SearchQuery
from worker.corpus import matching, render
from worker.corpus.build import build, search_of, without
from worker.corpus.files import CorpusFile, Shelf
from worker.corpus.session import Expired, Model, Paid, Said
from worker.present import prompt_block
from worker.search.engine import Engine
from worker.store import records, spend
from worker.store.tables import Store

T = TypeVar("T")

_CANDIDATES = 300
_NO_ID = 2**63
_NO_SESSION = 0
_OF_NO_PROJECT = "(corpora)"
"""Where the cost of a corpus goes that is about no one project."""
_CITED = re.compile(r"#(\d{1,18})\b")
_NO_MODEL = (
    "no model is used (CLAUDE_MEM_PROVIDER is local): questions are answered with the records that fit best, and "
    "nothing has to be primed"
)
_GONE = "{} of its records were deleted from memory since it was built and are left out; a rebuild settles it"


@dataclass(frozen=True, slots=True)
class Memory:
    """What corpora are made of: the store and the search over it."""

    store: Store
    engine: Engine


class Desk:
    """Over one folder of files.

    memory: of the moment, it may not be open yet. model: as the settings are now, None for the provider ``local``.
    now_ms: milliseconds since 1970. measured: whether it is known of the index how near is near enough.
    """

    def __init__(
        self,
        data_dir: Path,
        memory: Callable[[], Memory],
        model: Callable[[], Model | None],
        now_ms: Callable[[], int],
        measured: Callable[[], bool] = lambda: True,
    ) -> None:
        self._shelf = Shelf(data_dir / "corpora")
        self._memory, self._model, self._now_ms, self._measured = memory, model, now_ms, measured
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._writing = asyncio.Lock()

    async def build(self, name: str, description: str, asked: CorpusFilter, question: SearchQuery) -> CorpusInfo:
        """Build it, in the place of one of that name. Errors: ``Invalid``, ``Conflict``."""
        engine = self._memory().engine
        corpus, notes = await build(engine, name, description, asked, question, now_ms=self._now_ms())
        async with self._writing:
            await asyncio.to_thread(self._shelf.write, corpus)
        return corpus.info(notes=notes)

    async def rebuild(self, name: str, span: Callable[[CorpusFilter], tuple[int | None, int | None]]) -> CorpusInfo:
        """The same from its own filter. span: of the filter's dates, now. Errors: ``NotFound``, ``Invalid``."""
        former = await self._read(name)
        question = search_of(former.filter, *span(former.filter))
        return await self.build(former.name, former.description, former.filter, question)

    async def all(self) -> tuple[CorpusLine, ...]:
        """Every corpus, A to Z."""
        found = await asyncio.to_thread(lambda: list(self._shelf.all()))
        if not found:
            return ()
        there = await self._live(record.id for corpus in found for record in corpus.observations)
        infos = (corpus.info(len(_gone(corpus, there))) for corpus in found)
        return tuple(
            CorpusLine(
                name=info.name,
                description=info.description,
                stats=info.stats,
                session_id=info.session_id,
                stale=info.stale,
                missing=info.missing,
                updated_at=info.updated_at,
            )
            for info in infos
        )

    async def info(self, name: str) -> CorpusInfo:
        """One corpus. Errors: ``NotFound``."""
        corpus = await self._read(name)
        there = await self._live(record.id for record in corpus.observations)
        return corpus.info(len(_gone(corpus, there)))

    async def delete(self, name: str) -> None:
        """Take the file away. Errors: ``NotFound``."""
        async with self._writing:
            await asyncio.to_thread(self._shelf.remove, name)

    async def sweep(self, gone: Collection[int] | None = None) -> None:
        """Take what is deleted out of the files. gone: ids; None for whatever is in any file and no longer in memory.

        A corpus that a model reads or is asked about is swept when that is over: its session belongs to its text.
        """
        found = await asyncio.to_thread(lambda: [corpus.name for corpus in self._shelf.all() if _holds(corpus, gone)])
        await asyncio.gather(*map(self._swept, found))

    async def _swept(self, name: str) -> None:
        with contextlib.suppress(NotFound):  # it was deleted meanwhile
            async with await self._turn(name):
                await self._current(name)

    async def prime(self, name: str, *, anew: bool = False) -> Primed:
        """Have a model read it. anew: forget the session that it has, whatever becomes of this one.

        Errors: ``NotFound``; ``Conflict`` for a corpus that is empty or has no room in the model's context, before
        anything is spent; as those of ``Model``.
        """
        async with await self._turn(name):
            corpus, _ = await self._current(name)
            model = self._model()
            if model is None:
                return Primed(session_id=corpus.session_id, name=corpus.name, notes=(_NO_MODEL, *_notes(corpus)))
            _refuse(corpus, model)
            if anew and corpus.session_id:
                corpus = await self._keep(corpus, None)
            corpus = await self._primed(corpus, model)
            return Primed(session_id=corpus.session_id, name=corpus.name, notes=_notes(corpus))

    async def ask(self, name: str, question: str) -> CorpusAnswer:
        """The answer to a question. Errors: as those of ``prime``; ``Conflict`` if it was never primed."""
        model = self._model()
        if model is None:
            return await self._matched(name, question)
        async with await self._turn(name):
            corpus, session_id = await self._current(name)
            if session_id is None and corpus.lapsed is not True:
                raise Conflict(f'Corpus "{corpus.name}" has no session — call prime first')
            if corpus.session_id is None:  # that session has read what is deleted now
                corpus = await self._primed(corpus, model)
            corpus, said = await self._asked(corpus, model, question)
        known = {record.id for record in corpus.observations}
        cited = dict.fromkeys(int(number) for number in _CITED.findall(said.text))
        return CorpusAnswer(
            answer=said.text,
            session_id=said.session_id,
            model=model.name,
            cited=tuple(record_id for record_id in cited if record_id in known),
            stale=bool(corpus.left_out),
            notes=_notes(corpus),
        )

    async def _asked(self, corpus: CorpusFile, model: Model, question: str) -> tuple[CorpusFile, Said]:
        """Ask; a session that has expired is begun anew and asked once more."""
        asking = render.asking(question)
        try:
            async with self._paying(corpus) as paid:
                said = await model.resume(corpus.session_id or "", _rules(corpus), asking, paid)
        except Expired:
            corpus = await self._primed(corpus, model)
            try:
                async with self._paying(corpus) as paid:
                    said = await model.resume(corpus.session_id or "", _rules(corpus), asking, paid)
            except Expired as again:
                raise Conflict("claude does not keep its sessions: it knows none that it has just begun") from again
        if said.session_id != corpus.session_id:
            corpus = await self._keep(corpus, said.session_id)
        return corpus, said

    async def _primed(self, corpus: CorpusFile, model: Model) -> CorpusFile:
        """With a new session that has read it."""
        _refuse(corpus, model)
        rules = _rules(corpus)
        told = await asyncio.to_thread(render.priming, corpus, rules)
        async with self._paying(corpus) as paid:
            said = await model.begin(rules, told, paid)
        return await self._keep(corpus, said.session_id)

    @contextlib.asynccontextmanager
    async def _paying(self, corpus: CorpusFile) -> AsyncIterator[Paid]:
        """Notes what is paid meanwhile, also where it comes to nothing, for the project that the corpus is about."""
        calls: list[spend.Call] = []
        project = corpus.filter.project or _OF_NO_PROJECT
        try:
            yield lambda model, tokens: calls.append(spend.Call(project, _NO_SESSION, model, tokens))
        finally:
            now = self._now_ms()
            for call in calls:
                await self._memory().store.write(partial(spend.add, call=call, now_epoch_ms=now))

    async def _matched(self, name: str, question: str) -> CorpusAnswer:
        """An answer of the best matching records. It tells what they say now, and none that is deleted."""
        corpus, _ = await self._current(name)
        chosen = await self._live(record.id for record in corpus.observations)
        # The search knows best; of a small corpus in a large memory it may name only some among its first.
        words = await asyncio.to_thread(matching.by_words, question, list(chosen.values()))
        speaking, measured = frozenset(words), self._measured()
        named = [
            hit.id
            for hit in await self._named(corpus, question)
            if (record := chosen.get(hit.id)) is not None
            and (hit.id in speaking or prompt_block.is_near(hit, record, question, measured=measured))
        ]
        best = list(dict.fromkeys((*named, *words)))[: matching.MOST]
        told = await asyncio.to_thread(matching.answer, corpus.name, question, best, chosen)
        return CorpusAnswer(
            answer=told,
            session_id=corpus.session_id,
            cited=tuple(best),
            stale=bool(corpus.left_out),
            notes=("no model was used", *_notes(corpus)),
        )

    async def _named(self, corpus: CorpusFile, question: str) -> Sequence[Hit]:
        """What the search finds for the question, best first, also outside the corpus."""
        query = SearchQuery(
            text=question[:MOST_CHARS],
            kinds=(RecordKind.OBSERVATION,),
            types=corpus.filter.types,
            concepts=corpus.filter.concepts,
            files=corpus.filter.files,
            project=corpus.filter.project,
            limit=_CANDIDATES,
        )
        page = await self._memory().engine.search(query)
        return () if page.strategy == "filter" else page.hits

    async def _turn(self, name: str) -> asyncio.Lock:
        """Whoever holds this may have a model read a corpus or ask it; others queue up. Errors: ``NotFound``."""
        return self._asking[(await self._read(name)).name]

    async def _read(self, name: str) -> CorpusFile:
        return await asyncio.to_thread(self._shelf.read, name)

    async def _current(self, name: str) -> tuple[CorpusFile, str | None]:
        """The corpus without what is deleted, in its file too; and the session that it had."""
        corpus = await self._read(name)
        session_id = corpus.session_id
        gone = _gone(corpus, await self._live(record.id for record in corpus.observations))
        if gone:
            async with self._writing:
                corpus = await asyncio.to_thread(self._replace, corpus, without(corpus, gone))
        return corpus, session_id

    async def _keep(self, corpus: CorpusFile, session_id: str | None) -> CorpusFile:
        """The corpus with this session; its file too, unless another build or none stands there by now."""
        async with self._writing:
            return await asyncio.to_thread(
                self._replace, corpus, msgspec.structs.replace(corpus, session_id=session_id, lapsed=UNSET)
            )

    def _replace(self, known: CorpusFile, changed: CorpusFile) -> CorpusFile:
        if self._shelf.peek(known.name) == known:
            self._shelf.write(changed)
        return changed

    async def _live(self, ids: Iterable[int]) -> dict[int, Observation]:
        """The records as they are in memory now, by id."""
        # A file from elsewhere may hold any number.
        asked = dict.fromkeys(record_id for record_id in ids if 0 < record_id < _NO_ID)
        keys = [RecordKey(RecordKind.OBSERVATION, record_id) for record_id in asked]
        found = await self._memory().store.read(lambda connection: records.by_keys(connection, keys))
        return {row.id: row for row in found.values() if isinstance(row, Observation)}


def _gone(corpus: CorpusFile, there: dict[int, Observation]) -> frozenset[int]:
    """Ids of its records that are not in memory; one of another time under the same id is another record."""
    return frozenset(
        record.id
        for record in corpus.observations
        if (row := there.get(record.id)) is None or row.created_at_epoch != record.created_at_epoch
    )


def _holds(corpus: CorpusFile, ids: Collection[int] | None) -> bool:
    return bool(corpus.observations) if ids is None else any(record.id in ids for record in corpus.observations)


def _rules(corpus: CorpusFile) -> str:
    """Made anew, whatever a file from elsewhere says."""
    return render.system_prompt(corpus.name, corpus.filter, corpus.observations)


def _refuse(corpus: CorpusFile, model: Model) -> None:
    """Errors: ``Conflict`` for a corpus that a model cannot or need not read."""
    if not corpus.observations:
        raise Conflict(f'Corpus "{corpus.name}" holds no records; build it with a wider filter')
    tokens, room = render.context_tokens(render.priming(corpus, _rules(corpus))), render.room_tokens(model.name)
    if tokens > room:
        raise Conflict(
            f'Corpus "{corpus.name}" is about {tokens:,} tokens, and the context of {model.name} has room for '
            f"{room:,}; build it with a narrower filter or a smaller limit"
        )


def _notes(corpus: CorpusFile) -> tuple[str, ...]:
    return (_GONE.format(len(corpus.left_out)),) if corpus.left_out else ()
