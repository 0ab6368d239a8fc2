"""What the agent said last, read from the end of its transcript: bounded, whatever the file is (R125)."""

import json
import os
import re

_BLOCK_BYTES = 1 << 16
_MOST_BYTES = 8 << 20
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_GAP = re.compile(r"\n{3,}")


def last_said(file: str) -> tuple[str, str]:
    """The text of the last answer that has one, and the model it names; empty for a file that has none.

    Looks at the last 8 MiB. Half lines, lines that are no JSON and sub-agents' lines are passed over.
    """
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return "", ""
    try:
        return _searched(handle)
    except OSError:
        return "", ""
    finally:
        os.close(handle)


def said(content: object) -> str:
    """The text of a message's content: its text parts, without what the host put in."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    given = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    texts = [text for text in given if isinstance(text, str)]
    return _GAP.sub("\n\n", _REMINDER.sub("", "\n".join(texts))).strip()


def _searched(handle: int) -> tuple[str, str]:
    end = os.lseek(handle, 0, os.SEEK_END)
    stop, tail = max(0, end - _MOST_BYTES), b""
    while end > stop:
        start = max(stop, end - _BLOCK_BYTES)
        os.lseek(handle, start, os.SEEK_SET)
        block = os.read(handle, end - start)
        if not block:
            break
        lines = (block + tail).split(b"\n")
        end = start
        # The first piece may be the end of a longer line.
        tail = lines.pop(0) if start else b""
        for line in reversed(lines):
            found = _answer(line)
            if found is not None:
                return found
    return _answer(tail) or ("", "")


def _answer(line: bytes) -> tuple[str, str] | None:
    if b'"assistant"' not in line:
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or record.get("type") != "assistant" or record.get("isSidechain") is True:
        return None
    message = record.get("message")
    if not isinstance(message, dict):
        return None
    text, model = said(message.get("content")), message.get("model")
    return (_whole(text), _whole(model) if isinstance(model, str) else "") if text else None


def _whole(text: str) -> str:
    """With `?` in place of half characters."""
    return text.encode("utf-8", "replace").decode()
