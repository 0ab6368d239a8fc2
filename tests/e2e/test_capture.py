"""Capture by a real worker: nothing private reaches the disk, and nothing accepted is lost by a kill."""

import json
import signal
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import WorkerProcess, running_worker, start_worker, wait_for
from worker.contract import calls
from worker.contract.capture import PromptSubmitted, SessionEnded, ToolUsed, TurnEnded
from worker.contract.curation import Save
from worker.contract.errors import MemError
from worker.contract.privacy import NAMES
from worker.contract.transfer import ImportBatch

CANARY = "zqCanary7Bird"
SEEN = "zqVisible"
HIDDEN = [
    *(f"{SEEN} <{name}>{CANARY}</{name}> after" for name in NAMES),
    f"{SEEN} <PRIVATE why='x>y'>{CANARY}",
    f"{SEEN} <private>a<private>{CANARY}</private>{CANARY}</private>",
    f"{SEEN} export API_TOKEN={CANARY} && ls",
    f'{SEEN} {{"password": "{CANARY}"}}',
    f"{SEEN} postgres://ann:{CANARY}@db/x",
    f"{SEEN} Authorization: Bearer {CANARY}0123456789",
    f"{SEEN} sk-ant-api03-{CANARY}0123456789",
    f"{SEEN}\n-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----",
]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(
        tmp_path_factory.mktemp("home") / "memory", environ={"CLAUDE_MEM_LOG_LEVEL": "DEBUG"}
    ) as running:
        yield running


def hits(folder: Path, word: str) -> dict[str, int]:
    found = {
        str(file.relative_to(folder)): file.read_bytes().count(word.encode())
        for file in folder.rglob("*")
        if file.is_file()
    }
    return {name: count for name, count in found.items() if count}


def test_a_canary_is_in_no_file_whatever_entrance_it_came_by(worker: WorkerProcess) -> None:
    """R150, R154."""
    send = worker.quick.send
    for number, text in enumerate(HIDDEN):
        session = f"c-{number}"
        wholly = f"<private>{CANARY}</private>"
        send(calls.begin(PromptSubmitted(content_session_id=session, prompt=text, project=text, custom_title=text)))
        value: dict[str, Any] = {"command": text, "list": [text, {text: text}], "password": CANARY, "n": 1}
        for tool_use_id in (f"t-{number}", None):
            used = ToolUsed(
                content_session_id=session, tool_name=text, tool_input=value, tool_response=[value, text],
                agent_id=text, agent_type=text, cwd=f"/home/ann/{text}", tool_use_id=tool_use_id,
            )  # fmt: skip
            assert send(calls.tool_used(used)).status == "queued"
        ended = TurnEnded(
            content_session_id=session, last_assistant_message=text, observed_model=text, observed_billing=text
        )
        assert send(calls.turn_ended(ended)).status == "queued"
        assert send(calls.begin(PromptSubmitted(content_session_id=session, prompt=wholly))).reason == "private"
        assert send(calls.begin(PromptSubmitted(content_session_id=f"{session}p", prompt=wholly))).reason == "private"
        used = ToolUsed(content_session_id=session, tool_name="Read", tool_response=CANARY, tool_use_id=f"p-{number}")
        assert send(calls.tool_used(used)).reason == "private"
        send(calls.session_ended(SessionEnded(content_session_id=session, reason=text, cwd=text)))
        send(calls.save(Save(text=text, title=text, project=text, metadata={"note": text, "secret": CANARY})))
        row = {"created_at_epoch": 1_772_625_600_000 + number, "project": "shop"}
        lists = {"facts": json.dumps([text, "b"]), "concepts": [text], "title": text, "narrative": text, "type": text}
        batch = ImportBatch(
            sessions=(
                {
                    "content_session_id": f"i-{number}", "memory_session_id": f"m-{number}", "user_prompt": text,
                    "started_at_epoch": 1_772_625_600_000, "project": "shop",
                },
            ),
            observations=({"memory_session_id": f"m-{number}", **lists, **row},),
            summaries=({"memory_session_id": f"m-{number}", "request": text, "learned": text, **row},),
            prompts=(
                {"content_session_id": f"i-{number}", "prompt_number": 1, "prompt_text": text, **row},
                {"content_session_id": f"i-{number}", "prompt_number": 2, "prompt_text": wholly, **row},
            ),
        )  # fmt: skip
        stats = send(calls.import_batch(batch)).stats
        assert (stats.promptsImported, stats.promptsSkipped, stats.observationsImported) == (1, 1, 1)
    assert hits(worker.data_dir, CANARY) == {}
    assert hits(worker.data_dir, SEEN), "what may be kept is there, so it was looked for in the right place"
    assert worker.stop() == 0
    assert hits(worker.data_dir, CANARY) == {}
    with sqlite3.connect(worker.data_dir / "claude-mem.db") as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        kept = connection.execute("SELECT facts, narrative FROM observations WHERE facts LIKE '%\"b\"]'").fetchall()
        asked = {row[0] for row in connection.execute("SELECT prompt_text FROM user_prompts")}
    connection.close()
    assert len(kept) == len(HIDDEN) and all(json.loads(facts)[1] == "b" for facts, _ in kept)
    assert f"{SEEN}  after" in asked and f"{SEEN} export API_TOKEN=**** && ls" in asked


def test_a_kill_loses_nothing_that_was_accepted_and_what_is_told_again_is_kept_once(tmp_path: Path) -> None:
    """R162."""
    used = [
        ToolUsed(
            content_session_id="c-1", tool_name="Bash", tool_input=str(number), tool_use_id=f"t-{number}",
            event_id=f"e-{number}",
        )
        for number in range(120)
    ]  # fmt: skip
    worker = start_worker(tmp_path / "memory")
    wait_for(worker.ready)
    accepted: list[str] = []

    def tell(events: list[ToolUsed]) -> None:
        for event in events:
            try:
                worker.quick.send(calls.tool_used(event))
            except MemError:
                return
            accepted.append(event.tool_use_id or "")

    threads = [threading.Thread(target=tell, args=(used[part::3],)) for part in range(3)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(accepted) > 20)
    worker.stop(signal.SIGKILL)
    for thread in threads:
        thread.join()
    before = set(accepted)
    assert len(before) > 20  # and seldom all of them
    with running_worker(tmp_path / "memory") as again:
        for name in before:
            assert again.quick.send(calls.tool_use_rows((name,)))
        for event in used:
            assert again.quick.send(calls.tool_used(event)).status == "queued"
        again.stop()
    with sqlite3.connect(tmp_path / "memory" / "claude-mem.db") as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT tool_use_id) FROM tool_uses").fetchone() == (
            120,
            120,
        )
        assert connection.execute("SELECT count(*) - count(DISTINCT tool_use_id) FROM py_captured").fetchone() == (0,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
