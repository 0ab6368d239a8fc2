"""The composition root: builds every part, subscribes them to each other, serves, and takes them down again."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import uvicorn
from starlette.applications import Starlette

from worker import heap, log, owner
from worker.api import port
from worker.api.app import build
from worker.api.connection import Connection
from worker.api.services import Services
from worker.capture import drain
from worker.capture.gate import Rules
from worker.contract import launch
from worker.contract.errors import Busy, MemError, Unavailable
from worker.contract.index import IndexStatus
from worker.contract.process import pid_file
from worker.contract.project_name import TEMP
from worker.contract.running import start_token
from worker.contract.search import Degraded
from worker.contract.settings import Settings, calm, environment, observing
from worker.contract.version import __version__
from worker.contract.when import iso_utc
from worker.corpus.sweeping import Sweeping
from worker.demo import load
from worker.llm.registry import open_provider
from worker.observer.runner import Observer, ObserverStatus
from worker.search.engine import Engine
from worker.store import imports, private, stats
from worker.store.changes import Change
from worker.store.reading import open_reader
from worker.store.tables import Store, open_store
from worker.stream.broadcaster import Broadcaster
from worker.stream.events import event
from worker.stream.pace import Pace

if TYPE_CHECKING:
    from worker.projection.assemble import Assembled

_log = logging.getLogger("worker.server")
_GRACE_S = 8
"""For requests that are under way at the end."""
_PEER_GRACE_S = 0.5
"""For streams and for bodies that are still coming: enough to send what is queued to whoever reads."""
_INDEX_GRACE_S = 1.0
"""For requests that wait for the index by meaning: whoever waits for one that hangs is told so, and not cut off."""
_PORT_S = 1.0
"""For a port that a connection of another program has at this moment."""
_AGAIN_S = 0.2
_ENDS = (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
_MOST_HEAD_BYTES = 2**20
"""Of a request's first lines: a question may be a long paste."""
_MOST_OPEN_FILES = 65_536
_TURN_S = 0.0005
"""So long a thread that computes keeps the others from running; by itself 5 ms, as long as a whole question takes."""


