import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import make_observation, make_prompt, make_summary
from worker.contract.records import RecordKey, RecordKind, items, key_of, parse_key

OBSERVATION, SUMMARY, PROMPT = RecordKind.OBSERVATION, RecordKind.SUMMARY, RecordKind.PROMPT


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("118", RecordKey(OBSERVATION, 118)),
        ("#118", RecordKey(OBSERVATION, 118)),
        (" # 118 ", RecordKey(OBSERVATION, 118)),
        ("0118", RecordKey(OBSERVATION, 118)),
        ("S14", RecordKey(SUMMARY, 14)),
        ("s14", RecordKey(SUMMARY, 14)),
        ("#S14", RecordKey(SUMMARY, 14)),
        ("P40", RecordKey(PROMPT, 40)),
        ("#p40", RecordKey(PROMPT, 40)),
        ("999999999999999999", RecordKey(OBSERVATION, 999999999999999999)),
    ],
)
def test_keys_as_people_type_them(text: str, key: RecordKey) -> None:
    assert parse_key(text) == key


@pytest.mark.parametrize(
    "text",
    ["", "#", "S", "0", "S0", "-1", "1.5", "118x", "SS1", "X7", "1e3", "１１８", "²", "9" * 19, "9" * 5000, "\udcaa"],
)
def test_what_is_no_key(text: str) -> None:
    assert parse_key(text) is None


@given(st.sampled_from(list(RecordKind)), st.integers(1, 10**18 - 1))
def test_key_and_its_text_are_each_other_s_reverse(kind: RecordKind, number: int) -> None:
    assert parse_key(str(RecordKey(kind, number))) == RecordKey(kind, number)


@given(st.text())
def test_no_text_raises_as_a_key(text: str) -> None:
    key = parse_key(text)
    assert key is None or key.id > 0


def test_key_of_each_kind() -> None:
    records = (make_observation(id=1), make_summary(id=2), make_prompt(id=3))
    assert [str(key_of(record)) for record in records] == ["1", "S2", "P3"]


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (None, ()),
        ("", ()),
        ("[]", ()),
        ('["a","b"]', ("a", "b")),
        ('["a",null,"",0,7,{"k":1},["x"]]', ("a", "7", '{"k":1}', '["x"]')),
        ('"alone"', ("alone",)),
        ('""', ()),
        ("no JSON", ("no JSON",)),
        ('["cut off', ('["cut off',)),
        ('{"a":1}', ("1",)),
        ("[" * 100_000, ("[" * 100_000,)),
        ("[1e999]", ("[1e999]",)),
        ("\udcaa", ("\udcaa",)),
    ],
)
def test_items_of_a_column_in_any_state(column: str | None, texts: tuple[str, ...]) -> None:
    assert items(column) == texts


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1)))
def test_items_are_what_was_written(texts: list[str]) -> None:
    assert items(msgspec.json.encode(texts).decode()) == tuple(texts)
