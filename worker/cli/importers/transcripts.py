"""Claude Code's transcripts (JSON lines) as the events that hooks would have told of: prompts, tool uses, turns.

Read line by line; of a file only the tool calls that wait for their results are held. Each event has the moment at
which it happened and an id made of the transcript's own, so that it is taken once however often it is told: also when a
resumed or branched session repeats lines of another file. Lines that are broken, half or of an unknown kind are counted
and passed over; what sub-agents did belongs to the session that sent them.
"""

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from worker.cli.harness.bounds import MOST_CHARS, bounded, cut
from worker.cli.importers.mending import NoObject, json_object
from worker.cli.telling import Told
from worker.contract.capture import PromptSubmitted, ToolUsed, TurnEnded
from worker.contract.clean import cleaned
from worker.contract.privacy import NAMES, is_protocol_only
from worker.contract.transcript_end import said

SOURCE = "claude"
ALL_PRIVATE = "<private></private>"
"""What a prompt of which nothing may be kept is told as."""
_MEDIA_PROMPT = "[media prompt]"
_MOST_WAITING = 2000
_OPENINGS = tuple(f"<{name}" for name in NAMES)
_HOST_WORDS = (
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued from a previous conversation that ran out of context",
    "<local-command-",
    "<bash-",
    "<user-memory-input>",
)
_COMMAND = re.compile(r"<command-name>\s*/?([^<]*)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_FEWEST_MS, _MOST_MS = 0, 253_000_000_000_000


@dataclass(slots=True)
class Passed:
    """What was passed over: broken lines, and records that tell of nothing, by their kind."""

    broken: int = 0
    records: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Session:
    """The files of a session: its own, and those of its sub-agents."""

    name: str
    files: tuple[Path, ...]

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(file.stat().st_size for file in self.files)


def found(path: Path, *, since_epoch_ms: int = 0) -> list[Session]:
    """The sessions below a folder, or of one file; those that were left first come first.

    since_epoch_ms: files that were not written to since then are passed over. Errors: ``OSError``.
    """
    files = [path] if path.is_file() else sorted(path.rglob("*.jsonl"))
    dated = [(file.stat().st_mtime_ns, file) for file in files if file.is_file()]
    sessions: dict[tuple[Path, str], list[tuple[int, Path]]] = {}
    for changed_ns, file in dated:
        if changed_ns // 1_000_000 >= since_epoch_ms:
            sessions.setdefault(_session_of(file), []).append((changed_ns, file))
    ordered = sorted(sessions.items(), key=lambda one: max(one[1]))
    return [Session(name, tuple(file for _, file in sorted(ages))) for (_, name), ages in ordered]


def told(session: Session, passed: Passed) -> Iterator[Told]:
    """What a session tells, in the order in which it happened. Errors: ``OSError``."""
    streams = [_File(file, session.name, passed).events() for file in session.files]
    yield from heapq.merge(*streams, key=lambda event: event.occurred_at_epoch_ms or 0)


def _session_of(file: Path) -> tuple[Path, str]:
    """The project's folder and the name of the session that a file belongs to."""
    if not file.stem.startswith("agent-"):
        return file.parent, file.stem
    if file.parent.name == "subagents":
        return file.parent.parent.parent, file.parent.parent.name
    for record in _records(file, Passed()):
        if name := _text(record.get("sessionId")):
            return file.parent, name
    return file.parent, file.stem


def _records(file: Path, passed: Passed) -> Iterator[dict[str, Any]]:
    with file.open("rb") as opened:
        for line in opened:
            if not (text := line.strip()):
                continue
            try:
                yield json_object(text)[0]
            except NoObject:
                passed.broken += 1


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool call that waits for its result."""

    name: str
    given: object
    agent_id: str


class _File:
    """One file, read once."""

    def __init__(self, file: Path, session: str, passed: Passed) -> None:
        self._file, self._session, self._passed = file, session, passed
        self._agent = file.stem.removeprefix("agent-") if file.stem.startswith("agent-") else ""
        self._now_ms = 0
        self._cwd: str | None = None
        self._title: str | None = None
        self._calls: dict[str, _Call] = {}
        self._last: TurnEnded | None = None
        self._before_ms = 0

    def events(self) -> Iterator[Told]:
        """In the order of its lines; moments never go back."""
        for record in _records(self._file, self._passed):
            self._place(record)
            kind = _text(record.get("type"))
            message = record.get("message")
            if kind == "user" and isinstance(message, dict):
                yield from self._user(record, message)
            elif kind == "assistant" and isinstance(message, dict):
                self._assistant(record, message)
            elif kind == "attachment" and (asked := _asked_meanwhile(record)) is not None:
                yield from self._user(record, {"content": asked})
            else:
                self._title = _text(record.get("customTitle")) or self._title
                self._passed.records[kind or "without a kind"] += 1
        self._before_ms = self._now_ms
        yield from self._turn_end()

    def _place(self, record: Mapping[str, Any]) -> None:
        self._before_ms = self._now_ms
        self._now_ms = max(self._now_ms, _moment(record.get("timestamp")))
        self._cwd = _text(record.get("cwd")) or self._cwd

    def _user(self, record: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[Told]:
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        results = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_result"]
        if results:
            for part in results:
                yield from self._result(record, part, alone=len(results) == 1)
            return
        prompt = _prompt(record, content, parts)
        if prompt is None or self._agent or record.get("isSidechain") is True:
            self._passed.records["user, not by a person"] += 1
            return
        yield from self._turn_end()
        text = cleaned(cut(prompt, MOST_CHARS, _OPENINGS)).strip()
        yield PromptSubmitted(
            **self._common(record, f"prompt-{_text(record.get('uuid')) or f'{self._session}-{self._now_ms}'}"),
            prompt=text or ALL_PRIVATE,
            custom_title=None if self._title is None else cleaned(self._title),
        )

    def _result(self, record: Mapping[str, Any], part: Mapping[str, Any], *, alone: bool) -> Iterator[ToolUsed]:
        tool_use_id = _text(part.get("tool_use_id"))
        call = self._calls.pop(tool_use_id, None)
        if call is None:
            self._passed.records["result without a call"] += 1
            return
        whole = record.get("toolUseResult")
        response = whole if alone and isinstance(whole, dict | str | list) else part.get("content")
        yield ToolUsed(
            **self._common(record, f"tool-{tool_use_id}"),
            tool_name=call.name,
            tool_input=cleaned(bounded(call.given, NAMES)),
            tool_response=cleaned(bounded(response, NAMES)),
            tool_use_id=tool_use_id,
            agent_id=call.agent_id or None,
        )

    def _assistant(self, record: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        content = message.get("content")
        beside = bool(self._agent) or record.get("isSidechain") is True
        agent_id = _text(record.get("agentId")) or self._agent if beside else ""
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and part.get("type") == "tool_use" and (name := _text(part.get("name"))):
                self._calls[_text(part.get("id"))] = _Call(name, part.get("input"), agent_id or ("agent" * beside))
        while len(self._calls) > _MOST_WAITING:  # calls that were broken off are never answered
            del self._calls[next(iter(self._calls))]
        text = "" if beside else said(content)
        if text and (kept := cleaned(cut(text, MOST_CHARS, _OPENINGS)).strip()):
            self._last = TurnEnded(
                **self._common(record, f"turn-{_text(record.get('uuid')) or f'{self._session}-{self._now_ms}'}"),
                last_assistant_message=kept,
                observed_model=_text(message.get("model")) or None,
            )

    def _turn_end(self) -> Iterator[TurnEnded]:
        """The end of what came before: after its last tool use, also where that had no answer any more."""
        last, self._last = self._last, None
        if last is not None:
            latest_ms = max(last.occurred_at_epoch_ms or 0, self._before_ms)
            yield msgspec.structs.replace(last, occurred_at_epoch_ms=latest_ms)

    def _common(self, record: Mapping[str, Any], event_id: str) -> dict[str, Any]:
        return {
            "content_session_id": _text(record.get("sessionId")) or self._session,
            "platform_source": SOURCE,
            "cwd": self._cwd,
            "event_id": f"transcript-{event_id}",
            "occurred_at_epoch_ms": self._now_ms or int(self._file.stat().st_mtime * 1000),
        }


def _prompt(record: Mapping[str, Any], content: object, parts: Iterable[object]) -> str | None:
    """What a person asked; None for what the host wrote in the person's name."""
    if any(record.get(mark) is True for mark in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")):
        return None
    pictured = any(isinstance(part, dict) and part.get("type") in ("image", "document") for part in parts)
    text = content if isinstance(content, str) else _joined(parts)
    if not text.strip():
        return _MEDIA_PROMPT if pictured else None
    if text.lstrip().startswith(_HOST_WORDS) or is_protocol_only(text):
        return None
    if text.lstrip().startswith(("<command-name>", "<command-message>")):
        name, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
        given = arguments[1].strip() if arguments else ""
        return f"/{name[1].strip()} {given}" if name and given else None
    return text


def _asked_meanwhile(record: Mapping[str, Any]) -> object:
    """What a person typed while the agent worked, of which there is no other line; None for any other attachment."""
    given = record.get("attachment")
    if not isinstance(given, dict) or given.get("type") != "queued_command" or given.get("isMeta") is True:
        return None
    origin = given.get("origin")
    by_person = not isinstance(origin, dict) or origin.get("kind", "human") == "human"
    return given.get("prompt") if by_person and given.get("commandMode", "prompt") == "prompt" else None


def _joined(parts: Iterable[object]) -> str:
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _moment(stamp: object) -> int:
    """Epoch ms of ISO text, 0 for none."""
    if not isinstance(stamp, str):
        return 0
    try:
        moment = datetime.fromisoformat(stamp)
        ms = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
    return ms if _FEWEST_MS <= ms <= _MOST_MS else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
