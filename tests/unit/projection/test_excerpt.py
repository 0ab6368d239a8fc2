"""What of a text a model sees."""

import pytest

from worker.projection.excerpt import excerpt


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("\0\0", ""),
        ("  a b ", "a b"),
        ("abcdefghij", "abcdef"),
        ("\n" * 100 + "abc", "abc"),
        ("a\0b", "a b"),
        ("x\ud800y", "x\ufffdy"),
        ("\ud83d\ude00", "\U0001f600"),
        ("記憶の検索エンジン", "記憶の検索エ"),
    ],
)
def test_what_is_seen(text: str, seen: str) -> None:
    assert excerpt(text, 6) == seen
    excerpt(text, 6).encode("utf-8")
