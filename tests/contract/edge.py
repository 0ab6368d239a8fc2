"""The worker's HTTP edge in this process, over a store in a folder of its own."""

import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.factories import NOON
from worker.api.app import build
from worker.api.services import Services
from worker.contract.transfer import ImportBatch
from worker.search.engine import Engine
from worker.store.changes import Change
from worker.store.imports import import_batch
from worker.store.tables import Store, open_store
from worker.stream.broadcaster import Broadcaster
from worker.stream.events import event

PORT = 37700


class Recorder(Broadcaster):
    """Keeps what was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[dict[str, Any]] = []

    def send(self, event: dict[str, Any]) -> None:
        self.sent.append(event)
        super().send(event)


@dataclass
class Edge:
    """ask, text: an answer, checked to be a success. ended: what the worker was told to do with itself."""

    client: httpx.AsyncClient
    store: Store
    services: Services
    broadcaster: Recorder
    ended: list[str] = field(default_factory=list)

    async def fill(self, batch: ImportBatch) -> None:
        await self.store.write(lambda connection: import_batch(connection, batch))
        self.broadcaster.sent.clear()

    async def ask(self, path: str, /, **params: object) -> Any:
        answer = await self.client.get(path, params={name: str(value) for name, value in params.items()})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: object) -> Any:
        answer = await self.client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def text(self, path: str, /, **params: object) -> str:
        said: str = (await self.ask(path, **params))["content"][0]["text"]
        return said

    async def problem(self, method: str, path: str, **request: Any) -> tuple[int, str, str | None]:
        """Status, code and field of an error, which has a sentence too."""
        answer = await self.client.request(method, path, **request)
        told = answer.json()
        assert told["error"]
        return answer.status_code, told.get("code"), told.get("field")


@contextlib.asynccontextmanager
async def served(
    folder: Path, *, client: str = "127.0.0.1", environ: Mapping[str, str] | None = None
) -> AsyncIterator[Edge]:
    """An edge. client: the address that requests come from."""
    store = open_store(folder / "claude-mem.db")
    ended: list[str] = []
    broadcaster = Recorder()

    def restarted() -> str:
        ended.append("restart")
        return "http://127.0.0.1:41000"

    services = Services(
        version="1.2.3",
        data_dir=folder,
        port=PORT,
        broadcaster=broadcaster,
        clock=lambda: NOON / 1000,
        stop=lambda: ended.append("stop"),
        restart=restarted,
        zone=dt.UTC,
        started=NOON / 1000 - 3840,
        environ=environ or {},
    )
    services.opened = (store, Engine(store, zone=dt.UTC))

    def tell(changes: Sequence[Change]) -> None:
        for told in filter(None, map(event, changes)):
            broadcaster.send(told)

    store.feed.subscribe(tell)
    transport = httpx.ASGITransport(build(services, "127.0.0.1"), client=(client, 5))
    try:
        async with httpx.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{PORT}") as sender:
            yield Edge(sender, store, services, broadcaster, ended)
    finally:
        await store.close()
