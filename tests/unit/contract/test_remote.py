"""Where a worker elsewhere is, and which token it is given."""

import argparse
from pathlib import Path

import pytest

from worker.contract import remote
from worker.contract.errors import Invalid
from worker.contract.settings import Settings

MINE = Settings(Path("/memory"), "127.0.0.1", 37700, token="of-this-machine", read_token="r")


@pytest.mark.parametrize(
    ("url", "there"),
    [
        ("http://127.0.0.1:37777", ("127.0.0.1", 37777)),
        ("http://box:80/", ("box", 80)),
        ("box.example:40000", ("box.example", 40000)),
        ("http://[::1]:4000", ("::1", 4000)),
        (" localhost:4000 ", ("localhost", 4000)),
    ],
)
def test_address(url: str, there: tuple[str, int]) -> None:
    assert remote.address(url) == there


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://box:443", "SSH tunnel"),
        ("http://box", "host and port"),
        ("http://:4000", "host and port"),
        ("http://box:99999", "cannot be read"),
        ("http://me:secret@box:4000", "nothing more"),
        ("http://box:4000/memory", "nothing more"),
        ("", "host and port"),
    ],
)
def test_what_is_no_address(url: str, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        remote.address(url)


def _given(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    remote.add_flags(parser)
    return parser.parse_args(words)


def test_without_flags_nothing_changes() -> None:
    assert remote.chosen(_given(), MINE) is MINE


def test_the_token_of_this_machine_is_not_sent_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CLAUDE_MEM_API_TOKEN", raising=False)
    there = remote.chosen(_given("--url", "box:4000"), MINE)
    assert (there.host, there.port, there.credential, there.remote) == ("box", 4000, "", True)
    monkeypatch.setenv("CLAUDE_MEM_API_TOKEN", "of-the-environment")
    assert remote.chosen(_given("--url", "box:4000"), MINE).credential == "of-the-environment"
    file = tmp_path / "token"
    file.write_text("of-the-file\n")
    assert remote.chosen(_given("--url", "box:4000", "--token-file", str(file)), MINE).credential == "of-the-file"
    assert remote.chosen(_given("--url", "box:4000", "--token", "given"), MINE).credential == "given"


def test_a_token_that_cannot_be_read_or_sent(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="No such file"):
        remote.chosen(_given("--url", "box:4000", "--token-file", str(tmp_path / "none")), MINE)
    with pytest.raises(Invalid, match="visible ASCII"):
        remote.chosen(_given("--url", "box:4000", "--token", "two words"), MINE)
