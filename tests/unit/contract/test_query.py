from datetime import UTC
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
        ("grep -v --force a-b - -> ->c -1 –v–", {"text": "grep -v --force a-b - -> ->c -1 –v–"}),
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
        ("ſince:3d -fıle:x", {"text": "ſince:3d -fıle:x"}),  # the same letters to whoever does not mind their case
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
    "word",
    [
        "-zebra!", "-zebra,", "-zebra?", "-zebra*", "-(zebra)", "(-zebra)", "-'zebra'", "-#zebra", "-_zebra", "-@zebra",
        "−zebra", "－zebra", '-"zebra"', '-"zebra",', "-“zebra”", "-「zebra」。",
    ],
)  # fmt: skip
def test_a_word_with_a_minus_is_left_out_whatever_stands_around_it(word: str) -> None:
    assert read(f"kiwi {word}") == {"text": "kiwi", "excluded": ("zebra",), "ends_in_word": False}


@pytest.mark.parametrize(
    ("line", "excluded"),
    [
        ("-don't", "don't"),
        ("-c++", "c++"),
        ("-cafe\u0301,", "cafe\u0301"),
        ("-हिन्दी", "हिन्दी"),
        ("-缓存。", "缓存"),
        ("-雨", "雨"),
        ("-не", "не"),
        ("-session-lock", "session-lock"),
        ("-src/app.py", "src/app.py"),
        ("-😀", "😀"),
    ],
)
def test_what_is_no_flag_and_no_number_is_left_out(line: str, excluded: str) -> None:
    assert read(line) == {"excluded": (excluded,), "ends_in_word": False}
    assert read("-zebra,缓存，cats kiwi") == {"excluded": ("zebra", "缓存", "cats"), "text": "kiwi"}


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("-3.12", "3.12"),
        ("-2026", "2026"),
        ("-rA", "rA"),
        ("-go!", "go"),
        ("-C#", "C#"),
        ("-Dx=yes", "Dx=yes"),
        ("-3db", "3db"),
    ],
)
def test_a_flag_or_number_is_looked_for_and_how_to_leave_it_out_is_said(word: str, bare: str) -> None:
    assert read(f"{word} kiwi") == {
        "text": f"{word} kiwi",
        "notes": (f'{word} was looked for; -"{bare}" leaves it out',),
    }
    assert read(f'-"{bare}"')["excluded"] == (bare,)
    assert read(f"kiwi {word}", typing=True) == {"text": f"kiwi {word}"}


def test_an_open_quotation_leaves_its_first_word_out_and_that_is_said() -> None:
    said = read('-"zebra kiwi')
    assert (said["excluded"], said["text"], len(said["notes"])) == (("zebra",), "kiwi", 1)
    assert "notes" not in read('-"zebra ki', typing=True)


@pytest.mark.parametrize(
    "line", ['"a b",', '"a b".', '("a b")', "“a b”", "„a b“", "«a b»!", "「a b」", '（"a b"）。', "＂a b＂？"]
)
def test_a_phrase_is_one_whatever_stands_around_it(line: str) -> None:
    assert read(line) == {"phrases": ("a b",), "ends_in_word": False}
    assert read(f"-{line}, kiwi".replace(",,", ","))["text"].endswith("kiwi")


@pytest.mark.parametrize(
    "line",
    [
        'print("a b")', '{"key": 1}', 'x="a b"', '["a b"];', '{"a b"}', 'as ("a b", 1)', 'so "a b")',
        'const x: Array<string> = ["a-b", "c"];', '{type: "feature", is: "summary"}', 'key: "a b", more',
        'put("a", "b", "c")', '("a", "b", 1)', 'echo "a b";', '-"a b")',
    ],
)  # fmt: skip
def test_a_quotation_in_code_is_text(line: str) -> None:
    assert read(line)["text"] == line


@pytest.mark.parametrize(
    "line",
    [
        '{type:"bugfix",file:"x"}', "{file:src/app}", "[file:1:2]", "{type:Number,required:true}", "【type:bugfix】",
        "usage: prog [-help] [-verbose]", "usage: [prog -help]", "{a -help}", "prog (-help | -verbose)", "`grep -help`",
        "sh -c 'grep -help'", 'echo "grep -help";',
    ],
)  # fmt: skip
def test_what_stands_in_code_between_brackets_or_quotes_is_text(line: str) -> None:
    said = read(line)
    assert said["text"] == line and not {"excluded", "types", "files"} & set(said)


@pytest.mark.parametrize("line", ["–help", "–verbose flag copied from word", "the test –which was flaky– passes", "‒x"])
def test_a_dash_is_no_minus(line: str) -> None:
    assert read(line) == {"text": line}


