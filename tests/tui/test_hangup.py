"""A terminal that is no more ends what ran on it, though no signal tells of it."""

import json
import signal
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import _environ

_DEAF = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
from tui.__main__ import main
sys.exit(main([]))
"""
_STUCK = """
import sys, time
from tui import hangup
hangup._STUCK_S = 0.1
gone = []
hangup.watch(0, lambda: gone.append("gone"))
print("ready")
sys.stdin.readline()
time.sleep(0.3)
print("typed", gone)
time.sleep(600)
"""


@pytest.mark.parametrize(("program", "told"), [(["-m", "tui"], False), (["-c", _DEAF], True)])
def test_the_app_ends_and_keeps_what_was_typed(tmp_path: Path, program: list[str], told: bool) -> None:
    home = str(tmp_path)
    with FakeWorker(Memory(many(50), data_dir=home)) as worker:
        with Terminal(program, _environ(home, worker.port)) as terminal:
            terminal.until(lambda text: "Finding number 50" in text)
            terminal.send("/number 4")
            terminal.until(lambda text: "❯ number 4" in text)
            terminal.hang_up()
            if told:
                terminal.process.send_signal(signal.SIGHUP)
            terminal.process.wait(PATIENCE_S)
        assert json.loads((tmp_path / "tui.json").read_text())["text"] == "number 4"


def test_who_is_stuck_is_ended_and_what_is_typed_ends_nobody(tmp_path: Path) -> None:
    with Terminal(["-c", _STUCK], _environ(str(tmp_path), 1)) as terminal:
        terminal.until(lambda text: "ready" in text)
        terminal.send("anything\n")
        terminal.until(lambda text: "typed []" in text)
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE_S) == 129
