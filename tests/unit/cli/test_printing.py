"""What was stored does not act on the terminal."""

import pytest

from worker.cli.printing import failed, plain
from worker.contract.errors import Conflict, Invalid, MemError, NotFound, TimedOut, TooLarge, Unavailable, Unreachable


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\sixel", "sixel"),
        ("\x1b]52;c;unfinished", "52;c;unfinished"),
        ("\x9b31mred", "31mred"),
        ("\x1b(Bset\x1b=", "set"),
        ("bell\x07\x00\x08", "bell"),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
        ("用户 😀 é [/b] ″", "用户 😀 é [/b] ″"),
        ("\x1b", ""),
    ],
)
def test_plain(stored: str, shown: str) -> None:
    assert plain(stored) == shown


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (Invalid("must be a number", field="limit"), 2, "limit: must be a number"),
        (Invalid("limit must be a number", field="limit"), 2, "limit must be a number"),
        (TooLarge("too much"), 2, "too much"),
        (NotFound("no such record"), 1, "no such record"),
        (Unreachable("away"), 3, "away"),
        (Unavailable("opening"), 3, "opening"),
        (TimedOut("late"), 3, "late"),
        (Conflict("taken"), 3, "taken"),
        (MemError("\x1b[31mbroken"), 3, "broken"),
    ],
)
def test_exit_codes_of_errors(error: MemError, code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert failed(error) == code
    assert capsys.readouterr().err == f"claude-mem: {told}\n"
