"""Where a phrase stands, told from the words of the index."""

import pytest

from worker.store import analysis
from worker.store.standing import stands


def has(text: str, phrase: str) -> bool:
    return stands(analysis.line(text), tuple(analysis.atoms(phrase)))


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("use session-lock when", "use session"),
        ("use session-lock when", "lock when"),
        ("use session-lock when", "use session lock when"),
        ("the src/worker/myApp.py file", "the src worker"),
        ("the src/worker/myApp.py file", "worker myapp"),
        ("the src/worker/myApp.py file", "app.py file"),
        ("the src/worker/myApp.py file", "the src/worker/myApp.py file"),
        ("see RateLimiter.tryAcquire now", "see ratelimiter"),
        ("see RateLimiter.tryAcquire now", "see rate"),
        ("see RateLimiter.tryAcquire now", "acquire now"),
        ("see RateLimiter.tryAcquire now", "limiter tryAcquire now"),
        ("version 3.12 fails", "version 3"),
        ("I don't know src/app.py", "don't know src"),
        ("修复token刷新的竞争", "修复token"),
        ("修复token刷新的竞争", "复token刷"),
        ("한국어 검색 오류", "국어 검색 오"),
        ("00 00 00 00 01", "00 00 00 01"),
    ],
)
def test_it_stands_where_a_person_sees_it(text: str, phrase: str) -> None:
    assert has(text, phrase)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("observers is invoked in the same", "is in"),
        ("and to avoid a loop", "to a"),
        ("this is method is also a signal", "is a"),
        ("fix test_add_email test", "fix test test"),
        ("kwim_plud (plud, vint", "kwim_plud vint"),
        ("zorbKwim kwim_plud", "zorb kwim_plud"),
        ("use session-lock when", "session when"),
        ("use session-lock when", "use lock"),
        ("see RateLimiter.tryAcquire now", "RateLimiter now"),
        ("see RateLimiter.tryAcquire now", "see limiter"),
        ("修复新token", "修复token"),
        ("修复 新token", "修复token"),
        ("パス、設定 を確認", "パス設定"),
        ("00 00 01", "00 00 00 01"),
    ],
)
def test_it_stands_nowhere_else(text: str, phrase: str) -> None:
    assert not has(text, phrase)


@pytest.mark.parametrize("word", ["00", "zz", "na", "修复", "aB"])
def test_a_word_many_times_over_is_told_in_no_time(word: str) -> None:
    """What tries all ways in which it may stand would take for ever."""
    text = f"{word} " * 5_000
    assert not has(f"{text} other end", f"{word} " * 60 + "end")
    assert has(f"{text} end", f"{word} " * 60 + "end")
    steps = " ".join("a" * length for length in range(60, 0, -1))
    assert not has(f"{steps} {steps}", "a b")
