import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import make_observation, make_prompt, make_summary
from worker.contract.records import Record
from worker.store.rows import document, one_line, to_observation


@pytest.mark.parametrize(
    ("record", "title"),
    [
        (make_observation(title="Title", narrative="n"), "Title"),
        (make_observation(title="  \n ", subtitle="Sub"), "Sub"),
        (make_observation(narrative="Only\na narrative"), "Only a narrative"),
        (make_observation(facts='["only a fact","another"]'), "only a fact"),
        (make_observation(facts="no JSON"), "no JSON"),
        (make_observation(text="only old text"), "only old text"),
        (make_observation(), "Untitled"),
        (make_summary(request="Fix it"), "Fix it"),
        (make_summary(request="", learned="that"), "that"),
        (make_summary(memory_session_id="0123456789"), "Session 01234567"),
        (make_prompt(prompt_text="why\nnot?"), "why not?"),
        (make_prompt(prompt_text=" \n "), "(empty prompt)"),
        (make_observation(title="x" * 300), "x" * 199 + "…"),
    ],
)
def test_something_is_shown_of_every_record(record: Record, title: str) -> None:
    """R046."""
    assert document(record).shown_title == title


def test_what_is_indexed_of_an_observation() -> None:
    shown = document(
        make_observation(
            title="t", subtitle="s", narrative="n", text="old", facts='["f1","f2"]', concepts='["c"]',
            files_read='["r"]', files_modified='["m"]', discovery_tokens=7,
        )
    )  # fmt: skip
    assert (shown.title, shown.subtitle, shown.narrative) == ("t", "s", "n\nold")
    assert (shown.facts, shown.concepts, shown.files) == ("f1\nf2", "c", "r\nm")
    assert (shown.type, shown.discovery_tokens) == ("bugfix", 7)


def test_read_tokens_count_what_an_agent_would_read() -> None:
    record = make_observation(title="abcd", subtitle="efgh", narrative="ijkl", facts='["mn"]')
    assert document(record).read_tokens == (4 + 4 + 4 + 6 + 2) // 4


@given(st.text(), st.integers(1, 300))
def test_one_line_is_short_and_on_one_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit and line == " ".join(line.split())


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("sql", "name", "value"),
    [
        ("X'61ff'", "title", "a\ufffd"),
        ("7", "title", "7"),
        ("1.5", "created_at_epoch", 1),
        ("'soon'", "created_at_epoch", 0),
        ("NULL", "created_at_epoch", 0),
        ("9e999", "created_at_epoch", 0),
        ("'many'", "discovery_tokens", 0),
        ("NULL", "discovery_tokens", None),
        ("X'00'", "prompt_number", 0),
        ("1", "sync_rev", "1"),
    ],
)
def test_value_of_another_type_is_brought_to_the_record_s(
    connection: sqlite3.Connection, sql: str, name: str, value: object
) -> None:
    columns = {"id": "1", "memory_session_id": "'m'", "project": "'p'", "type": "'x'", "created_at": "''"}
    columns |= {"created_at_epoch": "5"} | {name: sql}
    row = connection.execute("SELECT " + ", ".join(f"{sql} AS {name}" for name, sql in columns.items())).fetchone()
    assert getattr(to_observation(row), name) == value
