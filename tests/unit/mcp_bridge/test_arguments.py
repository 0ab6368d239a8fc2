"""What agents really send, and what is made of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_bridge.tools.arguments import Arguments, kinds_or_types, known_only
from mcp_bridge.tools.table import TOOLS, named
from mcp_bridge.tools.tool import Tool
from worker.contract.errors import Invalid
from worker.contract.records import RecordKind


@pytest.mark.parametrize(
    ("sent", "ids"),
    [
        ([1, 2], (1, 2)),
        ("[1,2]", (1, 2)),
        ("1,2", (1, 2)),
        (" 1 , 2 ", (1, 2)),
        (["1", "2"], (1, 2)),
        ('["1","#2"]', (1, 2)),
        (5, (5,)),
        (5.0, (5,)),
        ("#12", (12,)),
        ([3, 3, 1], (3, 1)),
        (["1,2", " #3 4"], (1, 2, 3, 4)),
        ("1 2", (1, 2)),
        ([str(2**63 - 1)], (2**63 - 1,)),
    ],
)
def test_ids_in_every_form(sent: object, ids: tuple[int, ...]) -> None:
    """R196."""
    assert Arguments({"ids": sent}).ids("ids") == ids


@pytest.mark.parametrize("sent", [[], "", "x", [1, "x"], {"a": 1}, True, [True], -1, 0, 1.5, "1;2", 2**70, [[1]], None])
def test_ids_that_are_none_are_named(sent: object) -> None:
    """R196."""
    with pytest.raises(Invalid, match="^ids ") as caught:
        Arguments({"ids": sent}).ids("ids")
    assert caught.value.field == "ids"


def test_a_session_among_ids_is_shown_the_way() -> None:
    with pytest.raises(Invalid, match=r'timeline\(anchor="S14"\)'):
        Arguments({"ids": ["S14"]}).ids("ids")


@pytest.mark.parametrize(("sent", "number"), [(5, 5), ("5", 5), (" 5 ", 5), (5.0, 5), ("+5", 5)])
def test_numbers_as_text(sent: object, number: int) -> None:
    """R196."""
    assert Arguments({"limit": sent}).number("limit", 20, low=1) == number


@pytest.mark.parametrize("sent", ["five", "", 0, -3, 1.5, True, [5], "1e3", "٥" * 30])
def test_numbers_that_are_none_are_named(sent: object) -> None:
    """R196."""
    with pytest.raises(Invalid, match="^limit must be a whole number from 1, not "):
        Arguments({"limit": sent}).number("limit", 20, low=1)


@pytest.mark.parametrize(
    ("sent", "texts"),
    [
        ("a,b", ("a", "b")),
        (["a", "b,c"], ("a", "b", "c")),
        ('["a","b"]', ("a", "b")),
        ("", ()),
        ("[broken", ("[broken",)),
        ([], ()),
    ],
)
def test_lists_in_every_form(sent: object, texts: tuple[str, ...]) -> None:
    """R196."""
    assert Arguments({"concepts": sent}).texts("concepts") == texts


@pytest.mark.parametrize("sent", [5, {"a": "b"}, [1], [None]])
def test_lists_that_are_none_are_named(sent: object) -> None:
    with pytest.raises(Invalid, match="^concepts must be a text or a list of texts"):
        Arguments({"concepts": sent}).texts("concepts")


@pytest.mark.parametrize(
    ("sent", "text"), [("123", "123"), (123, "123"), (404.0, "404"), (["S14"], "S14"), ([119], "119")]
)
def test_text_from_numbers(sent: object, text: str) -> None:
    """R196."""
    assert Arguments({"anchor": sent}).text("anchor") == text


def test_a_day_is_the_whole_day() -> None:
    first, last = Arguments({"dateStart": "2026-03-10", "dateEnd": "2026-03-10"}).bounds("dateStart", "dateEnd")
    assert first is not None and last is not None and last - first == 24 * 3600 * 1000 - 1


def test_dates_that_are_none_are_named() -> None:
    with pytest.raises(Invalid, match="^dateEnd must be a date such as"):
        Arguments({"dateEnd": "soon"}).bounds("dateStart", "dateEnd")


def test_choices_are_listed() -> None:
    assert Arguments({"orderBy": " DATE_ASC "}).choice("orderBy", ("date_desc", "date_asc")) == "date_asc"
    with pytest.raises(Invalid, match="orderBy must be one of date_desc, date_asc, not"):
        Arguments({"orderBy": "size"}).choice("orderBy", ("date_desc", "date_asc"))


def test_type_is_a_kind_or_an_observation_type() -> None:
    assert kinds_or_types("type", ["sessions", "Prompts"]) == ((RecordKind.SUMMARY, RecordKind.PROMPT), ())
    assert kinds_or_types("type", ["bugfix", "x"]) == ((), ("bugfix", "x"))
    with pytest.raises(Invalid, match="obs_type"):
        kinds_or_types("type", ["sessions", "bugfix"])


def test_unknown_parameters_are_named_with_the_known_ones() -> None:
    """R034: no filter is dropped in silence."""
    with pytest.raises(Invalid, match='unknown parameter "colour"; known are: query, limit'):
        known_only({"colour": 1}, ("query", "limit"), {})
    with pytest.raises(Invalid, match="takes none"):
        known_only({"x": 1}, (), {})


def test_other_spellings_are_one_parameter() -> None:
    """R034."""
    aliases = {"concept": "concepts"}
    assert known_only({"concept": "gotcha"}, ("concepts",), aliases) == {"concepts": "gotcha"}
    assert known_only({"concept": None, "concepts": "a"}, ("concepts",), aliases) == {"concepts": "a"}
    with pytest.raises(Invalid, match="given twice"):
        known_only({"concept": "a", "concepts": "b"}, ("concepts",), aliases)


def test_each_alias_leads_to_a_listed_parameter() -> None:
    for row in TOOLS:
        own = {name for name in row.aliases.values() if name not in row.params}
        assert own <= {"orderBy", "platformSource"}, row.name  # shared spellings, listed where they apply


def test_the_old_name_of_the_first_tool() -> None:
    assert named("__IMPORTANT") is TOOLS[0]
    assert named("nope") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(tool=st.sampled_from(TOOLS), value=JSON, more=JSON)
def test_whatever_is_sent_is_read_or_named(tool: Tool, value: object, more: object) -> None:
    """R196: no other end than a question or a message."""
    for name in (*tool.params, "else"):
        try:
            tool.question({"ids": more, name: value})
        except Invalid as error:
            assert error.message
