import datetime as dt
from collections import Counter
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import DAY, MINUTE, NOON, make_hit
from worker.contract.records import RecordKind
from worker.contract.search import Degraded, Hit, SearchPage
from worker.present.index_table import index_table

SUMMARY = {"kind": RecordKind.SUMMARY, "type": "session", "id": 14}
PROMPT = {"kind": RecordKind.PROMPT, "type": "prompt", "id": 40}


def table(
    *hits: Hit, query: str = "token expiry", total: int | None = None, zone: dt.tzinfo = dt.UTC, **over: object
) -> str:
    kinds = over.pop("kinds", None) or Counter(hit.kind for hit in hits)
    total = len(hits) if total is None else total
    page = SearchPage(hits=hits, total=total, kinds=kinds, query=query, **over)  # type: ignore[arg-type]
    return index_table(page, zone)


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| #")]


def test_whole_table() -> None:
    assert table(
        make_hit(),
        make_hit(
            id=121, type="decision", title="Keep sixty seconds of skew", read_tokens=44, created_at_epoch=NOON + 1
        ),
        make_hit(**SUMMARY, title="Fix token expiry", created_at_epoch=NOON + 16 * MINUTE, read_tokens=9),
        make_hit(**PROMPT, title="why?", created_at_epoch=NOON - DAY, read_tokens=0),
        total=40,
        kinds={RecordKind.OBSERVATION: 30, RecordKind.SUMMARY: 9, RecordKind.PROMPT: 1},
        offset=8,
    ) == (
        'Found 40 result(s) matching "token expiry" (30 obs, 9 sessions, 1 prompts, showing 9-12)\n'
        "\n"
        "### Mar 4, 2026\n"
        "\n"
        "| ID | Time | T | Title | Read |\n"
        "|----|------|---|-------|------|\n"
        "| #118 | 12:00 PM | ● | Expired token accepted | ~61 |\n"
        "| #121 | ″ | ⚖ | Keep sixty seconds of skew | ~44 |\n"
        "| #S14 | 12:16 PM | 🎯 | Fix token expiry | ~9 |\n"
        "\n"
        "### Mar 3, 2026\n"
        "\n"
        "| ID | Time | T | Title | Read |\n"
        "|----|------|---|-------|------|\n"
        "| #P40 | 12:00 PM | 💬 | why? | ~0 |\n"
    )


def test_best_hit_stays_first_though_it_is_the_oldest() -> None:
    """R026."""
    old, new = make_hit(id=1, created_at_epoch=NOON - 90 * DAY, score=9.0), make_hit(id=2, score=1.0)
    between = make_hit(id=3, created_at_epoch=NOON - 90 * DAY + 1, score=0.5)
    assert [row.split(" | ")[0] for row in rows(table(old, new, between))] == ["| #1", "| #3", "| #2"]


@pytest.mark.parametrize(
    ("title", "cell"),
    [
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\\\\\|b"),
        ("a\nb\r\n\tc\u2028d\x85e", "a b c d e"),
        ("x" * 200, "x" * 159 + "…"),
        ("| #999 | now | ● | forged |", "\\| #999 \\| now \\| ● \\| forged \\|"),
    ],
)
def test_title_cannot_leave_its_cell(title: str, cell: str) -> None:
    assert rows(table(make_hit(title=title))) == [f"| #118 | 12:00 PM | ● | {cell} | ~61 |"]


@pytest.mark.parametrize("act", ["\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "\x1bc", "\u202e", "\x07", "\x00"])
def test_nothing_in_a_cell_acts_on_a_terminal(act: str) -> None:
    line = rows(table(make_hit(title=f"before{act}after")))[0]
    assert "before" in line and "after" in line
    assert not any(char in line for char in "\x1b\x9b\x07\x00\u202e")


@given(st.text(), st.text())
def test_any_text_leaves_one_row_of_five_cells(title: str, query: str) -> None:
    text = table(make_hit(title=title), query=query)
    assert len(rows(text)) == 1
    bare = rows(text)[0].replace("\\\\", "").replace("\\|", "")
    assert bare.count("|") == 6
    assert len(text.splitlines()) == 7


def test_day_is_that_of_the_zone() -> None:
    """R030."""
    hit = make_hit(created_at_epoch=NOON + 6 * 60 * MINUTE)
    assert "### Mar 5, 2026" in table(hit, zone=ZoneInfo("Asia/Taipei"))
    assert "| 2:00 AM |" in table(hit, zone=ZoneInfo("Asia/Taipei"))


@pytest.mark.parametrize(
    ("query", "total", "text"),
    [
        ("x|y", 0, 'No results found matching "x\\|y"'),
        ("", 0, "No results found"),
        ("x", 7, "No results at offset 50: there are 7 in all"),
    ],
)
def test_nothing_found(query: str, total: int, text: str) -> None:
    assert table(query=query, total=total, offset=50) == text


def test_question_without_words_names_none() -> None:
    assert table(make_hit(), query="").startswith("Found 1 result(s) (1 obs, 0 sessions, 0 prompts)\n")


def test_who_switched_meaning_off_is_not_told_with_every_answer() -> None:
    assert table(make_hit(), degraded=Degraded.INDEX_OFF) == table(make_hit())


@pytest.mark.parametrize("degraded", [reason for reason in Degraded if reason is not Degraded.INDEX_OFF])
def test_degraded_answer_says_so(degraded: Degraded) -> None:
    for text in (table(make_hit(), degraded=degraded), table(degraded=degraded)):
        assert text.splitlines()[1].startswith("(")
