"""Readers of files from elsewhere: what each kind of file gives, and what is said of one that gives nothing."""

import contextlib
import functools
import json
import os
import sqlite3
from pathlib import Path
from typing import Any, cast

import pytest

from tests.factories import observation_row, prompt_row, session_row, summary_row
from worker.cli.importers import database, table
from worker.cli.importers.source import LeftOut, Row
from worker.contract.errors import Busy, Invalid
from worker.contract.transfer import SHARED, RowKind

BATCH = {
    "sessions": [session_row()],
    "summaries": [summary_row()],
    "observations": [observation_row("用户 😀"), observation_row("second")],
    "prompts": [prompt_row()],
}
ORDER = ["sessions[0]", "prompts[0]", "observations[0]", "observations[1]", "summaries[0]"]


def put(folder: Path, content: bytes | str | object, name: str = "file") -> Path:
    path = folder / name
    text = content if isinstance(content, bytes | str) else json.dumps(content, ensure_ascii=False)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(rows: list[tuple[str, Any]]) -> str:
    return "".join(json.dumps({"k": kind, "v": value}) + "\n" for kind, value in rows)


def read(path: Path) -> tuple[list[Row], list[LeftOut]]:
    with table.opened(path) as source:
        found = list(source.rows())
        done = [row.done for row in found if isinstance(row, Row)]
        assert done == sorted(done) and (not done or done[-1] <= source.total)
    return [row for row in found if isinstance(row, Row)], [row for row in found if isinstance(row, LeftOut)]


@pytest.mark.parametrize(
    "document",
    [
        BATCH,
        {"exportedAt": "2026-03-04T12:00:00.000Z", "query": "", "totalObservations": 2, **BATCH, "more": [1]},
        {**BATCH, "sessions": BATCH["sessions"], "extra": None},
    ],
)
@pytest.mark.parametrize("before", ["", "\ufeff", "  \n"])
def test_an_export_and_a_bare_batch_give_sessions_first(tmp_path: Path, document: object, before: str) -> None:
    rows, bad = read(put(tmp_path, before + json.dumps(document)))
    assert ([row.name for row in rows], bad) == (ORDER, [])
    assert rows[2].value["title"] == "用户 😀"


def test_json_lines_come_as_they_stand(tmp_path: Path) -> None:
    given = [("session", session_row()), ("observation", observation_row("a\u2028b")), ("prompt", prompt_row())]
    rows, bad = read(put(tmp_path, "\ufeff" + lines(given) + "\n\n"))
    assert [(row.kind.value, row.value) for row in rows] == given and bad == []
    assert [row.mark for row in rows] == [1, 2, 3]


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    good = lines([("session", session_row())])
    broken = '{"k": "observation", "v": 5}\n{"k": "thing", "v": {}}\nno\n[1]\n{"k":"prompt","v":{"a":'
    rows, bad = read(put(tmp_path, good + broken))
    assert len(rows) == 1
    assert [item.place for item in bad] == ["line 2", "line 3", "line 4", "line 5", "line 6"]


@pytest.mark.parametrize("half", ["\\ud83d", "\\uDE00"])
@pytest.mark.parametrize("form", ["document", "lines"])
def test_half_a_surrogate_pair_is_replaced_as_javascript_writes_it(tmp_path: Path, half: str, form: str) -> None:
    r"""And nothing else that looks like one: whole pairs, and a backslash before `ud83d`."""
    text = f'{{"title": "x{half}", "subtitle": "\\ud83d\\ude00", "narrative": "\\\\ud83d"}}'
    whole = f'{{"observations": [{text}]}}' if form == "document" else f'{{"k": "observation", "v": {text}}}'
    ((row,), bad) = read(put(tmp_path, whole))
    assert bad == []
    assert row.value == {"title": "x\ufffd", "subtitle": "😀", "narrative": "\\ud83d"}


def test_bytes_that_are_no_utf8_are_replaced(tmp_path: Path) -> None:
    ((row,), bad) = read(put(tmp_path, b'{"observations": [{"title": "a\xff"}]}'))
    assert (row.value["title"], bad) == ("a\ufffd", [])


def test_a_row_that_is_no_object_is_named_with_its_line(tmp_path: Path) -> None:
    rows, bad = read(put(tmp_path, '{"observations": [\n{"title": "a"},\n17,\n{"title": "b"}]}'))
    assert [row.name for row in rows] == ["observations[0]", "observations[2]"]
    assert [(item.name, item.place) for item in bad] == [("observations[1]", "line 3")]


def test_a_row_is_found_in_its_file(tmp_path: Path) -> None:
    with table.opened(put(tmp_path, json.dumps(BATCH, indent=1))) as source:
        rows = [row for row in source.rows() if isinstance(row, Row)]
        lines_ = json.dumps(BATCH, indent=1).splitlines()
        place = int(source.place(rows[3]).removeprefix("line "))
    assert "second" in "".join(lines_[place - 1 : place + 6])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"\x1f\x8b\x08", "packed"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
        (b"hello", "neither"),
        (b"[1, 2]", "neither"),
        (b'{"rows": []}', "no export of claude-mem"),
        (b'{"observations": 5}', "Expected `array"),
        (b'{"observations": [{"a": 1}', "ends in the middle"),
        (b'{"observations": [\n{"a" 1}]}', "line 2"),
        (b"SQLite format 3\0" + b"x" * 100, "damaged or no database"),
    ],
)
def test_a_file_that_is_nothing_of_ours_is_told_in_a_sentence(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(Invalid, match=why), table.opened(put(tmp_path, content)):
        pass


@pytest.mark.parametrize("name", [".", "missing"])
def test_a_path_that_is_no_file_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid, match="not a file|cannot be read"), table.opened(tmp_path / name):
        pass


