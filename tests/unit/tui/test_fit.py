"""Text in a number of cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.cells.clean import one_line, safe
from tui.cells.fit import cut, first, in_lines, left, right, width, wrap


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("short", 10, "short"),
        ("exactly ten", 11, "exactly ten"),
        ("something longer", 10, "something…"),
        ("修复身份验证", 12, "修复身份验证"),
        ("修复身份验证", 11, "修复身份验…"),
        ("修复身份验证", 10, "修复身份…"),
        ("हिन्दी", 5, "हिन्दी"),
        ("हिन्दी", 4, "हिन्…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_cut(text: str, room: int, shown: str) -> None:
    assert cut(text, room) == shown
    assert width(shown) <= room


@given(st.text(), st.integers(0, 40))
def test_padded_text_takes_just_its_room(text: str, room: int) -> None:
    line = one_line(text)
    assert width(left(line, room)) == room
    assert width(right(line, room)) == room


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("a" * 10, 4, ["aaaa", "aaaa", "aa"]),
        ("first\n\nsecond", 10, ["first", "", "second"]),
        ("修复身份验证缓存", 8, ["修复身份", "验证缓存"]),
        ("位置表を UTF-16 単位に統一し、切らない", 14, ["位置表を", "UTF-16 単位に", "統一し、切らな", "い"]),
        ("切らない。長い「文」です", 8, ["切らな", "い。長い", "「文」で", "す"]),
        ("サーバーが", 4, ["サー", "バー", "が"]),
        ("한국어 문장입니다", 10, ["한국어", "문장입니다"]),
        ("  indented words go on", 12, ["  indented", "  words go", "  on"]),
        ("", 5, [""]),
    ],
)
def test_wrap(text: str, room: int, lines: list[str]) -> None:
    assert list(wrap(text, room)) == lines


@given(st.text(), st.integers(2, 40))
def test_wrapped_lines_fit_and_lose_no_word(text: str, room: int) -> None:
    body = safe(text)
    lines = list(wrap(body, room))
    assert all(width(line) <= room for line in lines)
    assert "".join("".join(lines).split()) == "".join(body.split())


def test_of_several_ways_to_tell_something_the_first_that_fits_is_taken_and_the_last_is_cut() -> None:
    told = ("as long as it takes", "shorter", "short")
    assert [first(told, room) for room in (30, 19, 18, 6, 4)] == [told[0], told[0], "shorter", "short", "sho…"]


@pytest.mark.parametrize("room", [20, 31, 40, 50, 80, 200])
@pytest.mark.parametrize("told", ["Short.", "A long story of words. " * 20, "修复身份验证" * 40, "x" * 500])
def test_what_is_told_is_cut_and_the_way_out_stays_whole(told: str, room: int) -> None:
    lines = in_lines(told, "The way out is the r key.", room, 3)
    assert len(lines) <= 3 and max(map(width, lines)) <= room
    assert " ".join(lines).endswith("The way out is the r key.")
    assert lines[0][0] == told[0] and ("…" in "".join(lines)) == (width(told) > 3 * room - 25)
