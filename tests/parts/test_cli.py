"""The console script as a process; the worker is canned."""

import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.fake_worker import TEXT, FakeWorker, environment, serving, stop_started
from tests.processes import PATIENCE_S, free_port
from worker.cli.main import _COMMANDS

SCRIPT = str(Path(sys.executable).with_name("claude-mem"))


@pytest.fixture
def env(tmp_path: Path) -> Iterator[dict[str, str]]:
    yield environment(tmp_path)
    stop_started(tmp_path / "memory")


@pytest.fixture
def worker(env: dict[str, str]) -> Iterator[FakeWorker]:
    with serving(FakeWorker(env["CLAUDE_MEM_DATA_DIR"], int(env["CLAUDE_MEM_WORKER_PORT"]))) as worker:
        yield worker


def run(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *words], env=env, capture_output=True, encoding="utf-8", timeout=PATIENCE_S)


WAITING = "claude-mem: waiting for the worker to start...\n"
"""Said when that takes nearly a second, as it may on a busy machine."""


def asked(worker: FakeWorker, path: str) -> dict[str, str]:
    (request,) = [request for request in worker.seen if request.path == path]
    return request.params


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_the_commands_and_exit_codes(env: dict[str, str], words: list[str]) -> None:
    done = run(env, *words)
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("tui", "mcp", "worker", "search", "timeline", "show", "exit codes"))


@pytest.mark.parametrize("name", [None, *_COMMANDS])
def test_help_is_no_wider_than_the_terminal(env: dict[str, str], name: str | None) -> None:
    done = run({**env, "COLUMNS": "60"}, *([name] if name else []), "--help")
    assert [line for line in done.stdout.splitlines() if len(line) > 60] == []
    assert done.stdout.startswith("usage: claude-mem")
    assert "exit codes:" not in done.stdout or "exit codes:\n  0  " in done.stdout


def test_version(env: dict[str, str]) -> None:
    assert run(env, "--version").stdout.startswith("claude-mem 0.")


@pytest.mark.parametrize(
    ("word", "hint"), [("serach", "did you mean search?"), ("statsu", "commands: tui"), ("--frob", "commands: tui")]
)
def test_an_unknown_command_is_one_line(env: dict[str, str], word: str, hint: str) -> None:
    done = run(env, word)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert hint in line


@pytest.mark.parametrize("name", ["worker", "search", "timeline", "show", "mcp"])
def test_each_command_has_help(env: dict[str, str], name: str) -> None:
    done = run(env, name, "--help")
    assert done.returncode == 0
    assert f"claude-mem {name}" in done.stdout


def test_search_prints_what_the_worker_presents(env: dict[str, str], worker: FakeWorker) -> None:
    """And no terminal escape that somebody stored."""
    done = run(env, "search", "token", "expiry")
    assert done.returncode == 0
    assert done.stdout == TEXT.replace("\x1b[31m", "") + "\n"
    assert asked(worker, "/api/search") == {"query": "token expiry", "limit": "20"}


def test_search_says_everything_to_the_worker(env: dict[str, str], worker: FakeWorker) -> None:
    env["TZ"] = "UTC"
    words = (
        "search --project shop rate --type bugfix,decision --kind session limit --since 2026-03-04 --until 2026-03-04"
    )
    done = run(env, *words.split(), "--limit", "5", "--offset", "10", "--order", "date_asc", "--", "-v", "--json")
    assert done.returncode == 0, done.stderr
    assert asked(worker, "/api/search") == {
        "query": "rate limit -v --json",
        "kind": "summary",
        "obs_type": "bugfix,decision",
        "project": "shop",
        "dateStart": "1772582400000",
        "dateEnd": "1772668799999",
        "orderBy": "date_asc",
        "limit": "5",
        "offset": "10",
    }


@pytest.mark.parametrize(
    "text", ["don't retry", "std::vector", "a-b", "v3.12.1", '"', "用户身份", "ORD-100821", "(x OR"]
)
def test_nothing_typed_is_syntax(env: dict[str, str], worker: FakeWorker, text: str) -> None:
    """R001, R003, R005, R007, R013: what was typed reaches the worker as it is."""
    assert run(env, "search", text).returncode == 0
    assert asked(worker, "/api/search")["query"] == text


