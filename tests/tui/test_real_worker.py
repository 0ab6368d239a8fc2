"""The app, and the worker it starts by itself, as two real processes."""

import contextlib
import os
import signal
from pathlib import Path

from tests.processes import PATIENCE_S, free_port
from tests.tui.terminal import Terminal
from worker.contract import calls
from worker.contract.errors import MemError
from worker.contract.quick import QuickClient
from worker.contract.records import RecordKind
from worker.contract.search import SearchQuery
from worker.contract.settings import Settings


def _environ(home: Path, port: int) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color",
        "CLAUDE_MEM_DATA_DIR": str(home / "memory"), "CLAUDE_MEM_WORKER_PORT": str(port),
    }  # fmt: skip


def _stop(port: int) -> None:
    with contextlib.suppress(MemError):
        QuickClient("127.0.0.1", port, timeout_s=PATIENCE_S).send(calls.shutdown())


def test_from_nothing_to_a_demo_to_a_dead_worker_and_back(tmp_path: Path) -> None:
    port = free_port()
    demo = Settings(tmp_path / "memory", "127.0.0.1", port).for_demo()
    with contextlib.ExitStack() as after:
        after.callback(_stop, port)
        after.callback(_stop, demo.port)
        terminal = after.enter_context(Terminal(["-m", "tui"], _environ(tmp_path, port), size=(120, 36)))
        terminal.until(lambda text: "No memory yet" in text and str(tmp_path / "memory") in text)
        terminal.send("M")
        terminal.until(lambda text: "DEMO" in text and "newest first" in text and " ~" in text)

        quick = QuickClient("127.0.0.1", demo.port, timeout_s=PATIENCE_S)
        page = quick.send(calls.search(SearchQuery(kinds=(RecordKind.OBSERVATION,), limit=1)))
        word = max(page.hits[0].title.split(), key=len)
        terminal.send("/" + word)
        terminal.until(lambda text: "· words" in text and f"❯ {word}" in text)
        terminal.send("\r")
        terminal.send("i")
        terminal.until(lambda text: "timeline around" in text and "15 min" in text and "tok  obs" in text)
        terminal.send("H")
        terminal.send("d")
        terminal.send("a")
        terminal.until(lambda text: "AS OF" in text and "a back to now" in text)
        terminal.send("z")
        terminal.send("v")
        terminal.send("j")
        terminal.send("\r")
        terminal.until(lambda text: "since:20" in text)
        terminal.send("F")
        terminal.until(lambda text: "since:20" not in text)
        terminal.send("a")
        terminal.until(lambda text: "AS OF" not in text and "· words" in text and " 0 hits" not in text)
        terminal.send("i")
        terminal.until(lambda text: "timeline around" in text and "15 min" in text)
        terminal.send("q")
        terminal.until(lambda text: "timeline around" not in text)

        os.kill(quick.send(calls.health()).pid, signal.SIGKILL)
        terminal.until(lambda text: "Connection lost" in text)
        terminal.until(lambda text: "● live" in text and "Connection lost" not in text)
        assert f"❯ {word}" in terminal.text
        terminal.send("q")
        assert terminal.left() == 0
