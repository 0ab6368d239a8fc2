"""Pure: one use of a tool, opened; total on whatever an agent gives as input or answer (R131)."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from worker.contract.tokens import estimate_tokens
from worker.store.pending import Queued

_HEAD = _TAIL = 48_000
_DEEP = 8
_MOST_PIECES = 2_000
_FIRST = ("error", "stderr", "stdout", "output", "result", "content", "text", "message", "file", "filenames")
"""Where the words of an answer are, the most telling first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """given, answer: what the tool got and gave, as JSON values. tokens: what the agent read of it, estimated."""

    tool: str
    given: object = None
    answer: object = None
    cwd: str = ""
    tool_use_id: str | None = None
    epoch_ms: int = 0
    tokens: int = 0


def event(queued: Queued) -> Event:
    """What waits in the queue, opened."""
    return Event(
        tool=queued.tool_name or "",
        given=opened(queued.tool_input),
        answer=opened(queued.tool_response),
        cwd=queued.cwd or "",
        tool_use_id=queued.tool_use_id,
        epoch_ms=queued.occurred_epoch_ms,
        tokens=estimate_tokens(queued.tool_response or ""),
    )


def opened(text: str | None) -> object:
    """The value of JSON text; text that is none is itself."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def field(value: object, *names: str) -> str:
    """The first text under one of some keys, empty if there is none. Numbers are texts too."""
    if isinstance(value, dict):
        for name in names:
            found = value.get(name)
            if isinstance(found, str) and found:
                return found
            if isinstance(found, int | float) and not isinstance(found, bool):
                return str(found)
    return ""


def words(value: object) -> str:
    """All that an answer says, as one text; of a long one the beginning and the end."""
    pieces: list[str] = []
    size = 0
    for piece in _pieces(value, _DEEP):
        pieces.append(clipped(piece))
        size += len(pieces[-1])
        if size > 2 * (_HEAD + _TAIL) or len(pieces) >= _MOST_PIECES:
            break
    return clipped("\n".join(pieces))


def clipped(text: str) -> str:
    """The beginning and the end of a text that is long."""
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n…\n{text[-_TAIL:]}"


def _pieces(value: object, deep: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif deep and isinstance(value, dict):
        for name in (*_FIRST, *(name for name in list(value)[:200] if name not in _FIRST)):
            if name in value:
                yield from _pieces(value[name], deep - 1)
    elif deep and isinstance(value, list):
        for item in value[:_MOST_PIECES]:
            yield from _pieces(item, deep - 1)