def test_search_as_json(env: dict[str, str], worker: FakeWorker) -> None:
    done = run(env, "search", "token", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["hits"][0]["id"] == 118


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_nothing_found_is_1(env: dict[str, str], worker: FakeWorker, form: tuple[str, ...]) -> None:
    """R044: the same keys as with hits."""
    done = run(env, "search", "nothing", *form)
    assert done.returncode == 1
    assert done.stderr == ""
    if form:
        assert json.loads(done.stdout)["hits"] == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["search", "x", "--since", "soon"], "--since"),
        (["search", "x", "--until", "2026-13-01"], "--until"),
        (["search", "x", "--since", "2026-03-05", "--until", "2026-03-04"], "--since"),
        (["search", "x", "--limit", "0"], "--limit"),
        (["search", "x", "--limit", "many"], "--limit"),
        (["search", "x", "--offset", "-1"], "--offset"),
        (["search", "x", "--order", "size"], "--order"),
        (["search", "x", "--kind", "song"], "--kind"),
        (["search", "-x"], "-x"),
        (["search", "--lim", "5"], "--lim"),
        (["timeline"], "--query"),
        (["timeline", "118", "--query", "x"], "--query"),
        (["timeline", "x9"], "ANCHOR"),
        (["timeline", "118", "--before", "-2"], "--before"),
        (["show"], "KEY"),
        (["show", "118", "x9"], "x9"),
        (["worker"], "action"),
        (["worker", "dance"], "dance"),
    ],
)
def test_bad_usage_is_2_and_names_the_option(env: dict[str, str], words: list[str], named: str) -> None:
    done = run(env, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr.splitlines()[-1]


def test_what_the_worker_refuses_is_2(env: dict[str, str], worker: FakeWorker) -> None:
    worker.answers["/api/search"] = lambda _: (422, {"error": "at most 1000", "code": "invalid", "field": "limit"})
    done = run(env, "search", "x", "--limit", "5000")
    assert done.returncode == 2
    assert done.stderr == "claude-mem: limit: at most 1000\n"


def test_timeline(env: dict[str, str], worker: FakeWorker) -> None:
    done = run(env, "timeline", "#s14", "--before", "0", "--after", "3", "--project", "shop")
    assert (done.returncode, done.stdout) == (0, "# Timeline around anchor: S14\n")
    expected = {"anchor": "S14", "depth_before": "0", "depth_after": "3", "project": "shop"}
    assert asked(worker, "/api/timeline") == expected


def test_a_short_word_that_is_not_ascii_is_no_option(env: dict[str, str], worker: FakeWorker) -> None:
    assert run(env, "search", "token", "-缓存", "-雨").returncode == 0
    assert asked(worker, "/api/search")["query"] == "token -缓存 -雨"


def test_a_word_with_a_minus_needs_no_dashes(env: dict[str, str], worker: FakeWorker) -> None:
    assert run(env, "search", "token", "-cache", "--limit", "5", "expiry", "-type:change").returncode == 0
    assert asked(worker, "/api/search") == {"query": "token expiry -cache -type:change", "limit": "5"}
    assert run(env, "timeline", "--query", "rate", "-cache", "limit").returncode == 0
    assert asked(worker, "/api/timeline")["query"] == "rate limit -cache"


@pytest.mark.parametrize("word", ["-json", "-limit", "-n", "--jsn"])
def test_what_may_be_a_mistyped_option_is_no_word(env: dict[str, str], worker: FakeWorker, word: str) -> None:
    done = run(env, "search", "token", word)
    assert done.returncode == 2
    assert f"unrecognized arguments: {word}; a word that begins with - goes after --" in done.stderr


def test_timeline_by_query(env: dict[str, str], worker: FakeWorker) -> None:
    assert run(env, "timeline", "--query", "rate", "limit", "--", "-v").returncode == 0
    assert asked(worker, "/api/timeline")["query"] == "rate limit -v"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_timeline_around_nothing_is_1(env: dict[str, str], worker: FakeWorker, form: tuple[str, ...]) -> None:
    done = run(env, "timeline", "9", *form)
    assert done.returncode == 1
    assert "Observation #9 not found" in done.stdout + done.stderr


def test_show_prints_records_for_people(env: dict[str, str], worker: FakeWorker) -> None:
    env["TZ"] = "UTC"
    done = run(env, "show", "#118", "S14", "P40")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout and "\x07" not in done.stdout and "\x9b" not in done.stdout
    assert "Expired token accepted\n#118 | bugfix | shop | 2026-03-04 14:15" in done.stdout
    assert "  - Skew is sixty seconds" in done.stdout
    assert "Fix token expiry\n#S14 | session | shop" in done.stdout
    assert "why does the token still work?" in done.stdout


def test_show_tells_which_record_is_missing(env: dict[str, str], worker: FakeWorker) -> None:
    done = run(env, "show", "118,S9", "--json")
    assert done.returncode == 1
    assert done.stderr == "claude-mem: there is no S9\n"
    shown = json.loads(done.stdout)
    assert shown["missing"] == ["S9"]
    assert shown["records"][0]["key"] == "118"


def test_output_in_a_poor_locale(env: dict[str, str], worker: FakeWorker) -> None:
    poor = {**env, "LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = run(poor, "show", "118")
    assert done.returncode == 0
    assert "The check came too early. ????" in done.stdout
    assert "用户身份\\u009b31m" in run(poor, "show", "118", "--json").stdout


def test_a_reader_that_has_enough(env: dict[str, str], worker: FakeWorker) -> None:
    for words in (["show", "118"], ["search", "--help"], ["--help"]):
        process = subprocess.Popen([SCRIPT, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(PATIENCE_S) == 141
        assert process.stderr is not None
        with process.stderr:
            assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("words", "closed"),
    [
        ("search token", "<&-"),
        ("search token", ">&-"),
        ("search token", "2>&-"),
        ("search token --json", "<&- >&- 2>&-"),
        ("worker status", "<&- >&- 2>&-"),
        ("mcp", "<&- >&- 2>&-"),
        ("--help", ">&-"),
    ],
)
def test_closed_streams(env: dict[str, str], worker: FakeWorker, words: str, closed: str) -> None:
    done = subprocess.run(f"{SCRIPT} {words} {closed}", shell=True, env=env, capture_output=True, timeout=PATIENCE_S)
    assert done.returncode == 0
    assert done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that takes nothing")
@pytest.mark.parametrize(
    "words",
    [
        *([name, "--help"] for name in _COMMANDS if name != "hook"),
        ["hook", "--help"], ["--help"], ["--version"], ["worker", "logs"], ["worker", "logs", "-f"],
        ["worker", "logs", "--json"], ["worker", "status"], ["search", "token"], ["search", "token", "--json"],
        ["show", "118"], ["timeline", "118"], ["doctor", "--json"], ["export", "--format", "jsonl"],
    ],
)  # fmt: skip
def test_an_output_that_cannot_be_written_is_74(env: dict[str, str], worker: FakeWorker, words: list[str]) -> None:
    """With its reason, and nothing else that would not be true."""
    logs = Path(env["CLAUDE_MEM_DATA_DIR"], "logs")
    logs.mkdir(parents=True)
    (logs / "claude-mem-2026-03-04.log").write_text("a line\n")
    row = {"id": 1, "content_session_id": "c-1", "project": "shop"}
    page = {"rows": [row], "newest": 1, "next": None}
    worker.answers["/api/export"] = lambda _: (200, page)
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCRIPT, *words], env=env, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE_S)
    told = [line for line in done.stderr.splitlines() if not line.startswith(b"claude-mem: export ")]  # how far it is
    assert (done.returncode, told) == (74, [b"claude-mem: No space left on device"])


def test_interrupted_is_130(env: dict[str, str], worker: FakeWorker) -> None:
    processes: list[subprocess.Popen[bytes]] = []

    def interrupt(_: object) -> tuple[int, object]:
        processes[0].send_signal(signal.SIGINT)
        processes[0].wait(PATIENCE_S)
        return 200, {}

    worker.answers["/api/search"] = interrupt
    # Whoever runs the tests in the background may have interrupts ignored, and that is inherited.
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    processes.append(subprocess.Popen([SCRIPT, "search", "x"], env=env, stderr=subprocess.PIPE, preexec_fn=listening))
    _, complaint = processes[0].communicate(timeout=PATIENCE_S)
    assert (processes[0].returncode, complaint) == (130, b"")


@pytest.mark.parametrize(
    "words",
    [
        ["projects", "--demo", "--json"], ["projects", "--json", "--demo", "list"],
        ["projects", "--demo", "list", "--json"], ["projects", "list", "--demo", "--json"],
        ["corpus", "--demo", "list", "--json"], ["corpus", "--json", "--demo", "list"],
        ["corpus", "list", "--demo", "--json"],
        ["worker", "--demo", "--json", "status"], ["search", "--demo", "--json", "token"],
    ],
)  # fmt: skip
def test_demo_after_the_commands_name_leads_there(env: dict[str, str], words: list[str]) -> None:
    """Before what the command is to do, and behind it."""
    with serving(FakeWorker(env["CLAUDE_MEM_DATA_DIR"] + "-demo", free_port())) as demo:
        demo.answers["/api/projects"] = lambda _: (200, {"projects": ["shop"], "sources": [], "projectsBySource": {}})
        demo.answers["/api/projects/aliases"] = lambda _: (200, {"aliases": {}})
        demo.answers["/api/corpus"] = lambda _: (200, {"corpora": []})
        done = run({**env, "CLAUDE_MEM_WORKER_PORT": str(demo.port + 100)}, *words)
        assert done.stderr == "" and json.loads(done.stdout)
        assert len(demo.seen) > 1


def test_a_log_is_followed_until_it_is_interrupted(env: dict[str, str]) -> None:
    """With the code that `tail` gives."""
    logs = Path(env["CLAUDE_MEM_DATA_DIR"], "logs")
    logs.mkdir(parents=True)
    (logs / "claude-mem-2026-03-04.log").write_text("a line\n")
    listening = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [SCRIPT, "worker", "logs", "-f"],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=listening,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdout.readline() == b"a line\n"
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, said, complaint) == (130, b"", b"")