class _Server(uvicorn.Server):
    """Uvicorn, told to end by our own handlers: open streams first, or it would wait for them."""

    def __init__(self, config: uvicorn.Config, broadcaster: Broadcaster) -> None:
        super().__init__(config)
        self._broadcaster = broadcaster
        self.successor: Settings | None = None
        self.index: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Finish what is under way and end."""
        self._broadcaster.close()
        self.should_exit = True

    def follow_with(self, successor: Settings) -> str:
        """Have a worker with these settings started when this one has ended; where it will answer."""
        self.successor = successor
        return successor.url

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for what is under way, but not for streams that nobody reads and bodies that do not come."""
        asyncio.get_running_loop().call_later(_PEER_GRACE_S, self._end_waiting)
        asyncio.get_running_loop().call_later(_INDEX_GRACE_S, self._end_index)
        await super().shutdown(sockets)

    def _end_waiting(self) -> None:
        for connection in tuple(self.server_state.connections):
            if isinstance(connection, Connection):
                connection.end_waiting()

    def _end_index(self) -> None:
        if self.index is not None and not self.index.cancelling():
            self.index.cancel()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Until the end of serving, SIGTERM, SIGINT and a terminal that goes mean ``stop``; a clean end is code 0."""

        def on_signal(number: int, frame: FrameType | None) -> None:
            self.force_exit = self.should_exit and number == signal.SIGINT
            self.stop()

        before = {number: signal.signal(number, on_signal) for number in _ENDS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    settings: Settings,
    *,
    read_only: bool = False,
    parent: BinaryIO | None = None,
    successor: Callable[[Settings], Settings] = lambda running: running,
) -> None:
    """Run the worker until it is told to end.

    read_only: only the file is read, which another worker may own. parent: whoever started us writes nothing to this
    and holds it open; the port is printed for him, and we end with him. successor: the settings of the worker that
    follows on one with these, after a restart.
    Errors: ``Unavailable`` with the reason when it cannot start, ``Conflict`` when another has its data directory.
    """
    os.umask(0o077)
    heap.be_frugal()
    _open_many()
    sys.setswitchinterval(_TURN_S)
    listening = port.listen(settings, patience_s=_PORT_S)
    settings = replace(settings, port=listening.getsockname()[1])
    owned = contextlib.nullcontext() if read_only else owner.sole(settings.data_dir, settings.port)
    with contextlib.closing(listening), owned:
        named = contextlib.nullcontext() if read_only else _pid_file(settings)
        with named:
            serving = _serve(settings, listening, read_only=read_only, parent=parent, successor=successor)
            following = asyncio.run(serving)
    if following is not None:
        launch.spawn(following)


async def _serve(
    settings: Settings,
    listening: socket.socket,
    *,
    read_only: bool,
    parent: BinaryIO | None,
    successor: Callable[[Settings], Settings],
) -> Settings | None:
    """Serve; the settings of the successor that is to be started afterwards, if one is."""
    asyncio.get_running_loop().set_exception_handler(_told)
    logging.getLogger("uvicorn.error").addFilter(log.is_news)
    broadcaster = Broadcaster()
    services = Services(
        version=__version__,
        data_dir=settings.data_dir,
        port=settings.port,
        broadcaster=broadcaster,
        clock=time.time,
        stop=lambda: server.stop(),
        meaning=Degraded.INDEX_STARTING if _has_meaning(settings) and not read_only else Degraded.INDEX_OFF,
        restart=lambda: server.follow_with(_able(successor(settings), instead_of=settings)),
        environ=environment(),
        started=time.time(),
        rules=_rules(settings),
        read_only=read_only,
    )

    def fail(opening: asyncio.Task[None]) -> None:
        """A worker that cannot open, or no longer follows, its memory is no worker: say why and end."""
        error = None if opening.cancelled() else opening.exception()
        if error is None:
            return
        if isinstance(error, MemError):
            services.failure = error.message
        elif isinstance(error, OSError):
            services.failure = f"{error.filename or settings.data_dir} cannot be used: {error.strerror or error}"
        else:
            services.failure = f"a fault of the worker ({type(error).__name__}); its log tells where"
            _log.error("the worker ends", exc_info=error)
        server.stop()

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        serving = _read(settings, services) if read_only else _open(settings, services, server)
        opening = asyncio.create_task(serving)
        opening.add_done_callback(fail)
        try:
            with contextlib.suppress(asyncio.CancelledError):  # a second Ctrl-C: what is open is closed all the same
                yield
        finally:
            if services.opened is not None:
                services.store.hurry()
            services.cleaning.close()
            opening.cancel()
            await asyncio.wait([opening])
            if services.opened is not None:
                if not read_only:
                    await services.tally.close(services.store)
                await services.store.close()

    app = build(services, settings.host, lifespan, token=settings.token, read_token=settings.read_token)
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
        lifespan="on",
        h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
    )
    server = _Server(config, broadcaster)
    if parent is not None:
        _end_with(parent, settings.port, server.stop)
    await server.serve(sockets=[listening])
    if services.failure:
        raise Unavailable(services.failure)
    return server.successor


async def _open(settings: Settings, services: Services, server: _Server) -> None:
    """Open the store while the port already answers, then keep its index in step for as long as we run."""
    log.open_log(settings.logs, settings.log_level)
    private.shut(settings.data_dir)
    store = await _opened(services, lambda: open_store(settings.database))
    if settings.demo:
        await _fill_with_demo(store, services.now_ms())
    pace = Pace(services.broadcaster)
    store.feed.subscribe(lambda changes: pace.put(_events(changes)))
    sweeping = Sweeping(services.corpora)
    store.feed.subscribe(sweeping.told)
    # In the order of commits, whatever it is that is told.
    services.tell = lambda told: pace.put((told,))

    def asked() -> None:
        """The index by meaning makes way for whoever asks, also by words alone."""
        if services.projector is not None:
            services.projector.busy()

    engine = Engine(store, lambda: services.meaning, recency_days=settings.recency_days, asked=asked)
    services.opened = (store, engine)
    # Lists that were read while the index was incomplete are to be read again.
    following = store.catch_up(lambda: services.broadcaster.send({"type": "resync"}))
    draining = drain.run(settings.data_dir, services.intake.take)
    lasting = (pace.run(), following, services.tally.run(store), draining, services.intake.run(), sweeping.run())
    tasks = [asyncio.create_task(each) for each in lasting]
    aside = [asyncio.create_task(_observe(settings, services, store, services.tell))]
    aside[0].add_done_callback(partial(_observer_ended, services))
    if _has_meaning(settings):
        server.index = asyncio.create_task(_project(settings, services, store))
        server.index.add_done_callback(partial(_ended, services))
        aside.append(server.index)
    try:
        await asyncio.gather(*tasks)  # neither ends of itself; what ends one ends the worker
    finally:
        for task in (*tasks, *aside):
            if not task.cancelling():  # one that is closing already is not to be stopped in the middle of it
                task.cancel()
        await asyncio.wait((*tasks, *aside))


async def _read(settings: Settings, services: Services) -> None:
    """Open the file for reading; a copy, if one has to be made, is there as long as we run."""
    with tempfile.TemporaryDirectory(prefix="claude-mem-") as scratch:
        store = await _opened(services, lambda: open_reader(settings.database, Path(scratch)))
        services.opened = (store, Engine(store, recency_days=settings.recency_days))
        if store.path != settings.database:
            await store.catch_up(lambda: services.broadcaster.send({"type": "resync"}))
        await asyncio.Event().wait()


def _open_many() -> None:
    """Have as many files and connections open as the system lets us: by itself it is often 256 or 1,024."""
    if sys.platform == "win32":
        return
    import resource  # not on every platform

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _end_with(parent: BinaryIO, number: int, stop: Callable[[], None]) -> None:
    """Tell the parent our port, and end when he is gone."""
    loop = asyncio.get_running_loop()

    def watch() -> None:
        while os.read(parent.fileno(), 64):  # the file object's own lock would be held at the interpreter's end
            pass
        with contextlib.suppress(RuntimeError):  # we have ended already
            loop.call_soon_threadsafe(stop)

    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()
    threading.Thread(target=watch, name="parent", daemon=True).start()


def _able(following: Settings, *, instead_of: Settings) -> Settings:
    """The same settings. Errors: ``Unavailable`` when no worker could listen where they say."""
    if following.port != instead_of.port:
        port.listen(following).close()
    elif following.host != instead_of.host:
        port.listen(replace(following, port=0)).close()
    return following


def _rules(settings: Settings) -> Rules:
    of = settings.capture
    return Rules(
        data_dir=os.path.realpath(settings.data_dir),
        home=os.path.expanduser("~"),
        excluded=of.excluded,
        skip_tools=frozenset(of.skip_tools),
        opt_in=of.opt_in,
        skip_agents=of.skip_agents,
        temp_dirs=(*TEMP, os.path.realpath(tempfile.gettempdir())),
    )


def _has_meaning(settings: Settings) -> bool:
    return settings.chroma.enabled and settings.embedding.model not in ("", "none")


def _ended(services: Services, projecting: asyncio.Task[None]) -> None:
    """Without the index by meaning the worker goes on, and says so."""
    if not projecting.cancelled() and (error := projecting.exception()) is not None:
        _log.error("the index by meaning ends", exc_info=error)
        services.meaning, services.projector = Degraded.INDEX_FAILED, None


async def _observe(
    settings: Settings, services: Services, store: Store, tell: Callable[[dict[str, Any]], None]
) -> None:
    """Make memories of what is captured for as long as we run."""
    changed = asyncio.Event()
    services.observer = Observer(
        store,
        captured=services.captured,
        settings=lambda: observing(settings.data_dir),
        open_provider=lambda asking: open_provider(asking, settings.data_dir),
        now_ms=services.now_ms,
        changed=changed.set,
        completed=lambda number: tell({"type": "session_completed", "sessionDbId": number}),
    )
    telling = asyncio.create_task(_tell_queue(services, changed, tell))
    try:
        await services.observer.run()
    finally:
        telling.cancel()
        await asyncio.wait([telling])


async def _tell_queue(services: Services, changed: asyncio.Event, tell: Callable[[dict[str, Any]], None]) -> None:
    """Tell the live stream what waits, when that changed; of many changes at once the last one."""
    while True:
        await changed.wait()
        changed.clear()
        with contextlib.suppress(MemError):
            queue = await services.processing()
            told = {"isProcessing": queue.isProcessing, "queueDepth": queue.queueDepth}
            tell({"type": "processing_status", **told})


def _observer_ended(services: Services, ended: asyncio.Task[None]) -> None:
    """Without the observer the worker goes on: what is captured waits, and its state says why."""
    if ended.cancelled() or (error := ended.exception()) is None:
        return
    _log.error("the observer ends", exc_info=error)
    if services.observer is not None:
        reason = "the observer ended by a fault of its own; the log tells more"
        services.observer.status = ObserverStatus("failed", reason=reason)


async def _project(settings: Settings, services: Services, store: Store) -> None:
    """Keep the index by meaning for as long as we run. What fails in it leaves the worker searching by words."""

    def report(status: IndexStatus) -> None:
        services.broadcaster.send({"type": "index_status", "index": msgspec.to_builtins(status)})

    def assembled() -> "Assembled":
        calm()
        from worker.projection.assemble import assemble  # 140 ms, for numpy

        folder, of = settings.data_dir / "vectors", str(settings.data_dir)
        return assemble(store, folder, settings.embedding, settings.chroma, report, of)

    parts = await asyncio.to_thread(assembled)
    services.projector, services.meaning = parts.projector, parts.semantics
    try:
        await parts.projector.run()
    finally:
        services.meaning = Degraded.INDEX_OFF
        parts.semantics.close()
        await parts.projector.close()


async def _opened(services: Services, open_it: Callable[[], Store]) -> Store:
    """The store. While another program holds the file, health tells so and the opening is tried again."""
    try:
        while True:
            try:
                return await asyncio.to_thread(open_it)
            except Busy as busy:
                if services.failure is None:
                    _log.warning("%s", busy.message)
                services.failure = busy.message
                await asyncio.sleep(_AGAIN_S)
    finally:
        services.failure = None


def _events(changes: Sequence[Change]) -> Iterator[dict[str, Any]]:
    return (message for message in map(event, changes) if message is not None)


def _told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What went wrong in a task that nobody waited for. Its own words are left out: they may quote a memory."""
    _log.error("a task failed", exc_info=context.get("exception"))


async def _fill_with_demo(store: Store, now_ms: int) -> None:
    """The demo memory, into an empty database only."""
    held = await store.read(lambda connection: stats.database(connection, store.path))
    if not held.sessions:
        batch = load.records(now_ms)
        await store.write(lambda connection: imports.import_batch(connection, batch))


@contextlib.contextmanager
def _pid_file(settings: Settings) -> Iterator[None]:
    """`worker.pid` in the original's form, from the moment we have the port; not a lock, the port is.

    Whoever finds the port silent knows by it that we are there and busy, opening the database for instance.
    """
    file = pid_file(settings)
    content = {"pid": os.getpid(), "port": settings.port, "startedAt": iso_utc(time.time_ns() // 1_000_000)}
    token = start_token(os.getpid())
    written = msgspec.json.format(msgspec.json.encode(content | ({"startToken": token} if token else {})), indent=2)
    with contextlib.suppress(OSError):
        file.write_bytes(written)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if file.read_bytes() == written:
                file.unlink()
