import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import DAY, MINUTE, NOON, make_entry
from worker.contract.records import RecordKind
from worker.contract.search import Entry, Timeline
from worker.present.timeline_table import timeline_table

PROMPT = make_entry(
    kind=RecordKind.PROMPT, type="prompt", id=40, title="why?", prompt_number=3, created_at_epoch=NOON - 1
)
SUMMARY = make_entry(kind=RecordKind.SUMMARY, type="session", id=14, title="Fix it", created_at_epoch=NOON + DAY)
ENTRIES = (PROMPT, make_entry(), make_entry(id=121, title="Skew", created_at_epoch=NOON + 2 * MINUTE), SUMMARY)


def table(entries: tuple[Entry, ...] = ENTRIES, *, anchor: str = "118", at: int | None = 1, query: str = "") -> str:
    timeline = Timeline(entries=entries, anchor=anchor, anchor_index=at, query=query, depth_before=3, depth_after=2)
    return timeline_table(timeline, dt.UTC)


def test_whole_timeline() -> None:
    assert table() == (
        "# Timeline around anchor: 118\n"
        "**Window:** 3 records before -> 2 records after | **Items:** 4\n"
        "\n"
        "### Mar 4, 2026\n"
        "\n"
        "**💬 User Prompt #3** (Mar 4, 11:59 AM)\n"
        "> why?\n"
        "\n"
        "| ID | Time | T | Title | Tokens |\n"
        "|----|------|---|-------|--------|\n"
        "| #118 | 12:00 PM | ● | Expired token accepted <- **ANCHOR** | ~61 |\n"
        "| #121 | 12:02 PM | ● | Skew | ~61 |\n"
        "\n"
        "### Mar 5, 2026\n"
        "\n"
        "**🎯 #S14** Fix it (Mar 5, 12:00 PM)\n"
    )


@pytest.mark.parametrize("anchor", ["118", "#118", "# 118", "0118"])
def test_anchor_is_marked_however_it_was_written(anchor: str) -> None:
    assert "#118 | 12:00 PM | ● | Expired token accepted <- **ANCHOR**" in table(anchor=anchor)


@pytest.mark.parametrize(
    ("anchor", "at", "line"), [("s14", 3, "**🎯 #S14** Fix it"), ("P40", 0, "**💬 User Prompt #3**")]
)
def test_anchor_of_each_kind_is_marked(anchor: str, at: int, line: str) -> None:
    marked = [text for text in table(anchor=anchor, at=at).splitlines() if "ANCHOR" in text]
    assert len(marked) == 1 and marked[0].startswith(line)


@pytest.mark.parametrize(("anchor", "at"), [("2026-03-04", 1), ("118", None)])
def test_moment_marks_nothing(anchor: str, at: int | None) -> None:
    assert "ANCHOR" not in table(anchor=anchor, at=at)


def test_query_names_its_best_hit() -> None:
    lines = table(query="to|ken").splitlines()
    assert lines[:2] == ['# Timeline for query: "to\\|ken"', "**Anchor:** Observation #118 - Expired token accepted"]
    assert table(query="x", anchor="S14", at=3).splitlines()[1] == "**Anchor:** Summary #S14 - Fix it"


def test_nothing_around() -> None:
    assert table((), at=None) == "No context found around anchor (3 records before, 2 records after)"


def test_prompt_without_a_number_and_a_repeated_time() -> None:
    prompt = make_entry(kind=RecordKind.PROMPT, type="prompt", title="x" * 300)
    text = table((make_entry(id=1), make_entry(id=2), prompt), anchor="9", at=None)
    assert '| #2 | " |' in text and "**💬 User Prompt #?**" in text and "> " + "x" * 99 + "…\n" in text


@given(st.text(), st.sampled_from(list(RecordKind)))
def test_any_title_stays_on_its_line(title: str, kind: RecordKind) -> None:
    entry = make_entry(kind=kind, title=title)
    assert len(table((entry,), at=0).splitlines()) == len(table((make_entry(kind=kind, title="x"),), at=0).splitlines())
