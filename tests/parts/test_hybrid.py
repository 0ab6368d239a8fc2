"""Words and meaning together, on a real store; the model is a handful of synonyms, so that meaning is known."""

import asyncio
import contextlib
import itertools
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tests.factories import DAY, NOON, Row, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.parts.conftest import eventually, fill
from tests.processes import PATIENCE_S
from worker.contract.errors import Unavailable
from worker.contract.index import IndexState
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Degraded, Facets, Mode, Order, SearchPage, SearchQuery, TimelineQuery
from worker.projection import rounding, semantic
from worker.projection.embed import Bits, Digits, Embedder, Kind, Matrix, Reading, Tokens, Vector
from worker.projection.index import Fragment, Match
from worker.projection.projector import Projector
from worker.projection.semantic import Semantics
from worker.search import fusion
from worker.search.engine import Engine
from worker.store import forget
from worker.store.tables import Store

_SYNONYMS = (
    {"login", "credential", "password", "signin"},
    {"slow", "latency", "lag", "sluggish"},
    {"crash", "segfault", "abort", "panic"},
    {"cache", "memoize", "stale"},
)
MODEL = "synonyms"


class Synonyms:
    """A vector of topics. A text of no topic is near nothing."""

    name, dimension, max_tokens = MODEL, len(_SYNONYMS), 256

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        counts = [[sum(word in topic for word in text.lower().split()) for topic in _SYNONYMS] for text in texts]
        found = np.array(counts, np.float32)
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)


class Reader(Synonyms):
    """The same, which tells its tokens. Tea and chai are one to it, though of no topic; all other words are another."""

    def read(self, text: str) -> Tokens:
        return self.read_documents([text], (0,)).tokens[0]

    def read_documents(
        self, texts: Sequence[str], chosen: Collection[int], pause: Callable[[], None] = lambda: None
    ) -> Reading:
        pause()
        found = self.embed(texts, "document")
        return Reading(found, {at: self._tokens(texts[at], found[at]) for at in chosen})

    def _tokens(self, text: str, vector: Vector) -> Tokens:
        words = list(re.finditer(r"\w+", text))
        rows = [(1, 1, 1, 1) if word.group() in {"tea", "chai"} else (1, -1, 1, -1) for word in words]
        vectors = np.array(rows, np.float32).reshape(-1, self.dimension) / np.float32(2)
        spelled, offsets = tuple(word.group() for word in words), tuple(word.span() for word in words)
        return Tokens(vector, vectors, offsets, spelled)


class Held:
    """An index over what the store keeps. broken: the error it raises."""

    def __init__(self) -> None:
        self.held: dict[str, Vector] = {}
        self.broken: Exception | None = None
        self.asked = 0

    generation = "one"
    renewed = ""

    def drop(self) -> None:
        self.held.clear()

    def upsert(self, fragments: Sequence[Fragment]) -> None:
        self.held |= {fragment.id: fragment.vector for fragment in fragments}

    def delete(self, ids: Sequence[str]) -> None:
        for name in ids:
            self.held.pop(name, None)

    def nearest(self, vector: Vector, count: int) -> list[Match]:
        self.asked += 1
        if self.broken is not None:
            raise self.broken
        near = sorted(self.held.items(), key=lambda item: -float(item[1] @ vector))
        return [Match(name, float(held @ vector)) for name, held in near[:count]]

    def ids(self) -> Iterator[Sequence[str]]:
        yield list(self.held)

    def count(self) -> int:
        return len(self.held)

    def watch(self) -> None:
        return None

    def give_up(self) -> None:
        return None

    def close(self) -> None:
        pass


