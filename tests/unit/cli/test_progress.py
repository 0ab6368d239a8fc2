import io

import pytest

from tests.fakes import FakeClock
from worker.cli.progress import Progress


def progress(*, terminal: bool) -> tuple[Progress, io.StringIO, FakeClock]:
    stream, clock = io.StringIO(), FakeClock()
    return Progress("import", 1000, stream=stream, terminal=terminal, clock=clock), stream, clock


def test_a_line_for_each_tenth_where_nobody_looks() -> None:
    shown, stream, clock = progress(terminal=False)
    for done in range(50, 1001, 50):
        clock.now += 1
        shown.at(done, done * 2)
    shown.end()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[1] == "claude-mem: import  20%  400 rows, 100 rows/s, 0:16 left"
    assert lines[-1] == "claude-mem: import 100%  2,000 rows, 100 rows/s"
    assert "\r" not in stream.getvalue()


def test_a_bar_in_a_terminal_that_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown, stream, clock = progress(terminal=True)
    clock.now += 1
    shown.at(500, 500)
    drawn = stream.getvalue()
    assert drawn.startswith("\r[############............] import  50%") and len(drawn) == 60
    shown.end()
    assert stream.getvalue().endswith("\r") and stream.getvalue().split("\r")[-2].strip() == ""


def test_nothing_is_drawn_unless_something_is_told() -> None:
    shown, stream, clock = progress(terminal=True)
    clock.now += 100
    shown.end()
    assert stream.getvalue() == ""
    Progress("import", 0, stream=stream, terminal=False, clock=clock).at(0, 0)
    assert stream.getvalue() == ""
