"""What is written turns a terminal's screen into the one that is wanted, and takes few bytes for it."""

import random
import re

import pyte
import pytest
from rich.cells import get_character_cell_size

from tui.cells.shown import PLAIN, Pen, Piece, Shown, cells, pen, sealed, steady

WIDTH, HEIGHT = 24, 10
PENS = ["", "38;5;245", "1;38;5;174;48;5;233", "38;5;245;48;5;233", "48;5;236", "4;31", "7;38;2;1;2;3;48;5;233", "1;3"]
SHARED = re.compile(r"\x1b\[(?:\d*;?\d*H|\d*C|[0-9;]*m|[0-9;]*r)|\x1bM|\n|[^\x1b\x00-\x1f]+")
"""What all terminals do alike; a margin is never left."""
Row = list[tuple[str, str]]
"""(text, SGR parameters)."""


class Terminal:
    """What a terminal shows that is sent sequences."""

    def __init__(self) -> None:
        self.screen = pyte.Screen(WIDTH, HEIGHT)
        self._stream = pyte.Stream(self.screen)
        self._stream.feed("\x1b[?7l")

    def send(self, text: str) -> None:
        assert "".join(SHARED.findall(text)) == text
        self._stream.feed(text)
        assert self.screen.margins is None
        assert self.screen.cursor.attrs == self.screen.default_char

    @property
    def cells(self) -> list[list[object]]:
        return [[_seen(self.screen.buffer[line][column]) for column in range(WIDTH)] for line in range(HEIGHT)]


def _seen(cell: pyte.screens.Char) -> object:
    """What a person sees of a cell: of a blank, no foreground."""
    if cell.data == " " and not (cell.reverse or cell.underscore or cell.strikethrough):
        return cell.bg
    return cell


def written(rows: list[Row]) -> Terminal:
    """A terminal on which these rows are written from the first cell to the last."""
    terminal = Terminal()
    for number, row in enumerate(rows):
        terminal.send(f"\x1b[{number + 1};1H" + "".join(f"\x1b[{sgr}m{text}\x1b[m" for text, sgr in row))
    return terminal


def pieces(number: int, row: Row) -> list[Piece]:
    """A row as two pieces: a list's line and the cell of its scroll bar."""
    *line, last = row
    if all(steady(text) for text, _ in line):
        made = [cell for text, sgr in line for cell in cells(text, pen(sgr))]
    else:
        made = sealed("".join(f"\x1b[{sgr}m{text}\x1b[m" for text, sgr in line), WIDTH - 1)
    return [Piece(number, 0, made), Piece(number, WIDTH - 1, cells(last[0], pen(last[1])))]


def row(chance: random.Random) -> Row:
    """A line of the list, of words in any colours, some of them wide."""
    made: Row = []
    room = WIDTH - 1
    while room > 0:
        text = chance.choice(["Fix", "the", "cache", "  ", " ", "≤50×", "·", "       ", "身份", "é", "x" * 9])
        size = sum(get_character_cell_size(char) for char in text)
        text, size = (text, size) if size <= room else (" " * room, room)
        made.append((text, chance.choice(PENS)))
        room -= size
    return [*made, (chance.choice(" ▇"), "7;34")]


def moved(chance: random.Random, rows: list[Row]) -> list[Row]:
    """The rows a while later: a list scrolled by a few lines or many, a line changed, all of it new, or nothing."""
    top, bottom = sorted(chance.sample(range(HEIGHT), 2))
    by = chance.choice([0, 1, 1, 1, 2, 3, HEIGHT, -1, -1, -2, -3])
    new = list(rows)
    for line in range(top, bottom + 1):
        new[line] = rows[line + by] if top <= line + by <= bottom else row(chance)
    for line in chance.sample(range(HEIGHT), chance.choice([0, 1, 2])):
        new[line] = [(text, chance.choice(PENS)) for text, _ in rows[line]]
    bar = chance.randrange(HEIGHT)
    return [[*line[:-1], ("▇" if number == bar else " ", "7;34")] for number, line in enumerate(new)]


@pytest.mark.parametrize("seed", range(12))
def test_the_screen_is_the_wanted_one_whatever_was_shown_before(seed: int) -> None:
    chance = random.Random(seed)
    terminal, shown = Terminal(), Shown(WIDTH, HEIGHT)
    rows = [row(chance) for _ in range(HEIGHT)]
    terminal.send(shown.turn([piece for number, line in enumerate(rows) for piece in pieces(number, line)]))
    for _ in range(40):
        before, rows = rows, moved(chance, rows)
        # As of a widget that is painted anew as a whole, or of lines that are.
        painted = range(HEIGHT) if chance.random() < 0.5 else [n for n in range(HEIGHT) if rows[n] != before[n]]
        terminal.send(shown.turn([piece for number in painted for piece in pieces(number, rows[number])]))
        assert terminal.cells == written(rows).cells


WORDS = (
    "owl", "fox", "elk", "bee", "yak", "gnu", "cod", "emu", "ant", "ray", "ape", "asp",
    "bat", "cat", "cow", "doe", "eel", "hen", "jay", "ewe",
)  # fmt: skip


def lines(*numbers: int) -> list[Row]:
    """Lines of a list."""
    return [
        [(f"{number:3} {WORDS[number] * 9}"[: WIDTH - 1].ljust(WIDTH - 1), PENS[3]), (" ", "7;34")]
        for number in numbers
    ]


def after(rows: list[Row]) -> Shown:
    """A terminal that shows these lines."""
    shown = Shown(WIDTH, HEIGHT)
    shown.note([piece for number, line in enumerate(rows) for piece in pieces(number, line)])
    return shown


