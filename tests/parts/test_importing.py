"""`claude-mem import` and `export` as processes; the worker is canned, and busy, gone or strict where that matters."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.factories import observation_row, session_row
from tests.mcp.fake_worker import FakeWorker, Request, environment, serving
from tests.parts.test_cli import run

ZERO = {
    f"{kind}{word}": 0
    for kind in ("sessions", "summaries", "observations", "prompts")
    for word in ("Imported", "Skipped")
}

NO_ROWS: dict[str, object] = {"rows": [], "next": None, "newest": 0}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


@pytest.fixture
def worker(env: dict[str, str]) -> Iterator[FakeWorker]:
    with serving(FakeWorker(env["CLAUDE_MEM_DATA_DIR"], int(env["CLAUDE_MEM_WORKER_PORT"]))) as worker:
        worker.answers["/api/import"] = taken
        worker.answers["/api/export"] = exported
        yield worker


def taken(request: Request) -> tuple[int, object]:
    """As the real worker: a batch with a bad row is refused whole."""
    for at, row in enumerate(request.body["observations"]):
        if row["created_at_epoch"] is None:
            field = f"observations[{at}].created_at_epoch"
            return 422, {"error": f"{field} must be milliseconds since 1970", "code": "invalid", "field": field}
    return 200, {"success": True, "stats": ZERO | {f"{kind}Imported": len(rows) for kind, rows in request.body.items()}}


def exported(request: Request) -> tuple[int, object]:
    rows = [{"id": 1, "title": "a\x7f\x9b😀"}] if request.params["kind"] == "observation" else []
    return 200, {"rows": rows, "next": None, "newest": len(rows)}


def sent(worker: FakeWorker) -> list[dict[str, Any]]:
    return [request.body for request in worker.seen if request.path == "/api/import"]


def put(folder: Path, **rows: object) -> str:
    path = folder / "export.json"
    path.write_text(json.dumps(rows, indent=0))
    return str(path)


def observations(count: int, *bad: int) -> list[dict[str, Any]]:
    return [observation_row(str(at), created_at_epoch=None if at in bad else at) for at in range(count)]


def test_rows_go_in_batches_and_the_sum_is_told(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    path = put(tmp_path, observations=observations(600), sessions=[session_row()])
    done = run(env, "import", path)
    assert done.returncode == 0
    assert "601 rows" in done.stdout and "observations        600 added,         0 already there" in done.stdout
    assert "\r" not in done.stderr and done.stderr.splitlines()[-1].startswith("claude-mem: import 100%")
    assert [len(body["observations"]) for body in sent(worker)] == [249, 250, 101]
    assert sent(worker)[0]["sessions"]


def test_a_bad_row_is_named_by_its_place_in_the_file(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    path = put(tmp_path, observations=observations(600, 503))
    done = run(env, "import", path)
    assert done.returncode == 2
    line = Path(path).read_text().splitlines().index('"title": "503",') + 1
    named = done.stdout.splitlines()[-1].strip()
    assert named.startswith("observations[503].created_at_epoch (line ")
    assert named.endswith("must be milliseconds since 1970")
    assert abs(int(named.partition("(line ")[2].partition(")")[0]) - line) < 8
    assert "599 rows" in done.stdout and "1 rows could not be brought in" in done.stderr.splitlines()[-1]


def test_what_was_mended_is_named_by_its_place_in_the_file(
    env: dict[str, str], worker: FakeWorker, tmp_path: Path
) -> None:
    def mending(request: Request) -> tuple[int, object]:
        mended = [
            {"row": f"observations[{at}].created_at_epoch", "problem": "must be a time", "given": "soon", "taken": "0"}
            for at, row in enumerate(request.body["observations"])
            if row["created_at_epoch"] == "soon"
        ]
        return 200, {"success": True, "stats": ZERO | {"observationsImported": 1}, "mended": mended}

    worker.answers["/api/import"] = mending
    rows = observations(600)
    rows[503]["created_at_epoch"] = "soon"
    done = run(env, "import", put(tmp_path, observations=rows), "--json")
    facts = json.loads(done.stdout)
    assert done.returncode == 0 and facts["left_out"] == []
    (one,) = facts["mended"]
    assert (one["row"], one["place"][:5]) == ("observations[503].created_at_epoch", "line ")
    assert one["problem"] == "must be a time, not 'soon'; it became '0'"
    assert all(request.params["mend"] == "true" for request in worker.seen if request.path == "/api/import")


def test_bad_rows_can_be_left_out_and_are_listed(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    path = put(tmp_path, observations=[*observations(300, 3, 255), "no row"])
    done = run(env, "import", path, "--skip-bad", "--json")
    facts = json.loads(done.stdout)
    assert done.returncode == 0
    assert facts["observations"] == {"added": 298, "known": 0}
    assert [item["row"] for item in facts["left_out"]] == [
        "observations[3].created_at_epoch", "observations[300]", "observations[255].created_at_epoch",
    ]  # fmt: skip


@pytest.mark.parametrize("title", [b"half \\ud83d", b"bytes \xff"])
@pytest.mark.parametrize("name", ["export.json", "export.jsonl"])
def test_what_is_no_unicode_is_replaced_and_told(
    env: dict[str, str], worker: FakeWorker, tmp_path: Path, name: str, title: bytes
) -> None:
    row = b'{"memory_session_id": "m", "created_at_epoch": 1, "title": "%s"}'
    file = tmp_path / name
    if name.endswith("l"):
        file.write_bytes(b'{"k": "observation", "v": %s}\n' * 2 % (row % b"good", row % title))
    else:
        file.write_bytes(b'{"observations": [%s, %s]}' % (row % b"good", row % title))
    done = run(env, "import", str(file), "--json")
    assert done.returncode == 0
    assert [one["row"] for one in json.loads(done.stdout)["mended"]] == ["observations[1]"]
    assert "\ufffd" in sent(worker)[0]["observations"][1]["title"]


def test_a_busy_worker_is_waited_for(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    """R076: what is refused because another program holds the database is sent again."""
    busy = iter([True, True])

    def first_busy(request: Request) -> tuple[int, object]:
        if next(busy, False):
            return 429, {"error": "another program holds the database", "code": "busy", "retry_after_s": 0.01}
        return taken(request)

    worker.answers["/api/import"] = first_busy
    done = run(env, "import", put(tmp_path, observations=observations(2)))
    assert (done.returncode, len(sent(worker))) == (0, 3)


def test_a_fault_of_the_worker_is_not_blamed_on_the_file(
    env: dict[str, str], worker: FakeWorker, tmp_path: Path
) -> None:
    worker.answers["/api/import"] = lambda _: (503, {"error": "the disk is full", "code": "unavailable"})
    done = run(env, "import", put(tmp_path, observations=observations(2)))
    assert (done.returncode, done.stdout) == (3, "") and done.stderr == "claude-mem: the disk is full\n"


def test_a_dry_run_says_so_to_the_worker(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    done = run(env, "import", put(tmp_path, observations=observations(2)), "--dry-run")
    assert done.returncode == 0 and "2 would be added" in done.stdout
    (request,) = [request for request in worker.seen if request.path == "/api/import"]
    assert request.params == {"dryRun": "true", "mend": "true"}


def test_the_memory_itself_is_not_imported(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    folder = Path(env["CLAUDE_MEM_DATA_DIR"])
    folder.mkdir()
    (folder / "claude-mem.db").write_bytes(b"SQLite format 3\0")
    (tmp_path / "link.db").symlink_to(folder / "claude-mem.db")
    for path in (folder / "claude-mem.db", tmp_path / "link.db"):
        done = run(env, "import", str(path))
        assert done.returncode == 2 and "is the memory itself" in done.stderr
    assert worker.seen == []


def test_nothing_in_the_file_is_1(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    assert run(env, "import", put(tmp_path, observations=[])).returncode == 1


def test_an_export_is_whole_private_and_what_the_original_takes(
    env: dict[str, str], worker: FakeWorker, tmp_path: Path
) -> None:
    target = tmp_path / "out.json"
    done = run(env, "export", str(target))
    assert done.returncode == 0
    written = json.loads(target.read_text())
    assert [written[kind] for kind in ("sessions", "observations", "summaries", "prompts")] == [
        [], [{"id": 1, "title": "a\x7f\x9b😀"}], [], [],
    ]  # fmt: skip
    assert (written["totalObservations"], written["query"]) == (1, "")
    assert target.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir() if "out.json" in file.name] == ["out.json"]


def test_an_export_to_a_terminal_acts_on_nothing(env: dict[str, str], worker: FakeWorker) -> None:
    raw = b'{"rows": [{"title":"a\x7f\xc2\x9b\xc3\xa9"}], "next": null, "newest": 1}'
    worker.answers["/api/export"] = lambda request: (200, raw if request.params["kind"] == "prompt" else NO_ROWS)
    done = run(env, "export", "--format", "jsonl")
    assert done.stdout == '{"k":"prompt","v":{"title":"a\\u007f\\u009bé"}}\n'


def test_an_export_that_fails_leaves_what_was_there(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    """Never half a file under the name."""
    target = tmp_path / "out.json"
    target.write_text("the one of yesterday")

    def fails_late(request: Request) -> tuple[int, object]:
        if request.params["kind"] == "summary" and request.params["limit"] != "1":
            return 503, {"error": "the worker ends", "code": "unavailable"}
        return exported(request)

    worker.answers["/api/export"] = fails_late
    done = run(env, "export", str(target))
    assert done.returncode == 3 and "the worker ends" in done.stderr
    assert target.read_text() == "the one of yesterday"
    assert [file.name for file in tmp_path.iterdir() if "out.json" in file.name] == ["out.json"]


@pytest.mark.parametrize("place", ["missing/out.json", ".", "memory.db"])
def test_a_place_that_cannot_be_written_is_told(
    env: dict[str, str], worker: FakeWorker, tmp_path: Path, place: str
) -> None:
    (tmp_path / "memory.db").write_bytes(b"SQLite format 3\0")
    done = run(env, "export", str(tmp_path / place))
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.splitlines()) == 1
    assert (tmp_path / "memory.db").read_bytes() == b"SQLite format 3\0"


def test_nothing_to_export_is_1(env: dict[str, str], worker: FakeWorker, tmp_path: Path) -> None:
    worker.answers["/api/export"] = lambda _: (200, NO_ROWS)
    assert run(env, "export", str(tmp_path / "out.json"), "--project", "none").returncode == 1