class Memory:
    """A store whose index by meaning is kept, and its engine."""

    def __init__(self, store: Store, index: Held, projector: Projector) -> None:
        self.store, self.index, self.projector = store, index, projector
        self.semantics = Semantics(projector.serving)
        self.engine = Engine(store, lambda: self.semantics, now=lambda: (NOON + DAY) / 1000)

    async def fill(self, *rows: Row, **others: list[Row]) -> None:
        """Bring observations in, and wait until all can be found by meaning."""
        await fill(self.store, make_batch(list(rows), **others))
        await self.settled()

    async def settled(self) -> None:
        async def idle() -> bool:
            status = await self.projector.status()
            return status.state is IndexState.READY and status.chroma == "ready" and not status.pending

        await eventually(idle)

    async def search(self, text: str, **over: Any) -> SearchPage:
        return await self.engine.search(SearchQuery(text=text, **over))

    async def facets(self, text: str, **over: Any) -> Facets:
        return await self.engine.facets(SearchQuery(text=text, **over), most_buckets=50, with_concepts=True)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Model and index have their say however busy the machine is."""
    monkeypatch.setattr(semantic, "_THINK_S", PATIENCE_S)
    monkeypatch.setattr(semantic, "_NEAREST_S", PATIENCE_S)


@pytest.fixture
async def memory(store: Store) -> AsyncIterator[Memory]:
    async with remembering(store, Synonyms) as memory:
        yield memory


@pytest.fixture
async def reading(store: Store) -> AsyncIterator[Memory]:
    """A memory whose model tells its tokens."""
    async with remembering(store, Reader) as memory:
        yield memory


@contextlib.asynccontextmanager
async def remembering(store: Store, model: Callable[[], Embedder]) -> AsyncIterator[Memory]:
    index = Held()
    projector = Projector(store, model, lambda name, dimension: index)
    running = asyncio.create_task(projector.run())
    memory = Memory(store, index, projector)
    yield memory
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    await projector.close()
    memory.semantics.close()


def keys(page: SearchPage) -> list[str]:
    return [str(hit.key) for hit in page.hits]


async def test_what_shares_no_word_is_found_by_meaning_and_says_which_engine_found_it(memory: Memory) -> None:
    await memory.fill(
        observation_row("The credential was rejected twice"),
        observation_row("A login form without a label"),
        observation_row("Colours of the footer"),
    )
    page = await memory.search("login")
    assert page.strategy == "hybrid" and page.degraded is None
    assert keys(page) == ["2", "1"] and page.total == 2
    assert [(hit.keyword_rank, hit.vector_rank) for hit in page.hits] == [(1, 1), (None, 2)]


async def test_keyword_hits_come_first_and_alone_when_asked_so(memory: Memory) -> None:
    await memory.fill(observation_row("login fails"), observation_row("password expired"))
    first = await memory.search("login", mode=Mode.KEYWORD)
    assert (keys(first), first.strategy, first.degraded) == (["1"], "keyword", None)
    whole = await memory.search("login")
    assert keys(whole) == ["1", "2"]


async def test_meaning_alone_ranks_by_meaning(memory: Memory) -> None:
    await memory.fill(observation_row("slow slow login"), observation_row("password"), observation_row("login"))
    page = await memory.search("signin", mode=Mode.SEMANTIC)
    assert page.strategy == "semantic" and page.total == len(page.hits)
    assert keys(page) == ["3", "2", "1"]
    assert all(hit.keyword_rank is None for hit in page.hits)


async def test_relevance_is_not_reordered_by_date(memory: Memory) -> None:
    """R026."""
    rows = [observation_row(f"Colours {at}", created_at_epoch=NOON + at * DAY) for at in range(300)]
    await memory.fill(observation_row("Token refresh race: crash", created_at_epoch=NOON - 300 * DAY), *rows)
    page = await memory.search("token refresh race segfault")
    assert keys(page)[0] == "1"


async def test_old_records_are_found_as_new_ones_are(memory: Memory) -> None:
    await memory.fill(observation_row("password rotation", created_at_epoch=NOON - 1000 * DAY))
    assert keys(await memory.search("login")) == ["1"]


async def test_fragments_of_one_record_are_one_hit_with_its_own_data(memory: Memory) -> None:
    """R036."""
    facts = '["the password", "a credential", "the login"]'
    await memory.fill(
        observation_row("signin", facts=facts, narrative="login", project="shop", created_at_epoch=NOON + 5),
        observation_row("credential", project="other", created_at_epoch=NOON + 7),
    )
    page = await memory.search("password")
    assert sorted((hit.id, hit.title, hit.project, hit.created_at_epoch) for hit in page.hits) == [
        (1, "signin", "shop", NOON + 5),
        (2, "credential", "other", NOON + 7),
    ]


async def test_filters_hold_for_what_is_found_by_meaning(memory: Memory) -> None:
    """R032, R064: one, two or all of them."""
    rows = [
        observation_row(
            f"credential {kind} {project} {concept} {day}", type=kind, project=project, concepts=f'["{concept}"]',
            created_at_epoch=NOON + day * DAY,
        )
        for kind in ("bugfix", "decision")
        for project in ("shop", "blog")
        for concept in ("gotcha", "pattern")
        for day in (0, 9)
    ]  # fmt: skip
    await memory.fill(*rows)
    filters: dict[str, Any] = {
        "types": ("bugfix",), "project": "shop", "concepts": ("gotcha",), "since_epoch_ms": NOON + DAY,
    }  # fmt: skip
    for count in range(1, 5):
        for names in itertools.combinations(filters, count):
            page = await memory.search("login", **{name: filters[name] for name in names})
            assert page.total == len(page.hits) == 16 // 2**count, names


async def test_rows_of_a_merged_project_are_found_in_the_new_one(memory: Memory) -> None:
    """R038."""
    await memory.fill(
        observation_row("credential", project="old", merged_into_project="new"),
        observation_row("password", project="new"),
    )
    assert sorted(keys(await memory.search("login", project="new"))) == ["1", "2"]


@pytest.mark.parametrize("most", [0, 2_000])
async def test_deleted_records_are_found_by_neither(memory: Memory, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """R066, R068: by Chroma's list of the nearest and by comparing all."""
    monkeypatch.setattr(semantic, "EXACT_MOST", most)
    await memory.fill(observation_row("password"), observation_row("credential"))
    assert len((await memory.search("login")).hits) == 2
    await memory.store.write(lambda connection: forget.delete(connection, RecordKey(RecordKind.OBSERVATION, 1)))
    assert keys(await memory.search("login")) == ["2"]
    await memory.settled()
    assert not any("_1_" in name for name in memory.index.held)


