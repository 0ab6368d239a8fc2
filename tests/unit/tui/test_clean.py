"""Stored text that must not steer the terminal, and characters as people count them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.cells.clean import graphemes, one_line, safe


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("plain", "plain"),
        ("two  blanks\tand tab", "two blanks and tab"),
        ("a\nb\r\nc", "a b c"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mc1", "c1"),
        ("bell\x07 back\x08space", "bell backspace"),
        ("left\u202eright\u202c\u2066x\u2069", "leftrightx"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("👨\u200d👩\u200d👧", "👨👩👧"),
        ("❤\ufe0f", "❤"),
        ("👍🏽", "👍"),
        ("🇩🇪", "DE"),
        ("no\ufffe\uffff\ufdd0\U0001fffe\U0010ffffthing", "nothing"),
        ("lone\udcaa", "lone\ufffd"),
        ("line\u2028sep\u0085nel", "line sep nel"),
        ("a" + "\u0301" * 50, "a" + "\u0301" * 3),
        ("[/", "[/"),
        ("[b", "[b"),
        ("[red]x[/red] \\[", "[red]x[/red] \\["),
        ("修复  身份", "修复 身份"),
    ],
)
def test_one_line_keeps_what_can_be_read(stored: str, shown: str) -> None:
    """R218 and kin."""
    assert one_line(stored) == shown


def test_safe_keeps_lines_and_indents() -> None:
    assert safe("a\r\n\tb\x0b  c\x1b[2J") == "a\n    b\n  c"


@given(st.text(st.characters(exclude_categories=[])))
def test_nothing_is_left_that_moves_the_cursor(text: str) -> None:
    line = one_line(text)
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in line)
    assert not set(line) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200d\ufe0f\u2028\u2029")
    line.encode()
    assert cell_len(line) == sum(cell_len(char) for char in line)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("abc", ["a", "b", "c"]),
        ("こん", ["こ", "ん"]),
        ("x👨\u200d👩\u200d👧y", ["x", "👨\u200d👩\u200d👧", "y"]),
        ("👍🏽!", ["👍🏽", "!"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("e\u0301a", ["e\u0301", "a"]),
        ("❤\ufe0fx", ["❤\ufe0f", "x"]),
    ],
)
def test_graphemes(text: str, parts: list[str]) -> None:
    """R226."""
    assert [text[start:end] for start, end in graphemes(text)] == parts


@given(st.text())
def test_graphemes_cover_the_text(text: str) -> None:
    assert "".join(text[start:end] for start, end in graphemes(text)) == text
