"""A store in a folder of its own, and another program on the same file."""

import asyncio
import contextlib
import inspect
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S
from worker.contract.transfer import ImportBatch, ImportStats
from worker.search.engine import Engine
from worker.store.imports import import_batch
from worker.store.tables import Store, open_store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = open_store(tmp_path / "memory" / "claude-mem.db")
    yield store
    await store.close()


@pytest.fixture
def engine(store: Store) -> Engine:
    return Engine(store)


@pytest.fixture
def other(store: Store) -> Iterator[sqlite3.Connection]:
    """A plain connection of another program, as the original opens it."""
    connection = foreign(store.path)
    yield connection
    connection.close()


async def fill(store: Store, batch: ImportBatch) -> ImportStats:
    """Bring rows in."""
    return await store.write(lambda connection: import_batch(connection, batch))


def foreign(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("busy_timeout=60000", "foreign_keys=ON", "synchronous=NORMAL", "journal_mode=WAL"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


@contextlib.asynccontextmanager
async def catching_up(store: Store) -> AsyncIterator[None]:
    """With the store's index kept in step, as the worker keeps it."""
    following = asyncio.create_task(store.catch_up(lambda: None))
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait([following])


async def eventually(look: Callable[[], object | Awaitable[object]], *, within_s: float = PATIENCE_S) -> None:
    """Wait until ``look`` gives something true."""
    async with asyncio.timeout(within_s):
        while True:
            found = look()
            if await found if inspect.isawaitable(found) else found:
                return
            await asyncio.sleep(0.01)
