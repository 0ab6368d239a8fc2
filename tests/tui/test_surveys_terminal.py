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
from worker.contract.records import Record

IDLE_S = 1.2
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
        environ = {
            "PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color",
            "CLAUDE_MEM_DATA_DIR": home, "CLAUDE_MEM_WORKER_PORT": str(worker.port), **term,
        }  # fmt: skip
        with Terminal(["-m", "tui"], environ) as terminal:
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
            terminal.read(quiet_s=0.3)
            assert terminal.read(quiet_s=IDLE_S) == b"", title
            steps = []
            for _ in range(4):
                terminal.send("j")
                steps.append(len(terminal.read(quiet_s=0.04)))
            if key != "!":  # a page that is scrolled is painted anew
                assert sorted(steps)[2] <= 600, (title, steps)


def _until(terminal: Terminal, *known: str) -> None:
    terminal.until(lambda text: all(one in text for one in known))
