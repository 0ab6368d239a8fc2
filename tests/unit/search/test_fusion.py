import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.search.fusion import (
    FLOOR,
    HEAD,
    RECENCY,
    RECENCY_WINDOW_DAYS,
    Candidate,
    Fused,
    fusion,
    intersect_with_ranking,
    is_cjk,
)

NOW = 1_700_000_000_000
DAY = 86_400_000
SCORES = st.none() | st.floats(0, 50)
COSINES = st.none() | st.floats(-1, 1)
CANDIDATES = st.lists(
    st.builds(Candidate, st.integers(1, 10**9), st.integers(0, NOW), SCORES, COSINES, COSINES),
    max_size=30,
    unique_by=lambda each: each.docid,
)
KEYS = st.lists(st.integers(0, 20), unique=True)


def fuse(candidates: Sequence[Candidate], **over: Any) -> list[Fused]:
    return fusion(candidates, **over).fused()


def order(
    *candidates: Candidate, cjk: bool = False, words: int = 8, tokens: Mapping[int, float] | None = None
) -> list[int]:
    return [each.candidate.docid for each in fusion(candidates, cjk=cjk, words=words).fused(tokens)]


def test_nothing_is_made_of_nothing() -> None:
    assert fuse([]) == []


def test_what_both_engines_like_is_before_what_one_likes() -> None:
    both = Candidate(1, 0, 10.0, 0.6, 0.6)
    words = Candidate(2, 0, 10.0, 0.1, 0.1)
    meaning = Candidate(3, 0, None, 0.6, 0.6)
    neither = Candidate(4, 0, 1.0, 0.1, 0.1)
    assert order(neither, meaning, words, both, words=12) == [1, 2, 3, 4]


def test_the_more_words_a_question_has_the_more_they_weigh() -> None:
    words, meaning, other = Candidate(1, 0, 9.0, 0.1, 0.1), Candidate(2, 0, 1.0, 0.6, 0.6), Candidate(3, 0, 1.0, 0, 0)
    assert order(words, meaning, other, words=3) == [2, 1, 3]
    assert order(words, meaning, other, words=12) == [1, 2, 3]
    assert order(words, meaning, other, words=12) == order(words, meaning, other, words=99)


def test_a_record_without_vectors_stands_where_its_words_put_it() -> None:
    near, far = Candidate(1, 0, 3.0, 0.6, 0.6), Candidate(3, 0, 1.0, 0.1, 0.1)
    assert order(near, Candidate(2, 0, 6.0), far) == [2, 1, 3]
    assert order(near, Candidate(2, 0, 2.0), far) == [1, 2, 3]


def test_the_fewer_have_vectors_the_less_meaning_weighs() -> None:
    dark = [Candidate(n, 0, n / 10) for n in range(10, 19)]
    near = Candidate(1, 0, None, 0.9, 0.9)
    assert order(*dark, near, Candidate(2, 0, 0.9, 0.1, 0.1), words=3)[0] == 18
    lit = [Candidate(n, 0, n / 10, 0.1, 0.1) for n in range(10, 19)]
    assert order(*lit, near, words=3)[0] == 1


def test_tokens_settle_the_order_of_the_head() -> None:
    first, second = Candidate(1, 0, 5.0, 0.5, 0.5), Candidate(2, 0, 4.9, 0.5, 0.5)
    behind = Candidate(3, 0, 1.0, 0.1, 0.1)
    assert order(first, second, behind) == [1, 2, 3]
    assert order(first, second, behind, tokens={1: 0.2, 2: 0.6}) == [2, 1, 3]


def test_what_was_not_compared_token_by_token_stays_behind_what_was() -> None:
    best, second, behind = (
        Candidate(1, 0, 5.0, 0.5, 0.5),
        Candidate(2, 0, 4.9, 0.5, 0.5),
        Candidate(3, 0, 4.8, 0.5, 0.5),
    )
    assert order(best, second, behind, tokens={1: 0.2, 2: 0.6}) == [2, 1, 3]


@given(CANDIDATES)
def test_the_head_is_what_stands_first_before_tokens_are_compared(candidates: list[Candidate]) -> None:
    fusing = fusion(candidates, now_epoch_ms=NOW)
    assert fusing.head() == [each.candidate.docid for each in fusing.fused()]


def test_the_head_is_of_the_best_alone() -> None:
    fusing = fusion([Candidate(docid, 0, docid / 9, 0.5, 0.5) for docid in range(1, 200)])
    assert fusing.head() == list(range(199, 199 - HEAD, -1))


