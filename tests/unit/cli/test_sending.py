"""A sender that outlives hiccups of the worker."""

from pathlib import Path
from typing import TypeVar

import pytest

from worker.cli.sending import Sender
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.errors import Busy, MemError, NotFound, TimedOut, Unreachable
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings

T = TypeVar("T")


class Scripted(QuickClient):
    """Fails as it is told to, one after the other, and then answers; the last one for ever."""

    def __init__(self, failures: list[MemError | None]) -> None:
        super().__init__("127.0.0.1", 1)
        self.failures = failures
        self.asked: list[float | None] = []

    def send(self, call: Call[T], *, timeout_s: float | None = None) -> T:
        self.asked.append(timeout_s)
        failure = self.failures.pop(0) if len(self.failures) > 1 else self.failures[0]
        if failure is not None:
            raise failure
        return call.decode(b'{"aliases": {}}')


BUSY, GONE = Busy("busy", retry_after_s=7), Unreachable("gone")


def sent(*failures: MemError | None) -> tuple[list[float], int, list[float | None]]:
    """How long it slept, how often it connected, and the times that it allowed."""
    worker = Scripted(list(failures))
    slept: list[float] = []
    connected: list[Settings] = []

    def connect(where: Settings) -> QuickClient:
        connected.append(where)
        return worker

    sender = Sender(Settings(Path("/nowhere"), "127.0.0.1", 1), connect=connect, sleep=slept.append)
    try:
        sender.send(calls.aliases(), timeout_s=3)
    finally:
        assert len(worker.asked) <= 5
    return slept, len(connected), worker.asked


@pytest.mark.parametrize(
    ("failures", "slept", "connected"),
    [
        ([None], [], 1),
        ([BUSY, None], [7.0], 1),
        ([Busy("busy"), None], [1.0], 1),
        ([GONE, None], [], 2),
        ([GONE, BUSY, GONE, BUSY, None], [7.0, 7.0], 3),
    ],
)
def test_it_goes_on_past_a_busy_and_a_lost_worker(
    failures: list[MemError | None], slept: list[float], connected: int
) -> None:
    assert sent(*failures) == (slept, connected, [3] * len(failures))


@pytest.mark.parametrize("failure", [BUSY, GONE, TimedOut("late"), NotFound("nothing")])
def test_what_stays_so_or_is_an_answer_is_told(failure: MemError) -> None:
    with pytest.raises(type(failure)):
        sent(failure)
