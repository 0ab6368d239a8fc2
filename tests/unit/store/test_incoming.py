from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import NOON, observation_row, prompt_row, session_row, summary_row
from worker.contract.errors import Invalid
from worker.contract.transfer import Mended
from worker.store import incoming
from worker.store.incoming import Reader

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


def read(**over: Any) -> incoming.Row:
    return incoming.observation(observation_row(**over), "observations[3]")


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ('["a","b"]', '["a","b"]'),
        (["a", "b"], '["a","b"]'),
        ([], "[]"),
        ("", "[]"),
        (None, None),
        ("no JSON", '["no JSON"]'),
        ('{"a":1}', '["{\\"a\\":1}"]'),
        ("[" * 100_000, None),
    ],
)
def test_lists_come_as_lists_or_as_json_text(given: object, stored: str | None) -> None:
    found = read(facts=given)["facts"]
    assert found == stored or (stored is None and len(found) > 100_000 and found.startswith('["[['))


@pytest.mark.parametrize("given", [NOON, str(NOON), float(NOON), f" {NOON} ", "2026-03-04T12:00:00Z"])
def test_times_come_as_numbers_or_digits(given: object) -> None:
    row = read(created_at_epoch=given)
    assert (row["created_at_epoch"], row["created_at"]) == (NOON, "2026-03-04T12:00:00.000Z")


def test_times_come_as_text_alone() -> None:
    row = read(created_at_epoch=None, created_at="2026-03-04T12:00:00.000Z")
    assert row["created_at_epoch"] == NOON


@pytest.mark.parametrize(
    ("reader", "row", "field"),
    [
        (incoming.observation, observation_row(created_at_epoch=None), "created_at_epoch"),
        (incoming.observation, observation_row(created_at_epoch="soon"), "created_at_epoch"),
        (incoming.observation, observation_row(created_at_epoch="9" * 5000), "created_at_epoch"),
        (incoming.observation, observation_row(created_at_epoch=True), "created_at_epoch"),
        (incoming.observation, observation_row(created_at_epoch=None, created_at="2026"), "created_at_epoch"),
        (incoming.observation, observation_row(created_at_epoch=2**63), "created_at_epoch"),
        (incoming.observation, observation_row(created_at_epoch=1.5), "created_at_epoch"),
        (incoming.observation, observation_row(memory_session_id=""), "memory_session_id"),
        (incoming.observation, observation_row(memory_session_id=None), "memory_session_id"),
        (incoming.observation, observation_row(title=["x"]), "title"),
        (incoming.observation, observation_row(prompt_number="²"), "prompt_number"),
        (incoming.summary, summary_row(memory_session_id=None), "memory_session_id"),
        (incoming.summary, summary_row(request={}), "request"),
        (incoming.prompt, prompt_row(text=None), "prompt_text"),
        (incoming.prompt, prompt_row(content_session_id=None), "content_session_id"),
        (incoming.session, session_row(content_session_id="", memory_session_id=""), "content_session_id"),
        (incoming.session, session_row(status="asleep"), "status"),
        (incoming.session, session_row(started_at_epoch=None), "started_at_epoch"),
        (incoming.session, session_row(completed_at_epoch="x"), "completed_at_epoch"),
    ],
)
def test_row_that_could_not_be_told_from_another_is_refused_by_name(
    reader: Reader, row: dict[str, Any], field: str
) -> None:
    with pytest.raises(Invalid) as raised:
        reader(row, "rows[3]", None)
    assert raised.value.field == f"rows[3].{field}"
    assert f"rows[3].{field}" in raised.value.message


@pytest.mark.parametrize(
    ("given", "stored"), [(-1, -1), ("-86400000", -86_400_000), ("1969-12-31T00:00:00Z", -86_400_000)]
)
def test_times_before_1970_are_times(given: object, stored: int) -> None:
    row = read(created_at_epoch=given)
    assert row["created_at_epoch"] == stored and row["created_at"].startswith("1969-12-31T")


@pytest.mark.parametrize(
    ("key", "given", "taken", "told"),
    [
        ("created_at_epoch", "soon", 0, "0"),
        ("created_at_epoch", None, 0, "0"),
        ("created_at_epoch", NOON + 0.5, NOON, str(NOON)),
        ("created_at_epoch", 2**63, 0, "0"),
        ("memory_session_id", "", "imported-unnamed", "imported-unnamed"),
        ("title", ["x"], '["x"]', '["x"]'),
        ("discovery_tokens", "many", 0, "0"),
        ("prompt_number", True, None, "null"),
    ],
)
def test_what_cannot_be_stored_is_mended_and_told(key: str, given: object, taken: object, told: str) -> None:
    mended: list[Mended] = []
    row = incoming.observation(observation_row(**{key: given}), "observations[3]", mended)
    assert row[key] == taken
    (one,) = mended
    assert (one.row, one.taken) == (f"observations[3].{key}", told)
    assert one.given == (given if isinstance(given, str) else msgspec.json.encode(given).decode())


def test_a_record_that_says_nothing_and_belongs_nowhere_is_not_mended() -> None:
    with pytest.raises(Invalid, match=r"observations\[3\].memory_session_id"):
        incoming.observation({"type": "bugfix", "created_at_epoch": 1}, "observations[3]", [])


def test_the_other_date_is_taken_where_one_cannot_be_read() -> None:
    mended: list[Mended] = []
    row = incoming.observation(
        observation_row(created_at_epoch="soon", created_at="2026-03-04T12:00:00Z"), "observations[3]", mended
    )
    assert (row["created_at_epoch"], row["created_at"]) == (NOON, "2026-03-04T12:00:00Z")
    assert [one.taken for one in mended] == [str(NOON)]


def test_what_is_missing_has_a_value() -> None:
    row = incoming.observation({"memory_session_id": "m", "created_at_epoch": 1}, "o")
    assert (row["type"], row["project"], row["discovery_tokens"], row["facts"]) == ("discovery", "", 0, None)
    session = incoming.session({"memory_session_id": "m", "started_at_epoch": 1}, "s")
    assert (session["content_session_id"], session["status"]) == ("m", "completed")


def test_memory_id_of_a_session_may_be_empty() -> None:
    assert incoming.session(session_row(memory_session_id=""), "s")["memory_session_id"] is None


@given(st.sampled_from([incoming.session, incoming.observation, incoming.summary, incoming.prompt]), st.data())
def test_no_row_raises_anything_but_invalid(reader: Reader, data: st.DataObject) -> None:
    rows = {**session_row(), **observation_row(), **summary_row(), **prompt_row()}
    row = rows | {key: data.draw(JSON) for key in data.draw(st.lists(st.sampled_from(sorted(rows)), max_size=4))}
    try:
        reader(row, "row", None)
    except Invalid as error:
        assert error.field and error.field.startswith("row.")
        mended: list[Mended] = []
        try:
            reader(row, "row", mended)
        except Invalid as left:
            assert left.field in ("row.prompt_text", "row.content_session_id", "row.memory_session_id")
        else:
            assert mended and all(one.row.startswith("row.") for one in mended)
