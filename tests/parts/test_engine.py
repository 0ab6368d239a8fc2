"""Search, facets and timeline over all kinds, on real SQLite."""

import asyncio
import datetime as dt
import itertools
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from tests.factories import DAY, HOUR, NOON, Row, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.parts.conftest import fill
from worker.contract.errors import Invalid, NotFound
from worker.contract.records import Record, RecordKind, key_of
from worker.contract.search import Mode, Order, SearchPage, SearchQuery, Snippet, Strip, TimelineQuery
from worker.contract.when import parse_range
from worker.search.engine import Engine
from worker.store.tables import Store, open_store


def keys(page: SearchPage) -> list[str]:
    return [str(hit.key) for hit in page.hits]


async def found(engine: Engine, text: str = "", **over: Any) -> list[str]:
    """Keys of a search, which must agree with its total, with the rows and with the page that is not marked."""
    query = SearchQuery(text=text, **{"limit": 1000} | over)
    page = await engine.search(query)
    rows = await engine.search_rows(query)
    assert page.hits == rows.hits and page.total == rows.totalResults
    unmarked = [msgspec.structs.replace(hit, snippet=Snippet(""), title_matches=()) for hit in page.hits]
    assert list((await engine.search(query, marked=False)).hits) == unmarked
    assert len(page.hits) == max(0, min(page.total - query.offset, query.limit))
    listed: list[Record] = [*rows.observations, *rows.sessions, *rows.prompts]
    assert sorted(map(key_of, listed)) == sorted(hit.key for hit in page.hits)
    return keys(page)


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("don't retry the upload", "don't retry"),
        ("respect the rate-limit of the API", "rate-limit"),
        ("from a-b to c", "a-b"),
        ("std::vector grows", "std::vector"),
        ("see title:foo there", "title:foo"),
        ("image ubuntu 20.04 in CI", "ubuntu 20.04"),
        ("bump to v3.12.1", "v3.12.1"),
        ("order ORD-100821 lost", "ORD-100821"),
        ("用户身份校验失败", "身份校验"),
        ("重跑gen-itgc后50条已清零", "itgc"),
        ("조선 역사 정리", "역사"),
        ("雨の日の手順", "雨"),
        ("端到端测试已通过", "端到端测试结果"),
        ("ทดสอบระบบ", "ระบบ"),
        ("पहला परीक्षण", "परीक्षण"),
        ("ship it 🚀", "🚀"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("résumé parsing", "resume"),
        ("getUserById is slow", "get_user_by_id"),
        ("tokens were expiring", "token expired"),
        ("path src/auth/session.py", "session.py"),
        ("AND OR NOT NEAR", "NOT NEAR"),
        ("C++ templates", "c++"),
    ],
)
async def test_words_of_every_script_find_their_row_and_not_the_others(
    store: Store, engine: Engine, title: str, query: str
) -> None:
    """R001, R003, R005, R007, R011, R015, R017, R019, R021."""
    others = [observation_row(other) for other in ("something else entirely", "more of it", "and the rest")]
    await fill(store, make_batch([observation_row("", narrative=title), *others]))
    assert await found(engine, query) == ["1"]
    page = await engine.search(SearchQuery(text=query))
    assert page.strategy == "keyword" and page.hits[0].score > 0


async def test_version_asked_for_ranks_first(store: Store, engine: Engine) -> None:
    """R007."""
    rows = [observation_row(f"ubuntu {version} image") for version in ("18.04", "20.04", "22.04", "20.10")]
    await fill(store, make_batch(rows))
    assert (await found(engine, "ubuntu 20.04"))[0] == "2"


@pytest.mark.parametrize("typed", ["session-rec", "CLAUDE.m", "CLAUDE.md", "session-recall"])
async def test_found_while_typing(store: Store, engine: Engine, typed: str) -> None:
    """R009."""
    await fill(store, make_batch([observation_row("session-recall tool, see CLAUDE.md"), observation_row("other")]))
    assert await found(engine, typed, typing=True) == ["1"]


@pytest.mark.parametrize("text", ["", "   ", ",,", '""', "()*^:-", "\0", "\n", "…", "“”"])
async def test_question_without_a_word_lists_the_newest(store: Store, engine: Engine, text: str) -> None:
    """R013."""
    await fill(store, make_batch([observation_row("a", created_at_epoch=1), observation_row("b", created_at_epoch=2)]))
    assert await found(engine, text) == ["2", "1"]
    assert (await engine.search(SearchQuery(text=text))).strategy == "filter"


