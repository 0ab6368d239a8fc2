"""Settings as a whole: shown with nothing lost and no secret told, changed whole or not at all."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from worker.contract import known_settings, settings_file
from worker.contract.errors import Conflict, Invalid
from worker.contract.known_settings import DEFAULTS, checked
from worker.contract.settings import environment, load
from worker.contract.settings_file import Changed

LEVEL, PORT, TOOLS = "CLAUDE_MEM_LOG_LEVEL", "CLAUDE_MEM_WORKER_PORT", "CLAUDE_MEM_SKIP_TOOLS"
SECRET = "CLAUDE_MEM_GEMINI_API_KEY"


def store(folder: Path, content: object) -> Path:
    file = folder / "settings.json"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return file


def shown(folder: Path, **environ: str) -> dict[str, Any]:
    return settings_file.shown(folder, environ)


def change(folder: Path, changes: Mapping[str, object], **environ: str) -> Changed:
    return settings_file.change(folder, changes, environ)


def held(folder: Path) -> Any:
    return json.loads((folder / "settings.json").read_text("utf-8"))


def test_defaults_are_shown_and_nothing_is_written(tmp_path: Path) -> None:
    values = shown(tmp_path / "memory")
    assert list(values) == list(DEFAULTS)
    assert all(isinstance(value, str) for value in values.values())
    assert (values[PORT], values["CLAUDE_MEM_DATA_DIR"]) == (str(37700 + os.getuid() % 100), str(tmp_path / "memory"))
    assert change(tmp_path / "memory", values) == Changed((), (), (), ())
    assert not (tmp_path / "memory").exists()


def test_environment_then_file_then_default(tmp_path: Path) -> None:
    store(tmp_path, {LEVEL: "WARN", "CLAUDE_MEM_MODEL": "file", PORT: 4001, "CLAUDE_MEM_CHROMA_ENABLED": False})
    values = shown(tmp_path, CLAUDE_MEM_LOG_LEVEL="DEBUG", CLAUDE_MEM_MODE=" ")
    assert (values[LEVEL], values["CLAUDE_MEM_MODEL"], values["CLAUDE_MEM_PROVIDER"]) == ("DEBUG", "file", "local")
    assert (values[PORT], values["CLAUDE_MEM_CHROMA_ENABLED"]) == ("4001", "false")


def test_an_empty_list_is_a_value_and_an_empty_port_is_none(tmp_path: Path) -> None:
    store(tmp_path, {TOOLS: "", PORT: ""})
    assert (shown(tmp_path)[TOOLS], shown(tmp_path)[PORT]) == ("", str(37700 + os.getuid() % 100))


def test_what_is_not_known_is_shown_and_stays(tmp_path: Path) -> None:
    """R121."""
    mine = {"my_note": 1, "a": {"b": [1, None, "ü"]}, LEVEL: "INFO", "z": None}
    store(tmp_path, mine)
    assert {name: value for name, value in shown(tmp_path).items() if name in mine} == mine
    assert change(tmp_path, shown(tmp_path) | {TOOLS: "Bash"}) == Changed((TOOLS,), (), (), ())
    assert held(tmp_path) == mine | {TOOLS: "Bash"}
    assert list(held(tmp_path)) == [*mine, TOOLS]
    assert change(tmp_path, {"my_note": {"deep": 2}}).keys == ("my_note",)
    assert held(tmp_path)["my_note"] == {"deep": 2}


def test_what_is_no_setting_is_left_out_and_told(tmp_path: Path) -> None:
    assert change(tmp_path, {"CLAUDE_MEM_PROVDER": "gemini", TOOLS: "x"}).ignored == ("CLAUDE_MEM_PROVDER",)
    assert held(tmp_path) == {TOOLS: "x"}


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf" + b'{"my_note": 1}', b"", b" \n"])
def test_marks_and_empty_files_are_fine(tmp_path: Path, content: bytes) -> None:
    """R119."""
    store(tmp_path, content)
    change(tmp_path, {TOOLS: "x"})
    assert held(tmp_path)[TOOLS] == "x"
    assert load({"CLAUDE_MEM_DATA_DIR": str(tmp_path)}, home=tmp_path).data_dir == tmp_path


@pytest.mark.parametrize("content", [b'{"a": 1,}', b"{", b"[1]", b'"x"', b"\xff\xfe{\x00}\x00", b"[" * 100_000])
def test_a_broken_file_is_told_and_left_alone(tmp_path: Path, content: bytes) -> None:
    """R119."""
    file = store(tmp_path, content)
    with pytest.raises(Conflict, match="settings.json"):
        shown(tmp_path)
    with pytest.raises(Conflict, match="settings.json"):
        change(tmp_path, {TOOLS: "x"})
    assert file.read_bytes() == content
    assert os.listdir(tmp_path) == ["settings.json"]


def test_a_flat_file_is_made_of_a_nested_one(tmp_path: Path) -> None:
    store(tmp_path, {"env": {LEVEL: "WARN", "my_note": 1}})
    assert (shown(tmp_path)[LEVEL], shown(tmp_path)["my_note"], "env" in shown(tmp_path)) == ("WARN", 1, False)
    change(tmp_path, {TOOLS: "x"})
    assert held(tmp_path) == {LEVEL: "WARN", "my_note": 1, TOOLS: "x"}


def test_other_keys_beside_a_nested_one_stay_where_they_are(tmp_path: Path) -> None:
    """R121."""
    store(tmp_path, {"env": {LEVEL: "WARN", "inner": 1}, "hooks": {"a": []}})
    change(tmp_path, {LEVEL: "ERROR", TOOLS: "x"})
    assert held(tmp_path) == {
        "env": {LEVEL: "ERROR", "inner": 1}, "hooks": {"a": []}, LEVEL: "ERROR", TOOLS: "x",
    }  # fmt: skip
    assert shown(tmp_path)[LEVEL] == "ERROR"


def test_secrets_are_masked_and_a_mask_sent_back_changes_nothing(tmp_path: Path) -> None:
    store(tmp_path, {SECRET: "sk-abcdefgh1234", "MY_TOKEN": "short", "deep": {"api_key": "0123456789abcdef"}})
    store_url = "redis://me:hunter2@host:1/0"
    change(tmp_path, {"CLAUDE_MEM_REDIS_URL": store_url, "CLAUDE_MEM_EMBEDDING_API_KEY": "sk-embedding-4711"})
    values = shown(tmp_path, CLAUDE_MEM_TV_TOKEN="tv-token-5678")
    assert values[SECRET] == "****1234"
    assert values["MY_TOKEN"] == "****"
    assert values["deep"] == {"api_key": "****cdef"}
    assert values["CLAUDE_MEM_TV_TOKEN"] == "****5678"
    assert values["CLAUDE_MEM_EMBEDDING_API_KEY"] == "****4711"
    assert values["CLAUDE_MEM_REDIS_URL"] == "redis://me:****@host:1/0"
    assert values["CLAUDE_MEM_OPENROUTER_API_KEY"] == ""
    assert change(tmp_path, values, CLAUDE_MEM_TV_TOKEN="tv-token-5678").keys == ()
    assert held(tmp_path)[SECRET] == "sk-abcdefgh1234"
    assert held(tmp_path)["CLAUDE_MEM_REDIS_URL"] == store_url
    with pytest.raises(Invalid, match="masked") as caught:
        change(tmp_path, {SECRET: "****9999"})
    assert caught.value.field == SECRET
    assert change(tmp_path, {SECRET: ""}).keys == (SECRET,)
    assert shown(tmp_path)[SECRET] == ""


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("PROVIDER", ["local", "claude", "anthropic", "gemini", "openrouter"], ["openai", "", "Claude"]),
        ("EMBEDDING_MODEL", ["minilm", "chroma-default", "e5", "http", "hash", "none"], ["bert", "", "MiniLM"]),
        ("EMBEDDING_URL", ["", "http://127.0.0.1:11434/v1", "https://a.example"], ["localhost:11434", "file:///x"]),
        ("EMBEDDING_REMOTE_MODEL", ["", "nomic-embed-text", "BAAI/bge-m3"], ["a\nb"]),
        ("CLAUDE_AUTH_METHOD", ["subscription", "api-key", "gateway", "cli"], ["oauth"]),
        ("GEMINI_MODEL", ["gemini-flash-latest", "gemini-3.5-flash"], ["gemini-1"]),
        ("CONTEXT_OBSERVATIONS", ["1", 200, "200"], ["0", "201", "1.5", "x", "", "-1", "９"]),
        ("CONTEXT_FULL_COUNT", ["0", "20"], ["21"]),
        ("CONTEXT_SESSION_COUNT", ["1", "50"], ["0", "51"]),
        ("CONTEXT_FULL_FIELD", ["narrative", "facts"], ["text"]),
        ("CONTEXT_SHOW_READ_TOKENS", ["true", "false", True, False], ["yes", "", "1"]),
        ("WORKER_PORT", ["1024", "65535", 4001], ["1023", "65536", ""]),
        ("WORKER_HOST", ["127.0.0.1", "0.0.0.0", "::1", "::", "localhost", "192.168.0.7"], ["example.org", ":::", ""]),
        ("LOG_LEVEL", ["DEBUG", "SILENT"], ["debug", "LOUD"]),
        ("PYTHON_VERSION", ["3.9", "3.13"], ["3", "3.131", "2.7", "3.1x"]),
        ("OPENROUTER_SITE_URL", ["", "https://a.b/c"], ["a.b", "ftp://x", "http://"]),
        ("CLOUD_SYNC_CONTENT_BATCH_SIZE", ["1", "500"], ["0", "501"]),
        ("CLOUD_SYNC_REQUEST_TIMEOUT_MS", ["5000", "180000"], ["4999", "180001"]),
        ("CHROMA_PORT", ["8000"], ["x", "-1"]),
        ("SKIP_TOOLS", ["", "Bash,Read"], ["a\nb", "x" * 10_001, None, [], {}, 1.5]),
    ],
)
def test_values_are_looked_at_before_anything_is_written(
    tmp_path: Path, name: str, good: list[object], bad: list[object]
) -> None:
    key = f"CLAUDE_MEM_{name}"
    for value in good:
        assert checked(key, value) == (str(value).lower() if isinstance(value, bool) else str(value))
    for value in bad:
        with pytest.raises(Invalid, match=f"^{key} must be") as caught:
            change(tmp_path, {"CLAUDE_MEM_MODE": "chill", key: value})
        assert caught.value.field == key
    assert not (tmp_path / "settings.json").exists()


def test_what_else_is_to_be_done_is_told(tmp_path: Path) -> None:
    done = change(tmp_path, {PORT: "4001", TOOLS: "x", "CLAUDE_MEM_MODE": "chill"}, CLAUDE_MEM_MODE="code")
    assert (done.restart, done.overruled) == ((PORT,), ("CLAUDE_MEM_MODE",))


def test_the_file_is_private_and_replaced_whole(tmp_path: Path) -> None:
    """R158."""
    file = store(tmp_path, {"my_note": 1})
    file.chmod(0o644)
    before = file.stat().st_ino
    change(tmp_path, {TOOLS: "x"})
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.stat().st_ino != before
    assert file.read_bytes() == b'{\n  "my_note": 1,\n  "CLAUDE_MEM_SKIP_TOOLS": "x"\n}\n'
    assert os.listdir(tmp_path) == ["settings.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "memory").mkdir()
    target = tmp_path / "dotfiles" / "mem.json"
    target.write_text("{}")
    (tmp_path / "memory" / "settings.json").symlink_to(target)
    change(tmp_path / "memory", {TOOLS: "x"})
    assert (tmp_path / "memory" / "settings.json").is_symlink()
    assert json.loads(target.read_text()) == {TOOLS: "x"}


def test_a_failure_in_between_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = store(tmp_path, {"my_note": 1})

    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(Conflict, match="No space left"):
        change(tmp_path, {TOOLS: "x"})
    assert json.loads(file.read_text()) == {"my_note": 1}
    assert os.listdir(tmp_path) == ["settings.json"]


def test_what_is_written_is_what_programs_read(tmp_path: Path) -> None:
    change(tmp_path, {PORT: 4001, LEVEL: "DEBUG"})
    mine = load({"CLAUDE_MEM_DATA_DIR": str(tmp_path)}, home=tmp_path)
    assert (mine.port, mine.log_level) == (4001, "DEBUG")


def test_every_default_passes_its_own_rule(tmp_path: Path) -> None:
    for key, value in settings_file.defaults(tmp_path).items():
        assert checked(key, value) == value


def test_only_settings_are_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_MEM_MODE", "chill")
    assert environment()["CLAUDE_MEM_MODE"] == "chill"
    assert "PATH" not in environment()


def test_every_setting_that_is_read_can_be_shown_and_changed() -> None:
    source = "".join(
        (Path(known_settings.__file__).parent / f"{name}.py").read_text()
        for name in ("settings", "context_settings", "observer_settings", "hook_settings")
    )
    read = set(re.findall(r'\b(?:value|number|flag|names|choice|text)\(\s*"([A-Z_]+)"', source))
    assert len(read) > 40
    # A command that is run must not come over HTTP.
    assert {f"CLAUDE_MEM_{name}" for name in read - {"CLIPBOARD_COMMAND", "CLAUDE_CODE_PATH"}} <= set(
        known_settings.DEFAULTS
    )
