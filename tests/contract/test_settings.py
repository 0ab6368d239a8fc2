"""Where settings come from, and what is said about those that cannot be used."""

import json
import os
import re
from pathlib import Path

import pytest

from worker.contract.errors import Invalid
from worker.contract.settings import Capture, Embedding, Settings, default_port, dialled, load


def loaded(home: Path, stored: bytes | dict[str, object] | None = None, **environ: str) -> Settings:
    folder = home / ".claude-mem"
    if stored is not None:
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_bytes(stored if isinstance(stored, bytes) else json.dumps(stored).encode())
    return load(environ, home=home)


def test_defaults(tmp_path: Path) -> None:
    mine = loaded(tmp_path)
    assert mine == Settings(tmp_path / ".claude-mem", "127.0.0.1", default_port())
    assert mine.port == 37700 + os.getuid() % 100
    assert mine.database == tmp_path / ".claude-mem" / "claude-mem.db"
    assert not mine.data_dir.exists()


@pytest.mark.parametrize(
    "stored",
    [
        b'{"CLAUDE_MEM_WORKER_PORT": "4001"}',
        b'{"CLAUDE_MEM_WORKER_PORT": 4001}',
        b'\xef\xbb\xbf{"CLAUDE_MEM_WORKER_PORT": "4001"}',
        b'{"env": {"CLAUDE_MEM_WORKER_PORT": "4001"}}',
        b'{"env": {"CLAUDE_MEM_WORKER_PORT": "5"}, "CLAUDE_MEM_WORKER_PORT": "4001"}',
        b'{"env": "x", "CLAUDE_MEM_WORKER_PORT": " 4001 ", "my_note": 1}',
    ],
)
def test_forms_of_the_file(tmp_path: Path, stored: bytes) -> None:
    """R119: also with a byte-order mark."""
    assert loaded(tmp_path, stored).port == 4001


@pytest.mark.parametrize("stored", [b"", b"  \n", b"\xef\xbb\xbf", b"{}", b'{"CLAUDE_MEM_WORKER_PORT": null}'])
def test_a_file_without_settings(tmp_path: Path, stored: bytes) -> None:
    """R119."""
    assert loaded(tmp_path, stored).port == default_port()


@pytest.mark.parametrize("stored", [b'{"a": 1,}', b"{", b"[1]", b'"x"', b"\xff\xfe{\x00}\x00", b'{"a": "\xff"}'])
def test_a_broken_file_is_told_and_kept(tmp_path: Path, stored: bytes) -> None:
    """R119: a trailing comma and worse."""
    file = tmp_path / ".claude-mem" / "settings.json"
    with pytest.raises(Invalid, match=re.escape(str(file))) as caught:
        loaded(tmp_path, stored)
    assert caught.value.field == "settings.json"
    assert file.read_bytes() == stored


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """R084: not taken for one that is not there."""
    (tmp_path / ".claude-mem" / "settings.json").mkdir(parents=True)
    with pytest.raises(Invalid, match="cannot be read"):
        loaded(tmp_path)


def test_what_of_agents_is_not_kept(tmp_path: Path) -> None:
    usual = loaded(tmp_path).capture
    assert usual.skip_tools == ("ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite", "AskUserQuestion")
    assert usual.excluded == ()
    stored: dict[str, object] = {"CLAUDE_MEM_SKIP_TOOLS": "A, B ,", "CLAUDE_MEM_EXCLUDED_PROJECTS": "~/x,**/y"}
    assert loaded(tmp_path, stored).capture == Capture(("~/x", "**/y"), ("A", "B"))
    assert loaded(tmp_path, stored, CLAUDE_MEM_SKIP_TOOLS="").capture.skip_tools == (), "none, on purpose"
    assert loaded(tmp_path, {"CLAUDE_MEM_SKIP_TOOLS": None}).capture == usual
    chosen = loaded(tmp_path, {"CLAUDE_MEM_OPT_IN": "true"}, CLAUDE_MEM_SKIP_SUBAGENTS="true").capture
    assert (usual.opt_in, usual.skip_agents, chosen.opt_in, chosen.skip_agents) == (False, False, True, True)


def test_the_environment_goes_first(tmp_path: Path) -> None:
    stored: dict[str, object] = {"CLAUDE_MEM_WORKER_PORT": "4001", "CLAUDE_MEM_LOG_LEVEL": "debug"}
    mine = loaded(tmp_path, stored, CLAUDE_MEM_WORKER_PORT="4002", CLAUDE_MEM_API_TIMEOUT_MS="1500")
    assert (mine.port, mine.log_level, mine.timeout_s) == (4002, "DEBUG", 1.5)


def test_blank_is_not_set(tmp_path: Path) -> None:
    stored: dict[str, object] = {"CLAUDE_MEM_WORKER_PORT": "4001", "CLAUDE_MEM_WORKER_HOST": ""}
    mine = loaded(tmp_path, stored, CLAUDE_MEM_WORKER_PORT=" ", CLAUDE_MEM_DATA_DIR="")
    assert (mine.port, mine.host) == (4001, "127.0.0.1")