@pytest.mark.parametrize(
    ("candidate", "shown"),
    [
        (Candidate(1, 0, 0.01), True),
        (Candidate(1, 0, 0.01, 0.0, 0.0), True),
        (Candidate(1, 0, None, FLOOR, 0.0), True),
        (Candidate(1, 0, None, 0.0, FLOOR), True),
        (Candidate(1, 0, None, FLOOR - 0.01, FLOOR - 0.01), False),
        (Candidate(1, 0), False),
    ],
)
def test_what_is_far_off_and_has_no_word_is_not_shown(candidate: Candidate, shown: bool) -> None:
    assert candidate.is_shown() is shown


def test_without_words_the_order_is_that_of_meaning() -> None:
    assert order(*(Candidate(n, 0, None, n / 10, n / 10) for n in (2, 9, 5))) == [9, 5, 2]


def test_without_vectors_the_order_is_that_of_the_words() -> None:
    assert order(*(Candidate(n, 0, float(n)) for n in (2, 9, 5))) == [9, 5, 2]


def test_what_weighs_less_in_a_question_the_model_cannot_read_is_meaning() -> None:
    words, meaning, other = Candidate(1, 0, 9.0, 0.1, 0.1), Candidate(2, 0, 4.0, 0.6, 0.6), Candidate(3, 0, 1.0, 0, 0)
    assert order(words, meaning, other) == [2, 1, 3]
    assert order(words, meaning, other, cjk=True) == [1, 2, 3]


def test_of_equals_the_newer_is_first() -> None:
    assert order(Candidate(1, NOW - DAY, 3.0), Candidate(2, NOW, 3.0), Candidate(3, NOW, 3.0)) == [3, 2, 1]


@given(CANDIDATES, st.booleans(), st.integers(0, 40), st.none() | st.just(NOW), st.lists(st.floats(-1, 1)))
def test_every_candidate_comes_once_and_scores_fall(
    candidates: list[Candidate], cjk: bool, words: int, now: int | None, cosines: list[float]
) -> None:
    tokens = {each.docid: cosine for each, cosine in zip(candidates, cosines, strict=False)}
    fused = fusion(candidates, cjk=cjk, words=words, now_epoch_ms=now).fused(tokens)
    assert sorted(each.candidate.docid for each in fused) == sorted(each.docid for each in candidates)
    scores = [each.score for each in fused]
    assert all(map(math.isfinite, scores))
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.integers(0, 500), unique=True, max_size=30), st.integers(1, 20))
def test_without_any_vectors_the_order_is_the_words_own(scores: list[int], words: int) -> None:
    found = order(*(Candidate(score, 0, score / 10) for score in scores), words=words)
    assert found == sorted(scores, reverse=True)


@given(CANDIDATES)
def test_the_order_given_does_not_matter(candidates: list[Candidate]) -> None:
    assert fuse(candidates[::-1], now_epoch_ms=NOW) == fuse(candidates, now_epoch_ms=NOW)


@given(CANDIDATES)
def test_being_new_never_makes_up_for_fitting_less(candidates: list[Candidate]) -> None:
    plain = {each.candidate.docid: each.score for each in fuse(candidates)}
    aged = [each.candidate.docid for each in fuse(candidates, now_epoch_ms=NOW)]
    for place, docid in enumerate(aged):
        assert all(plain[later] <= plain[docid] + RECENCY + 1e-9 for later in aged[place + 1 :])


def test_half_of_what_newness_adds_is_left_after_the_window() -> None:
    old = NOW - RECENCY_WINDOW_DAYS * DAY
    new, half = (fuse([Candidate(1, epoch)], now_epoch_ms=NOW)[0].score for epoch in (NOW, old))
    assert new == pytest.approx(RECENCY)
    assert half == pytest.approx(RECENCY / 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("?!", False),
        ("login cache", False),
        ("小行星序号适用于哪些行星？", True),
        ("pytest 失败", False),
        ("docker で失敗する", True),
        ("どうして", True),
    ],
)
def test_which_questions_are_of_a_script_without_blanks(text: str, expected: bool) -> None:
    assert is_cjk(text) is expected


@given(KEYS, KEYS)
def test_what_passes_a_filter_is_never_lost(passing: list[int], ranking: list[int]) -> None:
    found = intersect_with_ranking(passing, ranking)
    named = [key for key in ranking if key in passing]
    assert found == named + [key for key in passing if key not in ranking]


def test_cosines_that_differ_by_their_rounding_alone_leave_the_newer_first() -> None:
    older, newer = (Candidate(docid, NOW + docid, 2.0, 0.5, 0.4) for docid in (1, 2))
    assert order(older._replace(whole=0.500003, part=0.400003), newer) == [2, 1]
    assert order(older._replace(whole=0.501), newer) == [1, 2]