FIRST = """
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT, project TEXT,
        user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, status TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT NOT NULL, type TEXT,
        created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, claude_session_id TEXT, prompt_number INTEGER, prompt_text TEXT,
        created_at TEXT, created_at_epoch INTEGER);
    INSERT INTO sdk_sessions VALUES (7, 'c', 'm', 'attic', 'why?', '', 1, 'completed');
    INSERT INTO observations VALUES (3, 'm', 'attic', 'all there was', 'change', '', 2);
    INSERT INTO observations VALUES (9, 'm', 'attic', x'61ff62', 'change', '', 3);
    INSERT INTO user_prompts VALUES (1, 'c', 1, 'why?', '', 1);
"""
"""A database of the first generation: old names of ids, no titles, no platform, no summaries."""


def made(path: Path, script: str) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


def test_a_database_of_the_first_generation(tmp_path: Path) -> None:
    rows, _ = read(made(tmp_path / "old.db", FIRST))
    assert [(row.name, row.mark) for row in rows] == [
        ("sessions[0]", 7), ("prompts[0]", 1), ("observations[0]", 3), ("observations[1]", 9),
    ]  # fmt: skip
    assert rows[0].value["content_session_id"] == "c" and rows[0].value["memory_session_id"] == "m"
    assert rows[1].value["project"] == "attic" and rows[1].value["content_session_id"] == "c"
    assert [row.value["text"] for row in rows[2:]] == ["all there was", "a\ufffdb"]
    assert all(row.value["memory_session_id"] == "m" for row in rows[2:])


def test_a_database_of_ours_tells_where_costs_are_parts(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ours.db") as connection:
        connection.execute("CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT)")
        connection.execute("INSERT INTO sdk_sessions VALUES (1, 'c-1'), (2, 'c-2')")
        connection.execute("CREATE TABLE py_spend (day TEXT, session_db_id INTEGER)")
        connection.execute("INSERT INTO py_spend VALUES ('2026-03-04', 2), ('2026-03-05', 2)")
    connection.close()
    found, _ = read(tmp_path / "ours.db")
    assert [(row.value["content_session_id"], row.value[SHARED]) for row in found] == [("c-1", None), ("c-2", 1)]


def test_a_database_without_our_tables_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "other.db", "CREATE TABLE songs (id INTEGER)")
    with pytest.raises(Invalid, match="no claude-mem database"), table.opened(path):
        pass


def test_a_database_is_read_while_another_program_writes_it(tmp_path: Path) -> None:
    """And keeps nothing of it open between two pages: its log can be folded in."""
    path = made(tmp_path / "live.db", FIRST)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    rows = ((number, "m", "p", "x" * 5000, "change", "", number) for number in range(100, 1300))
    writer.executemany("INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    with table.opened(path) as source:
        found = source.rows()
        first = next(found)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO observations VALUES (5000, 'new', 'p', '', 'change', '', 1)")
        writer.execute("COMMIT")
        rest = list(found)
        assert writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    writer.close()
    assert isinstance(first, Row) and first.kind is RowKind.SESSION
    observations = [row for row in rest if isinstance(row, Row) and row.kind is RowKind.OBSERVATION]
    assert len(observations) == 1202  # not the one that was written meanwhile, whose session was not read


def test_a_database_that_is_held_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "held.db", FIRST)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, timeout=0.01))
    with pytest.raises(Busy), table.opened(path):
        pass
    holder.close()


@pytest.fixture
def unwritable(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite as it is in a folder where it may make no file; permissions do not stop a test that runs as root."""
    connect = sqlite3.connect

    def refusing(target: str, **given: Any) -> sqlite3.Connection:
        if "mode=ro" in str(target):
            raise sqlite3.OperationalError("unable to open database file")
        return cast(sqlite3.Connection, connect(target, **given))

    monkeypatch.setattr(sqlite3, "connect", refusing)


def test_a_database_in_a_folder_that_is_read_only(tmp_path: Path, unwritable: None) -> None:
    path = made(tmp_path / "old.db", FIRST)
    os.chmod(path, 0o400)
    assert len(read(path)[0]) == 4


def test_a_log_that_cannot_be_read_is_not_passed_over(tmp_path: Path, unwritable: None) -> None:
    path = made(tmp_path / "old.db", FIRST)
    (tmp_path / "old.db-wal").write_bytes(b"x" * 4096)
    with pytest.raises(Invalid, match="old.db-wal"):
        database.open_source(path)


def test_the_log_belongs_to_the_file_and_not_to_a_link(tmp_path: Path, unwritable: None) -> None:
    (tmp_path / "real").mkdir()
    path = made(tmp_path / "real" / "c.db", FIRST)
    (tmp_path / "real" / "c.db-wal").write_bytes(b"x" * 4096)
    (tmp_path / "link.db").symlink_to(path)
    with pytest.raises(Invalid, match="c.db-wal"):
        database.open_source(tmp_path / "link.db")


@pytest.mark.parametrize("writable", [True, False])
def test_nothing_is_left_beside_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool) -> None:
    path = made(tmp_path / "old.db", FIRST)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    before = path.read_bytes(), path.stat().st_mtime_ns
    monkeypatch.setattr(os, "access", lambda *_: writable)  # permissions do not stop a test that runs as root
    assert len(read(path)[0]) == 4
    assert list(tmp_path.iterdir()) == [path] and (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_what_another_program_has_beside_a_database_stays(tmp_path: Path) -> None:
    path = made(tmp_path / "old.db", FIRST)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    with table.opened(path) as source:
        writer.execute("DELETE FROM observations")
        list(source.rows())
    assert {file.name for file in tmp_path.iterdir()} == {"old.db", "old.db-wal", "old.db-shm"}
    assert (tmp_path / "old.db-wal").stat().st_size
    writer.close()
