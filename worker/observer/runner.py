"""One ordered consumer a session: queue → rules or a model → store.

What is taken from the queue is claimed, and leaves it in the very transaction that stores the records made of it and
notes what they cost; so a process that is killed at any point loses nothing and stores nothing twice. What fails goes
back with its reason. A provider that fails is left alone for a while, and capture goes on.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from worker.contract.errors import Invalid, MemError
from worker.contract.observer_settings import Asking, Observing
from worker.llm.provider import Failure, Provider, ProviderFailed
from worker.observer import making, purse, readiness
from worker.observer.identity import likeness
from worker.observer.making import Made, Part
from worker.observer.patience import Patience, Pause
from worker.observer.readiness import Quiet
from worker.store import drafts, pending, spend
from worker.store.drafts import Origin
from worker.store.pending import Kind, Queued, Waiting
from worker.store.tables import Connection, Store

_log = logging.getLogger("worker.observer")
_LOOK_S = 5.0
"""At the latest the queue is looked at again, for what was given back until later and for sessions that ended."""
_FAULT_S = 1.0
_REST_S = 0.05
"""Of events that come one after the other the queue is looked at once: a look costs about as much as taking one."""


@dataclass(frozen=True, slots=True)
class ObserverStatus:
    """state: `idle`, `working` or `paused`; then with the reason and until when, None for until something changes."""

    state: str = "idle"
    provider: str = making.LOCAL
    model: str = ""
    reason: str | None = None
    until_epoch_ms: int | None = None


class Observer:
    """``run`` it for as long as the worker runs."""

    def __init__(
        self,
        store: Store,
        *,
        captured: asyncio.Event,
        settings: Callable[[], Observing],
        open_provider: Callable[[Asking], Provider | None],
        now_ms: Callable[[], int],
        changed: Callable[[], None] = lambda: None,
        completed: Callable[[int], None] = lambda _: None,
    ) -> None:
        """captured: set when something was queued. settings: read before each look at the queue.

        changed: called when the queue or ``status`` did. completed: with the id of a session of which all is done.
        """
        self._store = store
        self._captured = captured
        self._free = asyncio.Event()
        self._settings = settings
        self._open = open_provider
        self._now_ms = now_ms
        self._changed = changed
        self._completed = completed
        self._asking: Asking | None = None
        self._provider: Provider | None = None
        self._patience = Patience()
        self._quiet: dict[int, Quiet] = {}
        self._working: dict[int, asyncio.Task[None]] = {}
        self._astray = True  # a former worker may have been killed over what it had taken
        self.status = ObserverStatus()

    async def run(self) -> None:
        """Work on what is queued. Cancelled, it gives back what it has taken."""
        try:
            while True:
                self._captured.clear()
                self._free.clear()
                wait_s = await self._look()
                try:
                    async with asyncio.timeout(wait_s):
                        await self._captured.wait()
                except TimeoutError:
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_REST_S):
                        await self._free.wait()
        finally:
            for task in self._working.values():
                task.cancel()
            await asyncio.gather(*self._working.values(), return_exceptions=True)
            with contextlib.suppress(MemError):  # a start gives it back too
                await self._store.write(pending.release)
            if self._provider is not None:
                await self._provider.close()

    async def _look(self) -> float:
        """Start what is to be started; how many seconds to wait if nothing happens."""
        try:
            observing = await asyncio.to_thread(self._settings)
            if self._astray and not self._working:
                await self._store.write(pending.release)
                self._astray = False
            if observing.asking != self._asking:
                if self._working:  # what is asked now is answered first, and whoever has ended wakes us
                    return _LOOK_S
                await self._choose(observing.asking)
            return await self._start(observing)
        except Invalid as error:
            # A setting that cannot be used: what is captured waits until it can.
            self._tell(ObserverStatus("paused", self.status.provider, "", error.message))
            return _LOOK_S
        except MemError as error:
            waits = self._named(ObserverStatus("paused", reason=error.message))
            if waits != self.status:
                _log.warning("the observer waits: %s", error.message)
            self._tell(waits)
            return _FAULT_S
        except Exception as error:  # noqa: BLE001 - what is captured meanwhile must not wait for a restart
            _log.error("the queue could not be looked at", exc_info=error)
            told = f"a fault of ours ({type(error).__name__}); the log tells where"
            self._tell(self._named(ObserverStatus("paused", reason=told)))
            return _LOOK_S

    async def _choose(self, asking: Asking) -> None:
        """Ask the provider that the settings name now. Errors: ``Invalid``."""
        chosen = self._open(asking)
        before, is_first = self._provider, self._asking is None
        self._provider, self._asking = chosen, asking
        self._patience = Patience()
        if before is not None:
            await before.close()
        if not is_first:
            await self._store.write(pending.hurry)  # what the former one could not do, this one may

    async def _start(self, observing: Observing) -> float:
        now = self._now_ms()
        lines = await self._store.read(lambda connection: pending.waiting(connection, now))
        self._quiet = readiness.watch(self._quiet, lines, now)
        quiet = dict(self._quiet)  # as of these lines: while we wait below, a session may be done and begin anew
        await self._complete(now)
        stop = await self._stopped(observing, now)
        if stop is not None:
            self._tell(self._named(ObserverStatus("paused", reason=stop.reason, until_epoch_ms=stop.until_epoch_ms)))
            return min(max((stop.until_epoch_ms - now) / 1000, 0.01), _LOOK_S)
        wait_s, held = _LOOK_S, 0
        for line in lines:
            if line.session_db_id in self._working or len(self._working) >= observing.parallel:
                continue
            left_ms = readiness.wait_ms(line, quiet[line.session_db_id], observing, now)
            if left_ms:
                wait_s = min(wait_s, left_ms / 1000)
            elif self._provider is not None and await purse.session_is_over(self._store, observing, line.session_db_id):
                held += 1
            else:
                self._begin(line, observing)
        self._settle(held)
        return max(wait_s, 0.01)

    async def _stopped(self, observing: Observing, now: int) -> Pause | None:
        """Why nothing is asked now, None where it may be."""
        if self._provider is None:
            return None
        if (pause := self._patience.pausing(now)) is not None:
            return pause
        return await purse.day_is_over(self._store, observing, now)

    def _settle(self, held: int) -> None:
        """Tell how it is. held: sessions whose budget is spent."""
        reason = f"the budget of {held} session{'s' if held > 1 else ''} is spent; its events wait" if held else None
        state = "working" if self._working else "paused" if held else "idle"
        self._tell(self._named(ObserverStatus(state, reason=reason)))

    def _begin(self, line: Waiting, observing: Observing) -> None:
        task = asyncio.create_task(self._work(line.session_db_id, observing))
        self._working[line.session_db_id] = task
        task.add_done_callback(partial(self._ended, line.session_db_id))

    def _ended(self, session_db_id: int, task: asyncio.Task[None]) -> None:
        self._working.pop(session_db_id, None)
        self._quiet.pop(session_db_id, None)
        self._captured.set()  # there may be more
        self._free.set()

    async def _work(self, session_db_id: int, observing: Observing) -> None:
        """One batch of a session."""
        try:
            batch = await self._claim(session_db_id, observing)
            left = making.parts(batch, by_agent=self._provider is None)
            try:
                while left:
                    await self._make(left[0], observing, making.last_words(batch, left[0]))
                    left.pop(0)
                    self._changed()
            except ProviderFailed as failure:
                await self._failed(session_db_id, _ids(left), failure, batch[0].project)
            except Exception as error:  # noqa: BLE001 - one session's fault is not to end the work on the others
                _log.error("what was captured could not be worked on", exc_info=error)
                told = f"a fault of ours ({type(error).__name__}); the log tells where"
                fault = ProviderFailed(Failure.BAD_ANSWER, told)
                await self._failed(session_db_id, _ids(left), fault, batch[0].project)
        except MemError as error:
            self._astray = True
            _log.warning("what was taken from the queue could not be given back yet: %s", error.message)

    async def _claim(self, session_db_id: int, observing: Observing) -> tuple[Queued, ...]:
        most = max(observing.events >> self._patience.shrunk[session_db_id], 1)
        now = self._now_ms()
        batch = await self._store.write(
            lambda connection: pending.claim(connection, session_db_id, now, most=most, most_bytes=observing.bytes)
        )
        self._changed()
        return batch

    async def _make(self, items: Sequence[Queued], observing: Observing, said: str) -> None:
        """Records of one turn's events, or its summary, stored with what they cost. Errors: ``ProviderFailed``."""
        session, first = items[0].session_db_id, items[0]
        part = await self._store.read(lambda connection: _part(connection, tuple(items), said))
        provider = self._provider
        if provider is None or self._patience.is_hopeless(session):
            made = await making.by_rules(part)
        else:
            if await purse.is_empty(self._store, observing, session, self._now_ms()):
                raise _Spent(Failure.QUOTA, "the budget is spent")
            made = await making.by_model(part, provider, shrink=self._patience.shrunk[session])
        origin = Origin(
            session_db_id=session,
            content_session_id=first.content_session_id,
            project=first.project,
            parent=first.parent,
            epoch_ms=min(item.occurred_epoch_ms for item in items),
            prompt_number=first.prompt_number,
            agent_id=_one({item.agent_id for item in items}),
            agent_type=_one({item.agent_type for item in items}),
            provider=self._asking.provider if self._asking is not None else making.LOCAL,
            model=made.model,
        )
        now = self._now_ms()
        await self._store.write(lambda connection: _keep(connection, origin, part.ids, made, now))
        self._patience.answered(session)

    async def _failed(self, session_db_id: int, ids: Sequence[int], failure: ProviderFailed, project: str) -> None:
        """Give back what was taken, with the reason, and leave the provider or the session alone for a while."""
        now = self._now_ms()
        not_before = now
        if not isinstance(failure, _Spent):
            not_before = self._patience.failed(session_db_id, failure, now)
            _log.warning("the observer got no answer: %s", failure.message)
        call = spend.Call(project, session_db_id, failure.model or "unknown", failure.tokens)

        def give_back(connection: Connection) -> None:
            pending.give_back(connection, ids, reason=failure.message, not_before_epoch_ms=not_before)
            if failure.tokens:
                spend.add(connection, call, now)

        await self._store.write(give_back)
        self._changed()

    async def _complete(self, now: int) -> None:
        """Sessions that have ended and of which nothing waits."""
        if not await self._store.read(drafts.has_completed):
            return
        for number in await self._store.write(lambda connection: drafts.complete(connection, now)):
            self._completed(number)

    def _named(self, status: ObserverStatus) -> ObserverStatus:
        asking = self._asking or Asking()
        return replace(status, provider=asking.provider, model=asking.model)

    def _tell(self, status: ObserverStatus) -> None:
        if status != self.status:
            self.status = status
            self._changed()


class _Spent(ProviderFailed):
    """Nothing was asked: a budget was spent between two questions."""


def _part(connection: Connection, items: tuple[Queued, ...], said: str) -> Part:
    first = items[0]
    past = drafts.past(connection, first.session_db_id, [first.prompt_number])
    if first.kind is not Kind.SUMMARY:
        return Part(items, past, said=said)
    return Part(items, past, drafts.turn_files(connection, first.session_db_id, first.prompt_number))


def _keep(connection: Connection, origin: Origin, ids: Sequence[int], made: Made, now: int) -> None:
    """All of it or nothing."""
    drafts.keep(connection, origin, made.observations, made.summary, likeness)
    pending.finish(connection, ids)
    if made.tokens is not None:
        spend.add(connection, spend.Call(origin.project, origin.session_db_id, made.model, made.tokens), now)


def _ids(left: Sequence[Sequence[Queued]]) -> list[int]:
    return [item.id for items in left for item in items]


def _one(values: set[str | None]) -> str | None:
    """The value that all have, None if they differ."""
    return next(iter(values)) if len(values) == 1 else None
