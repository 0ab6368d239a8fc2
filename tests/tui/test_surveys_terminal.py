"""The screens of the whole memory in a real terminal: nothing is written while nobody presses a key, little for one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import DAY_MS, NOW_MS, Memory, observation
from tests.tui.surveys import plan
from tests.tui.terminal import Terminal
from tests.tui.test_settings import VALUES
from worker.contract.records import Record

IDLE_S = 1.2
"""A clock would tick within it."""
SHORT_S = 0.3
"""Colours drive no clock: with others it is enough to see that nothing more is under way."""
SCREENS = (
    ("$", "COST", "Projects 12"),
    ("S", "SESSIONS", "of 12 projects"),
    ("p", "NEXT SESSION", "left"),
    ("!", "HEALTH", "disk"),
)


@contextmanager
def _running(**term: str) -> Iterator[Terminal]:
    records: list[Record] = [
        observation(number, f"Finding {number}", project=f"p{number % 12}", memory_session_id=f"m{number % 9}",
                    type=("bugfix", "discovery", "decision")[number % 3], at=NOW_MS - (number // 10) * DAY_MS)
        for number in range(1, 200)
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as home, FakeWorker(Memory(records, data_dir=home)) as worker:
        worker.memory.surveyed.plan = plan("p1")
        worker.memory.surveyed.settings = VALUES
        worker.memory.surveyed.shelf.put("auth", records=12, session_id="m")
        environ = {
            "PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color",
            "CLAUDE_MEM_DATA_DIR": home, "CLAUDE_MEM_WORKER_PORT": str(worker.port), **term,
        }  # fmt: skip
        with Terminal(["-m", "tui"], environ, beside=worker, framed=True) as terminal:
            terminal.until(lambda text: "199 records" in text)
            yield terminal


@pytest.mark.parametrize("term", [{}, {"NO_COLOR": "1"}, {"TERM": "linux"}], ids=["colours", "none", "linux"])
def test_silent_while_nobody_presses_a_key_and_thrifty_for_one(term: dict[str, str]) -> None:
    with _running(**term) as terminal:
        for key, title, known in SCREENS:
            terminal.send(key)
            _until(terminal, title, "]" if key == "$" else known)
            if key == "$":
                terminal.send("]]")
                _until(terminal, known)
            if key == "S":
                terminal.send(" ")
                _until(terminal, "Finding")
            terminal.settled()
            assert terminal.during(SHORT_S if term else IDLE_S) == b"", title
            if key == "S":
                assert _is_thrifty_before_its_preview(terminal)
            elif key != "!":  # a page that is scrolled is painted anew
                assert terminal.cost("j") > 0  # the first of them paints a page that has just come once more
                assert terminal.cost("jjj") <= 600, title


def _is_thrifty_before_its_preview(terminal: Terminal) -> bool:
    """The preview comes by itself a moment after the step, and with it where the app was kept from running.

    That it was so each time, in the middle of steps and of three rounds, is no chance.
    """
    rounds = (sorted(len(terminal.frame(key)) for key in "jkjkj") for _ in range(3))
    return any(0 < steps[2] <= 600 for steps in rounds)


def _until(terminal: Terminal, *known: str) -> None:
    terminal.until(lambda text: all(one in text for one in known))
