"""What is typed before there is anything on the screen is waited for by whoever will have it."""

import time
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, many
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import _environ

_TAKEN = b"\x1b[?1049h"
"""What the app sends once the terminal is its own."""


@pytest.mark.parametrize("waits", [False, True], ids=["at-once", "as-it-takes-the-terminal"])
def test_letters_are_in_the_box(tmp_path: Path, waits: bool) -> None:
    with (
        FakeWorker(Memory(many(50), data_dir=str(tmp_path))) as worker,
        Terminal(["-m", "tui"], _environ(str(tmp_path), worker.port)) as terminal,
    ):
        written, end = b"", time.monotonic() + PATIENCE_S
        while waits and _TAKEN not in written:
            assert time.monotonic() < end
            written += terminal.read(quiet_s=0.0)
        terminal.send("/number 4")
        terminal.until(lambda text: "❯ number 4" in text)
        terminal.until(lambda text: "Finding number 4" in text)
