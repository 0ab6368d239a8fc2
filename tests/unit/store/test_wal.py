"""The write-ahead log of a database that is reached over a link."""

import sqlite3
from contextlib import closing
from pathlib import Path

from worker.store.wal import wal_bytes, wal_file


def test_it_lies_beside_the_file_and_not_beside_a_link_to_it(tmp_path: Path) -> None:
    file, link = tmp_path / "there" / "claude-mem.db", tmp_path / "here" / "claude-mem.db"
    for path in (file, link):
        path.parent.mkdir()
    link.symlink_to(file)
    assert wal_bytes(link) == wal_bytes(tmp_path / "none.db") == 0
    with closing(sqlite3.connect(link)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (a)")
        connection.commit()
        assert wal_file(link) == wal_file(file) and wal_file(file).is_file()
        assert wal_bytes(link) == wal_file(file).stat().st_size > 0