@pytest.mark.parametrize("line", ["(type:bugfix", "(type:bugfix cache)", "(type:a)(b)", "((type:bugfix)"])
def test_a_bracket_that_goes_on_behind_a_filter_makes_it_text_and_that_is_said(line: str) -> None:
    assert read(line) == {
        "text": line,
        "notes": ("type: is in a bracket that goes on, so this was looked for as text",),
    }
    assert "notes" not in read("cache (type:bugfix", typing=True)


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        ("(type:bugfix)", "types", ("bugfix",)),
        ("（type：bugfix）。", "types", ("bugfix",)),
        ("((type:bugfix)),", "types", ("bugfix",)),
        ('(project:"a) b")', "projects", ("a) b",)),
        ("project:“x y”", "projects", ("x y",)),
        ("project:„x y“,«z»,「a」;", "projects", ("x y", "z", "a")),
        ("(concept:“how it works”!)", "concepts", ("how it works",)),
        ("file:「設計」.md", "files", ("「設計」.md",)),
        ('file:"「設計」"', "files", ("「設計」",)),
        ("type:bugfix)", "types", ("bugfix",)),
        ("type:bugfix; (kind:prompt)", "types", ("bugfix",)),
        ('type:"bugfix","decision"', "types", ("bugfix", "decision")),
        ('type:"bugfix",decision,', "types", ("bugfix", "decision")),
        ("type:bugfix，decision、change", "types", ("bugfix", "decision", "change")),
        ("type：bugfix", "types", ("bugfix",)),
        ("concept:(gotcha)?", "concepts", ("gotcha",)),
        ('concept:"how it works".', "concepts", ("how it works",)),
        ("project:yahoo!,shop/*", "projects", ("yahoo!", "shop/*")),
        ('project:"my shop",farm', "projects", ("my shop", "farm")),
        ('project:"(x]","y.";', "projects", ("(x]", "y.")),
        ('type:"odd!",("b)")', "types", ("odd!", "b)")),
        ("file:*.py", "files", (".py",)),
        ('file:"*.py"', "files", (".py",)),
        ("file:**/app.py;", "files", ("app.py",)),
        ("file:src/**", "files", ("src/",)),
        ("(file:app/(auth)/page.tsx)", "files", ("app/(auth)/page.tsx",)),
        ("session:S14.", "sessions", ("S14",)),
    ],
)
def test_a_filter_is_one_whatever_stands_around_it(line: str, name: str, values: tuple[str, ...]) -> None:
    said = read(line)
    assert said[name] == values
    assert not {"text", "notes"} & set(said)


@pytest.mark.parametrize("line", ["file:src/*.py", "type:bug*", "concept:how-*-works"])
def test_a_star_that_stands_for_nothing_is_told(line: str) -> None:
    assert read(line)["notes"] == (f"{line.partition(':')[0]}: a * within a value stands for itself",)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("at:2026-10-29 10:00", "2026-10-29T10:00"),
        ("(at:2026-10-29 9:00:30)", "2026-10-29T09:00:30"),
        ('at:"2026-10-29", 10:00', "2026-10-29T10:00"),
        ("at:yesterday 14:30.", "2026-03-03T14:30"),
        ("at:周一 14:30", "2026-03-02T14:30"),
        ("date:x at:202610291000", "2026-10-29T10:00"),
    ],
)
def test_a_time_behind_a_date_belongs_to_it(line: str, meant: str) -> None:
    moment = parse_range(meant, BERLIN)
    assert moment is not None and parse(line, now_epoch_ms=NOW, zone=BERLIN).as_of_epoch_ms == moment[0]


def test_a_time_behind_what_is_no_day_is_a_word() -> None:
    for date in "14:30", "2026-10-29T10:00", "3h", "last week":
        assert parse(f"at:{date} 10:00", now_epoch_ms=NOW, zone=BERLIN).text == "10:00"


@pytest.mark.parametrize(
    ("line", "since", "until"),
    [
        ("since:2026-03-01", "2026-03-01", None),
        ("until:2026-03-01", None, "2026-03-01"),
        ("at:2026-03-01", "2026-03-01", "2026-03-01"),
        ("since:3d", "3d", None),
        ("since:last week", "last week", None),
        ('since:"last week"', "last week", None),
        ("since:“last week”", "last week", None),
        ("(since:last week).", "last week", None),
        ("since:20260301", "2026-03-01", None),
        ("(since:2d)", "2d", None),
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


def test_the_ends_of_all_time_are_shown_as_they_are() -> None:
    first, last = (parse_range("0001-01-01", UTC) or (None,))[0], (parse_range("9999-12-31", UTC) or (0, None))[1]
    assert shown_span(first, last, UTC) == "since 0001-01-01 00:00 until 9999-12-31 23:59 UTC"


def test_a_span_across_a_change_of_clocks_is_shown_with_both_zones() -> None:
    first, last = parse_range("2026-03", BERLIN) or (0, 0)
    assert shown_span(first, last, BERLIN) == "since 2026-03-01 00:00 CET until 2026-03-31 23:59 CEST"


def test_of_a_line_that_nobody_types_the_beginning_is_read_and_that_is_said() -> None:
    said = parse("word " * 10_000, now_epoch_ms=NOW)
    assert said.text.count("word") == 1_000
    assert said.notes == ("only the first 5,000 characters were read",)
