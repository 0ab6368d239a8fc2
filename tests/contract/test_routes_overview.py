"""How everything is, in one answer."""

from pathlib import Path

from tests.contract.edge import PORT, Edge, served
from tests.factories import HOUR, NOON, make_batch, observation_row, prompt_row, summary_row
from worker.contract import spool
from worker.contract.when import at_ms
from worker.store import spend

PATH = "/api/overview"


async def test_an_empty_memory_that_is_well(edge: Edge) -> None:
    told = await edge.ask(PATH)
    assert (told["records"], told["last"], told["unindexed"], told["stream_clients"]) == ({}, None, 0, 0)
    assert (told["version"], told["uptime_s"]) == ("1.2.3", 3840)
    assert (told["index"]["state"], told["queue"]["queueDepth"]) == ("off", 0)
    assert told["log"] == {"errors": 0, "warnings": 0, "since_epoch_ms": NOON - 24 * HOUR, "lines": []}


async def test_what_is_held_and_where(edge: Edge) -> None:
    rows = [
        observation_row("zebra"),
        observation_row("own", project="observer-sessions", created_at_epoch=NOON + 2 * HOUR),
    ]
    await edge.fill(make_batch(rows, summaries=[summary_row(project="mall")], prompts=[prompt_row()]))
    folder = edge.services.data_dir
    (folder / "vectors" / "deep").mkdir(parents=True)
    (folder / "vectors" / "deep" / "data.bin").write_bytes(b"x" * 1000)
    (folder / "vectors" / "gone").symlink_to(folder / "nowhere")
    call = spend.Call("shop", 1, "haiku", 1200)
    await edge.store.write(lambda connection: spend.add(connection, call, edge.services.now_ms()))
    spool.put(str(folder), "/api/sessions/init", {"a": 1}, moment_ns=5, tag="t")
    told = await edge.ask(PATH)
    assert (told["spent_today_tokens"], told["spooled"], told["set_aside"]) == (1200, 1, 0)
    assert told["last"] == {"key": "S1", "project": "mall", "created_at_epoch": NOON + HOUR}
    assert told["records"] == {"observation": 1, "summary": 1, "prompt": 1}
    disk = told["disk"]
    assert (disk["data_dir"], disk["vectors_bytes"]) == (str(folder), 1000)
    assert disk["database_bytes"] >= (folder / "claude-mem.db").stat().st_size > 0
    assert disk["free_bytes"] > 0
    assert 0 <= disk["wal_bytes"] < disk["database_bytes"]


async def test_how_long_hooks_took_against_what_they_have(tmp_path: Path) -> None:
    async with served(tmp_path, environ={"CLAUDE_MEM_HOOK_TIMEOUT_MS": "400"}) as edge:
        assert (await edge.ask(PATH))["hooks"] == []
        file = edge.services.data_dir / "state" / "hook-times.log"
        file.parent.mkdir(exist_ok=True)
        now_ms = edge.services.now_ms()
        file.write_text(f"{now_ms - HOUR} session-init 30 sent\nrubbish\n{now_ms - HOUR} session-init 250 late\n")
        (told,) = (await edge.ask(PATH))["hooks"]
    assert (told["event"], told["count"], told["slowest_ms"], told["bound_ms"]) == ("session-init", 2, 250, 200)
    assert (told["late"], told["last_epoch_ms"]) == (1, now_ms - HOUR)


async def test_lines_of_the_log_are_for_this_machine(tmp_path: Path) -> None:
    line = f"[{at_ms(NOON - HOUR):%Y-%m-%d %H:%M:%S}.000] [ERROR] [worker] a task failed"
    for client, lines in (("127.0.0.1", [line]), ("192.168.0.9", [])):
        async with served(tmp_path / client, client=client) as edge:
            logs = edge.services.data_dir / "logs"
            logs.mkdir()
            (logs / "claude-mem-2026-03-04.log").write_text(f"{line}\n  traceback\n")
            told = (await edge.client.get(PATH, headers={"Host": f"127.0.0.1:{PORT}"})).json()["log"]
            assert (told["errors"], told["lines"]) == (1, lines)
