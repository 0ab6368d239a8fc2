from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from worker.contract.query import Parsed, parse, shown_span
from worker.contract.records import RecordKind
from worker.contract.when import parse_range

BERLIN = ZoneInfo("Europe/Berlin")
NOW = 1_772_625_600_000
"""Wednesday 2026-03-04 12:00 UTC."""


def read(line: str, *, typing: bool = False) -> dict[str, Any]:
    """What differs from an empty line."""
    parsed = asdict(parse(line, now_epoch_ms=NOW, zone=BERLIN, typing=typing))
    return {name: value for name, value in parsed.items() if value != asdict(Parsed())[name]}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", {}),
        ("auth 身份", {"text": "auth 身份"}),
        ('"exact phrase" loose', {"phrases": ("exact phrase",), "text": "loose"}),
        ('"unclosed phrase', {"text": '"unclosed phrase'}),
        ("cache -token", {"text": "cache", "excluded": ("token",), "ends_in_word": False}),
        ('-"clock skew"', {"excluded": ("clock skew",), "ends_in_word": False}),
        # Flags and arrows are looked for, not left out.
        ("grep -v -rA --force a-b - ->", {"text": "grep -v -rA --force a-b - ->"}),
        ("type:bugfix,decision", {"types": ("bugfix", "decision"), "ends_in_word": False}),
        ("TYPE:bugfix types:change", {"types": ("bugfix", "change"), "ends_in_word": False}),
        ('project:"my shop" x', {"projects": ("my shop",), "text": "x"}),
        ("concept:gotcha file:src/a.py", {"concepts": ("gotcha",), "files": ("src/a.py",), "ends_in_word": False}),
        ("session:S14", {"sessions": ("S14",), "ends_in_word": False}),
        ("is:prompt,obs", {"kinds": (RecordKind.PROMPT, RecordKind.OBSERVATION), "ends_in_word": False}),
        # R005: a word before a colon that is no filter is text, and so is a filter without a value.
        (
            "std::vector title:foo type: error",
            {
                "text": "std::vector title:foo type: error",
                "notes": (
                    "type: has its value right behind it, so this was looked for as text",
                    "title: is text, no filter",
                ),
            },
        ),
        ("from file:///etc/hosts", {"text": "from file:///etc/hosts"}),
        (
            "see -type:x",
            {"text": "see -type:x", "notes": ("-type: leaves nothing out, so this was looked for as text",)},
        ),
        ("type:, x", {"text": "type:, x", "notes": ("type: takes a value, so this was looked for as text",)}),
    ],
)
def test_a_line_is_read_as_a_person_means_it(line: str, expected: dict[str, Any]) -> None:
    assert read(line) == expected


@pytest.mark.parametrize(
    ("line", "since", "until"),
    [
        ("since:2026-03-01", "2026-03-01", None),
        ("until:2026-03-01", None, "2026-03-01"),
        ("at:2026-03-01", "2026-03-01", "2026-03-01"),
        ("since:3d", "3d", None),
        ("since:last week", "last week", None),
        ('since:"last week"', "last week", None),
        ("since:昨天", "yesterday", None),
        ("until:上周", None, "last week"),
        ("since:2026-01-01 since:2026-02-01", "2026-02-01", None),
    ],
)
def test_dates_are_filters(line: str, since: str | None, until: str | None) -> None:
    parsed = parse(line, now_epoch_ms=NOW, zone=BERLIN)
    assert parsed.text == ""
    for text, end, epoch in ((since, 0, parsed.since_epoch_ms), (until, 1, parsed.until_epoch_ms)):
        span = parse_range(text, BERLIN, now_epoch_ms=NOW) if text else None
        assert epoch == (span[end] if span else None)


