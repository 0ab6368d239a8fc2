"""The query language on real rows: what a line finds, and what is said of how it was read."""

import json
import unicodedata
from typing import Any

import pytest

from tests.factories import DAY, NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.parts.conftest import fill
from worker.contract.errors import Invalid
from worker.contract.search import SearchQuery
from worker.contract.when import parse_range
from worker.search.engine import Engine
from worker.store.aliases import merge
from worker.store.tables import Store


@pytest.fixture
async def memory(store: Store) -> Engine:
    await fill(
        store,
        make_batch(
            sessions=[session_row("1"), session_row("2", project="farm", memory_session_id="f00d-2")],
            observations=[
                observation_row("Session lock times out", type="bugfix", concepts='["gotcha"]', created_at_epoch=NOON),
                observation_row("Lock the session store", type="decision", created_at_epoch=NOON - DAY),
                observation_row(
                    "Deadlock in the token cache",
                    memory_session_id="f00d-2",
                    project="farm",
                    type="bugfix",
                    files_modified='["src/Cache/token.py"]',
                    created_at_epoch=NOON - 9 * DAY,
                ),
            ],
            summaries=[summary_row(memory_session_id="f00d-2", project="farm", request="Cache work")],
            prompts=[prompt_row(content_session_id="c-1", prompt_text="why does the lock time out?")],
        ),
    )
    # "Now" is the day after the newest row, so that `yesterday` is its day.
    return Engine(store, now=lambda: (NOON + DAY) / 1000)


async def titles(engine: Engine, line: str, **over: Any) -> set[str]:
    page = await engine.search(SearchQuery(text=line, **over))
    facets = await engine.facets(SearchQuery(text=line, **over), most_buckets=60)
    assert facets.total == page.total == len(page.hits)
    return {hit.title for hit in page.hits}


LOCK, STORE, DEADLOCK = "Session lock times out", "Lock the session store", "Deadlock in the token cache"
SUMMARY, PROMPT = "Cache work", "why does the lock time out?"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('"session lock"', {LOCK}),
        ("session lock", {LOCK, STORE, PROMPT}),
        ("lock -store", {LOCK, PROMPT}),
        ('lock -"session lock"', {STORE, PROMPT}),
        ("-lock", {DEADLOCK, SUMMARY}),
        ("type:bugfix", {LOCK, DEADLOCK}),
        ("type:bugfix,decision lock", {LOCK, STORE}),
        ("project:FARM", {DEADLOCK, SUMMARY}),
        ("concept:gotcha", {LOCK}),
        ("concept:GotCha,nothing", {LOCK}),
        ("file:cache/token", {DEADLOCK}),
        ("session:f00d", {DEADLOCK, SUMMARY}),
        ("session:S1", {DEADLOCK, SUMMARY}),
        ("is:prompt", {PROMPT}),
        ("is:summary,prompt cache lock", {SUMMARY, PROMPT}),
        ("since:3d type:bugfix", {LOCK}),
        ("at:yesterday is:observation", {LOCK}),
        ("until:last week is:observation", {DEADLOCK}),
        # R005: not a filter, so it is looked for.
        ("title:lock", {LOCK, STORE, PROMPT}),
    ],
)
async def test_a_line_finds_what_it_says(memory: Engine, line: str, expected: set[str]) -> None:
    assert await titles(memory, line) == expected


async def test_a_concept_is_meant_in_any_letter_case(store: Store) -> None:
    spelled = ("how-it-works", "How-It-Works", "HOW-IT-WORKS", "gotcha", "how")
    rows = [observation_row(concept, concepts=f'["{concept}","other"]') for concept in spelled]
    await fill(store, make_batch(rows))
    engine = Engine(store)
    assert await titles(engine, "concept:How-it-works") == set(spelled[:3])
    assert await titles(engine, "", concepts=("how-it-works", "GOTCHA")) == set(spelled[:4])
    assert await titles(engine, "concept:Other") == set(spelled)


@pytest.mark.parametrize("name", ["Проект", "Ökosystem", "ÉCOLE", "ＳＨＯＰ", "İş", "Eé[*]?^-x]", "Shop"])
async def test_a_project_is_meant_in_any_letter_case_of_any_script(store: Store, name: str) -> None:
    named = [name, f"{name}/Tree", unicodedata.normalize("NFC" if "İ" in name else "NFD", name) + "2", "other"]
    rows = [observation_row(each, project=each, memory_session_id=f"m-{each}") for each in named]
    await fill(store, make_batch(rows, sessions=[session_row(each, project=each) for each in named]))
    await store.write(lambda connection: merge(connection, "other", name))
    engine = Engine(store)
    for said in dict.fromkeys((name, name.lower(), name.upper(), name.swapcase())):
        if len(said) == len(name) or said == name.lower():
            assert await titles(engine, f'project:"{said}"') == {name, "other"}
            assert await titles(engine, f'project:"{said}/*"') == {name, "other", named[1]}
            assert await titles(engine, f'project:"{said}2",nothing') == {named[2]}
    assert await titles(engine, "project:nothing") == set()