@pytest.mark.parametrize("port", ["1023", "65536", "0", "-1", "80a", "4e3", "4001.0", "9" * 5000, "٤٠٠١", "true"])
def test_a_port_out_of_range(tmp_path: Path, port: str) -> None:
    with pytest.raises(Invalid, match="CLAUDE_MEM_WORKER_PORT must be a whole number from 1024 to 65535"):
        loaded(tmp_path, CLAUDE_MEM_WORKER_PORT=port)


@pytest.mark.parametrize("port", ["1024", "65535"])
def test_the_ends_of_the_range(tmp_path: Path, port: str) -> None:
    assert loaded(tmp_path, CLAUDE_MEM_WORKER_PORT=port).port == int(port)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("CLAUDE_MEM_API_TIMEOUT_MS", "499"),
        ("CLAUDE_MEM_API_TIMEOUT_MS", "300001"),
        ("CLAUDE_MEM_LOG_LEVEL", "LOUD"),
        ("CLAUDE_MEM_WORKER_HOST", "http://localhost"),
        ("CLAUDE_MEM_WORKER_HOST", "a b"),
        ("CLAUDE_MEM_WORKER_HOST", "löcal"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(tmp_path: Path, key: str, value: str) -> None:
    with pytest.raises(Invalid, match=f"^{key} must be") as caught:
        loaded(tmp_path, None, **{key: value})
    assert caught.value.field == key


def test_the_data_directory(tmp_path: Path) -> None:
    assert loaded(tmp_path, CLAUDE_MEM_DATA_DIR="~/mine").data_dir == tmp_path / "mine"
    assert loaded(tmp_path, {"CLAUDE_MEM_DATA_DIR": "~"}).data_dir == tmp_path
    assert loaded(tmp_path, {"env": {"CLAUDE_MEM_DATA_DIR": "/x"}}, CLAUDE_MEM_DATA_DIR="/y").data_dir == Path("/y")


def test_the_file_in_the_data_directory_counts(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "settings.json").write_text('{"CLAUDE_MEM_WORKER_PORT": "4003"}')
    chosen: dict[str, object] = {"CLAUDE_MEM_DATA_DIR": str(mine), "CLAUDE_MEM_WORKER_PORT": "4001"}
    assert loaded(tmp_path, chosen).port == 4003


@pytest.mark.parametrize(
    ("host", "called", "url"),
    [
        ("localhost", "127.0.0.1", "http://127.0.0.1:4001"),
        ("0.0.0.0", "127.0.0.1", "http://127.0.0.1:4001"),
        ("::", "::1", "http://[::1]:4001"),
        ("[::1]", "::1", "http://[::1]:4001"),
        ("192.168.0.7", "192.168.0.7", "http://192.168.0.7:4001"),
    ],
)
def test_the_address_to_call(tmp_path: Path, host: str, called: str, url: str) -> None:
    """R117: no name that may be tried as IPv6 first, and no address that cannot be called."""
    mine = loaded(tmp_path, CLAUDE_MEM_WORKER_HOST=host, CLAUDE_MEM_WORKER_PORT="4001")
    assert dialled(mine.host) == called
    assert mine.url == url


def test_the_demo_is_never_the_users_memory(tmp_path: Path) -> None:
    mine = loaded(tmp_path, CLAUDE_MEM_WORKER_PORT="4001")
    demo = mine.for_demo()
    assert demo.demo
    assert demo.data_dir == tmp_path / ".claude-mem-demo"
    assert demo.port != mine.port
    assert demo.for_demo() == demo
    assert loaded(tmp_path, CLAUDE_MEM_WORKER_PORT="1024").for_demo().port == 1124


def test_the_model_of_the_vectors(tmp_path: Path) -> None:
    """A name that no model has is told where the model is loaded: hooks and the command line need none."""
    assert loaded(tmp_path).embedding == Embedding("minilm", "", "", "")
    stored: dict[str, object] = {"CLAUDE_MEM_EMBEDDING_MODEL": "http", "CLAUDE_MEM_EMBEDDING_API_KEY": "sk-secret-4711"}
    url = "http://me:hunter2@127.0.0.1:11434/v1"
    mine = loaded(tmp_path, stored, CLAUDE_MEM_EMBEDDING_URL=url, CLAUDE_MEM_EMBEDDING_REMOTE_MODEL="nomic-embed-text")
    assert mine.embedding == Embedding("http", url, "nomic-embed-text", "sk-secret-4711")
    assert "4711" not in repr(mine) and "hunter2" not in repr(mine)
    assert loaded(tmp_path, CLAUDE_MEM_EMBEDDING_MODEL="bert").embedding.model == "bert"
