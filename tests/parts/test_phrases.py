"""Phrases on real rows: found, left out and counted where a person sees them stand, with FTS5 and without it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row
from tests.parts.conftest import fill
from worker.contract.search import SearchQuery
from worker.search.engine import Engine
from worker.store import database, standing
from worker.store.tables import open_store

TITLES = (
    "修复token刷新的竞争", "修复 token 刷新", "한국어 검색 오류", "パス、設定 を確認", "升级到Python3后失败",
    "use session-lock when version 3.12 fails", "see RateLimiter.tryAcquire now", "open src/app.py today",
    "I don't know ratelimiter", "token 修复 then session use", "try a now, see what a rate is", "Don knows C++ code",
)  # fmt: skip


@pytest.fixture(params=["fts5", "like"])
async def engine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Engine]:
    if request.param == "like":
        monkeypatch.setattr(database, "has_fulltext", lambda _: False)
    store = open_store(tmp_path / "claude-mem.db")
    assert store.fulltext == (request.param == "fts5")
    await fill(
        store, make_batch([observation_row(title, narrative="x", facts="[]", concepts="[]") for title in TITLES])
    )
    yield Engine(store)
    await store.close()


async def found(engine: Engine, line: str) -> set[int]:
    """The numbers of the titles that a line finds, none where a phrase stands nowhere."""
    page = await engine.search(SearchQuery(text=line, limit=50))
    facets = await engine.facets(SearchQuery(text=line), most_buckets=60)
    assert facets.total == page.total == len(page.hits)
    return (
        set() if any("exact phrase" in note for note in page.notes) else {TITLES.index(hit.title) for hit in page.hits}
    )


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("修复token", {0, 1}),
        ("修复 token", {0, 1}),
        ("修复token刷新", {0, 1}),
        ("token刷新", {0, 1}),
        ("复token刷", {0, 1}),
        ("升级到Python3", {4}),
        ("パス、設定", {3}),
        ("パス設定", set()),
        ("スを確認", set()),
        ("設定を確認", set()),
        ("設定 を", {3}),
        ("검색 오류", {2}),
        ("한국어 검색", {2}),
        ("한국어 오류", set()),
        ("use session", {5}),
        ("use session lock", {5}),
        ("use session-lock", {5}),
        ("lock when version 3", {5}),
        ("version 3.12 fails", {5}),
        ("version 12", set()),
        ("use lock", set()),
        ("see rate", {6}),
        ("see RateLimiter", {6}),
        ("see RateLimiter.tryAcquire now", {6}),
        ("ratelimiter tryacquire now", {6}),
        ("limiter try", {6}),
        ("RateLimiter now", set()),
        ("RateLimiter", {6, 8}),
        ("open src", {7}),
        ("src app", {7}),
        ("py today", {7}),
        ("open app", set()),
        ("don't know", {8}),
        ("don't", {8}),
        ("C++ code", {11}),
    ],
)
async def test_a_phrase_is_found_and_left_out_where_a_person_sees_it_stand(
    engine: Engine, phrase: str, expected: set[int]
) -> None:
    assert await found(engine, f'"{phrase}"') == expected
    assert await found(engine, f'-"{phrase}"') == set(range(len(TITLES))) - expected


async def test_phrases_words_and_what_is_left_out_go_together(engine: Engine) -> None:
    assert await found(engine, '"token 刷新" "修复 token"') == {0, 1}
    assert await found(engine, '"token 刷新" -"的竞争"') == {1}
    assert await found(engine, '"use session" -"see rate" kiwi') == {5}
    assert await found(engine, "-修复token刷新的竞争 -session-lock") == set(range(len(TITLES))) - {0, 5}


async def test_what_takes_too_long_to_look_at_counts_as_not_having_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "_MOST_STEPS", 1)
    assert await found(engine, '"use session lock"') == set()
    monkeypatch.undo()
    assert await found(engine, '"use session lock when"') == {5}
