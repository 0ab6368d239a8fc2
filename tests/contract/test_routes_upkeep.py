"""Settings, logs, doctor, restart, and the state of what stands beside the worker."""

import json
import socket
from pathlib import Path

import pytest

from tests.contract.edge import Edge, served
from tests.factories import make_batch, observation_row, session_row
from tests.processes import PATIENCE_S, free_port, running_worker, wait_for
from worker.contract import calls, log_files
from worker.contract.curation import Save
from worker.contract.errors import MemError, TimedOut, Unavailable, Unreachable
from worker.contract.quick import QuickClient

TOOLS = "CLAUDE_MEM_SKIP_TOOLS"
LOCAL = [
    ("GET", calls.SETTINGS), ("POST", calls.SETTINGS), ("GET", calls.LOGS), ("POST", calls.LOGS_CLEAR),
    ("POST", calls.SHUTDOWN), ("POST", calls.RESTART), ("GET", calls.DOCTOR), ("POST", calls.MCP_TOGGLE),
    ("POST", calls.SAVE), ("POST", calls.IMPORT),
    ("DELETE", "/api/observation/1"), ("DELETE", "/api/summary/1"), ("DELETE", "/api/prompt/1"),
]  # fmt: skip


async def test_settings_are_read_and_changed(tmp_path: Path) -> None:
    """R121."""
    tmp_path.joinpath("settings.json").write_text('{"my_note": 1, "CLAUDE_MEM_GEMINI_API_KEY": "sk-abcdefgh1234"}')
    async with served(tmp_path, environ={"CLAUDE_MEM_MODE": "chill"}) as edge:
        values = await edge.ask(calls.SETTINGS)
        assert (values["my_note"], values["CLAUDE_MEM_MODE"]) == (1, "chill")
        assert values["CLAUDE_MEM_GEMINI_API_KEY"] == "****1234"
        changed = {TOOLS: "Bash", "CLAUDE_MEM_WORKER_PORT": 4001, "CLAUDE_MEM_MODE": "code", "typo": 1}
        assert await edge.post(calls.SETTINGS, values | changed) == {
            "success": True,
            "message": "Settings saved; restart the worker for CLAUDE_MEM_WORKER_PORT; "
            "set in the environment, which goes first: CLAUDE_MEM_MODE; no settings, left out: typo",
            "changed": ["CLAUDE_MEM_WORKER_PORT", TOOLS, "CLAUDE_MEM_MODE"],
            "ignored": ["typo"],
        }
        assert (await edge.ask(calls.SETTINGS))[TOOLS] == "Bash"
        assert (await edge.post(calls.SETTINGS, {}))["message"] == "Nothing to change"
    assert json.loads(tmp_path.joinpath("settings.json").read_text())["my_note"] == 1


async def test_a_setting_that_cannot_be_used_is_named(edge: Edge) -> None:
    assert await edge.problem("POST", calls.SETTINGS, json={"CLAUDE_MEM_PROVIDER": "x"}) == (
        422, "invalid", "CLAUDE_MEM_PROVIDER",
    )  # fmt: skip
    assert (await edge.problem("POST", calls.SETTINGS, json=[1]))[:2] == (422, "invalid")


async def test_a_broken_file_is_told_and_left_alone(edge: Edge) -> None:
    """R119."""
    file = edge.services.data_dir / "settings.json"
    file.write_text("{,}")
    assert await edge.problem("GET", calls.SETTINGS) == (409, "conflict", "settings.json")
    assert await edge.problem("POST", calls.SETTINGS, json={TOOLS: "x"}) == (409, "conflict", "settings.json")
    assert file.read_text() == "{,}"
    checks = {check["name"]: check for check in (await edge.ask(calls.DOCTOR))["checks"]}
    assert not checks["settings"]["ok"] and "settings.json is not JSON" in checks["settings"]["message"]


@pytest.mark.parametrize(("origin", "status"), [("http://localhost:37700", 200), ("http://localhost:5173", 403)])
async def test_only_our_own_pages_change_settings(edge: Edge, origin: str, status: int) -> None:
    """R156."""
    answer = await edge.client.post(calls.SETTINGS, json={TOOLS: "x"}, headers={"Origin": origin})
    assert answer.status_code == status
    assert (edge.services.data_dir / "settings.json").exists() == (status == 200)


