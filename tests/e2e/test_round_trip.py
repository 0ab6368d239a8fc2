"""Export → empty directory → import: the same memory, by real workers and the command line."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.factories import DAY, NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.processes import PATIENCE_S, WorkerProcess, running_worker
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.records import RecordKind
from worker.contract.search import Order, SearchQuery
from worker.contract.transfer import ExportQuery, ImportBatch, RowKind

FIXTURES = Path(__file__).parents[3] / "shared" / "fixtures"
LONG = f"deep sea cable {'x' * 985} " * 10_500
"""Over 10 MB; of few words, which is what indexing takes its time for."""


def memory() -> ImportBatch:
    """Everything that a store must carry: scripts without spaces, emoji, NULLs, control characters, ten megabytes."""
    sessions = [session_row(str(at), project=f"p{at % 3}", custom_title=f"Session {at}") for at in range(12)]
    observations = [
        observation_row(
            title, narrative=text, memory_session_id=f"m-{at % 12}", project=f"p{at % 3}",
            created_at_epoch=NOON + at * DAY, type=("bugfix", "decision", "feature")[at % 3], facts=facts,
            concepts='["gotcha"]' if at % 2 else None, files_read='["src/auth/token.py"]' if at % 4 == 0 else None,
            merged_into_project="mall" if at == 5 else None, subtitle=None if at % 2 else "a subtitle",
        )
        for at, (title, text, facts) in enumerate(
            [
                ("用户身份校验失败", "数据库连接池在高并发下耗尽，导致令牌刷新超时。", '["连接池", "超时"]'),
                ("トークン更新の不具合", "キャッシュ無効化の処理漏れを修正した。", "[]"),
                ("데이터베이스 연결 오류", "연결 풀을 다시 만들었다.", None),
                ("🚀 Rollout of the token cache 🔥", "emoji 👩‍💻 in text", '["🧪"]'),
                ("Null everywhere", None, None),
                ("Control \x00 \x1b[31m \x7f \x9b characters", "tabs\tand\r\nbreaks \u2028\u2029", '["\\u0000"]'),
                ("The long one", LONG, "[]"),
                ("getUserById fails in src/worker/app.py", "v3.12.1 of content_session_id", '["AND OR NOT"]'),
                ('Quotes " and \\ backslashes', "percent % under _ score", "[]"),
                *((f"Token refresh race {at}", f"expired token number {at} in the cache", "[]") for at in range(40)),
            ]
        )
    ]  # fmt: skip
    summaries = [
        summary_row(f"Fix token expiry {at}", memory_session_id=f"m-{at}", project=f"p{at % 3}", learned="缓存失效",
                    created_at_epoch=NOON + at * DAY + 7, notes=None if at % 2 else "notes")
        for at in range(6)
    ]  # fmt: skip
    prompts = [
        prompt_row(f"why does token {at} still work? 😀", content_session_id=f"c-{at}", created_at_epoch=NOON + at)
        for at in range(12)
    ]
    return make_batch(observations, sessions=sessions, summaries=summaries, prompts=prompts)


QUESTIONS = [
    *(
        SearchQuery(text=text, limit=100)
        for text in (
            "token", "token refresh race", "身份校验", "连接池 超时", "キャッシュ", "연결", "🚀", "👩‍💻",
            "deep sea cable", "getUserById", "src/worker/app.py", "v3.12.1", "content_session_id", "control characters",
            "expired number 7", "Null everywhere", "still work", "缓存失效", "AND OR NOT", "percent score",
            "nothing of this kind xyzzy",
        )
    ),
    SearchQuery(limit=100),
    SearchQuery(text="token", project="p1", limit=100),
    SearchQuery(project="mall", limit=100),
    SearchQuery(text="token", kinds=(RecordKind.PROMPT, RecordKind.SUMMARY), order=Order.DATE_ASC, limit=100),
    SearchQuery(types=("decision",), concepts=("gotcha",), limit=100),
    SearchQuery(files=("token.py",), since_epoch_ms=NOON + DAY, limit=100),
]  # fmt: skip


def command(worker: WorkerProcess, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments(*words), env=environ(worker), capture_output=True, encoding="utf-8", timeout=60)


def arguments(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-P", "-W", "error", "-m", "worker.cli.main", *words)


def environ(worker: WorkerProcess) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE_MEM_")}
    return kept | {
        "HOME": str(worker.data_dir.parent),
        "CLAUDE_MEM_DATA_DIR": str(worker.data_dir),
        "CLAUDE_MEM_WORKER_PORT": str(worker.port),
    }


def answers(worker: WorkerProcess) -> list[list[tuple[str, str, int]]]:
    pages = (worker.quick.send(calls.search(query)) for query in QUESTIONS)
    return [[(hit.title, hit.project, hit.created_at_epoch) for hit in page.hits] for page in pages]


def added(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["left_out"] == []
    return {kind: facts[kind]["added"] for kind in ("sessions", "prompts", "observations", "summaries")}


def content(worker: WorkerProcess, *besides: str) -> list[list[tuple[object, ...]]]:
    """All that the four tables hold but for ids and some columns, straight from the file."""
    connection = sqlite3.connect(f"file:{worker.data_dir / 'claude-mem.db'}?mode=ro", uri=True)
    found = []
    for table in ("sdk_sessions", "user_prompts", "observations", "session_summaries"):
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        names = [name for name in names if name not in ("id", "session_db_id", *besides)]
        found.append(connection.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY id").fetchall())
    connection.close()
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("source") / "memory") as worker:
        worker.quick.send(calls.import_batch(memory()))
        yield worker


@pytest.mark.parametrize("name", ["export.json", "export.jsonl", "claude-mem.db"])
def test_the_same_memory_somewhere_else(source: WorkerProcess, tmp_path: Path, name: str) -> None:
    """R234, R236: the same answers in the same order, the same rows; a second import adds nothing."""
    file = str(source.data_dir / name) if name.endswith(".db") else str(tmp_path / name)
    if not name.endswith(".db"):
        assert command(source, "export", file).returncode == 0
    with running_worker(tmp_path / "memory") as target:
        counts = added(command(target, "import", file, "--json"))
        assert counts == {"sessions": 12, "prompts": 12, "observations": 49, "summaries": 6}
        found, wanted = answers(target), answers(source)
        assert found == wanted
        assert sum(bool(page) for page in wanted) == len(QUESTIONS) - 1
        assert content(target) == content(source)
        assert set(added(command(target, "import", file, "--json")).values()) == {0}


def test_markdown_tells_the_same_by_project_and_day(source: WorkerProcess, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    assert command(source, "export", str(folder), "--format", "markdown", "--until", "2026-04-30").returncode == 0
    text = "".join(file.read_text("utf-8") for file in folder.rglob("*.md"))
    assert {file.name for file in folder.iterdir()} == {"p0", "p1", "p2"}
    modes = {place: place.stat().st_mode & 0o777 for place in (folder, *folder.rglob("*"))}
    assert {mode for place, mode in modes.items() if place.is_dir()} == {0o700}
    assert {mode for place, mode in modes.items() if place.is_file()} == {0o600}
    assert all(title in text for title in ("用户身份校验失败", "🚀 Rollout", "Null everywhere", "Fix token expiry 3"))
    assert "\x1b" not in text and "\x00" not in text
    assert len(text) > len(LONG)


@pytest.mark.parametrize("name", ["upstream-13.25.3-1k.db", "upstream-13.25.3-live.db"])
def test_the_original_s_databases(tmp_path: Path, name: str) -> None:
    """R234: none of the thousand observations of one of them has a hash."""
    file = FIXTURES / name
    if not file.exists():
        pytest.skip("the original's databases are not beside this checkout")
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    tables = {
        "sessions": "sdk_sessions", "prompts": "user_prompts", "observations": "observations",
        "summaries": "session_summaries",
    }  # fmt: skip
    held = {kind: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for kind, table in tables.items()}
    connection.close()
    with running_worker(tmp_path / "memory") as target:
        assert added(command(target, "import", str(file), "--json")) == held
        assert set(added(command(target, "import", str(file), "--json")).values()) == {0}


def test_odd_rows_of_another_database_come_too(tmp_path: Path) -> None:
    """What SQLite keeps in a column of another kind, times before 1970, numbers below 1: all of it comes, once."""
    other = tmp_path / "other"
    with running_worker(other) as first:
        first.quick.send(calls.import_batch(make_batch([observation_row(f"odd {at}") for at in range(4)])))
        first.stop()
    connection = sqlite3.connect(other / "claude-mem.db")
    with connection:
        connection.execute("UPDATE observations SET created_at_epoch = -86400000 WHERE title = 'odd 0'")
        connection.execute("UPDATE observations SET created_at_epoch = '2026-03-04T12:00:00Z' WHERE title = 'odd 1'")
        connection.execute(
            "UPDATE observations SET created_at_epoch = 'soon', created_at = 'soon' WHERE title = 'odd 2'"
        )
        connection.execute("UPDATE observations SET id = -7, prompt_number = 'many' WHERE title = 'odd 3'")
        connection.execute("UPDATE observations SET narrative = x'fffe41' WHERE title = 'odd 0'")
    connection.close()
    with running_worker(tmp_path / "memory") as target:
        for count in (4, 0):
            done = command(target, "import", str(other / "claude-mem.db"), "--json")
            assert added(done)["observations"] == count
            mended = {one["row"]: (one["place"], one["problem"]) for one in json.loads(done.stdout)["mended"]}
            assert list(mended) == [
                "observations[1]", "observations[0].prompt_number", "observations[3].created_at_epoch",
            ]  # fmt: skip
            assert mended["observations[1]"][0] == "id 1 of observations"
            assert mended["observations[0].prompt_number"][0] == "id -7 of observations"
            assert mended["observations[3].created_at_epoch"][1].endswith("not 'soon'; it became '0'")
        found = target.quick.send(calls.search_rows(SearchQuery(text="odd"))).observations
        assert {(row.title, row.created_at_epoch) for row in found} == {
            ("odd 0", -86_400_000), ("odd 1", NOON), ("odd 2", 0), ("odd 3", NOON)
        }  # fmt: skip


def test_rows_that_are_hardly_told_apart_and_ids_below_one_come_too(tmp_path: Path) -> None:
    """R236: equal ones too, and those far apart; each once, also into the memory that they are of."""
    many = [observation_row(f"row {at}", created_at_epoch=at) for at in range(300)]
    with running_worker(tmp_path / "source") as first:
        first.quick.send(calls.import_batch(make_batch(many, summaries=[summary_row()], prompts=[prompt_row()])))
        first.stop()
    connection = sqlite3.connect(tmp_path / "source" / "claude-mem.db")
    with connection:
        connection.execute("UPDATE observations SET content_hash = NULL")
        for table, changed, value in (
            ("observations", "type", "'decision'"), ("observations", "id", "1000"), ("observations", "id", "-5"),
            ("observations", "metadata", "'{}'"),
            ("session_summaries", "files_edited", """'["a"]'"""), ("user_prompts", "id", "0"),
            ("sdk_sessions", "content_session_id", "'c-0'"),
        ):  # fmt: skip
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "id"]
            put = {name: name for name in names} | {changed: value}
            put |= {"memory_session_id": "NULL", "id": "-1"} if table == "sdk_sessions" else {}
            connection.execute(
                f"INSERT INTO {table} ({', '.join(put)}) SELECT {', '.join(put.values())} FROM {table} "
                "ORDER BY id > 0 DESC, id LIMIT 1"
            )
    connection.close()
    held = {"sessions": 2, "prompts": 2, "observations": 304, "summaries": 2}
    with running_worker(tmp_path / "source") as source:
        files = [str(tmp_path / name) for name in ("export.json", "export.jsonl")]
        for file in files:
            assert command(source, "export", file).returncode == 0
        text = command(source, "export", "-", "--format", "markdown").stdout
        assert text.count(" row 0 (") == 5
        page = source.quick.send(calls.export(ExportQuery(kind=RowKind.OBSERVATION)))
        taken = ImportBatch(observations=tuple(map(msgspec.json.decode, page.rows)))
        assert len(taken.observations) == 304
        for file in files:
            assert set(added(command(source, "import", file, "--json")).values()) == {0}
        for at, file in enumerate((*files, str(tmp_path / "source" / "claude-mem.db"))):
            with running_worker(tmp_path / f"target {at}") as target:
                assert added(command(target, "import", file, "--json")) == held
                assert content(target, "content_hash") == content(source, "content_hash")
                assert set(added(command(target, "import", file, "--json")).values()) == {0}
                assert target.quick.send(calls.import_batch(taken)).stats.observationsImported == 0
        with running_worker(tmp_path / "by hand") as target:
            for count in (304, 0):
                assert target.quick.send(calls.import_batch(taken)).stats.observationsImported == count


def test_others_are_answered_while_a_large_import_runs(tmp_path: Path) -> None:
    """Nobody waits longer than for one batch: of 16 batches, at least as many searches and saves are answered.

    R080: and the write-ahead log stays small.
    """
    with running_worker(tmp_path / "memory") as worker:
        for turn in range(4):  # where this process is kept from running, the import is over before it has asked
            rows = [
                observation_row(f"row {turn} {at} token", narrative="words " * 100, created_at_epoch=at)
                for at in range(4000)
            ]
            file = tmp_path / "large.json"
            file.write_text(json.dumps({"sessions": [session_row()], "observations": rows}))
            first = worker.quick.send(calls.stats()).database.observations
            importing = subprocess.Popen(
                arguments("import", str(file)), env=environ(worker), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            answered, number = 0, 0
            while importing.poll() is None:
                number += 1
                before = worker.quick.send(calls.stats()).database.observations - first
                worker.quick.send(calls.search(SearchQuery(text="token")))
                worker.quick.send(calls.save(Save(text=f"said meanwhile {turn} {number}", project="shop")))
                imported = worker.quick.send(calls.stats()).database.observations - first - number
                answered += 2 if before and imported < len(rows) else 0
            importing.communicate(timeout=PATIENCE_S)
            assert importing.returncode == 0
            assert worker.quick.send(calls.stats()).database.observations == first + len(rows) + number
            if answered >= 16:
                break
        assert answered >= 16
        assert (worker.data_dir / "claude-mem.db-wal").stat().st_size < 64 * 2**20
