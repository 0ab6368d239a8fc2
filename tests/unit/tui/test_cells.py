"""Marks, badges, times, bars and pages."""

import datetime as dt

import msgspec
import pytest

from tests.tui.memory import DAY_MS, MINUTE_MS, NOW_MS, entry_of, observation, prompt, summary
from tui.cells import look, page, row
from tui.cells.fit import width
from tui.cells.glyphs import ASCII, UNICODE
from tui.cells.look import Look
from tui.cells.marks import compact, mark, read_badge, work_badge, worth

LOOK = Look(UNICODE, lambda: NOW_MS, dt.UTC)
PLAIN = Look(ASCII, lambda: NOW_MS, dt.UTC)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (812, "812"), (999, "999"), (1000, "1.0k"), (9400, "9.4k"), (9951, "10k"), (120_000, "120k"),
     (999_600, "1.0M"), (3_100_000, "3.1M"), (10**15, "lots")],
)  # fmt: skip
def test_compact(count: int, text: str) -> None:
    assert compact(count) == text
    assert len(text) <= 5


def test_badges() -> None:
    assert (read_badge(812), read_badge(9400), work_badge(9400), work_badge(0)) == ("~812", "~9.4k", "9.4k", "-")
    assert worth(812, 9400, UNICODE) == "read ~812 · found for 9.4k (12× less to read)"
    assert worth(812, 9400, UNICODE, brief=True) == "read ~812 · found for 9.4k (12×)"
    assert worth(812, 0, UNICODE) == "read ~812"
    assert worth(0, 900, ASCII) == "read ~0 - found for 900 (900x less to read)"


def test_every_type_has_one_cell() -> None:
    for kind in ("bugfix", "feature", "refactor", "change", "decision", "discovery", "security_alert", "x", ""):
        assert width(mark(kind, UNICODE).letter) == 1
        assert mark(kind, ASCII).letter.isascii()


@pytest.mark.parametrize(
    ("ago_ms", "text"),
    [
        (0, "15:04"),
        (5 * 60 * MINUTE_MS, "10:04"),
        (DAY_MS, "Nov 24"),
        (24 * DAY_MS, "Nov  1"),
        (400 * DAY_MS, "Oct'25"),
    ],
)
def test_when(ago_ms: int, text: str) -> None:
    assert look.short(LOOK, NOW_MS - ago_ms) == text


def test_days_are_those_of_the_zone() -> None:
    tokyo = Look(UNICODE, lambda: NOW_MS, dt.timezone(dt.timedelta(hours=9)))
    assert look.day(LOOK, NOW_MS) == "Wed 25 Nov, today"
    assert look.day(tokyo, NOW_MS) == "Thu 26 Nov, today"
    assert look.day(LOOK, NOW_MS - DAY_MS) == "Tue 24 Nov, yesterday"


@pytest.mark.parametrize("room", [20, 33, 45, 50, 64, 80, 100, 120, 200])
@pytest.mark.parametrize(
    "title", ["plain", "修复身份验证缓存失效" * 9, "x" * 300, "Deploy 👨‍👩‍👧 of 🇩🇪 ❤️ 👍🏽", "セッション", "[/", "[b"]
)
def test_rows_are_as_wide_as_their_head(room: int, title: str) -> None:
    """R226: columns stay aligned, whatever is in the title."""
    wide = row.columns(room, projects=True)
    line = row.pieces(entry_of(observation(118, title)), wide, LOOK, None)
    assert sum(width(text) for _, text in line) == sum(width(text) for _, text in row.head(wide, order="when")) == room


@pytest.mark.parametrize(
    ("typed", "title", "marked"),
    [
        ("race", "Refresh token race", ["race"]),
        ("RACE tok", "Refresh token race", ["tok", "race"]),
        ("ace", "Refresh token race", []),
        ("身份", "修复身份验证", ["身份"]),
        ("c++ (xy", "c++ (xyz", ["xy"]),
        ("[b", "text [b", []),
        ("", "text", []),
    ],
)
def test_matches_are_marked(typed: str, title: str, marked: list[str]) -> None:
    words = row.pattern(typed)
    line = row.pieces(entry_of(observation(1, title)), row.columns(80), LOOK, words)
    assert [text for role, text in line if role == "match"] == marked


@pytest.mark.parametrize("room", [10, 40, 80, 200])
def test_pages_fit(room: int) -> None:
    hostile = "\x1b[31m修复\u202e " * 40 + "[/ [b " + "x" * 300
    records = (
        observation(1, hostile, narrative=hostile, facts='["' + "y" * 200 + '", "[b"]', concepts='["a","b"]'),
        summary(2, hostile, learned=hostile, notes="[/"),
        prompt(3, hostile),
        observation(4, "", narrative=None, project="", facts="not json"),
    )
    for record in records:
        for brief in (True, False):
            for line in page.lines(record, entry_of(record), room, LOOK, brief=brief):
                assert sum(width(text) for _, text in line) <= room
                assert "\x1b" not in "".join(text for _, text in line)


def test_page_says_what_it_cost() -> None:
    record = observation(7, "A title", narrative="n" * 3000, discovery_tokens=9400)
    text = "\n".join("".join(text for _, text in line) for line in page.lines(record, None, 60, LOOK, brief=False))
    assert "found for 9.4k" in text
    assert "#7 · bugfix · Wed 25 Nov 15:04 · farm-api" in text


def test_brief_page_says_that_there_is_more() -> None:
    record = observation(7, "A title", narrative="word " * 5000)
    brief = page.lines(record, None, 60, LOOK, brief=True)
    assert [("hint", "Enter opens the rest")] in brief
    assert len(page.lines(record, None, 60, LOOK, brief=False)) > len(brief)


def test_a_huge_page_is_cut_and_says_how_much_is_left() -> None:
    facts = msgspec.json.encode(["a fact"] * 200_000).decode()
    record = observation(7, "", narrative="word " * 2_000_000, facts=facts)
    full = page.lines(record, None, 60, LOOK, brief=False)
    assert len(full) < 20_000
    said = " ".join("".join(text for _, text in line) for line in full if line and line[0][0] == "hint")
    assert "9,936,000 more characters; `claude-mem show 7` prints all" in said
    assert said.count("more characters") == 2
    assert len(page.lines(record, None, 60, LOOK, brief=True)) < 2_000
