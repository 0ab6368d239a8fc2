"""`claude-mem tail` as a process, before a real worker."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.parts.test_cli import SCRIPT, run
from tests.processes import PATIENCE_S, WorkerProcess, free_port, running_worker
from worker.contract import calls, remote
from worker.contract.curation import Alias, Save
from worker.contract.errors import Conflict, Unauthorized, Unreachable
from worker.contract.settings import Settings

TOKEN = "tok_tail_51ab"


def _env(tmp_path: Path, port: int) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "TZ": "UTC",
        "CLAUDE_MEM_DATA_DIR": str(tmp_path / "memory"), "CLAUDE_MEM_WORKER_PORT": str(port),
    }  # fmt: skip


@contextmanager
def tail(env: dict[str, str], *flags: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [SCRIPT, "tail", *flags], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _save(worker: WorkerProcess, title: str, project: str = "shop") -> None:
    worker.quick.send(calls.save(Save(text=f"About {title}", title=title, project=project)))


def test_a_project_is_followed_under_all_its_names(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as worker:
        worker.quick.send(calls.alias_project(Alias(alias="store", project="shop")))
        _save(worker, "before")
        with tail(_env(tmp_path, worker.port), "--project", "store") as process:
            assert _line(process).endswith("shop  before\n")
            _save(worker, "elsewhere", project="mill")
            _save(worker, "after")
            assert _line(process).endswith("shop  after\n")


def test_last_records_then_new_ones_and_ctrl_c(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as worker:
        _save(worker, "before")
        _save(worker, "of another", project="mill")
        with tail(_env(tmp_path, worker.port), "--project", "shop") as process:
            assert _line(process).endswith("shop  before\n")
            _save(worker, "elsewhere", project="mill")
            _save(worker, "hostile \x1b[31mred\x9b1m\nline")
            line = _line(process)
            assert line.endswith("shop  hostile red1m line\n") or line.endswith("shop  hostile red line\n")
            assert "\x1b" not in line
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 130


def test_a_worker_that_comes_back_is_followed_without_gap_or_duplicate(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as first:
        port = first.port
        with tail(_env(tmp_path, port), "-n", "0") as process:
            assert process.stderr is not None
            _until_heard(first)
            _save(first, "one")
            assert _line(process).endswith("one\n")
            first.stop()
            assert "trying again" in process.stderr.readline()
            with running_worker(tmp_path / "memory", port=port) as second:
                _save(second, "two")
                assert "connected again" in process.stderr.readline()
                _save(second, "three")
                assert [_line(process).split()[-1] for _ in range(2)] == ["two", "three"]


def test_what_came_while_no_line_was_open_is_made_up_also_for_who_heard_nothing_yet(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as first:
        port = first.port
        with tail(_env(tmp_path, port), "-n", "0") as process:
            assert process.stderr is not None
            _until_heard(first)
            first.stop(signal.SIGKILL)
            assert "trying again" in process.stderr.readline()
            with running_worker(tmp_path / "memory") as between:
                _save(between, "gap")
                between.stop()
            with running_worker(tmp_path / "memory", port=port) as second:
                assert _line(process).split()[-1] == "gap"
                _save(second, "after")
                assert _line(process).split()[-1] == "after"


def _until_heard(worker: WorkerProcess) -> None:
    while not worker.quick.send(calls.stats()).worker.sseClients:
        pass


def test_json_is_an_event_a_line(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as worker, tail(_env(tmp_path, worker.port), "--json") as process:
        _until_heard(worker)
        _save(worker, "as json \x85")
        while (event := json.loads(_line(process)))["type"] != "new_observation":
            assert event["type"] not in ("connected", "initial_load")
        assert event["observation"]["title"].startswith("as json")


def test_a_worker_elsewhere_by_url_and_token_file(tmp_path: Path) -> None:
    environ = {"CLAUDE_MEM_API_TOKEN": TOKEN}
    with running_worker(tmp_path / "far", environ=environ) as worker:
        _save(worker, "far away")
        file = tmp_path / "token"
        file.write_text(TOKEN + "\n")
        env, url = _env(tmp_path, free_port()), f"http://127.0.0.1:{worker.port}"
        with tail(env, "--url", url, "--token-file", str(file)) as process:
            assert _line(process).endswith("far away\n")
        with tail(env | environ, "--url", f"127.0.0.1:{worker.port}") as process:
            assert _line(process).endswith("far away\n")
        refused = run(env, "tail", "--url", url, "--token", "wrong")
        assert (refused.returncode, refused.stdout) == (3, "")
        assert "does not take this token" in refused.stderr
        assert "wants its token" in run(env, "tail", "--url", url).stderr
        assert not (tmp_path / "memory").exists()  # nothing was started here


def test_nobody_there_is_a_sentence(tmp_path: Path) -> None:
    done = run(_env(tmp_path, free_port()), "tail", "--url", f"http://127.0.0.1:{free_port()}")
    assert (done.returncode, done.stdout) == (3, "")
    assert "is the tunnel open" in done.stderr
    assert not (tmp_path / "memory").exists()


def test_reached_tells_one_from_another(tmp_path: Path) -> None:
    def where(port: int, token: str = "") -> Settings:
        return Settings(tmp_path, "127.0.0.1", port, token=token, remote=True)

    with pytest.raises(Unreachable, match="is the tunnel open"):
        remote.reached(where(free_port()))
    with running_worker(tmp_path / "far", environ={"CLAUDE_MEM_API_TOKEN": TOKEN}) as worker:
        assert remote.reached(where(worker.port, TOKEN)).initialized
        with pytest.raises(Unauthorized, match="does not take this token"):
            remote.reached(where(worker.port, "other"))
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        port = int(other.stdout.readline().split("port ")[1].split()[0])
        with pytest.raises(Conflict, match="another program"):
            remote.reached(where(port))
        other.kill()
