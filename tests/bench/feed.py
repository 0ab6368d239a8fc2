"""New records at a steady rate, through a real worker: each of them is an event of its stream."""

import itertools
import threading
import time
from types import TracebackType
from typing import Self

from tests.factories import NOON, make_batch, observation_row, session_row
from tests.processes import WorkerProcess
from worker.contract import calls

_PIECES_A_SECOND = 10
_NUMBERS = itertools.count(1)


def tell(worker: WorkerProcess, events: int) -> None:
    """So many new records at once."""
    name = f"fed-{next(_NUMBERS)}"
    rows = [
        observation_row(f"Fed {name} {number}", memory_session_id=f"m-{name}", created_at_epoch=NOON + number)
        for number in range(events)
    ]
    worker.quick.send(calls.import_batch(make_batch(sessions=[session_row(name)], observations=rows)))


class Feed:
    """So many events a second for as long as the block lasts. told: how many there were."""

    def __init__(self, worker: WorkerProcess, rate: int) -> None:
        self.told = 0
        self._worker = worker
        self._piece = rate // _PIECES_A_SECOND
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join(30)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._over.wait(max(0.0, due - time.monotonic())):
            tell(self._worker, self._piece)
            self.told += self._piece
            due += 1 / _PIECES_A_SECOND
