"""One worker, topic by topic."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable

from tui.gateway.corpora import Corpora
from tui.gateway.line import Client, FileReader, Line
from tui.gateway.lists import Lists
from tui.gateway.memory import Memory
from tui.gateway.pulse import STREAM_QUIET_S
from tui.gateway.records import Records
from tui.gateway.settings import KeptSettings
from tui.gateway.surveys import Surveys
from tui.gateway.times import Times
from tui.state import changes, facts, session_tree
from tui.state.facts import Fact
from worker.contract.errors import MemError
from worker.contract.events import StreamEvent
from worker.contract.records import RecordKey, RecordKind
from worker.contract.settings import Settings

_NEWS = {"new_observation", "new_summary", "new_prompt"}
_CHANGED = "changed_"
_STARTS_AT, _STARTS_EVERY = 3, 6
"""At these tries to take a stream up again the worker is started, should nobody be there: after some seconds, later
once a minute, because a try that fails costs a process."""


def connect(settings: Settings) -> Client:
    """A client of the worker at the configured address."""
    from worker.contract.client import WorkerClient  # httpx: 90-120 ms that the first paint does not wait for

    return WorkerClient(settings.host, settings.port, timeout_s=settings.timeout_s, token=settings.credential)


def ensure(settings: Settings) -> object:
    """The worker there, found or started."""
    from worker.contract import launch  # http.client and what starts a process: 10 ms, as above

    return launch.ensure(settings)


def read_file(settings: Settings) -> FileReader:
    """What only reads the file."""
    from worker.contract import reader  # 2 ms, as above

    return reader.start(settings)


def backoff_s(attempt: int, chance: float) -> float:
    """Seconds before the next try: doubling from half a second to 10, of which ``chance`` takes off up to half."""
    return float(min(10.0, 0.5 * 2 ** min(attempt, 6)) * (1 - chance / 2))


class Gateway:
    """One worker, as facts. ensure: finds or starts it, called on a thread. pause_s: (attempt) → wait.

    read_file: starts what only reads the file, where there is no worker.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        ensure: Callable[[Settings], object] = ensure,
        connect: Callable[[Settings], Client] = connect,
        read_file: Callable[[Settings], FileReader] = read_file,
        pause_s: Callable[[int], float] = lambda attempt: backoff_s(attempt, random.random()),
    ) -> None:
        self.settings = settings
        self.pause_s = pause_s
        self._line = Line(settings, ensure, connect, read_file)
        self.lists = Lists(self._line)
        self.records = Records(self._line)
        self.memory = Memory(self._line)
        self.times = Times(self._line)
        self.surveys = Surveys(self._line)
        self.corpora = Corpora(self._line)
        self.kept = KeptSettings(self._line)

    @property
    def ready(self) -> bool:
        """Whether there is somebody to ask."""
        return self._line.client is not None

    async def start(self) -> Fact:
        """Find the worker or start it."""
        return await self._line.start()

    async def has_worker(self) -> bool:
        """Whether there is one by now, started if need be."""
        return not await self._line.no_worker()

    async def close(self) -> None:
        """Give the connections back."""
        await self._line.close()

    def felt(self) -> AsyncIterator[Fact]:
        """That the worker falls silent, and that it answers again, for ever."""
        return self._line.pulse.felt()

    async def follow(self) -> AsyncIterator[Fact]:
        """What happens at the worker, for ever: a lost stream is said and taken up again where it broke off.

        A worker here that died is started again.
        """
        attempt: int | None = 0  # None once something was heard
        after: int | None = None
        blocked = ""  # why no worker can be started
        while self._line.client is not None:
            try:
                async for event in self._line.client.events(after=after, quiet_s=STREAM_QUIET_S):
                    self._line.pulse.heard()
                    if attempt is not None:
                        attempt, blocked = None, ""
                        yield facts.StreamOpen()
                    after = event.id if event.id is not None else after
                    if event.type == "resync":
                        self.records.forget()
                        yield facts.Resync()
                    elif event.type in _NEWS or event.queueDepth is not None:
                        yield facts.News(int(event.type in _NEWS), event.queueDepth)
                    elif event.type == "session_changed":
                        yield session_tree.Renamed()
                    elif (known := _changed(event)) is not None:
                        for key in known.keys:
                            self.records.forget(key)
                        yield known
                reason = "the worker closed the connection"
            except MemError as error:
                reason = error.message
            self.records.forget()
            yield facts.StreamLost(blocked or reason)
            attempt = attempt or 0
            await asyncio.sleep(self.pause_s(attempt))
            attempt += 1
            if attempt % _STARTS_EVERY == _STARTS_AT and not self.settings.remote:
                blocked = await self._line.no_worker()


def _changed(event: StreamEvent) -> changes.Deleted | changes.Changed | None:
    """What an event tells of a record that was there before; None if it tells of none."""
    if event.type == "record_deleted":
        key = _key(event.kind, event.record_id)
        return changes.Deleted(frozenset({key})) if key is not None else None
    kind = event.type.removeprefix(_CHANGED)
    if not event.type.startswith(_CHANGED) or kind not in [*RecordKind]:
        return None
    row = {"observation": event.observation, "summary": event.summary, "prompt": event.prompt}[kind] or {}
    key = _key(kind, row.get("id"))
    return changes.Changed(frozenset({key})) if key is not None else None


def _key(kind: str | None, record_id: object) -> RecordKey | None:
    if kind is None or kind not in [*RecordKind] or not isinstance(record_id, int):
        return None
    return RecordKey(RecordKind(kind), record_id)
