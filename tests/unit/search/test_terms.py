import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.search import terms
from worker.store import analysis
from worker.store.standing import stands

HOSTILE = st.text(st.characters()) | st.text(
    st.sampled_from("abz \"'*()^:+-{}[]\\/.,;_NEAROTDndor中한ก😀\0\udcaa\u0301"), max_size=60
)


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(title, body, tokenize="{analysis.TOKENIZER}")')
    yield connection
    connection.close()


@given(HOSTILE, st.booleans())
def test_nothing_typed_is_ever_syntax(index: sqlite3.Connection, text: str, typing: bool) -> None:
    """R001, R003, R005, R007, R011."""
    expression = terms.expression(terms.Wanted(text, (text,), typing=typing))
    if expression:
        index.execute("SELECT count(*) FROM t WHERE t MATCH ?", (expression,)).fetchall()


@given(HOSTILE)
def test_a_text_finds_the_record_that_holds_it(index: sqlite3.Connection, text: str) -> None:
    expression = terms.expression(terms.Wanted(text))
    index.execute("DELETE FROM t")
    index.execute("INSERT INTO t VALUES ('', ?)", (" ".join(analysis.words(text)),))
    if expression:
        assert index.execute("SELECT count(*) FROM t WHERE t MATCH ?", (expression,)).fetchone()[0] == 1


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("", ""),
        ("   ,, \"\" ()*", ""),
        ("token", '"token"'),
        ("login cache", '"login" OR "cache"'),
        ("a token AND NOT cache", '"token" OR "not" OR "cache"'),
        ("title:foo", '"titlefoo" OR "title" OR "foo"'),
        ("don't retry", '"retry"'),
        ("what is it", '"what" OR "is" OR "it"'),
        ("雨", '"雨"*'),
        ("역사", '"역사"'),
        ("端到端", '"端到" OR "到端"'),
        ("token token", '"token"'),
    ],
)  # fmt: skip
def test_expression_of_a_finished_question(text: str, expression: str) -> None:
    assert terms.expression(terms.Wanted(text)) == expression


@pytest.mark.parametrize("typed", ["session-rec", "CLAUDE.m", "happine", "retryi"])
def test_word_being_typed_finds_what_it_may_become(index: sqlite3.Connection, typed: str) -> None:
    """R009."""
    index.execute("DELETE FROM t")
    for text in ("session-recall tool", "CLAUDE.md", "happiness", "retrying"):
        index.execute("INSERT INTO t VALUES ('', ?)", (" ".join(analysis.words(text)),))
    found = index.execute(
        "SELECT count(*) FROM t WHERE t MATCH ?", (terms.expression(terms.Wanted(typed, typing=True)),)
    ).fetchone()[0]
    assert found == 1


def test_word_is_finished_by_a_blank() -> None:
    assert terms.unfinished("log fi") == "fi"
    assert [terms.unfinished(text) for text in ("", "log ", "log.", "中文", "\udcaa")] == [None] * 5


def test_question_without_end_is_cut() -> None:
    assert len(terms.terms(" ".join(f"word{number}" for number in range(1000)))) == 64


@given(HOSTILE)
def test_terms_are_not_repeated(text: str) -> None:
    found = terms.terms(text)
    assert len(set(found)) == len(found)


def test_phrases_must_be_there_and_words_need_not() -> None:
    wanted = terms.Wanted("deadlock", ("session lock", "雨の日"))
    assert terms.expression(wanted) == (
        '("session lock" AND "雨の の日") AND ("session lock" OR "雨の の日" OR "deadlock")'
    )
    assert terms.expression(wanted, strict=False) == '"session" OR "lock" OR "雨の" OR "の日" OR "deadlock"'
    assert wanted.words == ("session", "lock", "雨の", "の日", "deadlock")


def test_what_is_left_out_is_an_expression_of_its_own() -> None:
    assert terms.excluding(terms.phrases(["token", "clock skew", "…"])) == '"token" OR "clock skew"'
    assert terms.excluding([]) == ""


@given(HOSTILE)
def test_no_phrase_is_syntax(index: sqlite3.Connection, text: str) -> None:
    for phrase in terms.phrases([text]):
        for expression in (phrase.exact, phrase.near or '"x"', f"{phrase.near or phrase.exact} NOT {phrase.exact}"):
            index.execute("SELECT count(*) FROM t WHERE t MATCH ?", (expression,)).fetchall()
        stands(analysis.line(text), phrase.atoms)


WRITTEN = st.lists(
    st.sampled_from(
        [
            "use",
            "session",
            "RateLimiter",
            "tryAcquire",
            "getUserByName",
            "c++",
            "修复",
            "刷",
            "한국어",
            "v3",
            "12",
            "😀",
        ]
    ),
    min_size=2,
    max_size=6,
)
GAPS = st.lists(st.sampled_from([" ", "-", ".", "/", ", ", " (", "::", "\n"]), min_size=7, max_size=7)


@given(WRITTEN, GAPS, st.data())
def test_a_phrase_stands_wherever_its_words_do(
    index: sqlite3.Connection, written: list[str], gaps: list[str], data: st.DataObject
) -> None:
    """Whatever is between them, as long as it is no letter and no digit, and whatever is before and behind."""
    first = data.draw(st.integers(0, len(written) - 1))
    last = data.draw(st.integers(first + 1, len(written)))
    text = "".join(word + gap for word, gap in zip(written, gaps, strict=False))
    index.execute("DELETE FROM t")
    index.execute("INSERT INTO t VALUES ('', ?)", (analysis.line(text),))
    for said in (" ".join(written[first:last]), "".join(a + b for a, b in zip(written, gaps, strict=False))):
        (phrase,) = terms.phrases([said])
        near = f"{phrase.exact} OR {phrase.near}" if phrase.near else phrase.exact
        exactly, nearly = (
            index.execute("SELECT count(*) FROM t WHERE t MATCH ?", (expression,)).fetchone()[0]
            for expression in (phrase.exact, near)
        )
        assert exactly or (nearly and stands(analysis.line(text), phrase.atoms)), (said, text)


def test_a_quotation_in_a_sentence_is_no_demand() -> None:
    wanted = terms.Wanted("pytest warns now when warnings were emitted but did match", ("DID NOT WARN",))
    assert " AND " not in terms.expression(wanted)
