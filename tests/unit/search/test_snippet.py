import inspect
import re

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import make_observation, make_prompt, make_summary
from worker.contract.records import Record
from worker.search import snippet as snippets
from worker.search.snippet import Highlighter
from worker.search.terms import terms
from worker.store import analysis
from worker.store.rows import body

TEXT = st.text(st.characters()) | st.text(st.sampled_from("log cache-Loging中文é😀_.\n\udcaa"), max_size=600)


def highlighter(words: str, prefix: str | None = None) -> Highlighter:
    return Highlighter(terms(words), prefix)


def shown(text: str, words: str, prefix: str | None = None) -> list[str]:
    return [text[start:end] for start, end in highlighter(words, prefix).spans(text)]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("Login failed while logging in", "log", ["logging"]),
        ("tokens expire, the token expired", "expiring token", ["tokens", "expire", "token", "expired"]),
        ("call getUserById now", "user", ["getUserById"]),
        ("call getUserById now", "get_user_by_id", ["getUserById"]),
        ("用户身份校验失败", "身份校验", ["身份校验"]),
        ("雨の日", "雨", []),
        ("Un café noir", "cafe", ["café"]),
        ("done 😀 at last", "😀", ["😀"]),
        ("nothing here", "token", []),
        ("", "token", []),
        ("anything", "", []),
        (
            "a cached cache, mycache, my_cache, MyCache, mYCache",
            "cache",
            ["cached", "cache", "my_cache", "MyCache", "mYCache"],
        ),
        ("the recache, then", "cache", []),
        ("İstanbul has a cache", "cache", ["cache"]),
        ("İİİİ İİİİ a token — and more", "token", ["token"]),
        ("see docs/cache.md#top and (cache)", "cache", ["docs/cache.md#", "cache"]),
        ("runs c++ on C#… there", "c++", ["c++"]),
        ("admins of another co-op", "coop", ["co-op"]),
    ],
)
def test_found_words_by_stem(text: str, words: str, found: list[str]) -> None:
    assert shown(text, words) == found


def test_unfinished_word_is_marked_by_its_beginning() -> None:
    assert shown("session-recall tool", "session-rec", "rec") == ["session-recall"]


_PORTER = snowballstemmer.stemmer("porter")
_LOOKED_FOR = re.findall(r'Among\("([a-z]+)"', inspect.getsource(type(_PORTER)))
"""What the rules look for at the end of a word, at its first or at a later step."""


@given(st.text("aeioubclrstyxn0", max_size=7), st.lists(st.sampled_from([*_LOOKED_FOR, "y", "e", "l"]), max_size=3))
def test_stems_are_porters(beginning: str, endings: list[str]) -> None:
    word = beginning + "".join(endings)
    assert snippets._stem(word) == _PORTER.stemWord(word)


def test_what_is_its_own_stem_has_none_of_the_endings_that_rules_look_for() -> None:
    assert len(_LOOKED_FOR) > 50
    assert all(snippets._stem.__wrapped__(f"cabac{end}") == _PORTER.stemWord(f"cabac{end}") for end in _LOOKED_FOR)


@given(TEXT, st.text(st.sampled_from("log cache中文é😀"), max_size=20))
def test_spans_lie_in_the_text_in_order_and_apart(text: str, words: str) -> None:
    last = -1
    for start, end in highlighter(words).spans(text):
        assert last < start < end <= len(text)
        last = end


@given(TEXT, st.text(st.sampled_from("log cache中文é😀"), max_size=20), st.none() | st.just("lo"))
def test_spans_are_where_a_word_of_a_piece_has_the_stem(text: str, words: str, prefix: str | None) -> None:
    """Or nowhere, where no word of ASCII text begins like one of them."""
    stem = snowballstemmer.stemmer("porter").stemWord
    stems = {stem(word) if word.isascii() else word for word in terms(words)}

    def has(word: str) -> bool:
        stemmed = stem(word) if word.isascii() else word
        return stemmed in stems or (prefix is not None and word.startswith(prefix))

    expected = {at for start, end, piece in analysis.pieces(text) if any(map(has, piece)) for at in range(start, end)}
    marked = {at for start, end in highlighter(words, prefix).spans(text) for at in range(start, end)}
    assert marked == (expected if stems or prefix else set()) or (not marked and text.isascii())


@given(TEXT, TEXT, st.text(st.sampled_from("log cache中文é😀"), max_size=20), st.none() | st.just("lo"))
def test_matches_of_a_snippet_lie_in_it(narrative: str, fact: str, words: str, prefix: str | None) -> None:
    record = make_observation(narrative=narrative, facts=fact, subtitle="log")
    snippet = highlighter(words, prefix).snippet(body(record))
    assert "\n" not in snippet.text and len(snippet.text) <= 170
    last = -1
    for start, end in snippet.matches:
        assert last < start < end <= len(snippet.text)
        last = end


@given(
    st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3)), max_size=4),
    st.text(st.sampled_from("log cache中文é😀"), max_size=20),
    st.none() | st.just("lo"),
)
def test_marks_of_many_are_those_of_each_alone(
    records: list[tuple[str, list[str]]], words: str, prefix: str | None
) -> None:
    marker = highlighter(words, prefix)
    assert marker.marks(records) == [(marker.snippet(texts), marker.spans(title)) for title, texts in records]


def test_one_record_is_not_marked_by_what_stands_in_another() -> None:
    marks = highlighter("token get-user").marks(
        [("the to", ["ken of love"]), ("token user", ["user"]), ("", []), ("getuser", ["about", "a token and a token"])]
    )
    assert [(each.title, each.snippet.matches) for each in marks] == [
        ((), ()),
        (((0, 5), (6, 10)), ((0, 4),)),
        ((), ()),
        (((0, 7),), ((2, 7), (14, 19))),
    ]


def test_snippet_is_cut_around_the_match() -> None:
    text = "filler words " * 200 + "the token expired here " + "more filler " * 200
    snippet = highlighter("token").snippet([text])
    assert snippet.text.startswith("…") and snippet.text.endswith("…")
    assert [snippet.text[start:end] for start, end in snippet.matches] == ["token"]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (make_observation(narrative="the narrative"), "the narrative"),
        (make_observation(facts='["a fact"]'), "a fact"),
        (make_observation(facts="no JSON"), "no JSON"),
        (make_observation(text="old text"), "old text"),
        (make_observation(subtitle="only a subtitle"), "only a subtitle"),
        (make_observation(title="only a title"), ""),
        (make_summary(completed="it is done"), "it is done"),
        (make_summary(notes="a note"), "a note"),
        (make_prompt(prompt_text="why\n\nis it?"), "why is it?"),
        (make_prompt(prompt_text=""), ""),
    ],
)
def test_snippet_of_a_record_without_a_match_is_its_beginning(record: Record, text: str) -> None:
    """R046."""
    snippet = highlighter("token").snippet(body(record))
    assert (snippet.text, snippet.matches) == (text, ())


def test_emoji_at_the_beginning_is_marked() -> None:
    snippet = highlighter("🚀").snippet(["ship it 🚀 today"])
    assert [snippet.text[start:end] for start, end in snippet.matches] == ["🚀"]
