"""What the app loads before its first paint, seen in real processes, and what it does not do before that."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.terminal import ROOT, Terminal

_PAINTED = """
import os, sys
from textual.drivers.linux_driver import LinuxDriver
from textual.css.stylesheet import Stylesheet
applied, writes = [], []
def counted(self, node, *rest, _apply=Stylesheet.apply, **more):
    applied.append(node)
    _apply(self, node, *rest, **more)
def written(self, text, _write=LinuxDriver.write):
    _write(self, text)
    writes.append(text)
    if " quit" in text:
        with open(sys.argv.pop(1), "w") as told:
            print(*sys.modules, file=told)
            print(len(applied), file=told)
            print(*(repr(text) for text in writes if "Starting the worker" in text), sep="\\n", file=told)
        os._exit(0)
Stylesheet.apply, LinuxDriver.write = counted, written
from tui.__main__ import main
main(sys.argv[2:])
"""
_LATER = {
    "worker.contract": {"calls", "client", "context", "launch", "quick", "reader"},
    "tui": {"clipboard", "deeds.asking", "deeds.crew", "deeds.going", "deeds.linking", "deeds.whole", "gateway"},
    "tui.screens": {"basket", "corpora", "costs", "filters", "guide", "health", "next_start", "one_sheet", "palette",
                    "record", "score", "sessions", "settings", "survey"},
    "tui.widgets": {"ask_line", "cost_head", "guide_page", "palette_box", "plan_head", "query_line", "session_tree",
                    "settings_box", "sheet"},
}  # fmt: skip
"""What only keys and answers need: it comes right after the first paint, or with the first key that needs it."""


@pytest.mark.parametrize(
    ("module", "absent"),
    [("tui.__main__", {"textual", "rich", "httpx", "asyncio"}), ("tui.app", {"httpx", "pydantic", "starlette"})],
)
def test_nothing_heavy_before_it_is_needed(module: str, absent: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert not absent & set(done.stdout.split())


def test_the_first_paint_is_the_whole_first_screen_and_waits_for_nothing_else(tmp_path: Path) -> None:
    """The modules loaded by then, and how often a part of the screen was styled: 51 times where nothing is wrong."""
    told = tmp_path / "told"
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    environ |= {"COLORTERM": "truecolor", "CLAUDE_MEM_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with Terminal(["-c", _PAINTED, str(told)], environ) as terminal:
        terminal.read_to_end()
    modules, styled, *frames = told.read_text().splitlines()
    loaded = set(modules.split())
    assert {"tui.screens.workspace", "tui.widgets.result_list"} <= loaded
    for package, names in _LATER.items():
        assert not {f"{package}.{name}" for name in names} & loaded
    assert not {"httpx", "http.client", "tomllib", "pydantic", "sqlite3"} & loaded
    assert int(styled) <= 120
    assert len(frames) == 1
    for part in ("claude-mem", "Search memory", "Starting the worker", "open", "quit"):
        assert re.search(part, frames[0]), part
