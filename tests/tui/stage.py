"""The app on a stage: a fake client, a frozen clock, conditions to wait for instead of times."""

import asyncio
import datetime as dt
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from textual.pilot import Pilot

from tests.processes import PATIENCE_S
from tests.tui.memory import NOW_MS, Memory, encoded, farm
from tui.app import MemoryApp
from tui.cells.glyphs import UNICODE, Glyphs
from tui.cells.look import Look
from tui.gateway.front import Gateway
from tui.gateway.line import Client
from tui.keymap.chosen import Chosen
from tui.state.model import Link, ViewState
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.errors import MemError, Unreachable
from worker.contract.events import StreamEvent
from worker.contract.records import Record
from worker.contract.settings import Settings

T = TypeVar("T")
SETTINGS = Settings(Path("/memory"), "127.0.0.1", 45999)


class FakeClient:
    """Answers from a memory. failure: raised instead of an answer. gate: observations in full wait for it.

    hold: answers wait for it, by the words asked for or the path; `phase two`: what follows the hits by words.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.hold: dict[str, asyncio.Event] = {}
        self.failure: MemError | None = None
        self.gate: asyncio.Event | None = None
        self.stream: asyncio.Queue[StreamEvent | MemError | None] = asyncio.Queue()
        self.followed: list[int | None] = []
        self.closed = False

    async def send(self, call: Call[T]) -> T:
        """The answer, through the wire form."""
        params = dict(call.params) | ({"body": call.body.decode()} if call.body is not None else {})
        params |= {"method": call.method} if call.method == "DELETE" else {}
        answer = None if self.failure else self.memory.answer(call.path, params)
        late = call.path == calls.SEARCH and "mode" not in params and params.get("query") and "phase two" in self.hold
        if (gate := self.hold.get("phase two" if late else params.get("query", ""))) is not None:
            await gate.wait()
        if (gate := self.hold.get(call.path)) is not None:
            await gate.wait()
        if self.gate is not None and call.path.startswith(calls.OBSERVATION.split("{")[0]):
            await self.gate.wait()
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        return call.decode(encoded(answer))

    async def events(self, *, after: int | None = None, quiet_s: float = 20.0) -> AsyncIterator[StreamEvent]:
        """Connected, then what the test puts into ``stream``; None ends it, an error breaks it."""
        self.followed.append(after)
        if self.failure is not None:
            raise self.failure
        yield StreamEvent(type="connected")
        while (event := await self.stream.get()) is not None:
            if isinstance(event, MemError):
                raise event
            yield event

    async def close(self) -> None:
        """The end."""
        self.closed = True


class Stage:
    """The app, running. Use as an async context manager; leaving it fails if the app had a fault of its own."""

    def __init__(
        self,
        records: Sequence[Record] | None = None,
        *,
        size: tuple[int, int] = (80, 24),
        project: str | None = None,
        glyphs: Glyphs = UNICODE,
        ensure: Callable[[Settings], object] = lambda settings: None,
        demo_records: Sequence[Record] = (),
        started: bool = True,
        kept: Path | None = None,
        settings: Settings = SETTINGS,
        guarded: bool = False,
        keys: Chosen | None = None,
        open_gateway: Callable[[Settings], Gateway] | None = None,
        look: Look | None = None,
    ) -> None:
        self.memory = Memory(list(farm() if records is None else records))
        self.demo_memory = Memory(list(demo_records))
        self.client = FakeClient(self.memory)
        self.clients: list[FakeClient] = []
        self.ensure = ensure
        self.ensured: list[Settings] = []
        self._size = size
        self._started = started
        self._home = tempfile.TemporaryDirectory()
        self.home = Path(self._home.name)
        self.app = MemoryApp(
            settings, look or Look(glyphs, lambda: NOW_MS, dt.UTC, keys.keys if keys else {}), project=project,
            open_gateway=open_gateway or self._open, kept=kept, guarded=guarded, keys=keys,
            environ={"HOME": self._home.name, "TERM": "linux"},
        )  # fmt: skip

    def _open(self, settings: Settings) -> Gateway:
        def ensure(asked: Settings) -> object:
            self.ensured.append(asked)
            return self.ensure(asked)

        def connect(asked: Settings) -> Client:
            client = FakeClient(self.demo_memory) if asked.demo else self.client
            self.clients.append(client)
            return client

        return Gateway(settings, ensure=ensure, connect=connect, pause_s=lambda attempt: 0.01)

    async def __aenter__(self) -> Self:
        self._running = self.app.run_test(size=self._size)
        self.pilot: Pilot[None] = await self._running.__aenter__()
        if self._started:
            await self.until(lambda: self.state.link is not Link.STARTING, within_s=20)
            await self.settled()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._running.__aexit__(kind, error, trace)
        self._home.cleanup()
        if kind is None:
            assert self.app.faults == []

    @property
    def state(self) -> ViewState:
        """What the app shows."""
        return self.app.state

    async def press(self, *keys: str) -> None:
        """Keys, one after the other."""
        await self.pilot.press(*keys)
        if not self.app.turns.over:
            await self.until(lambda: self.app.turns.over)

    async def until(self, condition: Callable[[], bool], *, within_s: float = PATIENCE_S) -> None:
        """Wait for a condition."""
        async with asyncio.timeout(within_s):
            while not condition():  # noqa: ASYNC110 - a condition on the screen has no event
                await asyncio.sleep(0.005)
        await self.pilot.pause()

    async def settled(self) -> None:
        """Wait until nothing is being asked, the preview included."""
        await self.pilot.pause()
        while self.state.waiting or self._busy():
            async with asyncio.timeout(PATIENCE_S):
                while self.state.waiting or self._busy():  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.005)
            await self.pilot.pause()

    async def still(self) -> None:
        """Wait until the screen no longer changes: a line that comes or goes moves those below it in a second step."""
        await self.settled()
        same, before = 0, ""
        while same < 3:
            same, before = (same + 1, before) if before == self.text else (0, self.text)
            await self.pilot.pause(0.01)

    def _busy(self) -> bool:
        return any(worker.group not in ("link",) and not worker.is_finished for worker in self.app.workers)

    def break_off(self, reason: str = "it is gone") -> None:
        """The worker is no longer there."""
        self.client.failure = Unreachable(reason)
        self.client.stream.put_nowait(Unreachable(reason))

    @property
    def screen(self) -> list[str]:
        """The lines on the screen, as text."""
        return grid(self.app)

    @property
    def text(self) -> str:
        """All of the screen."""
        return "\n".join(self.screen)


def grid(app: MemoryApp) -> list[str]:
    """The screen as text, a line each, wide characters as they are. The one use of a private name of Textual."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]
