"""A memory of many records on disk, made through the store and served by a real worker that finds by words alone."""

import asyncio
from functools import partial
from pathlib import Path

from tests.bench.corpus import batches
from worker.store.imports import import_batch
from worker.store.tables import open_store

_DATABASE = "claude-mem.db"


def filled(folder: Path, records: int) -> Path:
    """The folder, with a database of so many observations in it; one that is there already is taken as it is."""
    if not (folder / _DATABASE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / "making.db"
        asyncio.run(_fill(made, records))
        made.rename(folder / _DATABASE)  # what was broken off is not taken for a whole one
    return folder


async def _fill(path: Path, records: int) -> None:
    store = open_store(path)
    try:
        for batch in batches(records):
            await store.write(partial(import_batch, batch=batch))
    finally:
        await store.close()
