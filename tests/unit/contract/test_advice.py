"""What is said of each part of the memory, and what is advised."""

import msgspec
import pytest

from worker.contract import advice
from worker.contract.index import IndexState, IndexStatus
from worker.contract.overview import LogTrouble
from worker.contract.upkeep import ProcessingStatus

READY = IndexStatus(state=IndexState.READY, records=10, embedded=10, chroma="ready")


@pytest.mark.parametrize(
    ("over", "state", "said"),
    [
        ({}, "ok", "10 of 10"),
        ({"chroma": "the process\nended"}, "warn", "Chroma is away (the process ended)"),
        ({"failed": 2, "pending": 2, "reason": "no room"}, "warn", "2 of them failed: no room"),
        ({"state": IndexState.CATCHING_UP, "embedded": 3, "pending": 7}, "warn", "3 of 10 records can be found"),
        ({"state": IndexState.PAUSED}, "warn", "paused"),
        ({"state": IndexState.FAILED}, "warn", "no reason is told"),
        ({"state": IndexState.STARTING}, "warn", "searches go by words"),
    ],
)
def test_whatever_is_not_well_has_its_advice(over: dict[str, object], state: str, said: str) -> None:
    told = advice.meaning(msgspec.structs.replace(READY, **over))
    assert (told.state, said in told.message, bool(told.advice)) == (state, True, state != "ok")


@pytest.mark.parametrize(("free_mb", "state"), [(500, "ok"), (499, "warn"), (50, "warn"), (49, "fail")])
def test_little_room_is_said_before_there_is_none(free_mb: int, state: str) -> None:
    assert advice.disk(free_mb * 2**20).state == state


@pytest.mark.parametrize(
    ("status", "state", "said"),
    [
        (ProcessingStatus(state="idle", provider="local"), "ok", "idle, by local"),
        (ProcessingStatus(state="working", provider="claude", model="haiku"), "ok", "at work, by claude haiku"),
        (
            ProcessingStatus(
                state="idle", provider="gemini", model="m", delayed=2, last_error="no\nanswer", attempts=3
            ),
            "warn",
            "2 events will be tried again by gemini m after 3 attempts: no answer",
        ),
        (ProcessingStatus(state="paused", reason="spent for\ntoday"), "warn", "paused: spent for today"),
        (ProcessingStatus(state="failed", last_error="no key"), "fail", "it failed: no key"),
        (ProcessingStatus(), "ok", "off"),
        (ProcessingStatus(queueDepth=2), "warn", "2 tool uses wait"),
    ],
)
def test_the_observer(status: ProcessingStatus, state: str, said: str) -> None:
    told = advice.observer(status)
    assert (told.state, said in told.message, bool(told.advice)) == (state, True, state != "ok")


def test_words_and_the_log() -> None:
    assert advice.words(0).state == "ok"
    assert advice.words(1_200).message.startswith("1,200 records wait")
    assert advice.log(LogTrouble(since_epoch_ms=0)).advice == ""
    assert advice.log(LogTrouble(since_epoch_ms=0, warnings=1)).message == "1 warning"
    assert advice.log(LogTrouble(since_epoch_ms=0, warnings=3, errors=1)).message == "1 error, 3 warnings"
