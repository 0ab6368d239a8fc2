"""Every screen in the terminals that people have: whole, legible, and in no more colours than the terminal has."""

import re

import pytest

from tests.tui.terminal import Terminal
from tests.tui.test_surveys_terminal import _running

ESCAPE, BACKSPACE = "\x1b[27u", "\x7f"
LIST = (r"❯ Search memory +199 records · newest", "q quit")
STEPS = (
    ("", *LIST), ("/finding 1", "hits · words", "Esc clear"), ("\r", "▌", "q quit"), ("c", "Why it is here", "q close"),
    ("q", "hits", "q quit"), (BACKSPACE, *LIST), ("i", "timeline around", "i list"), ("a", "AS OF", "q quit"),
    ("a", *LIST), ("\r", "About this", "q back"), ("q", *LIST), ("f", "bugfix", "F drop last"), ("q", *LIST),
    (" b", "of 8,000", "copy call"), ("q", *LIST), (":", "search", "do it"), (ESCAPE, *LIST), ("?", "Find", "close"),
    (ESCAPE, *LIST), ("E", "CONTEXT_BUDGET", "Esc leave"), (ESCAPE, *LIST), ("$", "COST", "q close"), ("q", *LIST),
    ("S", "SESSIONS", "q close"), ("q", *LIST), ("p", "NEXT SESSION", "q close"), ("q", *LIST),
    ("!", "HEALTH", "q close"), ("q", *LIST), ("A", "auth", "q close"), ("q", *LIST),
)  # fmt: skip
"""Keys, what is on the screen then, and in its last line."""
LEFT_OVER = re.compile(r"\x1b|\ufffd|\[[?<>=]\d|\[\d+;\d|\[\d*[mHJK]")
"""Of a sequence that the terminal does not know, or of bytes that are no text."""


COLOURS = (rb"\b[34][1-7][;m]", rb"[34]8;5;", rb"[34]8;2;")
"""Of the first 16, of 256, of all there are."""


@pytest.mark.parametrize("name", ["xterm-256color", "tmux-256color", "screen", "linux"])
def test_every_screen_is_whole_and_legible(name: str) -> None:
    with _running(TERM=name) as terminal:
        for keys, known, footer in STEPS:
            terminal.send(keys)
            terminal.until(
                lambda text, known=known, footer=footer: bool(  # type: ignore[misc]
                    re.search(known, text) and footer in text.splitlines()[-1] and _is_whole(terminal)
                )
            )
    few, many, all_of_them = (re.search(rb"\x1b\[[0-9;]*" + one, terminal.written) for one in COLOURS)
    assert (bool(few), bool(many), bool(all_of_them)) == (
        (True, False, False) if name == "linux" else (False, True, False)
    )


def _is_whole(terminal: Terminal) -> bool:
    """Something in the first three lines, nothing left over of what steers, no text in its own background's colour."""
    lines = terminal.text.splitlines()
    return (
        any(line.strip() for line in lines[:3])
        and LEFT_OVER.search(terminal.text) is None
        and all(fg != bg for number in range(len(lines)) for fg, bg in terminal.reversed_or_coloured(number))
    )
