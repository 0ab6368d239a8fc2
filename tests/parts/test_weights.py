"""Weights added up word by word are those of FTS5, whatever was remembered before; what is remembered is bounded."""

import random
from array import array
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.factories import MINUTE, NOON, make_batch, observation_row, prompt_row, session_row
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Order, SearchQuery
from worker.store import candidates, filters, listing, weights
from worker.store.database import Database, plain_connection
from worker.store.imports import import_batch
from worker.store.memo import again, remembered
from worker.store.ranking import Weighed
from worker.store.search_index import drain, install
from worker.store.tables import Connection
from worker.store.weights import Known, Word

_TEXT = "cache caching token session index queue buffer router parser worker schema lock socket"
WORDS = _TEXT.split()
QUERIES = [
    SearchQuery(),
    SearchQuery(project="shop"),
    SearchQuery(project="observer-sessions"),
    SearchQuery(kinds=(RecordKind.PROMPT,)),
    SearchQuery(since_epoch_ms=NOON + 150 * MINUTE),
    SearchQuery(project="nowhere"),
]
Found = tuple[dict[RecordKind, int], list[tuple[RecordKey, float]]]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "claude-mem.db")
    random_ = random.Random(5)

    def text(length: int) -> str:
        return " ".join(WORDS[int(len(WORDS) * random_.random() ** 2)] for _ in range(length))

    rows = [
        observation_row(
            text(random_.randrange(1, 4)),
            narrative=text(random_.randrange(12)),
            facts=[text(2)],
            project="observer-sessions" if number % 40 == 7 else "shop" if number % 3 else "bar",
            created_at_epoch=NOON + number * MINUTE,
        )
        for number in range(300)
    ]
    prompts = [prompt_row(text(4), created_at_epoch=NOON + number) for number in range(60)]

    def fill(connection: Connection) -> None:
        install(connection)
        import_batch(connection, make_batch(sessions=[session_row()], observations=rows, prompts=prompts))
        drain(connection)

    database.write_now(fill)
    yield database
    database.close()


def asked(random_: random.Random) -> str:
    """Words, some of them unfinished, some two next to each other."""
    words = random_.sample(WORDS, random_.randrange(1, 6))
    forms = [random_.choice([f'"{word}"', f'"{word} {random_.choice(WORDS)}"', f'"{word[:3]}"*']) for word in words]
    return " OR ".join(dict.fromkeys(forms))


def found(match: str, query: SearchQuery, connection: Connection) -> Found:
    """The counts, and a page."""
    where = filters.condition(query)
    counts = listing.count(connection, match, where, ranked=True)
    page = listing.search(connection, match, where, order=Order.RELEVANCE, limit=20, offset=3)
    return counts, [(each.key, round(each.score, 9)) for each in page]


def anew(database: Database, match: str, query: SearchQuery) -> Found:
    """The same with nothing remembered."""
    with closing(plain_connection(database.path)) as connection:
        return found(match, query, connection)


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_added_up_is_what_fts5_gives(
    database: Database, monkeypatch: pytest.MonkeyPatch, query: SearchQuery
) -> None:
    random_ = random.Random(str(query))
    questions = [asked(random_) for _ in range(40)]
    # Each twice in a row: the first time there is too much to be weighed, the second time it is remembered.
    added = [database.read_now(partial(found, match, query)) for match in questions for _ in range(2)]
    monkeypatch.setattr(weights, "_SMALL", 0)
    assert added == [anew(database, match, query) for match in questions for _ in range(2)]


