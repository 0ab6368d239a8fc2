"""What an agent says to a hook, and what is read of its transcript."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.cli.harness import claude_code
from worker.cli.harness.bounds import bounded, cut
from worker.cli.harness.event import Reply
from worker.cli.harness.stdin import read_object
from worker.contract.privacy import NAMES
from worker.contract.transcript_end import last_said


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def soon() -> float:
    return time.monotonic() + 60


def test_standard_input_is_read_until_it_is_whole_and_not_until_it_ends(pipe: tuple[int, int]) -> None:
    """R127: the pipe stays open."""
    os.write(pipe[1], b'\xef\xbb\xbf{"a": {"b": "}"}}\n')
    assert read_object(pipe[0], soon()) == {"a": {"b": "}"}}


@pytest.mark.parametrize("text", [b"", b"{", b"[1]", b"null", b'{"a": }', b"\xff\xfe"])
def test_what_is_no_object_is_none_within_the_bound(pipe: tuple[int, int], text: bytes) -> None:
    os.write(pipe[1], text)
    assert read_object(pipe[0], time.monotonic() + 0.05) == {}


def test_bytes_that_are_no_utf8_are_replaced(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b'{"prompt": "\xff"}')
    assert read_object(pipe[0], soon()) == {"prompt": "\ufffd"}


def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    value = {"tool_response": ["}" * 5000] * 300}
    (tmp_path / "in").write_text(json.dumps(value))
    with (tmp_path / "in").open("rb") as file:
        assert read_object(file.fileno(), soon()) == value


def read(given: dict[str, object], project_dir: str = "", process_cwd: str = "/here") -> object:
    return claude_code.read(given, project_dir=project_dir, process_cwd=process_cwd)


@pytest.mark.parametrize("key", ["session_id", "id", "sessionId"])
def test_the_session_has_three_names(key: str) -> None:
    assert claude_code.read({key: "s"}, project_dir="", process_cwd="/").session_id == "s"


@pytest.mark.parametrize(
    ("given", "project_dir", "cwd"),
    [
        ({"cwd": "/a"}, "", "/a"),
        ({"cwd": "/a"}, "/p", "/p"),
        ({}, "", "/here"),
        ({"cwd": 3}, "", "/here"),
        ({"cwd": ""}, "", "/here"),
        ({"cwd": " "}, "", "/here"),
    ],
)
def test_the_folder_is_that_of_the_agent(given: dict[str, object], project_dir: str, cwd: str) -> None:
    assert claude_code.read(given, project_dir=project_dir, process_cwd="/here").cwd == cwd


def test_a_folder_that_can_be_none_is_none() -> None:
    for cwd in ("/a\0b", "/a\ud800", "a/b", "../a", ".", "/" + "a" * 5_000):
        assert claude_code.read({"cwd": cwd}, project_dir="", process_cwd="/").cwd == ""


@pytest.mark.parametrize("value", [None, 3, [], {}, True])
def test_fields_of_a_wrong_type_are_as_missing(value: object) -> None:
    """R131."""
    keys = ("session_id", "prompt", "tool_name", "tool_use_id", "transcript_path", "reason", "agent_id", "agent_type")
    said = claude_code.read(dict.fromkeys(keys, value), project_dir="", process_cwd="/")
    assert not any((said.session_id, said.prompt, said.tool_name, said.transcript, said.reason, said.agent_id))


@pytest.mark.parametrize(("length", "kept"), [(1, True), (128, True), (129, False)])
def test_an_agent_of_an_unlikely_name_is_none(length: int, kept: bool) -> None:
    said = claude_code.read({"agent_id": "a" * length}, project_dir="", process_cwd="/")
    assert bool(said.agent_id) is kept


@pytest.mark.parametrize("given", ["ls -la", None, [1], 5, {"file_path": 3, "filePaths": "x"}])
def test_a_tool_input_of_any_shape_names_no_files(given: object) -> None:
    """R131."""
    assert claude_code.read({"tool_input": given}, project_dir="", process_cwd="/").files == ()


def test_at_most_ten_files_are_looked_at() -> None:
    given = {"tool_input": {"file_path": "a", "filePaths": ["a", *map(str, range(20))]}}
    assert len(claude_code.read(given, project_dir="", process_cwd="/").files) == 10


@pytest.mark.parametrize(
    "event", ["context", "session-init", "observation", "file-context", "summarize", "session-end"]
)
def test_nothing_to_say_is_an_empty_object(event: str) -> None:
    """R129."""
    assert claude_code.reply(event, Reply()) == {}


def test_a_reply_has_no_more_than_the_agent_knows_and_decides_nothing() -> None:
    answer = claude_code.reply("file-context", Reply("notes", "seen"))
    assert answer == {
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "notes"},
        "systemMessage": "seen",
    }
    assert claude_code.reply("context", Reply(speaks=True)) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": ""}
    }


def line(text: object, kind: str = "assistant", **more: object) -> str:
    return json.dumps({"type": kind, "message": {"role": kind, "content": text, "model": "m"}, **more})


def parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def test_the_last_answer_with_a_text_is_found(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    call = [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]
    lines = [line(parts("first")), line(parts("a", "b\n\n\n\n\nc")), line(call), line("asked", "user")]
    file.write_text("\n".join(lines))
    assert last_said(str(file)) == ("a\nb\n\nc", "m")


def test_what_the_host_put_in_is_left_out(tmp_path: Path) -> None:
    """R146."""
    file = tmp_path / "t.jsonl"
    file.write_text(line(parts("done<system-reminder>x\ny</system-reminder>", "<system-reminder>never closed")))
    assert last_said(str(file))[0] == "done"


def test_a_sub_agents_answer_is_not_the_agents(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(line("mine") + "\n" + line("of a sub-agent", isSidechain=True))
    assert last_said(str(file))[0] == "mine"


@pytest.mark.parametrize(
    "content", [None, b"", b"\n\n", b'{"type":"assistant","message":{"content":[{"type":"te', b"\xff\x00", b"[]\n3\n"]
)
def test_a_transcript_that_tells_nothing(tmp_path: Path, content: bytes | None) -> None:
    """R125: missing, empty, half a line."""
    if content is not None:
        (tmp_path / "t.jsonl").write_bytes(content)
    assert last_said(str(tmp_path / "t.jsonl")) == ("", "")
    assert last_said("") == last_said(str(tmp_path)) == last_said("a\0b") == ("", "")


def test_lines_longer_than_a_block_are_read_whole_and_half_ones_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    long = "ü" * 200_000
    file.write_text(line("early") + "\n" + line(long) + "\n" + line("x" * 300_000, "user") + '\n{"type":"assistant"')
    assert last_said(str(file))[0] == long


def test_a_short_text_is_left_as_it_is() -> None:
    assert cut("abc", 3) == "abc"
    assert bounded({"a": ["x", 1, None, True]}, NAMES) == {"a": ["x", 1, None, True]}


def test_a_cut_keeps_both_ends_between_words_and_tells_the_size() -> None:
    text = " ".join(f"word{n}" for n in range(20_000))
    short = cut(text, 3000)
    head, _, rest = short.partition("\n[... ")
    told, _, tail = rest.partition(" ...]\n")
    assert text.startswith(head) and text.endswith(tail) and len(short) < 3200
    assert head.split()[-1] in text.split() and tail.split()[0] in text.split()
    assert f"of {len(text):,} characters" in told


@pytest.mark.parametrize("opening", ["<private>", "<PRIVATE a='b'>", "-----BEGIN RSA PRIVATE KEY-----"])
def test_the_end_goes_too_where_something_hidden_may_begin_in_what_was_cut(opening: str) -> None:
    text = "a b " * 5000 + opening + " hidden" * 5000
    assert "hidden" not in cut(text, 3000, ("<private",))


def test_binary_content_is_left_out_with_its_size() -> None:
    value = {"image": {"base64": "iVBORw0KGgo" * 1000}}
    assert bounded(value, NAMES) == {"image": {"base64": "[11,000 characters of binary content are left out]"}}


def test_all_texts_together_are_bounded_and_depth_too() -> None:
    many = bounded(["word " * 50_000] * 40, NAMES)
    assert len(json.dumps(many)) < 1_500_000
    numbers = bounded({"rows": list(range(1_000_000)), "more": {str(n): n for n in range(9)}}, NAMES)
    assert len(json.dumps(numbers)) < 1_500_000
    assert "more are left out" in json.dumps(numbers)
    deep: object = "x"
    for _ in range(500):
        deep = [deep]
    assert "[nested too deep]" in json.dumps(bounded(deep, NAMES))
