"""Every tool that the bridge names does what it says, on a real worker without an index by meaning."""

import os
import sys
from collections.abc import Iterator

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from tests.factories import MINUTE, NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from tests.processes import WorkerProcess, running_worker
from worker.contract import calls

ASKED: dict[str, tuple[dict[str, object], str]] = {
    "important_workflow": ({}, "get_observations"),
    "search": ({"query": "expired token", "project": "shop", "limit": 5}, "Expired token accepted"),
    "timeline": ({"anchor": 1, "depth_before": 2, "depth_after": 2}, "Expired token accepted"),
    "get_observations": ({"ids": [1]}, "It was compared in seconds"),
    "get_tool_uses": ({"ids": [1]}, "[]"),
    "session_start_context": ({"project": "shop"}, "Leases are renewed"),
    "build_corpus": ({"name": "auth", "types": "bugfix", "query": "token"}, '"observation_count": 1'),
    "list_corpora": ({}, '"name": "auth"'),
    "prime_corpus": ({"name": "auth"}, "no model is used"),
    "query_corpus": ({"name": "auth", "question": "How was the token compared?"}, "#1 2026-03-04 [bugfix] Expired"),
    "rebuild_corpus": ({"name": "auth"}, '"observation_count": 1'),
    "reprime_corpus": ({"name": "auth"}, "no model is used"),
}
"""Each tool with arguments as an agent sends them, and what its answer must hold."""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    with running_worker(tmp_path_factory.mktemp("home") / "memory") as running:
        rows = [
            observation_row(narrative="It was compared in seconds."),
            observation_row("Leases are renewed", created_at_epoch=NOON + MINUTE),
        ]
        batch = make_batch(rows, sessions=[session_row()], summaries=[summary_row()], prompts=[prompt_row()])
        running.quick.send(calls.import_batch(batch))
        yield running


async def told(client: Client, name: str, sent: dict[str, object]) -> tuple[str, bool]:
    result = await client.call_tool(name, sent)
    (item,) = result.content
    assert isinstance(item, TextContent)
    return item.text, result.is_error


async def test_every_tool_that_is_named_works_or_says_what_it_lacks(worker: WorkerProcess) -> None:
    """R204."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE_MEM_")}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "worker.cli.main", "mcp"],
        env=kept
        | {
            "HOME": str(worker.data_dir.parent),
            "CLAUDE_MEM_DATA_DIR": str(worker.data_dir),
            "CLAUDE_MEM_WORKER_PORT": str(worker.port),
            "CLAUDE_MEM_CHROMA_ENABLED": "false",
        },
    )
    async with Client(parameters) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == set(ASKED)
        for tool in tools:
            sent, wanted = ASKED[tool.name]
            assert set(sent) <= set(tool.input_schema["properties"]), tool.name
            answer, failed = await told(client, tool.name, sent)
            assert not failed and wanted in answer, (tool.name, answer)
        for tool in tools:
            answer, failed = await told(client, tool.name, {})
            assert answer.strip() and "Traceback" not in answer, tool.name
            lacking = [name for name in tool.input_schema.get("required", ()) if name not in answer]
            assert not failed or not lacking, (tool.name, answer)
        missing, failed = await told(client, "timeline", {"anchor": 999_999})
        assert "999999" in missing.replace(",", "")