def test_some_records_weigh_what_fts5_gives(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    random_ = random.Random(7)
    numbers = database.read_now(lambda connection: [row[0] for row in connection.execute("SELECT docid FROM py_docs")])
    some = [*random_.sample(numbers, 60), 2**40, 2]

    def weighed(match: str, connection: Connection) -> dict[int, float]:
        return candidates.weighed_of(connection, match, some)

    questions = [asked(random_) for _ in range(40)]
    added = [database.read_now(partial(weighed, match)) for match in questions for _ in range(3)]
    assert database.read_now(lambda connection: any(listing.known(connection, match) for match in questions))
    monkeypatch.setattr(weights, "_SMALL", 0)
    with closing(plain_connection(database.path)) as connection:
        found = [weighed(match, connection) for match in questions for _ in range(3)]
    assert [each.keys() for each in added] == [each.keys() for each in found] and any(found)
    for one, other in zip(added, found, strict=True):
        assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("number", [-5, 2**24, 2**60])
@pytest.mark.parametrize("small", [0, 3_000])
def test_whatever_numbers_records_have_they_are_found(
    database: Database, monkeypatch: pytest.MonkeyPatch, number: int, small: int
) -> None:
    match, query = " OR ".join(f'"{word}"' for word in WORDS[:6]), SearchQuery()
    monkeypatch.setattr(weights, "_SMALL", small)

    def renumber(connection: Connection) -> None:
        connection.execute("UPDATE observations SET id = ? WHERE id = 5", (number,))
        drain(connection)

    database.write_now(renumber)
    monkeypatch.setattr(listing, "_LONG", 0)
    found_now = database.read_now(partial(found, match, query))
    monkeypatch.setattr(listing, "_LONG", 10**9)
    monkeypatch.setattr(weights, "_SMALL", 0)
    assert found_now == anew(database, match, query)


def test_words_are_weighed_a_few_at_a_time(database: Database) -> None:
    anew: list[str] = []

    def weigh(connection: Connection, word: str, most: int) -> Sequence[Weighed]:
        anew.append(word)
        sql = "SELECT rowid, bm25(py_text) FROM py_text WHERE py_text MATCH ? ORDER BY rowid LIMIT ?"
        return [(row[0], row[1]) for row in connection.execute(sql, (word, most))]

    def weighed(words: Sequence[str], room: int, connection: Connection) -> list[Word] | None:
        return weights.weighed(connection, words, partial(weigh, connection), room)

    several = [f'"{word}"' for word in WORDS[:3]]
    first = database.read_now(partial(weighed, several[:1], 400))
    assert first is not None and anew == several[:1]
    room = len(first[0].weights)
    tries = 0
    while database.read_now(partial(weighed, several, room)) is None:
        tries += 1
    assert 0 < tries <= 3
    assert anew.count(several[0]) == 1
    anew.clear()
    known = database.read_now(partial(weighed, several, 0))
    assert known is not None and anew == [] and known[0] == first[0]


def word(weighed: dict[int, float]) -> Word:
    return Word(weights.records(weighed), array("d", weighed.values()), -min(weighed.values(), default=0.0))


def test_the_best_are_those_of_all_words_in_the_order_of_the_words() -> None:
    random_ = random.Random(3)
    docids = sorted(random_.sample(range(1, 2_000), 400))
    rare = [word({docid: -random_.choice([0.5, 0.75, 3.1, 3.1 + 5e-7]) for docid in docids[at::7]}) for at in range(2)]
    common = [word({docid: -random_.choice([1e-6, 2e-6]) for docid in docids if docid % 5}) for _ in range(2)]
    for words in ([*rare, *common], [common[0], rare[0], common[1], rare[1]], common, rare, rare[:1], []):
        for passing in (None, weights.records(docids[::3]), weights.records([])):
            total: dict[int, float] = {}
            for each in words:
                for docid, weight in zip(each.found.docids, each.weights, strict=True):
                    if passing is None or docid in passing.docids:
                        total[docid] = total.get(docid, 0.0) + weight
            whole = sorted(total.items(), key=lambda item: (item[1], -item[0]))
            for need in (1, 20, 100, 150, 1_000):
                assert Known(words, passing).best(need) == whole[:need]
            for code in range(4):
                assert Known(words, passing).count(code) == sum(docid % 4 == code for docid in total)


def test_entries_are_remembered_up_to_a_bound_and_follow_each_change(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_MOST_ENTRIES", 20)
    keys = [RecordKey(RecordKind.OBSERVATION, number) for number in range(1, 60)]

    def titles(some: Sequence[RecordKey], connection: Connection) -> dict[RecordKey, str]:
        return {key: entry.title for key, entry in listing.entries(connection, some).items()}

    with closing(plain_connection(database.path)) as connection:
        whole = titles(keys, connection)
    assert len(whole) == 59
    for at in (*range(0, 50, 7), 0):
        assert database.read_now(partial(titles, keys[at : at + 9])) == {key: whole[key] for key in keys[at : at + 9]}
        assert 0 < database.read_now(lambda connection: len(remembered(connection, ("entries",), dict))) <= 20
    gone, changed = keys[3], keys[4]

    def edit(connection: Connection) -> None:
        connection.execute("DELETE FROM observations WHERE id = ?", (gone.id,))
        connection.execute("UPDATE observations SET title = 'Another' WHERE id = ?", (changed.id,))
        drain(connection)

    database.write_now(edit)
    assert database.read_now(partial(titles, [gone, changed])) == {changed: "Another"}


def test_a_reader_stays_in_its_state_and_the_next_one_sees_the_change(database: Database) -> None:
    match, query = '"cache" OR "token"', SearchQuery()

    def write(connection: Connection) -> None:
        import_batch(connection, make_batch(observations=[observation_row("cache token", created_at_epoch=NOON - 5)]))
        drain(connection)

    def twice(connection: Connection) -> tuple[Found, Found]:
        before = found(match, query, connection)
        with ThreadPoolExecutor(1) as other:
            other.submit(database.write_now, write).result()
        return before, found(match, query, connection)

    before, after = database.read_now(twice)
    assert before == after
    now = database.read_now(partial(found, match, query))
    assert sum(now[0].values()) == sum(before[0].values()) + 1
    assert anew(database, match, query) == now


def test_what_a_question_asks_twice_is_made_once_and_anew_when_it_gave_up_or_the_index_changed(
    database: Database,
) -> None:
    made: list[str] = []

    def asked(key: str, answer: str | None, connection: Connection) -> str | None:
        def make() -> str | None:
            made.append(key)
            return answer

        return again(connection, (key,), make)

    def change(connection: Connection) -> None:
        import_batch(connection, make_batch(observations=[observation_row("cache", created_at_epoch=NOON - 5)]))
        drain(connection)

    for key, answer in (("one", "1"), ("one", "never made"), ("two", None), ("two", "2"), ("one", "1")):
        found = database.read_now(partial(asked, key, answer))
        assert found == ("1" if key == "one" else answer)
    assert made == ["one", "two", "two", "one"]
    database.write_now(change)
    assert database.read_now(partial(asked, "one", "another")) == "another"


def test_many_readers_beside_a_writer_find_what_one_finds(database: Database) -> None:
    random_ = random.Random(8)
    questions = [asked(random_) for _ in range(12)]

    def write(number: int, connection: Connection) -> None:
        row = observation_row(" ".join(WORDS[:number]), created_at_epoch=NOON - number)
        import_batch(connection, make_batch(observations=[row]))
        drain(connection)

    with ThreadPoolExecutor(4) as readers:
        for number in range(1, 6):
            found_by = [readers.submit(database.read_now, partial(found, match, QUERIES[0])) for match in questions * 3]
            database.write_now(partial(write, number))
            for each in found_by:
                each.result()
        last = [readers.submit(database.read_now, partial(found, match, QUERIES[0])) for match in questions]
        assert [each.result() for each in last] == [anew(database, match, QUERIES[0]) for match in questions]
