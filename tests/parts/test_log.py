"""What the worker writes down, where, and what never."""

import json
import logging
import stat
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.factories import make_batch, observation_row
from tests.parts.conftest import foreign
from tests.parts.test_cli import run
from tests.parts.test_edge import ask
from tests.processes import running_worker
from worker import log
from worker.contract import calls, log_files
from worker.contract.curation import Save
from worker.contract.errors import MemError
from worker.contract.search import SearchQuery

PRIVATE = "quetzalcoatlus"
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()


def record(text: str, *, at: float = NOON, error: BaseException | None = None) -> logging.LogRecord:
    told = None if error is None else (type(error), error, error.__traceback__)
    made = logging.LogRecord("worker.test", logging.ERROR, __file__, 1, text, None, told)
    made.created = at
    return made


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def handler(tmp_path: Path) -> log.DailyFile:
    made = log.DailyFile(tmp_path, most_bytes=300, most_files=4)
    made.setFormatter(log.Discreet())
    return made


def test_over_midnight_it_goes_on_in_the_next_file(tmp_path: Path, handler: log.DailyFile) -> None:
    """R115: and the latest lines are those that are shown."""
    for hour in range(4):
        handler.emit(record(f"hour {hour}", at=NOON + 9 * 3600 + hour * 3600))
    assert names(tmp_path) == ["claude-mem-2026-03-04.log", "claude-mem-2026-03-05.log"]
    shown = log_files.tail(tmp_path, 3, NOON).lines
    assert [line.rpartition("] ")[2] for line in shown] == ["hour 1", "hour 2", "hour 3"]