def turned(before: list[Row], wanted: list[Row]) -> str:
    """What is written to come from one screen to the other."""
    return after(before).turn([piece for number, line in enumerate(wanted) for piece in pieces(number, line)])


@pytest.mark.parametrize(("by", "turns"), [(1, "\n"), (3, "\n\n\n"), (-1, "\x1bM"), (-2, "\x1bM\x1bM")])
def test_lines_that_moved_are_moved_by_the_terminal(by: int, turns: str) -> None:
    text = turned(lines(19, *range(5, 14)), lines(19, *range(5 + by, 14 + by)))
    assert f"\x1b[2;10r\x1b[{10 if by > 0 else 2}H{turns}\x1b[r" in text
    assert len(re.findall(r"[a-z]{17,}", text)) == abs(by)


def test_the_cursor_under_which_a_list_moves_costs_two_lines() -> None:
    cursor = [(f" 13 {WORDS[13] * 9}"[: WIDTH - 1], PENS[4]), (" ", "7;34")]
    other = [(f" 14 {WORDS[14] * 9}"[: WIDTH - 1], PENS[4]), (" ", "7;34")]
    text = turned([*lines(19, *range(5, 13)), cursor], [*lines(19, *range(6, 14)), other])
    assert "\x1b[2;9r\x1b[9H\n\x1b[r" in text
    assert len(re.findall(r"[a-z]{17,}", text)) == 2


def test_nothing_moves_over_a_line_that_is_left_alone() -> None:
    """A box that lies over a list, say: its lines are not painted anew."""
    before, wanted = lines(*range(10)), lines(0, *range(2, 11))
    terminal = written(before)
    terminal.send(after(before).turn([piece for n in range(10) if n != 6 for piece in pieces(n, wanted[n])]))
    assert terminal.cells == written([*wanted[:6], before[6], *wanted[7:]]).cells


def test_the_first_line_of_the_screen_never_moves() -> None:
    """What leaves the screen there may go into the terminal's history."""
    assert "\x1b[2;10r" in turned(lines(*range(10)), lines(*range(1, 11)))


def test_what_stays_is_not_written() -> None:
    rows = lines(*range(10))
    assert turned(rows, rows) == ""
    other = [*rows[:4], [("  3 yakyakyakyakyakyaka", PENS[3]), *rows[4][1:]], *rows[5:]]
    assert turned(rows, other) == "\x1b[5;3H\x1b[38;5;245;48;5;233m3\x1b[19Ca\x1b[m"


def test_of_pens_only_what_differs_is_written() -> None:
    shown = Shown(9, 1)
    drawn = [
        ("a", "1;31;40"),
        ("b", "1;32;40"),
        ("c", "1;4;32;40"),
        (" ", "31;40"),
        ("d", "40"),
        ("e", ""),
        (" ", "31"),
    ]
    text = shown.turn([Piece(0, 0, [cell for text, sgr in drawn for cell in cells(text, pen(sgr))])])
    assert text == "\x1b[1H\x1b[1;31;40ma\x1b[32mb\x1b[4mc\x1b[0;40m d\x1b[me "


def test_texts_of_uncertain_width_are_written_whole_and_so_is_all_beside_them() -> None:
    shown = Shown(6, 1)
    bar = Piece(0, 5, cells("|", PLAIN))
    shown.note([Piece(0, 0, sealed("身份x", 5)), bar])
    assert shown.turn([Piece(0, 0, sealed("身份x", 5)), bar]) == ""
    assert shown.turn([Piece(0, 0, sealed("身份y", 5)), bar]) == "\x1b[1H身份y\x1b[1;6H|"
    assert shown.turn([Piece(0, 0, cells("words", PLAIN)), bar]) == "\x1b[1Hwords|"
    assert shown.turn([Piece(0, 0, cells("works", PLAIN)), bar]) == "\x1b[1;4Hk"


def test_what_is_left_of_a_wide_character_cut_in_two_is_not_known() -> None:
    shown = Shown(8, 1)
    shown.note([Piece(0, 0, sealed("身份身份", 8))])
    shown.turn([Piece(0, 3, cells("box", PLAIN))])
    assert shown.turn([Piece(0, 0, cells("abcboxde", PLAIN))]) == "\x1b[1Habcboxde"


def test_what_may_not_look_as_it_was_written_is_written_again() -> None:
    shown = Shown(4, 1)
    odd = Piece(0, 0, sealed("?", 4), known=False)
    assert shown.turn([odd]) == shown.turn([odd]) == "\x1b[1H?"


@pytest.mark.parametrize("piece", [Piece(1, 0, cells("a", PLAIN)), Piece(0, 3, cells("ab", PLAIN)), Piece(0, -1, [])])
def test_what_is_not_on_the_screen_is_refused(piece: Piece) -> None:
    with pytest.raises(ValueError, match="Piece"):
        Shown(4, 1).turn([piece])


def test_pens_are_read_from_sgr() -> None:
    assert pen("") == pen("39;49") == PLAIN
    assert pen("1;4;38;2;1;2;3;48;5;7") == Pen(("1", "4"), "38;2;1;2;3", "48;5;7")
    assert pen("97;107") == Pen((), "97", "107")


def test_steady_characters_take_one_cell() -> None:
    for number in range(0x11_0000):
        if steady(chr(number)):
            assert get_character_cell_size(chr(number)) == 1, hex(number)
    assert steady("▌ 4821 ↵ ❯ ≤50× ⣿ Größe · 1 900 €")
    unsteady = "身", "⌚", "❤\ufe0f", "e\u0301", "\u200d", "\x1b", "\n", "✅", "\u0903", "\u00ad"
    assert not any(steady(text) for text in unsteady)
