"""Standard input and output of the bridge, on pipes."""

import io
import os
import threading
from collections.abc import Iterator

import pytest

from mcp_bridge.__main__ import Input, Lines, Output, mended


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def test_lines_come_as_they_are_sent(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b'{"a":1}\n{"b":')
    lines = Lines(io.BufferedReader(Input(pipe[0], on_end=lambda: None)), encoding="utf-8", errors="replace")
    assert lines.readline() == '{"a":1}\n'
    os.write(pipe[1], "…2}\n".encode())
    assert lines.readline() == '{"b":…2}\n'


def test_a_waiting_read_can_be_called_back(pipe: tuple[int, int]) -> None:
    ended = threading.Event()
    messages = Input(pipe[0], on_end=ended.set)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(io.BufferedReader(messages).readline()))
    reader.start()
    messages.stop()
    reader.join(60)
    assert read == [b""]
    assert ended.is_set()


def test_ends_when_the_parent_changes(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    messages = Input(pipe[0], on_end=lambda: None, check_s=0.01)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert messages.read() == b""


def test_nobody_reads_any_more(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    gone = threading.Event()
    out = io.BufferedWriter(Output(pipe[1], on_gone=gone.set))  # type: ignore[type-var]
    out.write(b"x" * 100_000)
    out.flush()
    assert gone.is_set()


def test_half_a_surrogate_pair_does_not_lose_the_request() -> None:
    """R025: a client that cut an emoji in two still gets its answer."""
    assert mended('{"q":"\\ud83d","id":7}\n') == '{"q": "?", "id": 7}\n'
    assert mended('{"q":"\\ud83d\\ude00"}\n') == '{"q": "😀"}\n'
    assert mended('{"q":"\\u00e9"}\n') == '{"q":"\\u00e9"}\n'
    assert mended('{"q":"\\ud83d"\n') == '{"q":"\\ud83d"\n'
