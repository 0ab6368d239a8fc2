"""Transcripts of past sessions as events."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from worker.cli.importers.transcripts import Passed, Session, found, told
from worker.cli.telling import Told
from worker.contract.capture import PromptSubmitted, ToolUsed, TurnEnded

CANARY = "canary-9d2c"
AT = "2026-03-04T10:00:{:02}.000Z"


class Writer:
    """A transcript, line by line, each a second later than the one before."""

    def __init__(self, session: str = "s-1") -> None:
        self.session, self.lines, self.seconds = session, list[str](), 0

    def add(self, kind: str, **more: Any) -> "Writer":
        record = {
            "type": kind,
            "sessionId": self.session,
            "uuid": f"{self.session}-u{len(self.lines)}",
            "parentUuid": None,
            "isSidechain": False,
            "cwd": "/home/u/shop",
            "version": "2.1.12",
            "timestamp": AT.format(self.seconds),
        }
        self.seconds += 1
        self.lines.append(json.dumps(record | more))
        return self

    def user(self, content: Any, **more: Any) -> "Writer":
        return self.add("user", message={"role": "user", "content": content}, userType="external", **more)

    def says(self, text: str, **more: Any) -> "Writer":
        return self.assistant([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}], **more)

    def assistant(self, content: list[dict[str, Any]], **more: Any) -> "Writer":
        message = {"role": "assistant", "model": "claude-x", "content": content, "usage": {"output_tokens": 3}}
        return self.add("assistant", message=message, **more)

    def calls(self, number: str, name: str = "Bash", given: Any = None, **more: Any) -> "Writer":
        part = {"type": "tool_use", "id": number, "name": name, "input": {"command": "ls"} if given is None else given}
        return self.assistant([part], **more)

    def result(self, number: str, content: Any = "out", **more: Any) -> "Writer":
        return self.user([{"type": "tool_result", "tool_use_id": number, "content": content}], **more)

    def raw(self, line: str) -> "Writer":
        self.lines.append(line)
        return self

    def save(self, folder: Path, name: str | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name or self.session}.jsonl"
        file.write_text("\n".join(self.lines) + "\n")
        return file


def events(path: Path) -> tuple[list[Told], Passed]:
    passed = Passed()
    return [event for session in found(path) for event in told(session, passed)], passed


def brief(some: list[Told]) -> list[str]:
    words = []
    for event in some:
        match event:
            case PromptSubmitted():
                words.append(f"? {event.prompt}")
            case ToolUsed():
                words.append(f"{event.tool_use_id} {event.tool_name}")
            case TurnEnded():
                words.append(f"! {event.last_assistant_message}")
    return words


def test_a_session_is_its_prompts_tool_uses_and_turns(tmp_path: Path) -> None:
    writer = Writer().user("fix the login").says("Looking.").calls("t1").result("t1", toolUseResult={"stdout": "a.py"})
    writer.says("Fixed.").user([{"type": "text", "text": "and the tests"}]).says("Green.")
    writer.save(tmp_path)
    some, passed = events(tmp_path)
    assert brief(some) == ["? fix the login", "t1 Bash", "! Fixed.", "? and the tests", "! Green."]
    prompt, use, turn, *_ = some
    assert isinstance(prompt, PromptSubmitted) and isinstance(use, ToolUsed) and isinstance(turn, TurnEnded)
    assert (prompt.content_session_id, prompt.cwd, prompt.platform_source) == ("s-1", "/home/u/shop", "claude")
    assert prompt.occurred_at_epoch_ms == 1_772_618_400_000
    assert (use.tool_input, use.tool_response) == ({"command": "ls"}, {"stdout": "a.py"})
    assert turn.observed_model == "claude-x"
    moments = [event.occurred_at_epoch_ms or 0 for event in some]
    assert moments == sorted(moments) and passed.broken == 0


def test_a_second_reading_gives_the_very_same_events(tmp_path: Path) -> None:
    Writer().user("a").calls("t1").result("t1").says("b").save(tmp_path)
    first, second = events(tmp_path)[0], events(tmp_path)[0]
    assert first == second
    assert len({event.event_id for event in first}) == len(first) == 3


def test_lines_that_a_resumed_session_repeats_have_the_same_ids(tmp_path: Path) -> None:
    writer = Writer().user("a").calls("t1").result("t1").says("b")
    writer.save(tmp_path)
    resumed = Writer("s-2")
    resumed.lines = [line.replace('"sessionId": "s-1"', '"sessionId": "s-2"') for line in writer.lines]
    resumed.user("go on").says("done").save(tmp_path)
    some = events(tmp_path)[0]
    ids = [event.event_id for event in some]
    assert len(ids) == 8 and len(set(ids)) == 5


def test_what_the_host_says_in_a_persons_name_is_no_prompt(tmp_path: Path) -> None:
    writer = Writer().user("Caveat: The messages below were generated by the user", isMeta=True)
    writer.user(
        "<command-name>/clear</command-name><command-message>clear</command-message><command-args></command-args>"
    )
    writer.user("<local-command-stdout>ok</local-command-stdout>").user("[Request interrupted by user]")
    writer.user("This session is being continued from a previous one", isCompactSummary=True)
    writer.user("This session is being continued from a previous conversation that ran out of context. It was of")
    writer.user("<task-notification>done</task-notification>").user([]).user("  ").user({"odd": 1})
    writer.user(
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>src</command-args>"
    )
    writer.user([{"type": "image", "source": {"data": "AAAA"}}])
    writer.save(tmp_path)
    assert brief(events(tmp_path)[0]) == ["? /review src", "? [media prompt]"]


def test_what_a_person_typed_while_the_agent_worked_is_a_prompt(tmp_path: Path) -> None:
    queued = {"type": "queued_command", "commandMode": "prompt"}
    writer = Writer().user("mend it").calls("t1").result("t1")
    writer.add("attachment", attachment=queued | {"prompt": "and the docs", "origin": {"kind": "human"}}).says("both")
    writer.add("attachment", attachment=queued | {"prompt": [{"type": "text", "text": "go on"}]})
    writer.add("attachment", attachment=queued | {"prompt": "<private>not this</private>"}).calls("t2").result("t2")
    writer.add("attachment", attachment=queued | {"prompt": "x", "origin": {"kind": "channel"}})
    writer.add("attachment", attachment=queued | {"prompt": "x", "commandMode": "task-notification"})
    writer.add("attachment", attachment=queued | {"prompt": "x", "isMeta": True})
    writer.add("attachment", attachment={"type": "todo_reminder", "content": []}).add("attachment", attachment=5)
    writer.save(tmp_path)
    some, passed = events(tmp_path)
    prompts = [event.prompt for event in some if isinstance(event, PromptSubmitted)]
    assert prompts == ["mend it", "and the docs", "go on", "<private></private>"]
    assert passed.records["attachment"] == 5


def test_what_sub_agents_did_belongs_to_the_session_in_all_places_where_it_is_written(tmp_path: Path) -> None:
    main = Writer().user("look around").calls("t1", "Task", {"prompt": "look"})
    main.user("look", isSidechain=True).calls("t2", isSidechain=True).result("t2", isSidechain=True)
    main.says("seen by a sub-agent", isSidechain=True).result("t1", "seen").says("I see.")
    main.save(tmp_path)
    old = Writer().calls("t3", isSidechain=True, agentId="abc").result("t3", isSidechain=True)
    old.save(tmp_path, "agent-abc")
    new = Writer().user("look", isSidechain=True).calls("t4", isSidechain=True).result("t4", isSidechain=True)
    new.save(tmp_path / "s-1" / "subagents", "agent-def")
    assert [len(session.files) for session in found(tmp_path)] == [3]
    some = events(tmp_path)[0]
    agents = {event.tool_use_id: event.agent_id for event in some if isinstance(event, ToolUsed)}
    assert agents == {"t1": None, "t2": "agent", "t3": "abc", "t4": "def"}
    assert {event.content_session_id for event in some} == {"s-1"}
    assert [word for word in brief(some) if word[0] in "?!"] == ["? look around", "! I see."]


def test_broken_half_and_unknown_lines_are_counted_and_passed_over(tmp_path: Path) -> None:
    writer = Writer().raw('{"type":"summary","summary":"Login","leafUuid":"x"}').raw("{not json").raw("[1]").raw("")
    writer.add("file-history-snapshot", snapshot={}).add("queue-operation").add("system", subtype="compact_boundary")
    writer.raw('{"no": "kind"}').raw('{"type": "user"}').raw('{"type": "assistant", "message": {"content": 5}}')
    writer.result("never-called").user("asked").raw('{"type":"assistant","message":{"content":[{"type":"te')
    writer.save(tmp_path)
    some, passed = events(tmp_path)
    assert brief(some) == ["? asked"]
    assert passed.broken == 3
    assert passed.records["summary"] == passed.records["system"] == passed.records["without a kind"] == 1
    assert passed.records["result without a call"] == 1


def test_a_call_that_was_broken_off_is_no_use(tmp_path: Path) -> None:
    Writer().user("a").calls("t1").user("[Request interrupted by user for tool use]").says("b").save(tmp_path)
    assert brief(events(tmp_path)[0]) == ["? a", "! b"]


@pytest.mark.parametrize("response", ["text", None, ["a"], [{"type": "text", "text": "x"}], 5])
def test_results_of_any_shape_are_taken(tmp_path: Path, response: Any) -> None:
    """R131."""
    Writer().user("a").calls("t1", given="ls -la").result("t1", response).save(tmp_path)
    (use,) = (event for event in events(tmp_path)[0] if isinstance(event, ToolUsed))
    assert (use.tool_input, use.tool_response) == ("ls -la", response)


def test_what_is_private_or_secret_does_not_come_out(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    writer = Writer().user(f"<private>{CANARY}</private>").says(f"<private>{CANARY}</private>")
    writer.user(f"go <private>{CANARY}").calls("t1", given={"command": f"export TOKEN={secret}"})
    writer.result("t1", toolUseResult={"stdout": f"<system-reminder>{CANARY}</system-reminder>fine"}).save(tmp_path)
    some = events(tmp_path)[0]
    assert brief(some) == ["? <private></private>", "? go", "t1 Bash"]
    assert CANARY not in str(some) and secret not in str(some)


def test_moments_that_are_missing_or_odd_are_those_before(tmp_path: Path) -> None:
    writer = Writer().user("a").user("b", timestamp=None).user("c", timestamp="not yet").user("d", timestamp="9" * 30)
    writer.save(tmp_path)
    assert len({event.occurred_at_epoch_ms for event in events(tmp_path)[0]}) == 1
    undated = Writer("s-9").user("a", timestamp=3).save(tmp_path / "other")
    (event,) = events(undated)[0]
    assert event.occurred_at_epoch_ms == int(undated.stat().st_mtime * 1000)


def test_files_that_were_left_long_ago_can_be_passed_over(tmp_path: Path) -> None:
    old, new = Writer("old").user("a").save(tmp_path), Writer("new").user("b").save(tmp_path)
    os.utime(old, (1000, 1000))
    assert [session.name for session in found(tmp_path)] == ["old", "new"]
    since_ms = int(new.stat().st_mtime * 1000) - 60_000
    assert found(tmp_path, since_epoch_ms=since_ms) == [Session("new", (new,))]
    assert found(old) == [Session("old", (old,))]
    assert found(tmp_path / "nowhere") == []
