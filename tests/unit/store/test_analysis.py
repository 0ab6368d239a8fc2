import sqlite3
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.store import analysis

ANY_TEXT = st.text(st.characters())  # lone surrogates and control characters too
HARD = st.text(st.sampled_from("aB9_-./:'’@\\+#中文한ｱไทยनम्éÉß😀🇩\u0301\u0316\u200d\udcaa\0\x1b \"*()^İſ²ⅷ"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Expired token", ["expired", "token"]),
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("get_user_by_id", ["getuserbyid", "get", "user", "by", "id"]),
        ("rate-limit", ["ratelimit", "rate", "limit"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("a-b", ["ab", "a", "b"]),
        ("std::vector", ["stdvector", "std", "vector"]),
        ("title:foo", ["titlefoo", "title", "foo"]),
        ("v3.12.1", ["v3121", "v3", "12", "1"]),
        ("20.04", ["2004", "20", "04"]),
        ("src/app.py", ["srcapppy", "src", "apppy", "app", "py"]),
        ("C:\\Users\\me", ["cusersme", "c", "users", "me"]),
        ("CLAUDE.md", ["claudemd", "claude", "md"]),
        ("ORD-100821", ["ord100821", "ord", "100821"]),
        ("don't", ["dont", "don"]),
        ("don’t", ["dont", "don"]),
        ("I'm", ["im"]),
        ("C++ and C#", ["cplusplus", "and", "csharp"]),
        ("__init__.py", ["initpy", "init", "py"]),
        ("me@example.com", ["meexamplecom", "me", "example", "com"]),
        ("Café ÉCOLE", ["cafe", "ecole"]),
        ("Cafe\u0301", ["cafe"]),
        ("Ｆｕｌｌ－ｗｉｄｔｈ", ["fullwidth", "full", "width"]),
        ("ﬁle", ["file"]),
        ("身份校验", ["身份", "份校", "校验", "验"]),
        ("雨", ["雨"]),
        ("重跑gen-itgc后", ["重跑", "跑", "genitgc", "gen", "itgc", "后"]),
        ("조선 역사", ["조선", "선", "역사", "사"]),
        ("ｶﾀｶﾅ", ["カタ", "タカ", "カナ", "ナ"]),
        ("ไทย", ["ไท", "ทย", "ย"]),
        ("नमस्ते", ["नमस्ते"]),
        ("😀 ok 🚀", ["emoji1f600", "ok", "emoji1f680"]),
        ("👍🏽", ["emoji1f44d", "emoji1f3fd"]),
        (",,, \"\" ()*^", []),
        ("\0\x1b\x07", []),
        ("a\0b", ["a", "b"]),
    ],
)  # fmt: skip
def test_words_of_a_text(text: str, words: list[str]) -> None:
    """R003, R005, R007, R017, R019."""
    assert list(analysis.words(text)) == words


def test_question_leaves_out_the_ends_of_runs() -> None:
    assert list(analysis.words("身份校验", run_ends=False)) == ["身份", "份校", "校验"]
    assert list(analysis.words("雨", run_ends=False)) == ["雨"]


@pytest.mark.parametrize("forms", [("getUserById", "get_user_by_id", "get-user-by-id", "get.user.by.id")])
def test_spellings_of_one_name_give_the_same_words(forms: tuple[str, ...]) -> None:
    assert len({tuple(analysis.words(form)) for form in forms}) == 1


@pytest.fixture(scope="module")
def tokenizer() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(a, tokenize="{analysis.TOKENIZER}")')
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    yield connection
    connection.close()


@given(ANY_TEXT | HARD)
def test_each_word_is_one_token_of_the_index(tokenizer: sqlite3.Connection, text: str) -> None:
    for word in analysis.words(text):
        tokenizer.execute("DELETE FROM t")
        tokenizer.execute("INSERT INTO t VALUES (?)", (word,))
        assert tokenizer.execute("SELECT count(*) FROM v").fetchone()[0] == 1, ascii(word)


@given(ANY_TEXT | HARD)
def test_words_are_folded_and_hold_no_syntax(text: str) -> None:
    for word in analysis.words(text):
        assert word and not set(word) & set("\"'*()^:+-{} \0")
        assert word == unicodedata.normalize("NFKC", word)


@given(ANY_TEXT | HARD)
def test_pieces_stand_in_the_text_in_order(text: str) -> None:
    last = 0
    for start, end, _ in analysis.pieces(text):
        assert last <= start < end <= len(text)
        last = start


@given(HARD)
def test_letter_case_does_not_hide_a_word(text: str) -> None:
    plain = "".join(char for char in text.lower() if char in "ab9 中")
    assert set(analysis.words(plain.upper())) >= set(analysis.words(plain))


@pytest.mark.parametrize(
    "pattern",
    [
        "x",
        "aB",
        "a-",
        "a/b",
        "中",
        "a...",
        "-_.",
        "[[",
        "a'",
        "😀",
        "\u0301\u0316",
        "ก\u0e38\u0e48",
        "A1",
        "\udcaa",
        "\0",
    ],
)
def test_a_megabyte_takes_no_more_than_its_length(pattern: str) -> None:
    """What comes out is bounded too: whole, parts, and `emoji1f600` for one character."""
    text = pattern * (1_000_000 // len(pattern))
    assert sum(map(len, analysis.words(text))) <= 10 * len(text)


def test_marks_without_end_on_one_letter_are_read_at_all() -> None:
    """Canonical ordering is quadratic: a million marks would take a quarter of an hour."""
    assert next(iter(analysis.words("a" + "\u0301\u0316" * 500_000))) == "a"


def test_unspaced_scripts_are_known() -> None:
    assert all(map(analysis.is_unspaced, "中あア한ไພ"))
    assert not any(map(analysis.is_unspaced, "aé9न😀 "))


@given(st.text(alphabet=st.sampled_from("ab Z9_.,;:!?()[]{}<>\"'`*=|~^%&$-/\\@+#\u8eab\u4efd\u00e9\n"), max_size=40))
def test_the_quick_way_says_what_the_slow_one_says(text: str) -> None:
    assert analysis.words(text) == list(analysis._chunk(analysis._fold(text), run_ends=True))