async def test_nothing_found_is_an_empty_page(engine: Engine) -> None:
    """R044."""
    rows = await engine.search_rows(SearchQuery(text="zebra"))
    assert (rows.observations, rows.sessions, rows.prompts, rows.hits, rows.totalResults) == ((), (), (), (), 0)


async def test_best_fit_is_first_though_it_is_the_oldest(store: Store, engine: Engine) -> None:
    """R026."""
    rows = [
        observation_row(f"refresh of cache number {number}", created_at_epoch=NOON + number) for number in range(299)
    ]
    await fill(store, make_batch([*rows, observation_row("token refresh race", created_at_epoch=1)]))
    assert (await found(engine, "token refresh race"))[0] == "300"
    by_date = await found(engine, "token refresh race", order=Order.DATE_DESC)
    assert by_date[-1] == "300" and by_date == list(
        reversed(await found(engine, "token refresh race", order=Order.DATE_ASC))
    )


async def test_start_date_counts_with_words_too(store: Store, engine: Engine) -> None:
    """R028."""
    march = parse_range("2026-03-10", dt.UTC)
    assert march is not None
    times = (march[0] - 90 * DAY, march[0] - 1, march[0], march[1], march[1] + 1)
    await fill(
        store,
        make_batch([observation_row(f"x{n}", narrative="zebra", created_at_epoch=at) for n, at in enumerate(times)]),
    )
    assert sorted(await found(engine, "zebra", since_epoch_ms=march[0])) == ["3", "4", "5"]
    assert sorted(await found(engine, "zebra", since_epoch_ms=march[0], until_epoch_ms=march[1])) == ["3", "4"]
    assert sorted(await found(engine, since_epoch_ms=march[0], until_epoch_ms=march[1])) == ["3", "4"]


async def test_day_is_the_same_in_search_timeline_and_facets(store: Store) -> None:
    """R030."""
    taipei = ZoneInfo("Asia/Taipei")
    engine = Engine(store, zone=taipei)
    night = parse_range("2026-03-10T01:30", taipei)
    day = parse_range("2026-03-10", taipei)
    assert night is not None and day is not None
    await fill(store, make_batch([observation_row(created_at_epoch=night[0])]))
    assert await found(engine, since_epoch_ms=day[0], until_epoch_ms=day[1]) == ["1"]
    assert (await engine.timeline(TimelineQuery(anchor="2026-03-10", depth_before=0))).anchor_index == 0
    assert (await engine.timeline(TimelineQuery(anchor="2026-03-11", depth_before=0))).entries == ()
    facets = await engine.facets(SearchQuery(), most_buckets=3)
    assert [bucket.start_epoch_ms for bucket in facets.buckets] <= [night[0]]


FILTERS: Row = {
    "project": {"project": "shop"},
    "type": {"types": ("bugfix", "decision")},
    "date": {"since_epoch_ms": NOON, "until_epoch_ms": NOON + HOUR},
    "concept": {"concepts": ("gotcha", "unknown")},
    "file": {"files": ("SRC/auth",)},
    "platform": {"platform_source": "claude"},
    "kind": {"kinds": (RecordKind.OBSERVATION,)},
}


@pytest.mark.parametrize("text", ["", "zebra"])
@pytest.mark.parametrize("size", range(1, 8))
async def test_filters_alone_and_together(everything: Engine, size: int, text: str) -> None:
    """R064: each row differs from the wanted one in just one thing."""
    for chosen in itertools.combinations(FILTERS, size):
        given = {name: value for what in chosen for name, value in FILTERS[what].items()}
        expected = {"wanted", *FILTERS} - set(chosen)
        if {"concept", "type"} & set(chosen):
            expected -= {"kind"}
        assert len(await found(everything, text, **given)) == len(expected), chosen
        page = await everything.search(SearchQuery(text=text, **given))
        assert {hit.title.removeprefix("zebra ") for hit in page.hits} == expected, chosen


@pytest.fixture(scope="module")
def everything_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("everything") / "claude-mem.db"