@pytest.mark.parametrize("path", ["docs/Übersicht.md", "docs/U\u0308bersicht.md"])
async def test_a_file_is_meant_in_any_letter_case_of_any_script(store: Store, path: str) -> None:
    rows = [
        observation_row("it", files_read=json.dumps([path])),
        observation_row("not", files_read='["docs/bersicht.md"]'),
    ]
    await fill(
        store,
        make_batch(rows, summaries=[summary_row(request="sum", files_edited=json.dumps([path], ensure_ascii=False))]),
    )
    engine = Engine(store)
    for said in ("übersicht", "ÜBERSICHT.MD", "u\u0308bersicht", "s/Übersicht"):
        assert await titles(engine, f"file:{said}") == {"it", "sum"}
        assert await titles(engine, "", files=("nothing", said)) == {"it", "sum"}
    assert await titles(engine, "file:übersicht*.md") == set()
    assert await titles(engine, "file:" + "ü" * 4_990) == set()


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (" ".join(f"word{number}" for number in range(71)), "of the 71 words: the first 64 were read"),
        (" ".join(f"-word{number}" for number in range(17)), "of the 17 words and phrases to leave out: the first 16"),
        (" ".join(f'"word{number}"' for number in range(18)), "of the 18 phrases: the first 16"),
    ],
)
async def test_what_is_more_than_is_looked_for_is_told(memory: Engine, line: str, note: str) -> None:
    page = await memory.search(SearchQuery(text=line))
    assert page.notes[0].startswith(note)
    fewer = await memory.search(SearchQuery(text=" ".join(line.split()[:16])))
    assert not any("the first" in said for said in fewer.notes)


async def test_concepts_are_counted_when_they_are_asked_for(memory: Engine) -> None:
    counted = await memory.facets(SearchQuery(text="lock"), most_buckets=10, with_concepts=True)
    assert [(count.value, count.count) for count in counted.concepts] == [("gotcha", 1)]
    assert (await memory.facets(SearchQuery(), most_buckets=10)).concepts == ()


async def test_filters_of_the_line_and_of_the_caller_both_hold(memory: Engine) -> None:
    assert await titles(memory, "type:bugfix", project="farm") == {DEADLOCK}
    assert await titles(memory, "type:bugfix", types=("decision",)) == set()


async def test_a_phrase_that_stands_nowhere_is_looked_for_by_its_words_and_that_is_said(memory: Engine) -> None:
    assert await titles(memory, '"store deadlock"') == {STORE, DEADLOCK}
    page = await memory.search(SearchQuery(text='"store deadlock"'))
    assert "exact phrase" in page.notes[0]
    assert (await memory.search(SearchQuery(text='"session lock"'))).notes == ()


async def test_a_span_of_time_is_said_with_its_zone(memory: Engine) -> None:
    notes = (await memory.search(SearchQuery(text="since:2026-03-01 lock"))).notes
    assert len(notes) == 1 and notes[0].startswith("since 2026-03-01 00:00 ")
    later, sooner = (parse_range(day) for day in ("2026-03-04", "2026-02-01"))
    assert later is not None and sooner is not None
    for since in later, sooner:
        query = SearchQuery(text="since:2026-03-01 lock", since_epoch_ms=since[0], until_epoch_ms=later[1])
        told = "since 2026-03-04 00:00 until 2026-03-04 23:59" if since is later else "since 2026-03-01 00:00 until"
        assert (await memory.search(query)).notes[0].startswith(told)


async def test_a_filter_that_cannot_be_read_is_text_unless_it_is_still_being_typed(memory: Engine) -> None:
    page = await memory.search(SearchQuery(text="lock since:banana"))
    assert {hit.title for hit in page.hits} == {LOCK, STORE, PROMPT}
    assert page.notes[0].startswith("since: takes a date")
    assert await titles(memory, "lock since:ban", typing=True) == {LOCK, STORE, PROMPT}


async def test_a_question_without_a_word_lists_everything_and_says_so(memory: Engine) -> None:
    """R013."""
    page = await memory.search(SearchQuery(text="!!!"))
    assert page.total == 5 and "no word" in page.notes[0]


async def test_as_many_phrases_as_anybody_pastes_are_answered(memory: Engine) -> None:
    page = await memory.search(SearchQuery(text='"session lock" ' + '"a" "b" "the lock" ' * 2_000))
    assert page.total <= 5


async def test_more_values_than_anybody_means_are_refused_by_name(memory: Engine) -> None:
    with pytest.raises(Invalid) as raised:
        await memory.search(SearchQuery(files=tuple(f"f{number}" for number in range(1_000))))
    assert raised.value.field == "files"


@pytest.mark.parametrize("line", ["...", '"..."', '-"..."', '-lock "…"'])
async def test_that_a_line_has_no_word_to_look_for_is_told(memory: Engine, line: str) -> None:
    (note,) = (await memory.search(SearchQuery(text=line))).notes
    assert note.startswith("there is no word in the question")
    assert (await memory.search(SearchQuery(text=f"{line} cache"))).notes == ()
    assert (await memory.search(SearchQuery(text=line, typing=True))).notes == ()


@pytest.mark.parametrize(
    "line", ['{file:"x",key:"lock"}', "–lock deadlock", "lock [-store] [-time]", '["lock", "x y"]']
)
async def test_code_that_is_pasted_is_looked_for(memory: Engine, line: str) -> None:
    assert LOCK in await titles(memory, line)
