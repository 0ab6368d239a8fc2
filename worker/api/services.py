"""The parts that a route may call."""

import asyncio
import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.capture.cleaning import Cleaning
from worker.capture.gate import Rules
from worker.capture.intake import Intake
from worker.contract.errors import Conflict, Unavailable
from worker.contract.index import IndexState, IndexStatus
from worker.contract.search import Degraded
from worker.contract.upkeep import DependencyHealth, DependencyStatus, ProcessingStatus
from worker.corpus.desk import Desk
from worker.observer.runner import Observer, ObserverStatus
from worker.projection.extent import extent
from worker.projection.meaning import Meaning
from worker.projection.upkeep import IndexUpkeep
from worker.search.engine import Engine
from worker.store import pending
from worker.store.tables import Store
from worker.store.tally import Tally
from worker.stream.broadcaster import Broadcaster

_OFF = "search by meaning is switched off (CLAUDE_MEM_CHROMA_ENABLED or CLAUDE_MEM_EMBEDDING_MODEL)"
_STARTING = "the index by meaning is being opened; try again in a moment"
_FAILED = "the index by meaning ended by a fault of its own; the log tells more"


@dataclass(slots=True)
class Services:
    """Built by ``server``. The store comes after the port is open, so it may be missing for a moment.

    clock: seconds since 1970. stop: asks the server to end. restart: has it start a successor when it has ended;
    gives where that will answer.
    environ: the settings in this process's environment. projector: keeps the index by meaning, None where it is
    switched off or not there yet; meaning: what searches ask of it, or why they cannot. tally: of what is recalled.
    read_only: nothing is written, by whoever asks. rules: what of agents is not kept, by default only what is our own.
    tell: what the live stream is to be told, if not sent at once; captured: set when something was queued.
    observer: makes memories of it, None until it is there. corpora: what is done with them.
    cleaning: cleans what is imported.
    """

    version: str
    data_dir: Path
    port: int
    broadcaster: Broadcaster
    clock: Callable[[], float]
    stop: Callable[[], None]
    zone: dt.tzinfo | None = None
    started: float = 0.0
    opened: tuple[Store, Engine] | None = None
    projector: IndexUpkeep | None = None
    meaning: Meaning | Degraded = Degraded.INDEX_OFF
    failure: str | None = field(default=None)
    restart: Callable[[], str] | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False
    rules: Rules | None = None
    tell: Callable[[dict[str, Any]], None] | None = None
    captured: asyncio.Event = field(default_factory=asyncio.Event)
    observer: Observer | None = None
    corpora: Desk | None = None
    cleaning: Cleaning = field(default_factory=Cleaning)
    tally: Tally = field(init=False)
    _intake: Intake | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Nothing was recalled yet."""
        self.tally = Tally(self.now_ms)

    @property
    def intake(self) -> Intake:
        """What takes in the events of agents. Errors: ``Unavailable`` until the store is open."""
        store = self.store
        if self._intake is None:
            rules = self.rules or Rules(data_dir=str(self.data_dir))
            self._intake = Intake(store, rules, self.now_ms, self.tell or self.broadcaster.send, self.captured)
        return self._intake

    @property
    def trouble(self) -> str:
        """Why there is no store yet, or why nothing can be written to it at present; empty if all is well."""
        return self.failure or (self.opened[0].trouble if self.opened else "")

    @property
    def dependencies(self) -> DependencyHealth:
        """What is the matter with the database, in the original's words."""
        if not self.trouble:
            return DependencyHealth()
        told = DependencyStatus(
            dependency="database",
            kind="unavailable",
            message=self.trouble,
            remediation="",
            recordedAtMs=self.now_ms(),
        )
        return DependencyHealth(degraded=True, statuses=(told,))

    @property
    def store(self) -> Store:
        """The store. Errors: ``Unavailable`` until it is open."""
        return self._opened()[0]

    @property
    def engine(self) -> Engine:
        """The search engine. Errors: ``Unavailable`` until the store is open."""
        return self._opened()[1]

    @property
    def index(self) -> IndexUpkeep:
        """What keeps the index by meaning.

        Errors: ``Conflict`` where it is switched off, ``Unavailable`` before it is there and when it ended by a fault.
        """
        self._opened()
        if self.projector is not None:
            return self.projector
        if self.meaning is Degraded.INDEX_OFF:
            raise Conflict(_OFF)
        raise Unavailable(_FAILED if self.meaning is Degraded.INDEX_FAILED else _STARTING, retry_after_s=1)

    async def index_status(self) -> IndexStatus:
        """How far the index by meaning is. Errors: ``Unavailable`` while it is to come and the store is not open."""
        if self.projector is not None:
            return await self.projector.status()
        match self.meaning:
            case Degraded.INDEX_OFF:
                return IndexStatus(state=IndexState.OFF, reason=_OFF)
            case Degraded.INDEX_FAILED:
                return IndexStatus(state=IndexState.FAILED, reason=_FAILED)
            case _:
                found = await self.store.read(extent)
                return IndexStatus(
                    state=IndexState.STARTING,
                    records=found.records,
                    embedded=found.embedded,
                    pending=found.pending,
                    failed=found.failed,
                    unwritten=found.unwritten,
                )

    async def processing(self) -> ProcessingStatus:
        """What waits to become a memory. Errors: ``Unavailable`` until the store is open."""
        now = self.now_ms()
        found = await self.store.read(lambda connection: pending.counts(connection, now))
        observer = self.observer.status if self.observer is not None else ObserverStatus("off", provider="")
        return ProcessingStatus(
            isProcessing=found.all > 0,
            queueDepth=found.all,
            parkedSessions=found.parked_sessions,
            state=observer.state,
            provider=observer.provider,
            model=observer.model,
            reason=observer.reason,
            until_epoch_ms=observer.until_epoch_ms,
            waiting=found.waiting,
            claimed=found.claimed,
            delayed=found.delayed,
            oldest_epoch_ms=found.oldest_epoch_ms,
            last_error=found.last_error,
            attempts=found.attempts,
        )

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return int(self.clock() * 1000)

    def _opened(self) -> tuple[Store, Engine]:
        if self.opened is None:
            raise Unavailable(self.failure or "Service initializing", retry_after_s=1)
        return self.opened