@pytest.fixture
async def everything(everything_path: Path) -> AsyncIterator[Engine]:
    """A row that all filters want, and for each filter one that differs in that alone."""
    store = open_store(everything_path)
    if not (await Engine(store).search(SearchQuery())).total:
        wanted: Row = {"concepts": ["gotcha"], "files_read": ["src/auth/a.py"], "created_at_epoch": NOON}
        rows = [
            observation_row("zebra wanted", **wanted),
            observation_row("zebra project", **wanted | {"project": "mall"}),
            observation_row("zebra type", **wanted | {"type": "feature"}),
            observation_row("zebra date", **wanted | {"created_at_epoch": NOON - 1}),
            observation_row("zebra concept", **wanted | {"concepts": ["gotchas"]}),
            observation_row("zebra file", **wanted | {"files_read": ["src/other.py"]}),
            observation_row("zebra platform", **wanted | {"memory_session_id": "m-2"}),
        ]
        sessions = [session_row("1"), session_row("2", platform_source="codex")]
        summaries = [summary_row("zebra kind", created_at_epoch=NOON, files_read=["lib/SRC/AUTH.py"])]
        await fill(store, make_batch(rows, sessions=sessions, summaries=summaries))
    yield Engine(store)
    await store.close()


async def test_types_and_concepts_are_of_observations_alone(store: Store, engine: Engine) -> None:
    await fill(
        store, make_batch([observation_row(concepts=["gotcha"])], summaries=[summary_row()], prompts=[prompt_row()])
    )
    assert await found(engine, types=("bugfix",)) == await found(engine, concepts=("gotcha",)) == ["1"]
    assert await found(engine, types=("session", "prompt")) == ["S1", "P1"]


async def test_rows_with_json_that_is_none_fail_no_filter(
    store: Store, engine: Engine, other: sqlite3.Connection
) -> None:
    await fill(
        store,
        make_batch(
            [observation_row("a", concepts=["gotcha"], files_read=["x.py"]), observation_row("b"), observation_row("c")]
        ),
    )
    other.execute(
        "UPDATE observations SET concepts = '{broken', files_read = '[\"x.py', files_modified = NULL WHERE id = 2"
    )
    other.execute('UPDATE observations SET concepts = \'{"k":"gotcha"}\', files_modified = \'"x.py"\' WHERE id = 3')
    await store.write(lambda connection: None)
    assert sorted(await found(engine, concepts=("gotcha",))) == ["1", "3"]
    assert sorted(await found(engine, files=("x.py",))) == ["1", "3"]


@pytest.mark.parametrize("part", ["100%", "a_b", "!x", "'", "\\", "x" * 60_000, "É"])
async def test_part_of_a_path_is_no_pattern(store: Store, engine: Engine, part: str) -> None:
    await fill(
        store,
        make_batch(
            [
                observation_row("a", files_modified=["src/100%/a_b/!x/'/\\/É"]),
                observation_row("b", files_read=["src/1000/aXb"]),
            ]
        ),
    )
    assert await found(engine, files=(part,)) == ([] if len(part) > 100 else ["1"])


async def test_merged_projects_are_part_of_the_whole(store: Store, engine: Engine) -> None:
    """R038."""
    rows = [
        observation_row("zebra", project="old", merged_into_project="new"),
        observation_row("zebra two", project="new"),
        observation_row("zebra three", project="newer"),
    ]
    await fill(store, make_batch(rows, summaries=[summary_row("zebra", project="old", merged_into_project="new")]))
    for text in ("zebra", ""):
        assert sorted(await found(engine, text, project="new")) == ["1", "2", "S1"]
        assert sorted(await found(engine, text, project="old")) == ["1", "S1"]


async def test_internal_project_is_shown_to_who_names_it(store: Store, engine: Engine) -> None:
    await fill(store, make_batch([observation_row("zebra", project="observer-sessions"), observation_row("zebra b")]))
    for text in ("zebra", ""):
        assert await found(engine, text) == ["2"]
        assert await found(engine, text, project="observer-sessions") == ["1"]
        facets = await engine.facets(SearchQuery(text=text), most_buckets=10)
        assert (facets.total, [count.value for count in facets.projects]) == (1, ["shop"])


