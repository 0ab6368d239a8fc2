"""The model of before, whose vectors answer until those of the present one are complete."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from worker.contract.errors import MemError
from worker.projection.keeper import Keeper
from worker.projection.opening import OpenIndex
from worker.projection.thread import OwnThread
from worker.projection.writer import Model
from worker.store import outbox
from worker.store.tables import Connection

_SERVING = "vectors_serving"


@dataclass(slots=True)
class Former:
    """name: of its vectors. model: None when it can no longer be loaded; then nothing answers in its stead."""

    name: str
    model: Model | None = None
    keeper: Keeper | None = None
    keeping: asyncio.Task[None] | None = None

    @property
    def embedder_name(self) -> str:
        """Of the model itself."""
        return self.name.rsplit("/", 2)[0]

    @property
    def dimension(self) -> int:
        """Numbers in its vectors."""
        return int(self.name.rsplit("/", 2)[1])

    async def end(self, open_index: Callable[[str, int], OpenIndex] | None, thread: OwnThread) -> None:
        """Let go of its index and delete it."""
        if self.keeping is not None:
            self.keeping.cancel()
        if self.keeper is not None:
            await self.keeper.close()
        if open_index is not None:
            with contextlib.suppress(MemError):  # it takes room, nothing else
                await thread.run(lambda: open_index(self.name, self.dimension).drop())


def adopt(connection: Connection, model: str) -> str:
    """Vectors are made by a model from now on; the name of the vectors that answer meanwhile."""
    noted = outbox.noted(connection, outbox.MODEL)
    serving = outbox.noted(connection, _SERVING) or noted or model
    if noted != model:
        outbox.write_note(connection, outbox.MODEL, model)
        outbox.write_note(connection, _SERVING, serving)
        outbox.restart(connection)
    return serving


def hand_over(connection: Connection, model: str) -> None:
    """The vectors of a model answer from now on."""
    outbox.write_note(connection, _SERVING, model)
