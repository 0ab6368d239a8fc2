from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from worker.api.codec import Query, body, id_list, respond, whole_number
from worker.contract.curation import Save
from worker.contract.errors import Invalid, MemError, TooLarge, WrongType


def query(text: str, **headers: str) -> Query:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Query(Request({"type": "http", "query_string": text.encode(), "headers": raw}))


def request(raw: bytes, content_type: str = "application/json") -> Request:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": raw, "more_body": False}

    return Request({"type": "http", "headers": [(b"content-type", content_type.encode())]}, receive)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("concepts=gotcha", ("gotcha",)),
        ("concept=gotcha", ("gotcha",)),
        ("concepts=a,b&concept=c", ("a", "b", "c")),
        ("concepts=a&concepts=b", ("a", "b")),
        ('concepts=["a","b"]', ("a", "b")),
        ("concepts=[1,null]", ("1",)),
        ("concepts=[broken", ("[broken",)),
        ("concepts=%20,,%20", ()),
        ("other=x", ()),
        ("concepts=" + "[" * 50_000, ("[" * 50_000,)),
    ],
)
def test_lists_in_every_spelling(text: str, values: tuple[str, ...]) -> None:
    """R034."""
    assert query(text).texts("concepts", "concept") == values


def test_list_without_end_is_refused() -> None:
    assert len(query("x=" + "a," * 100).texts("x")) == 100
    with pytest.raises(Invalid) as raised:
        query("x=" + "a," * 101).texts("x")
    assert raised.value.field == "x"


@pytest.mark.parametrize(
    "text", ["limit=0", "limit=-5", "limit=1.5", "limit=x", "limit=1e3", "limit=" + "9" * 5000, "limit=١"]
)
def test_number_out_of_bounds_names_its_parameter(text: str) -> None:
    with pytest.raises(Invalid) as raised:
        query(quote(text, "=")).number("limit", default=20, low=1, high=100)
    assert raised.value.field == "limit"


def test_number_is_found_under_its_aliases() -> None:
    assert query("depthBefore=3").number("depth_before", "depthBefore", default=10) == 3
    assert query("limit=%20").number("limit", default=20) == 20


@pytest.mark.parametrize(
    ("text", "value"), [("", False), ("t=true", True), ("t=1", True), ("t=FALSE", False), ("t=", False)]
)
def test_flags(text: str, value: bool) -> None:
    assert query(text).flag("t") is value


def test_flag_that_is_neither() -> None:
    with pytest.raises(Invalid):
        query("t=maybe").flag("t")


def test_date_that_is_none_is_refused_by_the_name_given() -> None:
    with pytest.raises(Invalid) as raised:
        query("date_from=soon").moment("dateStart", "date_from")
    assert raised.value.field == "date_from" and "soon" in raised.value.message


def test_end_of_a_day_is_its_last_moment() -> None:
    """R030."""
    day = query("d=2026-03-10")
    first, last = day.moment("d"), day.moment("d", end=True)
    assert first is not None and last is not None and last - first in (82_799_999, 86_399_999, 89_999_999)


@pytest.mark.parametrize(
    ("text", "headers", "platform"),
    [
        ("", {}, None),
        ("platformSource=Claude Code", {}, "claude"),
        ("platform_source=transcript", {}, "codex"),
        ("", {"x_platform_source": "Cursor"}, "cursor"),
        ("", {"x_claude_mem_platform_source": "Gemini CLI"}, "gemini-cli"),
        ("platformSource=codex", {"x_platform_source": "cursor"}, "codex"),
    ],
)
def test_platform_has_one_spelling(text: str, headers: dict[str, str], platform: str | None) -> None:
    assert query(quote(text, "=&"), **headers).platform() == platform


@given(st.text(), st.sampled_from(["text", "texts", "number", "flag", "moment", "platform"]))
def test_no_query_raises_anything_but_invalid(text: str, method: str) -> None:
    asked = query("x=" + quote(text, errors="surrogatepass"))
    try:
        match method:
            case "number":
                asked.number("x", default=1)
            case "platform":
                asked.platform()
            case _:
                getattr(asked, method)("x")
    except Invalid as error:
        assert error.field == "x"
        assert respond(error.problem()).body


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        (5, (5,)), ("5", (5,)), ("#5", (5,)), ("1,2", (1, 2)), ("1 2", (1, 2)), ("[1,2]", (1, 2)),
        (["1", 2, "#3"], (1, 2, 3)), ([], ()), ("", ()), ("[]", ()), (5.0, (5,)), ([1.0, "2,#3", " 4 "], (1, 2, 3, 4)),
    ],
)  # fmt: skip
def test_ids_as_people_and_models_give_them(given: object, ids: tuple[int, ...]) -> None:
    """R196."""
    assert id_list(given) == ids


@pytest.mark.parametrize(
    "given",
    [
        [0],
        [-1],
        [1.5],
        [True],
        [None],
        [[1]],
        [{}],
        "x",
        ["S14"],
        ["1;2"],
        2**70,
        float("inf"),
        float("nan"),
        "[" * 9999,
        "[1",
    ],
)
def test_ids_that_are_none(given: object) -> None:
    with pytest.raises(Invalid):
        id_list(given)


@pytest.mark.parametrize("value", [True, None, "", "-", "1 2", "²", [], {}])
def test_what_is_no_whole_number(value: object) -> None:
    with pytest.raises(Invalid):
        whole_number(value, "x")


@pytest.mark.parametrize(
    ("raw", "kind", "field"),
    [
        (b"{", Invalid, None),
        (b"\xff", Invalid, None),
        (b"[]", Invalid, None),
        (b"{}", Invalid, "text"),
        (b'{"text":5}', Invalid, "text"),
        (b'{"text":"x","metadata":[]}', Invalid, "metadata"),
        (b'{"text":"\\udcaa"}', Invalid, None),
        (b'{"text":"x","metadata":{"a":' + b"[" * 100_000, TooLarge, None),
    ],
)
async def test_body_that_cannot_be_read_says_where(raw: bytes, kind: type[MemError], field: str | None) -> None:
    """R025."""
    with pytest.raises(kind) as raised:
        await body(request(raw), Save)
    assert raised.value.field == field
    assert respond(raised.value.problem()).body


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_body_must_be_sent_as_json(content_type: str) -> None:
    """R156."""
    with pytest.raises(WrongType):
        await body(request(b'{"text":"x"}', content_type), Save)


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; charset=utf-8", "application/merge+json"]
)
async def test_json_types_are_taken(content_type: str) -> None:
    assert (await body(request(b'{"text":"x"}', content_type), Save)).text == "x"


class Nested(msgspec.Struct):
    texts: tuple[str, ...]
    table: dict[str, list[str]]


@pytest.mark.parametrize(
    "value", ["\udcaa", ["\udcaa"], ("\udcaa",), {"\udcaa": ["a\udcaa"]}, Nested(("\udcaa",), {"k": ["\udcaa"]})]
)
def test_text_that_is_no_unicode_is_answered_all_the_same(value: object) -> None:
    """R025."""
    assert b"?" in bytes(respond(value).body)