async def test_platforms_are_told_apart(store: Store, engine: Engine, other: sqlite3.Connection) -> None:
    await fill(
        store,
        make_batch(
            [observation_row("zebra", memory_session_id="m-2"), observation_row("zebra b")],
            sessions=[session_row(), session_row("2", platform_source="codex")],
        ),
    )
    assert await found(engine, "zebra", platform_source="codex") == ["1"]
    other.execute("UPDATE sdk_sessions SET platform_source = '' WHERE memory_session_id = 'm-1'")
    await store.write(lambda connection: None)
    assert await found(engine, "zebra", platform_source="claude") == ["2"]


@pytest.mark.parametrize("text", ["", "zebra"])
@pytest.mark.parametrize("order", list(Order))
async def test_pages_have_no_gaps_and_nothing_twice_under_ties(
    store: Store, engine: Engine, text: str, order: Order
) -> None:
    """R011."""
    rows = [observation_row("zebra", narrative=f"{n}", created_at_epoch=NOON + n % 3) for n in range(50)]
    prompts = [prompt_row("zebra", prompt_number=n, created_at_epoch=NOON) for n in range(1, 20)]
    await fill(store, make_batch(rows, prompts=prompts, summaries=[summary_row("zebra", created_at_epoch=NOON)]))
    whole = await found(engine, text, order=order)
    assert len(whole) == len(set(whole)) == 70
    paged = [
        key for offset in range(0, 77, 7) for key in await found(engine, text, order=order, limit=7, offset=offset)
    ]
    assert paged == whole
    assert await found(engine, text, order=order, limit=7, offset=7000) == []


async def test_limit_counts_one_list_over_all_kinds(store: Store, engine: Engine) -> None:
    await fill(
        store,
        make_batch(
            [observation_row("zebra"), observation_row("zebra b")],
            summaries=[summary_row("zebra")],
            prompts=[prompt_row("zebra")],
        ),
    )
    page = await engine.search(SearchQuery(text="zebra", limit=3))
    assert (len(page.hits), page.total) == (3, 4)


async def test_every_hit_shows_text(store: Store, engine: Engine) -> None:
    """R046."""
    rows = [
        observation_row("zebra title"),
        observation_row("", narrative="zebra narrative"),
        observation_row("", facts=["zebra fact"]),
        observation_row("", text="zebra text"),
        observation_row("", subtitle="zebra subtitle"),
        observation_row("", concepts=["zebra"]),
    ]
    await fill(store, make_batch([row | {"created_at_epoch": n} for n, row in enumerate(rows)]))
    page = await engine.search(SearchQuery(text="zebra"))
    assert len(page.hits) == 6
    for hit in page.hits:
        marked = [hit.title[a:b] for a, b in hit.title_matches] + [
            hit.snippet.text[a:b] for a, b in hit.snippet.matches
        ]
        assert hit.title.strip() and (marked or hit.title == "Untitled")


async def test_facets_agree_with_search(store: Store, engine: Engine) -> None:
    rows = [
        observation_row(
            f"zebra {n}",
            type=("bugfix", "feature")[n % 2],
            project=("a", "b", "c")[n % 3],
            created_at_epoch=NOON + n * DAY,
        )
        for n in range(30)
    ]
    await fill(store, make_batch(rows, summaries=[summary_row("zebra")], prompts=[prompt_row("other")]))
    for query in (
        SearchQuery(),
        SearchQuery(text="zebra"),
        SearchQuery(text="zebra", project="a"),
        SearchQuery(types=("bugfix",)),
        SearchQuery(text="none"),
    ):
        facets, page = await engine.facets(query, most_buckets=10), await engine.search(query)
        assert facets.total == page.total == sum(bucket.count for bucket in facets.buckets)
        for counts in (facets.kinds, facets.types, facets.projects):
            assert sum(count.count for count in counts) == facets.total
            assert [count.count for count in counts] == sorted((count.count for count in counts), reverse=True)
        assert len(facets.buckets) <= 10