def test_a_worker_that_is_away_is_started(env: dict[str, str]) -> None:
    done = run(env, "search", "token")
    assert (done.returncode, done.stderr.removeprefix(WAITING)) == (0, "")


def test_a_slow_start_is_told(env: dict[str, str]) -> None:
    done = run({**env, "FAKE_WORKER": "slow"}, "search", "token")
    assert done.returncode == 0
    assert done.stderr == WAITING


@pytest.mark.parametrize("words", [["search", "x"], ["timeline", "118"], ["show", "118"], ["worker", "start"]])
def test_a_worker_that_cannot_start_is_3(env: dict[str, str], words: list[str]) -> None:
    done = run({**env, "FAKE_WORKER": "dies"}, *words)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.removeprefix(WAITING) == "claude-mem: the worker ended at once: the disk is full\n"


def test_settings_that_cannot_be_read_are_2(env: dict[str, str], tmp_path: Path) -> None:
    """R119."""
    (tmp_path / "memory").mkdir()
    file = tmp_path / "memory" / "settings.json"
    file.write_text('{"CLAUDE_MEM_WORKER_PORT": "5", }')
    done = run(env, "search", "x")
    assert done.returncode == 2
    assert "settings.json is not JSON" in done.stderr
    assert file.read_text() == '{"CLAUDE_MEM_WORKER_PORT": "5", }'
    assert os.listdir(tmp_path / "memory") == ["settings.json"]