def test_full_files_make_room_and_the_oldest_go(tmp_path: Path, handler: log.DailyFile) -> None:
    for number in range(200):
        handler.emit(record(f"line {number}", at=NOON + number // 100 * 86400))
    assert len(names(tmp_path)) <= 5
    assert all(file.stat().st_size < 600 for file in tmp_path.iterdir())
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in tmp_path.iterdir())
    kept = [line.rpartition(" ")[2] for line in log_files.tail(tmp_path, 1000, NOON).lines]
    assert kept == [str(number) for number in range(200 - len(kept), 200)] and len(kept) >= 10


def test_files_of_others_stay(tmp_path: Path, handler: log.DailyFile) -> None:
    for name in ("worker-start.log", "claude-mem-notes.log", "claude-mem-2026-03-04.log.bak"):
        (tmp_path / name).write_text("not ours to delete")
    for number in range(200):
        handler.emit(record(f"line {number}"))
    assert {"worker-start.log", "claude-mem-notes.log", "claude-mem-2026-03-04.log.bak"} <= set(names(tmp_path))


def test_what_a_link_leads_to_is_no_log(tmp_path: Path) -> None:
    letter, folder = tmp_path / "letter", tmp_path / "logs"
    letter.write_text("not ours to empty\n")
    folder.mkdir()
    handler = log.DailyFile(folder)
    for file in (log_files.day_file(folder, NOON), log_files.day_file(folder, NOON - 86400)):
        file.symlink_to(letter)
    handler.emit(record("not ours to write to"))
    assert log.clear(folder) == (0, None)
    assert log_files.tail(folder, 10, NOON).lines == ()
    assert letter.read_text() == "not ours to empty\n"


def test_log_that_cannot_be_written_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    handler = log.DailyFile(tmp_path / "gone")
    handler.emit(record("x"))
    assert capsys.readouterr() == ("", "")


def failing() -> BaseException:
    try:
        try:
            raise KeyError(PRIVATE)
        except KeyError as error:
            raise ValueError(f"cannot read {PRIVATE}") from error
    except ValueError as error:
        return error


def test_of_an_exception_only_kind_and_place_are_told() -> None:
    text = log.Discreet().format(record("failed", error=failing()))
    assert PRIVATE not in text
    assert "KeyError" in text and "ValueError" in text and f"{__file__}:" in text and "in failing" in text


def test_what_the_system_said_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        (tmp_path / PRIVATE).read_bytes()
    assert log.kind(raised.value) == "FileNotFoundError (No such file or directory)"


def test_a_message_is_one_line() -> None:
    """Nobody writes lines of their own into the log."""
    text = log.Discreet().format(record("a\n[2026-01-01] [ERROR] forged\r"))
    assert "\n" not in text and "\r" not in text


def test_followed_over_midnight_rotation_and_emptying(tmp_path: Path) -> None:
    """R115."""
    first = tmp_path / "claude-mem-2026-03-04.log"
    first.write_text("before\n")
    following = log_files.follow(tmp_path, first)
    lines = (line for line in following if line)

    def write(name: str, text: str) -> None:
        with (tmp_path / name).open("a") as file:
            file.write(text)

    def later(name: str, text: str) -> None:
        threading.Timer(0.05, write, [name, text]).start()

    later(first.name, "one\ntwo\n")
    assert [next(lines), next(lines)] == ["one", "two"]
    write(first.name, "last\n")
    first.rename(log_files.next_full_name(first))
    write(first.name, "after\n")
    assert [next(lines), next(lines)] == ["last", "after"]
    later("claude-mem-2026-03-05.log", "next day\n")
    assert next(lines) == "next day"
    (tmp_path / "claude-mem-2026-03-05.log").write_text("")
    later("claude-mem-2026-03-05.log", "anew\n")
    assert next(lines) == "anew"
    following.close()


@pytest.fixture
def private_texts(tmp_path: Path) -> Iterator[str]:
    """All that a worker wrote at its most talkative while private text went through it, on every path."""
    data = tmp_path / "data"
    with running_worker(data, environ={"CLAUDE_MEM_LOG_LEVEL": "DEBUG"}) as worker:

        def post(path: str, body: str, **headers: str) -> int:
            return ask(worker, "POST", path, body.encode(), Content_Type="application/json", **headers).status

        worker.quick.send(calls.save(Save(text=f"a {PRIVATE}", title=PRIVATE, project=PRIVATE)))
        worker.quick.send(calls.import_batch(make_batch([observation_row(PRIVATE, narrative=PRIVATE)])))
        worker.quick.send(calls.search(SearchQuery(text=f'"{PRIVATE} AND (', project=PRIVATE)))
        assert post(calls.IMPORT, json.dumps({"observations": [{"title": PRIVATE}]})) == 422
        assert post(calls.SAVE, f'{{"text": "{PRIVATE}') == 422
        assert post(calls.SAVE, "{}", Authorization=f"Bearer {PRIVATE}", X_Api_Key=PRIVATE) == 422
        assert ask(worker, "GET", f"/api/{PRIVATE}?query={PRIVATE}").status == 404
        assert ask(worker, "GET", f"/api/observation/{PRIVATE}").status == 422
        assert ask(worker, "GET", f"/api/search?limit={PRIVATE}").status == 422
        connection = foreign(data / "claude-mem.db")
        connection.execute(f'CREATE UNIQUE INDEX "{PRIVATE}" ON observations(lower(project))')
        with pytest.raises(MemError):
            worker.quick.send(calls.save(Save(text=f"{PRIVATE} again", project=PRIVATE)))
        connection.execute("DROP TABLE py_docs")
        connection.close()
        with pytest.raises(MemError):
            worker.quick.send(calls.search(SearchQuery(text=PRIVATE)))
        worker.stop()
        files = [file.read_text() for file in (data / "logs").iterdir()]
    yield "\n".join([worker.stderr, *files])


def test_private_text_is_never_written_down(private_texts: str) -> None:
    """R150, R154: at no level and on no path of an error."""
    assert "failed" in private_texts and "IntegrityError" in private_texts
    assert private_texts.count(PRIVATE) == 0


def test_logs_without_a_worker(tmp_path: Path) -> None:
    """R115: the newest day's lines, whatever day it is."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    nothing = run(env, "worker", "logs")
    assert (nothing.returncode, nothing.stdout) == (1, "") and "no log" in nothing.stderr
    folder = tmp_path / ".claude-mem" / "logs"
    folder.mkdir(parents=True)
    (folder / "claude-mem-2020-01-01.log").write_text("".join(f"old {n}\n" for n in range(60)))
    (folder / "claude-mem-2020-01-02.log").write_text("new \x1b[31m1\n")
    assert run(env, "worker", "logs").stdout.splitlines()[-2:] == ["old 59", "new 1"]
    assert len(run(env, "worker", "logs").stdout.splitlines()) == 50
    assert run(env, "worker", "logs", "-n", "1").stdout == "new 1\n"
    assert len(json.loads(run(env, "worker", "logs", "-n", "2", "--json").stdout)["lines"]) == 2
    for wrong in (("worker", "logs", "-n", "x"), ("worker", "status", "-f")):
        assert run(env, *wrong).returncode == 2