@pytest.mark.parametrize(("method", "path"), LOCAL)
async def test_other_machines_neither_change_nor_look_into_it(tmp_path: Path, method: str, path: str) -> None:
    """R160: also where the worker listens to all."""
    for client, headers in (
        ("192.168.0.9", {}),
        ("::ffff:10.0.0.1", {}),
        ("127.0.0.1", {"X-Forwarded-For": "1.2.3.4"}),
    ):
        async with served(tmp_path / client.replace(":", "_"), client=client) as edge:
            await edge.fill(make_batch([observation_row("zebra")]))
            assert await edge.problem(method, path, headers=headers, json={}) == (403, "forbidden", None)
            assert (edge.ended, edge.broadcaster.sent) == ([], [])
            assert (await edge.ask("/api/observation/1"))["title"] == "zebra"


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
async def test_this_machine_by_all_its_addresses(tmp_path: Path, client: str) -> None:
    async with served(tmp_path, client=client) as edge:
        assert await edge.post(calls.RESTART, {}) == {"status": "restarting", "url": "http://127.0.0.1:41000"}
        assert (await edge.client.post(calls.SHUTDOWN, params={"reason": "restart"})).json() == {
            "status": "shutting_down"
        }
        assert edge.ended == ["restart", "stop", "stop"]


async def test_the_latest_lines_over_midnight(edge: Edge) -> None:
    """R115."""
    folder = edge.services.data_dir / "logs"
    path = str(folder / "claude-mem-2026-03-04.log")
    assert await edge.ask(calls.LOGS) == {"logs": "", "path": path, "exists": False}
    folder.mkdir()
    (folder / "claude-mem-2026-03-02.log").write_text("a\nb\n")
    (folder / "claude-mem-2026-03-03.log").write_text("")
    (folder / "claude-mem-2026-03-04.log").write_text("c\nd ü")
    (folder / "worker-start.log").write_text("not this")
    assert await edge.ask(calls.LOGS, lines=3) == {
        "logs": "b\nc\nd ü", "path": path, "exists": True, "totalLines": 4, "returnedLines": 3,
    }  # fmt: skip
    assert (await edge.ask(calls.LOGS, lines=1))["totalLines"] == 2
    for lines in ("0", "10001", "x"):
        assert await edge.problem("GET", calls.LOGS, params={"lines": lines}) == (422, "invalid", "lines")
    assert (await edge.post(calls.LOGS_CLEAR, {}))["path"] == path
    assert (await edge.ask(calls.LOGS))["logs"] == ""


def test_the_end_of_a_long_log_is_read_in_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "claude-mem-2026-03-04.log"
    with file.open("w") as stream:
        for number in range(60_000):
            stream.write(f"{number} {'ü' * 100}\n")
        stream.write("x" * 20_000_000)
    assert log_files.tail(tmp_path, 10, 0).lines == ()
    with file.open("a") as stream:
        stream.write("\n\n" + "last\n" * 3)
    assert log_files.tail(tmp_path, 4, 0).lines == ("", "last", "last", "last")
    whole = log_files.tail(tmp_path, 10_000, 0)
    assert (len(whole.lines), whole.total) == (4, 60_005)


@pytest.mark.parametrize("lines", [1, 2, 700, 5000])
@pytest.mark.parametrize("text", ["", "\n", "a", "a\n", "\na", "a\n\nb\n", "line ü\n" * 20_000, "x" * 70_000 + "\ny"])
def test_the_end_of_a_log_is_its_last_lines(tmp_path: Path, text: str, lines: int) -> None:
    (tmp_path / "claude-mem-2026-03-04.log").write_text(text)
    expected = text.split("\n")[: -1 if text.endswith("\n") or not text else None]
    tail = log_files.tail(tmp_path, lines, 0)
    assert list(tail.lines) == expected[-lines:]
    assert tail.total == len(expected)


async def test_doctor_tells_what_is_in_order(edge: Edge) -> None:
    await edge.fill(make_batch([observation_row("zebra")]))
    told = await edge.ask(calls.DOCTOR)
    assert told["supervisor"]["running"] and told["supervisor"]["uptime"] == "1h 4m"
    assert [(one["id"], one["status"]) for one in told["processes"]] == [("worker", "alive")]
    assert told["health"]["deadProcessPids"] == []
    assert [(check["name"], check["ok"]) for check in told["checks"]] == [
        ("database", True), ("index", True), ("fulltext", True), ("disk", True), ("settings", True),
    ]  # fmt: skip
    assert told["checks"][1]["message"] == "1 of 1 records"


async def test_doctor_tells_what_is_not(edge: Edge) -> None:
    await edge.fill(make_batch([observation_row("zebra")]))
    await edge.store.write(lambda connection: connection.execute("DELETE FROM py_docs").rowcount)
    index = (await edge.ask(calls.DOCTOR))["checks"][1]
    assert (index["ok"], index["message"]) == (False, "0 of 1 records (observations 0 of 1)")