@pytest.mark.parametrize("line", ["at:2026-03-04T10:00", "at:3h"])
def test_a_moment_is_the_end_of_all_that_is_looked_at(line: str) -> None:
    parsed = parse(f"{line} since:2d", now_epoch_ms=NOW, zone=BERLIN)
    moment = NOW - 3 * 3_600_000
    assert (parsed.as_of_epoch_ms, parsed.until_epoch_ms) == (moment, moment)
    assert parsed.since_epoch_ms == NOW - 2 * 86_400_000
    assert parse("at:yesterday", now_epoch_ms=NOW, zone=BERLIN).as_of_epoch_ms is None


@pytest.mark.parametrize(
    ("line", "name"), [("since:banana", "since"), ("at:never x", "at"), ("is:banana", "is"), ("kind:obs,x", "kind")]
)
def test_a_value_that_cannot_be_read_is_text_and_that_is_said(line: str, name: str) -> None:
    """R005: nothing typed is an error."""
    parsed = parse(line, now_epoch_ms=NOW)
    assert parsed.text == line
    assert len(parsed.notes) == 1 and parsed.notes[0].startswith(f"{name}: takes ")


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("cache at:thursd", "at: no date yet: 14:30, 3d, monday"),
        ("cache since:ye", "since: no date yet: 3d, monday, 2026-03-10"),
        ("cache until:2026-03-", "until: no date yet: 3d, monday, 2026-03-10"),
        ("cache is:pro", "is: no kind yet: prompt, summary"),
    ],
)
def test_a_value_that_is_still_being_typed_is_passed_over_and_that_is_said(line: str, note: str) -> None:
    assert read(line, typing=True) == {"text": "cache", "ends_in_word": False, "notes": (note,)}


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("on:thursday", "on: is text, no filter; is it at:?"),
        ("cache prj:shop", "prj: is text, no filter; is it project:?"),
        ("Tpye:bugfix", "Tpye: is text, no filter; is it type:?"),
        ("author:me who:else", "author: is text, no filter"),
    ],
)
def test_a_word_that_only_looks_like_a_filter_is_text_and_that_is_said(line: str, note: str) -> None:
    said = parse(line, now_epoch_ms=NOW)
    assert (said.text, said.notes) == (line, (note,))


@pytest.mark.parametrize(
    "line", ["localhost:8080", "https://example.org", "std::vector", "file.py:12:3", "C:/temp", "on:", "14:30", "a:b"]
)
def test_what_people_write_with_a_colon_is_no_filter_and_no_matter(line: str) -> None:
    assert parse(line, now_epoch_ms=NOW).notes == ()


@given(st.text())
def test_no_line_breaks_the_reading(line: str) -> None:
    parsed = parse(line, now_epoch_ms=NOW, zone=BERLIN)
    assert len(parsed.text) <= len(line)


def test_a_long_line_is_not_copied_for_each_of_its_words() -> None:
    class Line(str):
        copied = 0

        def __getitem__(self, at: Any) -> str:
            piece = super().__getitem__(at)
            Line.copied += len(piece)
            return piece

    line = Line("word " * 900)
    assert parse(line, now_epoch_ms=NOW).text == line.rstrip()
    assert Line.copied <= 2 * len(line)


def test_a_span_is_shown_with_its_zone() -> None:
    assert shown_span(NOW, None, BERLIN) == "since 2026-03-04 13:00 CET"
    assert shown_span(None, NOW, BERLIN) == "until 2026-03-04 13:00 CET"
    assert shown_span(None, None, BERLIN) == ""
    assert shown_span(NOW, NOW + 3_600_000, BERLIN) == "since 2026-03-04 13:00 until 2026-03-04 14:00 CET"


def test_a_span_across_a_change_of_clocks_is_shown_with_both_zones() -> None:
    first, last = parse_range("2026-03", BERLIN) or (0, 0)
    assert shown_span(first, last, BERLIN) == "since 2026-03-01 00:00 CET until 2026-03-31 23:59 CEST"


def test_of_a_line_that_nobody_types_the_beginning_is_read_and_that_is_said() -> None:
    said = parse("word " * 10_000, now_epoch_ms=NOW)
    assert said.text.count("word") == 1_000
    assert said.notes == ("only the first 5,000 characters were read",)