@pytest.mark.parametrize("most", [0, 2_000])
async def test_a_list_is_paged_to_its_end_without_a_gap_or_a_repetition(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(semantic, "EXACT_MOST", most)
    worded = [observation_row(f"cache entry {at}", created_at_epoch=NOON + at) for at in range(150)]
    meant = [observation_row(f"memoize result {at}", created_at_epoch=NOON + at) for at in range(40)]
    both = [
        observation_row(f"stale cache {at} of the shop with many more words", created_at_epoch=NOON) for at in range(20)
    ]
    await memory.fill(*worded, *meant, *both)
    whole = await memory.search("cache", limit=1000)
    assert whole.total == len(whole.hits) == len(set(keys(whole)))
    assert whole.total >= 170
    for size in (1, 7, 33, 100):
        paged: list[str] = []
        while len(paged) < whole.total:
            page = await memory.search("cache", limit=size, offset=len(paged))
            assert page.total == whole.total and page.hits
            paged += keys(page)
        assert paged == keys(whole)


async def test_what_the_words_find_is_all_there(memory: Memory) -> None:
    await memory.fill(*(observation_row(f"slow query {at}") for at in range(30)), observation_row("latency of nothing"))
    words = await memory.search("query", mode=Mode.KEYWORD, limit=100)
    both = await memory.search("query", limit=100)
    assert set(keys(words)) <= set(keys(both))


async def test_a_phrase_is_a_demand_for_meaning_too(memory: Memory) -> None:
    await memory.fill(observation_row("stale login token"), observation_row("login stale"), observation_row("password"))
    assert keys(await memory.search('"stale login"')) == ["1"]


async def test_a_phrase_is_one_for_meaning_wherever_a_person_sees_it_stand(memory: Memory) -> None:
    rows = (
        observation_row(title)
        for title in ("stale login-token", "login-token stale", "stale password login", "password")
    )
    await memory.fill(*rows)
    for mode in (None, Mode.SEMANTIC):
        assert keys(await memory.search('"stale login"', mode=mode)) == ["1"]
        assert (await memory.facets('"stale login"', mode=mode)).total == 1
        page = await memory.search('login -"stale login"', mode=mode)
        assert "1" not in keys(page)
        assert (await memory.facets('login -"stale login"', mode=mode)).total == page.total
    assert set(keys(await memory.search('login -"stale login"'))) == {"2", "3", "4"}


async def test_facets_count_what_the_list_holds(memory: Memory) -> None:
    await memory.fill(
        observation_row("login", type="bugfix", concepts='["gotcha"]'),
        observation_row("password", type="decision", project="blog", concepts='["gotcha", "pattern"]'),
        summaries=[summary_row("credential work")],
        prompts=[prompt_row("the signin page")],
    )
    page, facets = await memory.search("login"), await memory.facets("login")
    assert facets.total == page.total == 4 == sum(bucket.count for bucket in facets.buckets)
    assert {count.value: count.count for count in facets.kinds} == {kind.value: n for kind, n in page.kinds.items()}
    assert {count.value: count.count for count in facets.concepts} == {"gotcha": 2, "pattern": 1}
    assert {count.value: count.count for count in facets.projects} == {"shop": 3, "blog": 1}


async def test_orders_of_time_list_what_the_words_find(memory: Memory) -> None:
    await memory.fill(
        observation_row("login", created_at_epoch=NOON), observation_row("login again", created_at_epoch=NOON + 1),
        observation_row("password", created_at_epoch=NOON + 2),
    )  # fmt: skip
    page = await memory.search("login", order=Order.DATE_DESC)
    assert (keys(page), page.strategy, page.degraded) == (["2", "1"], "keyword", None)


async def test_without_words_the_filters_alone_answer(memory: Memory) -> None:
    await memory.fill(observation_row("login"))
    page = await memory.search("type:bugfix")
    assert (page.strategy, page.degraded, keys(page)) == ("filter", None, ["1"])


async def test_timeline_takes_the_best_of_both_as_anchor(memory: Memory) -> None:
    await memory.fill(observation_row("Colours"), observation_row("password reset", created_at_epoch=NOON + DAY))
    found = await memory.engine.timeline(TimelineQuery(query="signin"))
    assert found.anchor == "2"


async def test_words_answer_when_chroma_fails_and_say_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """R040."""
    monkeypatch.setattr(semantic, "EXACT_MOST", 0)
    await memory.fill(observation_row("login"), observation_row("password"))
    memory.index.broken = Unavailable("the folder is gone")
    page = await memory.search("login")
    assert (keys(page), page.strategy, page.degraded) == (["1"], "keyword", Degraded.INDEX_FAILED)
    # From then on all are compared, for as long as Chroma is left alone.
    again = await memory.search("login")
    assert (sorted(keys(again)), again.degraded) == (["1", "2"], None)
    assert memory.index.asked == 1


async def test_before_the_model_is_loaded_words_answer(store: Store) -> None:
    engine = Engine(store, lambda: Degraded.INDEX_STARTING)
    await fill(store, make_batch([observation_row("login")]))
    page = await engine.search(SearchQuery(text="login"))
    assert (page.strategy, page.degraded, len(page.hits)) == ("keyword", Degraded.INDEX_STARTING, 1)
    asked_so = await engine.search(SearchQuery(text="login", mode=Mode.KEYWORD))
    assert asked_so.degraded is None


async def test_a_slow_model_is_not_waited_for(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.fill(observation_row("login"))
    release = threading.Event()
    monkeypatch.setattr(semantic, "_THINK_S", 0.05)
    monkeypatch.setattr(Synonyms, "embed", lambda self, texts, kind: release.wait(60) and np.ones((1, 4), np.float32))
    page = await memory.search("login never asked before")
    release.set()
    assert (page.strategy, page.degraded) == ("keyword", Degraded.INDEX_SLOW)


async def test_a_record_saved_now_is_found_by_meaning_in_a_moment(memory: Memory) -> None:
    await memory.fill(observation_row("Colours"))
    await memory.fill(observation_row("password"), sessions=[session_row("2")])
    assert keys(await memory.search("login")) == ["2"]


TEA = (
    observation_row("login chai", narrative="記憶", created_at_epoch=NOON),
    observation_row("login kettle", narrative="記憶", created_at_epoch=NOON + 1),
)


@pytest.fixture
def compared(reading: Memory, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records each comparison token by token was given."""
    counts: list[int] = []
    compare = reading.semantics.token_nearness

    def watched(thought: Any, weights: Any, docids: Sequence[int], shelf: Any) -> dict[int, float]:
        counts.append(len(docids))
        return compare(thought, weights, docids, shelf)

    monkeypatch.setattr(reading.semantics, "token_nearness", watched)
    return counts


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC])
async def test_the_best_are_compared_token_by_token(reading: Memory, mode: Mode) -> None:
    await reading.fill(*TEA)
    assert keys(await reading.search("login password", mode=mode)) == ["2", "1"]  # alike: the newer first
    page = await reading.search("login tea", mode=mode)
    assert keys(page) == ["1", "2"] and page.hits[0].score > page.hits[1].score


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC])
async def test_a_model_that_tells_no_tokens_ranks_without_them(memory: Memory, mode: Mode) -> None:
    await memory.fill(*TEA)
    assert keys(await memory.search("login tea", mode=mode)) == ["2", "1"]


async def test_a_question_in_a_script_without_blanks_is_not_compared_token_by_token(
    reading: Memory, compared: list[int]
) -> None:
    await reading.fill(*TEA)
    assert (keys(await reading.search("記憶 tea")), compared) == (["2", "1"], [])


async def test_records_whose_tokens_are_lost_or_broken_are_ranked_without_them(
    reading: Memory, other: sqlite3.Connection
) -> None:
    await reading.fill(*TEA)
    for tokens in ("NULL", "x''"):
        other.execute(f"UPDATE py_vectors SET tokens = {tokens}")
        assert keys(await reading.search("login tea")) == ["2", "1"]


async def test_records_and_tokens_are_compared_by_the_models_own_runtime_where_it_has_one(
    reading: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiplied: list[int] = []

    def multiply(_: Reader, bits: Bits, digits: Digits, join: Matrix) -> Matrix:
        multiplied.append(len(bits))
        return rounding.multiplied(bits, digits, join)

    monkeypatch.setattr(Reader, "multiplied", multiply, raising=False)
    await reading.fill(*TEA)
    assert (keys(await reading.search("login tea")), len(multiplied)) == (["1", "2"], 2)


async def test_only_the_best_are_compared(
    reading: Memory, compared: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusion, "HEAD", 3)
    await reading.fill(*(observation_row(f"login {n}", created_at_epoch=NOON + n) for n in range(9)), *TEA)
    assert len((await reading.search("login tea", limit=100)).hits) == 11
    assert compared == [3]


async def test_a_list_compared_token_by_token_is_paged_without_a_gap_or_a_repetition(reading: Memory) -> None:
    leaves = [
        observation_row(f"{word} cache {n}", created_at_epoch=NOON + n) for n in range(60) for word in ("chai", "a")
    ]
    await reading.fill(*leaves)
    whole = keys(await reading.search("tea cache", limit=1000))
    assert len(whole) == len(set(whole)) == 120
    for size in (7, 50):
        paged: list[str] = []
        while len(paged) < 120:
            paged += keys(await reading.search("tea cache", limit=size, offset=len(paged)))
        assert paged == whole


async def test_while_most_has_no_vectors_yet_the_answer_says_so(memory: Memory) -> None:
    await memory.fill(observation_row("login"))
    assert (await memory.search("login")).degraded is None
    await memory.projector.pause()
    await fill(memory.store, make_batch([observation_row(f"login {at}") for at in range(20)]))
    page = await memory.search("login", limit=100)
    assert (page.strategy, page.degraded, page.total) == ("hybrid", Degraded.INDEX_STARTING, 21)
    await memory.projector.resume()
    await memory.settled()
    assert (await memory.search("login", limit=100)).degraded is None


async def test_an_order_of_time_says_that_meaning_has_no_part_in_it(memory: Memory) -> None:
    await memory.fill(observation_row("login"), observation_row("password"))
    page = await memory.search("login", mode=Mode.SEMANTIC, order=Order.DATE_ASC)
    assert (keys(page), page.strategy) == (["1"], "keyword")
    assert "meaning ranks by relevance alone" in page.notes[0]


@pytest.mark.parametrize("mode", [None, Mode.SEMANTIC])
@pytest.mark.parametrize("named", [{"types": ("bugfix",)}, {"concepts": ("gotcha",)}, {"files": ("src/a.py",)}])
async def test_by_type_concept_or_file_nothing_that_passes_is_dropped(
    memory: Memory, mode: Mode | None, named: dict[str, Any]
) -> None:
    shown: Row = {"type": "bugfix", "concepts": '["gotcha"]', "files_modified": '["src/a.py"]'}
    await memory.fill(
        observation_row("colours of the footer", created_at_epoch=NOON, **shown),
        observation_row("password reset", created_at_epoch=NOON + 1, **shown),
        observation_row("login form", created_at_epoch=NOON + 2, **shown),
        observation_row("fonts of the footer", created_at_epoch=NOON + 3, **shown),
        observation_row("login of another kind", type="decision", created_at_epoch=NOON + 4),
    )
    page = await memory.search("login", mode=mode, **named)
    assert keys(page)[2:] == ["4", "1"] and sorted(keys(page)[:2]) == ["2", "3"]
    assert page.total == 4 == (await memory.facets("login", mode=mode, **named)).total
    paged = [
        key for at in range(4) for key in keys(await memory.search("login", mode=mode, limit=1, offset=at, **named))
    ]
    assert paged == keys(page)
    words = await memory.search("login", mode=Mode.KEYWORD, **named)
    assert keys(words) == ["3"]
