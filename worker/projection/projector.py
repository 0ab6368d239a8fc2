"""Keeps the index by meaning in step with the records.

Live records go first, on a thread of their own; the backlog follows, newest first. What was embedded while Chroma was
away is written there when it is back, without embedding it again. Where the model is another than before, its vectors
are made beside those of the former one, which answer until all are there.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import islice

from worker.contract.errors import MemError, Unavailable
from worker.contract.index import IndexFaults, IndexState, IndexStatus
from worker.contract.search import Degraded
from worker.projection import documents, keeper, mending
from worker.projection.backlog import Backlog
from worker.projection.courtesy import Courtesy
from worker.projection.embed import Embedder
from worker.projection.extent import extent
from worker.projection.former import Former, adopt, hand_over
from worker.projection.gate import Gate, Passage
from worker.projection.keeper import Keeper
from worker.projection.opening import OpenIndex
from worker.projection.pace import Delay, Rate
from worker.projection.semantic import Serving
from worker.projection.thread import OwnThread
from worker.projection.writer import Model, Writer
from worker.store import outbox, search_index, vectors
from worker.store.changes import Change
from worker.store.tables import Store

_log = logging.getLogger("worker.projection")

_BATCH = 8
"""Records embedded at a time: under a second, the longest that a closing waits."""
_WRITE_BATCH = 48
"""Records written to Chroma at a time when nothing is to be embedded."""
_MOST_LIVE = 64
"""Changes told at once that are live; of more, the backlog takes care."""
_MOST_FRESH = 512
_MOST_LAG = 1_000
"""Chroma is asked while it lacks at most so many records; a search can compare those one by one."""
_LIVE_INDEX_S = 3.0
"""A live record waits so long for Chroma; the next ones are embedded then, and it is given all of them later."""
_REPORT_S = 1.0
_CLOSE_S = 1.5

_PAUSED = "vectors_paused"
_PROBE = "vectors_probe"

Report = Callable[[IndexStatus], None]


class Projector:
    """Built with the store open, on the event loop; ``run`` it in a task, then ``close`` it.

    open_embedder: blocks while it loads the model. open_index: by model and dimension; None where Chroma is off, and
    vectors are then compared one by one. open_former: a model by its embedder's name, to answer with the vectors of
    before while those of another model are made. report: told the status as it moves, once a second at most, without
    ``covered``. clock: in seconds. backend: `local` or `remote`, for the status.
    """

    def __init__(
        self,
        store: Store,
        open_embedder: Callable[[], Embedder],
        open_index: Callable[[str, int], OpenIndex] | None,
        *,
        open_former: Callable[[str], Embedder] | None = None,
        report: Report = lambda status: None,
        clock: Callable[[], float] = time.time,
        backend: str = "local",
    ) -> None:
        self._store, self._clock, self._report, self._backend = store, clock, report, backend
        self._open_embedder, self._open_former, self._open_index = open_embedder, open_former, open_index
        self._live = OwnThread("embed-live")
        self._rest = OwnThread("embed-backlog", polite=True)
        self._writing = OwnThread("write-index")
        self._passage = Passage()
        self._writer = Writer(store, self._writing, clock=clock, passage=self._passage)
        self._gate, self._courtesy = Gate(), Courtesy()
        self._embedding = Backlog(
            store, self._gate, self._courtesy, partial(self._write, thread=self._rest, courtesy=self._courtesy),
            batch=_BATCH, idle=self._settle, clock=clock,
        )  # fmt: skip
        self._catching_up = Backlog(
            # What was embedded has only to be cut again, in no time: it does not wait for a batch that is embedded.
            store, self._gate, self._courtesy, partial(self._write, thread=self._live, courtesy=self._courtesy),
            batch=_WRITE_BATCH, stored=True, ready=self._has_index, planned=self._measure, idle=self._settle,
            clock=clock,
        )  # fmt: skip
        self._model: Model | None = None
        self._former: Former | None = None
        self._keeper: Keeper | None = None
        self._trouble = ""
        self._store_trouble = ""
        self._bare = True
        self._paused = False
        self._planned = False
        self._delay, self._rate = Delay(), Rate()
        self._fresh: dict[int, None] = {}
        self._moved = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._reopening: set[asyncio.Task[None]] = set()
        self._tasks: asyncio.TaskGroup | None = None
        store.feed.subscribe(self._heard)

    def serving(self) -> Serving | Degraded:
        """What answers questions now, or why nothing does; from any thread.

        Of the records that Chroma lacks meanwhile (``outbox.unwritten``) there are at most ``_MOST_LAG`` when an
        index is given.
        """
        former = self._former
        if former is not None and former.model is not None:
            model, holder = former.model, former.keeper
        elif self._store_trouble and self._bare:
            return Degraded.INDEX_FAILED
        elif self._model is not None:
            model, holder = self._model, self._keeper
        else:
            return Degraded.INDEX_FAILED if self._trouble else Degraded.INDEX_STARTING
        index = holder.index if holder is not None and holder.lag <= _MOST_LAG else None
        return Serving(model.embedder, model.name, index)

    def busy(self) -> None:
        """A question is being answered: the backlog makes way for a moment; from any thread."""
        self._courtesy.told()

    async def run(self) -> None:
        """Keep the index in step until cancelled. Never raises what a model, Chroma or the store may do."""
        self._running = asyncio.current_task()
        try:
            await self._run()
        finally:
            self._running = None

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            tasks.create_task(self._tell())
            await self._probe()
            await self._load()
            await self._patiently(self._prepare)
            model = self._known()
            if self._open_index is not None:
                self._keeper = self._keeps(model, self._open_index, mends=True)
                tasks.create_task(self._keeper.run())
                tasks.create_task(self._catching_up.run())
            tasks.create_task(self._embedding.run())
            tasks.create_task(self._follow())

    async def close(self) -> None:
        """End ``run``, give up what is under way and let go of files; within two seconds, whatever hangs."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        for reopening in self._reopening:
            reopening.cancel()
        self._courtesy.end()
        await self._gate.give_up()
        ended = await asyncio.gather(self._live.close(_CLOSE_S), self._rest.close(_CLOSE_S), self._close_index())
        if not all(ended):
            _log.warning("the index by meaning was left in the middle of something; it is begun again")

    async def _close_index(self) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                for holder in (self._keeper, self._former.keeper if self._former is not None else None):
                    if holder is not None:
                        await holder.close()
        return await self._writing.close(0.1)

    async def pause(self) -> None:
        """Embed and write nothing until resumed, also after a restart."""
        await self._store.write(partial(outbox.write_note, name=_PAUSED, value="1"))
        self._set_paused(True)

    async def resume(self) -> None:
        """Go on."""
        await self._store.write(partial(outbox.write_note, name=_PAUSED, value=""))
        self._set_paused(False)

    async def status(self, *, covered: bool = True) -> IndexStatus:
        """How far the index is. covered: with how much of each project, which takes longer."""
        model = self._model
        former = self._former.model if self._former is not None else None
        name = model.name if model is not None else await self._store.read(partial(outbox.noted, name=outbox.MODEL))
        found = await self._store.read(partial(extent, model=name))
        rate = 0.0 if self._paused else self._rate.per_s(time.monotonic())
        chroma = self._keeper.told if self._keeper is not None else "opening" if self._open_index else "off"
        if chroma == "ready" and found.unwritten:
            chroma = f"ready; {found.unwritten} records to be written there"
        return IndexStatus(
            state=self._state(found.pending),
            reason=self._trouble or self._store_trouble or found.reason,
            records=found.records,
            embedded=found.embedded,
            pending=found.pending,
            failed=found.failed,
            documents=await self._keeper.count() if self._keeper is not None else None,
            rate_per_s=round(rate, 2),
            left_s=round(found.pending / rate, 1) if rate and found.pending else None,
            model=model.embedder.name if model is not None else "",
            dimension=model.embedder.dimension if model is not None else 0,
            serving=former.embedder.name if former is not None else "",
            backend=self._backend,
            collection=name,
            unwritten=found.unwritten,
            chroma=chroma,
            covered=await self._store.read(partial(vectors.coverage, model=name)) if covered else (),
        )

    async def verify(self) -> IndexFaults:
        """Hold all records against their vectors and these against Chroma; nothing is changed.

        Embedding goes on meanwhile, and Chroma is given nothing. What was not compared is told.
        Errors: ``Unavailable`` until the model is there.
        """
        return await self._compare(repairs=False)

    async def repair(self) -> IndexFaults:
        """The same, and have everything written that is missing or old, and removed what belongs to no record."""
        return await self._compare(repairs=True)

    async def _compare(self, *, repairs: bool) -> IndexFaults:
        model = self._known()
        async with self._gate.in_turn():
            self._passage.shut()
            try:
                if self._keeper is None and self._open_index is not None:
                    held: Keeper | str = "opening"
                else:
                    held = self._keeper or ""
                return await mending.compare(self._store, model, held, self._writing, self._passage, repairs=repairs)
            finally:
                self._reopen_later()

    def _reopen_later(self) -> None:
        reopening = asyncio.create_task(self._reopen())
        self._reopening.add(reopening)
        reopening.add_done_callback(self._reopening.discard)

    async def _reopen(self) -> None:
        """Let Chroma be written to when it has answered what it was last asked: what waits for that hangs with it."""
        with contextlib.suppress(MemError):  # it is being closed
            await self._writing.run(_nothing)
        self._passage.reopen()
        self._changed()

    async def rebuild(self, *, reembed: bool = False) -> None:
        """Begin Chroma's collection anew and fill it from the vectors that are kept; reembed: throw these away too.

        Errors: ``Unavailable`` until the model is there.
        """
        model = self._known()
        async with self._gate.alone():
            if reembed:
                await mending.drop_all(self._store, model.name)
            if self._keeper is not None:
                await self._keeper.drop()
        self._moved.set()

    # Starting.

    async def _probe(self) -> None:
        """Whether anything can be kept, told before the model is loaded, which takes seconds."""
        try:
            await self._store.write(partial(outbox.write_note, name=_PROBE, value=str(self._clock())))
        except MemError as error:
            await self._cannot_keep(error)

    async def _load(self) -> None:
        """The model, tried until it is there."""
        delay = Delay(most_s=300.0)
        while self._model is None:
            try:
                embedder = await self._live.run(self._open_embedder)
                self._model = Model(f"{embedder.name}/{embedder.dimension}/{documents.FORMAT}", embedder)
                self._trouble = ""
            except (MemError, OSError) as error:
                self._fail(error.message if isinstance(error, MemError) else str(error))
                await asyncio.sleep(delay.next_s())

    async def _prepare(self) -> None:
        """What is to be done before the first write."""
        model = self._known()
        serving = await self._store.write(partial(adopt, model=model.name))
        self._set_paused(bool(await self._store.read(partial(outbox.noted, name=_PAUSED))))
        await mending.drop_others(self._store, {model.name, serving})
        await mending.plan(self._store, model.name)
        if self._open_index is None:
            await keeper.forget(self._store)
            await self._store.write(outbox.drop_waiting_for_index)
        if serving != model.name:
            self._former = Former(serving)
            await self._revive(self._former)
        self._planned = True

    async def _revive(self, former: Former) -> None:
        """Have the vectors of before answer, if their model can be loaded."""
        present = self._known().embedder
        if (former.embedder_name, former.dimension) == (present.name, present.dimension):
            embedder = present
        elif self._open_former is None:
            return
        else:
            try:
                embedder = await self._live.run(partial(self._open_former, former.embedder_name))
            except (MemError, OSError) as error:
                _log.warning("the model %s cannot be loaded any more: %s", former.embedder_name, error)
                return
        former.model = Model(former.name, embedder)
        if self._open_index is not None and self._tasks is not None:
            former.keeper = self._keeps(former.model, self._open_index, mends=False)
            former.keeping = self._tasks.create_task(former.keeper.run())

    def _keeps(self, model: Model, open_index: Callable[[str, int], OpenIndex], *, mends: bool) -> Keeper:
        return Keeper(
            self._store, model.name, model.embedder.dimension, open_index, self._writing, self._changed, mends=mends
        )

    # Running.

    def _heard(self, changes: Sequence[Change]) -> None:
        if len(changes) <= _MOST_LIVE:
            self._fresh |= dict.fromkeys(search_index.docid(change.key) for change in changes)
        if len(changes) > _MOST_LIVE or len(self._fresh) > _MOST_FRESH:
            # They are all in the outbox; of many the newest come first there.
            self._fresh.clear()
            self._embedding.outdate()
        self._changed()

    async def _follow(self) -> None:
        """Write what is new at once."""
        while True:
            stir = self._gate.next_stir
            await self._gate.passed()
            if not self._fresh:
                await stir.wait()
                continue
            numbers = list(islice(self._fresh, _BATCH))
            for number in numbers:
                del self._fresh[number]
            await asyncio.wait([self._gate.begin(self._write(numbers, self._live, _LIVE_INDEX_S))])

    async def _write(
        self,
        numbers: Sequence[int],
        thread: OwnThread,
        index_s: float | None = None,
        courtesy: Courtesy | None = None,
    ) -> None:
        """Write records; what goes wrong is told and waited for."""
        holder = self._keeper
        index = holder.index if holder is not None else None
        try:
            written = await self._writer.write(
                numbers, self._known(), thread, index,
                projects=self._open_index is not None, index_s=index_s, courtesy=courtesy,
            )  # fmt: skip
            self._store_trouble = ""
            if written.late:
                self._passage.shut()
                self._reopen_later()
            if not self._passage.is_open:
                await self._measure()
            if written.embedder_trouble:
                self._fail(written.embedder_trouble)
                self._gate.rest(self._delay.next_s())
            elif written.embedded:
                self._rate.add(time.monotonic(), written.embedded)
                self._delay.reset()
                if self._trouble:
                    self._trouble = ""
                    await self._store.write(outbox.hurry)
            if holder is not None and index is None and holder.index is not None:
                self._gate.stir()  # it came while these were written without it
            if holder is not None and index is not None:
                if written.index_trouble and not (written.tried == 1 and await holder.answers()):
                    await holder.lose(index, written.index_trouble)
                elif written.done:
                    holder.works()
        except MemError as error:
            # The records are in the outbox; the backlog comes back to them.
            await self._cannot_keep(error)
            self._gate.rest(self._delay.next_s())
        self._moved.set()

    def _has_index(self) -> bool:
        return self._keeper is not None and self._keeper.index is not None and self._passage.is_open

    async def _measure(self) -> None:
        if self._keeper is not None:
            await self._keeper.measure()

    async def _settle(self) -> None:
        """Nothing is to be done now: if another model was to be replaced, it is."""
        self._moved.set()
        former = self._former
        if former is None or await self._store.read(outbox.untried):
            return
        await self._measure()
        if self._keeper is not None and self._keeper.index is not None and self._keeper.lag:
            return
        model = self._known()
        await self._store.write(partial(hand_over, model=model.name))
        _log.info("answers by meaning come from %s from now on", model.name)
        self._former = None
        await former.end(self._open_index, self._writing)
        await mending.drop_others(self._store, {model.name})

    async def _patiently(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do a work on the store, tried until it can be done."""
        delay = Delay()
        while True:
            try:
                await work()
            except MemError as error:
                await self._cannot_keep(error)
                await asyncio.sleep(delay.next_s())
            else:
                self._store_trouble = ""
                self._moved.set()
                return

    async def _tell(self) -> None:
        """Report the status as it moves."""
        told: IndexStatus | None = None
        while True:
            await self._moved.wait()
            self._moved.clear()
            with contextlib.suppress(MemError):
                if (status := await self.status(covered=False)) != told:
                    self._report(status)
                    told = status
            await asyncio.sleep(_REPORT_S)

    # Small things.

    def _known(self) -> Model:
        if self._model is None:
            raise Unavailable(self._trouble or "the model is being loaded; try again in a moment", retry_after_s=2)
        return self._model

    def _state(self, pending: int) -> IndexState:
        if self._trouble or self._store_trouble:
            return IndexState.FAILED
        if not self._planned:
            return IndexState.STARTING
        if self._paused:
            return IndexState.PAUSED
        return IndexState.CATCHING_UP if pending else IndexState.READY

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused
        self._rate = Rate()  # the time of a pause is no time of work
        if paused:
            self._gate.shut("paused")
        else:
            self._gate.reopen("paused")
        self._moved.set()

    def _fail(self, why: str) -> None:
        if why != self._trouble:
            _log.warning("search goes by keyword alone: %s", why)
        self._trouble = why
        self._moved.set()

    async def _cannot_keep(self, error: MemError) -> None:
        """Nothing can be kept for now, of which searches are told as long as nothing was kept before."""
        _log.warning("the index by meaning waits: %s", error.message)
        if not isinstance(error, Unavailable):
            return  # another program holds the file for a moment
        self._store_trouble = error.message
        with contextlib.suppress(MemError):
            name = self._model.name if self._model is not None else ""
            self._bare = not (await self._store.read(partial(extent, model=name))).embedded
        self._moved.set()

    def _changed(self) -> None:
        self._gate.stir()
        self._moved.set()


def _nothing() -> None:
    """Carried out by a thread that has come to it."""