def test_an_output_that_takes_nothing_ends_with_a_sentence() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "worker.cli.main", "--help"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 74
    assert done.stderr == "claude-mem: No space left on device\n"


VERIFIED = {
    "whole": ({"checked": 1402}, 0, "1,402 records compared: all is as it should be"),
    "chroma away": (
        {"checked": 528, "waiting": 874, "chroma": "opening"},
        1,
        "528 records compared: nothing wrong as far as it goes\n  not compared: Chroma, opening\n"
        "  not compared: 874 records that wait to be embedded or written to Chroma",
    ),
    "embedding anew": (
        {"checked": 32, "waiting": 1370, "missing": 2, "examples": ["obs_2_whole"]},
        1,
        "32 records compared: 2 documents missing, 0 of no record, 0 records of an older text; "
        "`claude-mem index repair` mends it\n"
        "  not compared: 1,370 records that wait to be embedded or written to Chroma\n  obs_2_whole",
    ),
}


@pytest.mark.parametrize("deed", ["verify", "repair"])
@pytest.mark.parametrize("how", VERIFIED)
def test_what_was_not_compared_is_told(env: dict[str, str], worker: FakeWorker, how: str, deed: str) -> None:
    faults, code, told = VERIFIED[how]
    worker.answers[f"/api/index/{deed}"] = lambda _: (200, faults)
    worker.answers["/api/index/status"] = lambda _: (200, {"state": "ready", "records": 1402, "embedded": 1402})
    done = run(env, "index", deed)
    mended = deed == "repair" and how != "chroma away"  # what waits has its turn
    expected = 0 if mended else code
    assert (done.returncode, done.stdout.rpartition("\nindex by meaning")[0]) == (expected, told), done.stderr


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_status_of_the_index_fits_the_terminal(env: dict[str, str], worker: FakeWorker, columns: int) -> None:
    row = {"project": "shop-with-a-long-name", "kind": "observation", "records": 1402, "embedded": 1301}
    worker.answers["/api/index/status"] = lambda _: (
        200,
        {
            "state": "catching_up", "records": 1402, "embedded": 1301, "pending": 101, "failed": 2, "chroma": "ready",
            "model": "all-MiniLM-L6-v2-int8", "dimension": 384, "rate_per_s": 9.7, "left_s": 10.4, "backend": "local",
            "covered": [row | {"watermark": 1302, "pending": 101}],
        },
    )  # fmt: skip
    done = run({**env, "COLUMNS": str(columns)}, "index", "status")
    assert done.returncode == 0 and "1,301 of 1,402" in done.stdout
    lines = done.stdout.splitlines()
    if columns >= 80:
        assert lines[-1] == "  shop-with-a-long-name      observation     1,402     1,301      101      1,302"
    else:
        assert max(map(len, lines)) <= columns
    if columns == 40:
        assert lines[-3:] == [
            "  shop-with-a-long-name: observation",
            "    1,301 of 1,402 embedded, 101",
            "      pending, watermark 1,302",
        ]