async def test_what_stands_beside_the_worker(edge: Edge) -> None:
    await edge.fill(make_batch([], sessions=[session_row(status="active")]))
    told = await edge.ask(calls.PROCESSING)
    assert (told["isProcessing"], told["queueDepth"], told["parkedSessions"], told["state"]) == (False, 0, 0, "off")
    assert await edge.ask(calls.SYNC) == {"configured": False}
    assert await edge.ask(calls.DEPENDENCIES) == {"degraded": False, "statuses": []}
    chroma = await edge.ask(calls.CHROMA, deep=1)
    assert (chroma["status"], chroma["connected"], chroma["deep"]) == ("disabled", False, True)
    health = await edge.ask(calls.PLAIN_HEALTH)
    assert (health["status"], health["activeSessions"]) == ("ok", 1)
    assert await edge.ask(calls.ALIVE) == {"status": "ok"}


async def test_health_is_told_before_the_database_is_open(edge: Edge) -> None:
    edge.services.opened = None
    assert (await edge.ask(calls.PLAIN_HEALTH))["activeSessions"] == 0
    assert (await edge.ask(calls.CHROMA))["status"] == "disabled"
    assert await edge.problem("GET", calls.TOOL_USES) == (503, "unavailable", None)
    assert not (await edge.ask(calls.DOCTOR))["checks"][0]["ok"]


async def test_the_mcp_entry_is_switched_by_its_name(edge: Edge) -> None:
    entry = edge.services.data_dir / ".mcp.json"
    assert await edge.ask(calls.MCP) == {"enabled": False}
    assert await edge.problem("POST", calls.MCP_TOGGLE, json={"enabled": True}) == (409, "conflict", None)
    entry.write_text("{}")
    assert await edge.ask(calls.MCP) == {"enabled": True}
    for enabled in (False, False, True, True):
        assert await edge.post(calls.MCP_TOGGLE, {"enabled": enabled}) == {"success": True, "enabled": enabled}
        assert await edge.ask(calls.MCP) == {"enabled": enabled}
    assert await edge.problem("POST", calls.MCP_TOGGLE, json={"enabled": "yes"}) == (422, "invalid", "enabled")


@pytest.mark.parametrize(
    ("params", "beginning"),
    [
        ({}, "# Three steps"),
        ({"topic": "search_params"}, "# Parameters"),
        ({"topic": "examples"}, "# Examples"),
        ({"operation": "import"}, "`POST /api/import`"),
        ({"operation": "context", "topic": "all"}, "`GET /api/timeline"),
    ],
)
async def test_instructions(edge: Edge, params: dict[str, str], beginning: str) -> None:
    assert (await edge.text(calls.INSTRUCTIONS, **params)).startswith(beginning)


@pytest.mark.parametrize("name", ["topic", "operation"])
async def test_there_are_no_other_instructions(edge: Edge, name: str) -> None:
    assert await edge.problem("GET", calls.INSTRUCTIONS, params={name: "x"}) == (422, "invalid", name)


@pytest.mark.parametrize("moved", [False, True])
def test_a_worker_restarts_where_the_settings_say(tmp_path: Path, moved: bool) -> None:
    """One that was told its port stays there, until the settings tell another than when it started."""
    folder, port = tmp_path / "memory", free_port()
    folder.mkdir()
    with running_worker(folder) as worker:
        before = worker.quick.send(calls.health()).pid
        if moved:
            (folder / "settings.json").write_text(json.dumps({"CLAUDE_MEM_WORKER_PORT": str(port)}))
        else:
            port = worker.port
        told = worker.quick.send(calls.restart())
        assert (told.status, told.url) == ("restarting", f"http://127.0.0.1:{port}")
        assert worker.wait() == 0
        assert worker.stderr == ""
        following = QuickClient("127.0.0.1", port, timeout_s=PATIENCE_S)

        def again() -> int:
            try:
                health = following.send(calls.health())
            except (Unreachable, Unavailable, TimedOut):
                return 0
            return health.pid if health.initialized else 0

        try:
            assert wait_for(again) != before
            assert following.send(calls.health()).dataDir == str(folder)
        finally:
            wait_for(again)
            following.send(calls.shutdown())
            wait_for(lambda: not again())


@pytest.mark.parametrize("wrong", ["port", "host", "file"])
def test_a_worker_does_not_end_for_one_that_could_not_start(tmp_path: Path, wrong: str) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    with running_worker(folder) as worker, socket.create_server(("127.0.0.1", 0)) as taken:
        said = {
            "port": {"CLAUDE_MEM_WORKER_PORT": str(taken.getsockname()[1])},
            "host": {"CLAUDE_MEM_WORKER_HOST": "0.0.0.0"},
            "file": ["no settings"],
        }[wrong]
        (folder / "settings.json").write_text(json.dumps(said))
        with pytest.raises(MemError, match={"port": "in use", "host": "API_TOKEN", "file": "settings.json"}[wrong]):
            worker.quick.send(calls.restart())
        (folder / "settings.json").unlink()
        worker.quick.send(calls.save(Save(text="still here")))