async def test_buckets_tell_their_types(store: Store, engine: Engine) -> None:
    rows = [
        observation_row(f"zebra {n}", type=("bugfix", "feature")[n > 3], created_at_epoch=NOON + n * DAY)
        for n in range(6)
    ]
    await fill(store, make_batch(rows, prompts=[prompt_row("zebra", created_at_epoch=NOON)]))
    for text in ("", "zebra"):
        facets = await engine.facets(SearchQuery(text=text), most_buckets=10)
        assert all(sum(bucket.types.values()) == bucket.count for bucket in facets.buckets)
    first = facets.buckets[0]
    assert (first.types, first.end_epoch_ms - first.start_epoch_ms) == ({"bugfix": 1, "prompt": 1}, DAY)
    many = [observation_row(f"t{n}", type=f"type-{n}", created_at_epoch=NOON) for n in range(30)]
    await fill(store, make_batch(many, sessions=[]))
    types = (await engine.facets(SearchQuery(), most_buckets=10)).buckets[0].types
    # Of the twelve with a name the features stand elsewhere.
    assert (len(types), types[""]) == (11 + 1, 21)


async def test_a_strip_is_whole_while_the_counts_are_of_all(store: Store) -> None:
    engine = Engine(store, zone=ZoneInfo("Europe/Berlin"))
    change = 1_774_742_400_000  # 2026-03-29 00:00 UTC; an hour later clocks go forward
    rows = [observation_row(f"n{n}", created_at_epoch=change + n * 12 * HOUR) for n in range(-6, 7)]
    await fill(store, make_batch(rows))
    strip = Strip(bucket_ms=DAY, start_epoch_ms=change - DAY, end_epoch_ms=change + DAY)
    facets = await engine.facets(SearchQuery(), most_buckets=10, strip=strip)
    assert [(bucket.end_epoch_ms - bucket.start_epoch_ms) // HOUR for bucket in facets.buckets] == [24, 23, 24]
    assert [bucket.count for bucket in facets.buckets] == [2, 2, 2]
    assert (facets.total, facets.bucket_ms, facets.first_epoch_ms) == (13, DAY, change - 3 * DAY)
    hours = Strip(bucket_ms=HOUR, start_epoch_ms=change - HOUR, end_epoch_ms=change + 2 * HOUR)
    assert [bucket.count for bucket in (await engine.facets(SearchQuery(), most_buckets=3, strip=hours)).buckets] == [
        0, 1, 0, 0
    ]  # fmt: skip
    nothing = await engine.facets(SearchQuery(text="giraffe"), most_buckets=3, strip=Strip(bucket_ms=HOUR))
    assert nothing.buckets == ()
    with pytest.raises(Invalid) as raised:
        await engine.facets(SearchQuery(), most_buckets=3, strip=Strip(bucket_ms=HOUR, start_epoch_ms=0))
    assert raised.value.field == "bucketMs"


async def test_orders_by_tokens(store: Store, engine: Engine) -> None:
    costs = [(4, 200), (400, 0), (40, 400), (40, 100)]
    rows = [
        observation_row("zebra", narrative=f"{n}" * size, discovery_tokens=work, created_at_epoch=NOON + n)
        for n, (size, work) in enumerate(costs)
    ]
    await fill(store, make_batch(rows))
    for text in ("", "zebra"):
        assert await found(engine, text, order=Order.READ_DESC) == ["2", "4", "3", "1"]
        assert await found(engine, text, order=Order.WORK_DESC) == ["3", "1", "4", "2"]
        assert await found(engine, text, order=Order.RATIO_DESC) == ["1", "3", "4", "2"]
        for order in ("read", "work", "ratio"):
            upward, downward = [await found(engine, text, order=Order(f"{order}_{way}")) for way in ("asc", "desc")]
            assert upward == downward[::-1]


async def test_moments_of_any_size_have_facets_and_a_timeline(
    store: Store, engine: Engine, other: sqlite3.Connection
) -> None:
    rows = [observation_row(f"zebra {n}", created_at_epoch=at) for n, at in enumerate((0, 2**62, 2**63 - 1))]
    await fill(store, make_batch(rows))
    other.execute("UPDATE observations SET created_at_epoch = -9223372036854775808 WHERE id = 1")
    await store.write(lambda connection: None)
    for most in (3, 120, 400):
        facets = await engine.facets(SearchQuery(), most_buckets=most)
        assert sum(bucket.count for bucket in facets.buckets) == 3
    assert len((await engine.timeline(TimelineQuery(anchor="2"))).entries) == 3


TIMES: list[Row] = [observation_row(f"o{n}", created_at_epoch=NOON + n * HOUR) for n in range(6)]


@pytest.fixture
async def day(store: Store, engine: Engine) -> Engine:
    """Prompt, observation and summary of one moment; ids that are not in order of time; another project."""
    backwards = [observation_row(f"b{n}", created_at_epoch=NOON + n * HOUR, project="mall") for n in (5, 3, 1)]
    prompts = [prompt_row("why", created_at_epoch=NOON)]
    summaries = [summary_row("done", created_at_epoch=NOON)]
    await fill(store, make_batch([*reversed(TIMES), *backwards], summaries=summaries, prompts=prompts))
    return engine


def timeline_keys(timeline: Any) -> list[str]:
    return [str(entry.key) for entry in timeline.entries]


async def test_timeline_is_in_order_of_time_kind_and_number(day: Engine) -> None:
    found = await day.timeline(TimelineQuery(anchor="S1"))
    assert timeline_keys(found) == ["P1", "6", "S1", "5", "9", "4", "3", "8", "2", "1", "7"]
    assert found.anchor_index == 2


@pytest.mark.parametrize(
    ("anchor", "before", "after", "keys", "at"),
    [
        ("4", 1, 1, ["9", "4", "3"], 1),
        ("#S1", 2, 0, ["P1", "6", "S1"], 2),
        ("P1", 5, 1, ["P1", "6"], 0),
        ("7", 0, 9, ["7"], 0),
        ("2026-03-04T13:30Z", 2, 1, ["5", "9", "4", "3"], 2),
        ("2020-01-01", 3, 1, ["P1", "6"], 0),
        ("2030-01-01", 2, 3, ["1", "7"], 1),
        (str(NOON), 5, 0, ["P1"], 0),
    ],
)
async def test_window_counts_records_of_every_kind(
    day: Engine, anchor: str, before: int, after: int, keys: list[str], at: int
) -> None:
    found = await day.timeline(TimelineQuery(anchor=anchor, depth_before=before, depth_after=after))
    assert (timeline_keys(found), found.anchor_index) == (keys, at)


async def test_timeline_of_a_project(day: Engine) -> None:
    found = await day.timeline(TimelineQuery(anchor="8", project="mall"))
    assert (timeline_keys(found), found.anchor_index) == (["9", "8", "7"], 1)


async def test_timeline_of_a_question_is_around_its_best_hit(day: Engine) -> None:
    found = await day.timeline(TimelineQuery(query="o3", depth_before=1, depth_after=1))
    assert (found.anchor, found.query, timeline_keys(found)) == ("3", "o3", ["4", "3", "8"])


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        (TimelineQuery(anchor="99"), NotFound, "Observation #99 not found"),
        (TimelineQuery(anchor="S99"), NotFound, "Session #99 not found"),
        (TimelineQuery(anchor="999999999999999"), NotFound, "Observation #999999999999999 not found"),
        (TimelineQuery(anchor="soon"), Invalid, "Invalid timestamp: soon"),
        (TimelineQuery(query="zebra"), NotFound, "No observations found"),
        (TimelineQuery(query=",,"), NotFound, "No observations found"),
    ],
)
async def test_anchor_that_is_none(day: Engine, query: TimelineQuery, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        await day.timeline(query)


async def test_many_searches_while_rows_come_in(store: Store, engine: Engine) -> None:
    async def write() -> None:
        for start in range(0, 400, 100):
            rows = [observation_row(f"zebra {n}", created_at_epoch=n) for n in range(start, start + 100)]
            await fill(store, make_batch(rows))

    async def ask() -> None:
        page = await engine.search(SearchQuery(text="zebra", limit=1000))
        assert len(page.hits) == page.total and page.total % 100 == 0

    await asyncio.gather(write(), *(ask() for _ in range(100)))
    assert len(await found(engine, "zebra")) == 400


async def test_every_question_is_told_to_what_makes_way_for_it(store: Store) -> None:
    asked: list[int] = []
    engine = Engine(store, asked=lambda: asked.append(1))
    await fill(store, make_batch([observation_row("zebra")]))
    await engine.search(SearchQuery(text="zebra", mode=Mode.KEYWORD))
    await engine.facets(SearchQuery(), most_buckets=3)
    await engine.timeline(TimelineQuery(anchor="1"))
    assert len(asked) == 3
