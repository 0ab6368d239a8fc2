"""A process with a store, a projector and a real Chroma folder, to be killed.

`write`: adds, edits, merges and deletes records at random until it is killed. `check`: waits until nothing is pending,
and prints as JSON what is wrong with the vectors and with Chroma, which should be nothing.
"""

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tests.factories import make_batch, observation_row, prompt_row, summary_row
from worker.contract.records import RecordKey, RecordKind
from worker.projection.documents import document_id, documents
from worker.projection.embed import Kind, Matrix
from worker.projection.hashing import Hashing
from worker.projection.opening import open_local
from worker.projection.projector import Projector
from worker.projection.semantic import Serving
from worker.store import forget, imports, outbox, records, search_index, vectors
from worker.store.tables import Connection, Store, open_store

_PATIENCE_S = 120.0
_BEFORE = 150
"""Records that are there before the first start: a backlog to be killed in."""


class SlowHashing(Hashing):
    """The hashing model, with time enough to be killed in."""

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        time.sleep(0.005)
        return super().embed(texts, kind)


def projector_of(store: Store, folder: Path) -> Projector:
    return Projector(store, SlowHashing, partial(open_local, folder))


async def write(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    store = open_store(folder / "claude-mem.db")
    if not (await store.read(outbox.counts))[0] and seed == 0:
        batch = make_batch([_row(chance, n) for n in range(_BEFORE)])
        await store.write(lambda connection: imports.import_batch(connection, batch))
    projector = projector_of(store, folder / "vectors")
    running = [asyncio.create_task(projector.run()), asyncio.create_task(store.catch_up(lambda: None))]
    print("running", flush=True)
    number = seed * 100_000
    while not any(task.done() for task in running):
        number += 1
        await store.write(partial(_deed, chance=chance, number=number))
        await asyncio.sleep(chance.choice((0.0, 0.01, 0.05)))
    raise SystemExit("it ended of itself")


def _row(chance: random.Random, number: int) -> dict[str, object]:
    facts = json.dumps([f"fact {n} of {number} 事実 🎉" for n in range(chance.randrange(5))])
    return observation_row(
        f"title {number}", narrative=f"story {number}", facts=facts, created_at_epoch=10**12 + number
    )


def _deed(connection: Connection, chance: random.Random, number: int) -> None:
    there = [search_index.key(row[0]) for row in connection.execute("SELECT docid FROM py_docs")]
    seen = [key for key in there if key.kind is RecordKind.OBSERVATION]
    deed = chance.choice(("add", "add", "many", "edit", "edit", "shrink", "merge", "delete", "delete"))
    if deed == "add" or len(seen) < 100:
        rows = [_row(chance, number)]
        batch = make_batch(
            rows,
            summaries=[summary_row(f"request {number}", learned=f"learned {number}", created_at_epoch=number)],
            prompts=[prompt_row(f"prompt {number}", created_at_epoch=number)],
        )
        imports.import_batch(connection, batch)
    elif deed == "many":
        imports.import_batch(connection, make_batch([_row(chance, number * 50 + n + 10**9) for n in range(12)]))
    elif deed == "delete":
        for key in chance.sample(there, 3):
            forget.delete(connection, key)
    else:
        columns = {
            "edit": "title = 'edited ' || ?, facts = '[\"new\"]'",
            "shrink": "narrative = 'short ' || ?, facts = '[]'",
            "merge": "merged_into_project = 'p' || ?",
        }[deed]
        connection.execute(f"UPDATE observations SET {columns} WHERE id = ?", (number, chance.choice(seen).id))


async def check(folder: Path) -> None:
    store = open_store(folder / "claude-mem.db")
    projector = projector_of(store, folder / "vectors")
    running = asyncio.create_task(projector.run())
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            status = await projector.status(covered=False)
            pending, failed, stored = await store.read(outbox.counts)
            if status.state == "ready" and status.chroma == "ready" and not pending and not stored:
                break
            await asyncio.sleep(0.05)
    serving = projector.serving()
    assert isinstance(serving, Serving)
    assert serving.index is not None
    held = [each for page in serving.index.ids() for each in page]
    wanted = await store.read(_texts)
    wrong: dict[str, object] = {
        "missing": sorted(wanted.keys() - set(held)),
        "orphans": sorted(set(held) - wanted.keys()),
        "twice": [name for name, count in Counter(held).items() if count > 1],
        "failed": failed,
        "count": serving.index.count() - len(wanted),
        "vectors": await store.read(partial(_wrong_vectors, model=serving.model, wanted=wanted)),
    }
    lost: list[str] = []
    for name in random.Random(len(held)).sample(sorted(wanted), min(60, len(wanted))):
        vector = Hashing().embed([wanted[name]], "document")[0]
        # Texts may be the same in several records: all of these are as near.
        near = {match.id for match in serving.index.nearest(vector, 1_000) if match.similarity > 0.999}
        if name not in near:
            lost.append(name)
    print(
        json.dumps(
            {"documents": len(held), "lost": len(lost), **{name: found for name, found in wrong.items() if found}}
        ),
        flush=True,
    )
    running.cancel()
    await projector.close()
    await store.close()


def _texts(connection: Connection) -> dict[str, str]:
    """Text of each document that there should be, out of the original's tables."""
    keys = [
        RecordKey(kind, row[0])
        for kind, table in (
            (RecordKind.OBSERVATION, "observations"),
            (RecordKind.SUMMARY, "session_summaries"),
            (RecordKind.PROMPT, "user_prompts"),
        )
        for row in connection.execute(f"SELECT id FROM {table}")
    ]
    found = records.by_keys(connection, keys)
    return {document_id(key, suffix): text for key, record in found.items() for suffix, text in documents(record)}


def _wrong_vectors(connection: Connection, model: str, wanted: dict[str, str]) -> list[str]:
    """Documents whose stored vector is not that of their text, and stored vectors of no document."""
    numbers = [row[0] for row in connection.execute("SELECT docid FROM py_vectors")]
    if len(set(numbers)) != len(numbers):
        return ["a record has two rows"]
    kept = vectors.kept(connection, model, numbers)
    names = {
        document_id(search_index.key(number), part.suffix): (each, at)
        for number, each in kept.items()
        for at, part in enumerate(each.parts)
    }
    wrong = sorted(names.keys() ^ wanted.keys())
    for name in names.keys() & wanted.keys():
        each, at = names[name]
        row = np.frombuffer(each.vectors or b"", np.float16).reshape(-1, Hashing.dimension)[at]
        if not np.allclose(row, Hashing().embed([wanted[name]], "document")[0], atol=2e-3):
            wrong.append(name)
    return wrong


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[2]), int(sys.argv[3])) if sys.argv[1] == "write" else check(Path(sys.argv[2])))
