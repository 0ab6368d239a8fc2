"""Pure: rows from elsewhere, checked and brought to the form in which they are stored.

Tolerant where nothing is lost by it (numbers as text, lists where JSON text is stored, one of the two dates), strict
where a row could not be told from another: then the error names the row and the key.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from worker.contract.errors import Invalid
from worker.contract.when import iso_utc, parse_range

Row = dict[str, Any]

_DIGITS = re.compile(r"[0-9]{1,19}")


def session(raw: Mapping[str, Any], place: str) -> Row:
    """A row of ``sdk_sessions``; ``place`` is where it stands, for the error."""
    content = _text(raw, "content_session_id", place) or _text(raw, "memory_session_id", place)
    if not content:
        raise Invalid(
            f"{place}.content_session_id must be a text that is not empty", field=f"{place}.content_session_id"
        )
    status = _text(raw, "status", place) or "completed"
    if status not in ("active", "completed", "failed"):
        raise Invalid(f"{place}.status must be active, completed or failed", field=f"{place}.status")
    started, started_text = _moment(raw, "started_at", place)
    done = raw.get("completed_at_epoch") is not None or raw.get("completed_at") not in (None, "")
    completed = _moment(raw, "completed_at", place) if done else (None, None)
    return {
        "content_session_id": content,
        "memory_session_id": _text(raw, "memory_session_id", place) or None,
        "project": _text(raw, "project", place) or "",
        "platform_source": _text(raw, "platform_source", place),
        "user_prompt": _text(raw, "user_prompt", place),
        "started_at": started_text,
        "started_at_epoch": started,
        "completed_at": completed[1],
        "completed_at_epoch": completed[0],
        "status": status,
        "worker_port": _count(raw, "worker_port", place),
        "prompt_counter": _count(raw, "prompt_counter", place, absent=0),
        **{key: _text(raw, key, place) for key in ("custom_title", "observed_model", "observed_billing")},
    }


def observation(raw: Mapping[str, Any], place: str) -> Row:
    """A row of ``observations``, with the platform of its session where it is given."""
    return {
        **_child(raw, place),
        **{key: _text(raw, key, place) for key in ("text", "title", "subtitle", "narrative", "content_hash")},
        **{key: _text(raw, key, place) for key in ("generated_by_model", "agent_type", "agent_id")},
        **{key: _list(raw, key, place) for key in ("facts", "concepts", "files_read", "files_modified")},
        "type": _text(raw, "type", place) or "discovery",
        "relevance_count": _count(raw, "relevance_count", place, absent=0),
        "metadata": _json(raw, "metadata", place),
    }


def summary(raw: Mapping[str, Any], place: str) -> Row:
    """A row of ``session_summaries``, with the platform of its session where it is given."""
    texts = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    return {
        **_child(raw, place),
        **{key: _text(raw, key, place) for key in texts},
        **{key: _list(raw, key, place) for key in ("files_read", "files_edited")},
    }


def prompt(raw: Mapping[str, Any], place: str) -> Row:
    """A row of ``user_prompts``, with the project and platform of its session where they are given."""
    content, text = _text(raw, "content_session_id", place), _text(raw, "prompt_text", place)
    if not content:
        raise Invalid(
            f"{place}.content_session_id must be a text that is not empty", field=f"{place}.content_session_id"
        )
    if text is None:
        raise Invalid(f"{place}.prompt_text must be a text", field=f"{place}.prompt_text")
    epoch, stamp = _moment(raw, "created_at", place)
    return {
        "content_session_id": content,
        "prompt_text": text,
        "prompt_number": _count(raw, "prompt_number", place),
        "created_at": stamp,
        "created_at_epoch": epoch,
        "project": _text(raw, "project", place),
        "platform_source": _text(raw, "platform_source", place),
    }


def _child(raw: Mapping[str, Any], place: str) -> Row:
    memory = _text(raw, "memory_session_id", place)
    if not memory:
        raise Invalid(f"{place}.memory_session_id must be a text that is not empty", field=f"{place}.memory_session_id")
    epoch, stamp = _moment(raw, "created_at", place)
    return {
        "memory_session_id": memory,
        "project": _text(raw, "project", place) or "",
        "prompt_number": _count(raw, "prompt_number", place) or None,
        "discovery_tokens": _count(raw, "discovery_tokens", place, absent=0),
        "merged_into_project": _text(raw, "merged_into_project", place),
        "created_at": stamp,
        "created_at_epoch": epoch,
        "platform_source": _text(raw, "platform_source", place),
    }


def _text(raw: Mapping[str, Any], key: str, place: str) -> str | None:
    value = raw.get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise Invalid(f"{place}.{key} must be a text", field=f"{place}.{key}")


def _count(raw: Mapping[str, Any], key: str, place: str, *, absent: int | None = None) -> int | None:
    """A whole number. absent: where the key is not there at all, as the column's default."""
    value = raw.get(key, absent)
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise Invalid(f"{place}.{key} must be a whole number, 0 or more", field=f"{place}.{key}")
    return value


def _moment(raw: Mapping[str, Any], key: str, place: str) -> tuple[int, str]:
    """(epoch ms, ISO text) from `<key>_epoch`, or from `<key>` alone; the text is made if it is missing."""
    epoch = _count(raw, f"{key}_epoch", place)
    stamp = _text(raw, key, place)
    if epoch is None:
        parsed = parse_range(stamp) if stamp else None
        if parsed is None:
            raise Invalid(f"{place}.{key}_epoch must be milliseconds since 1970", field=f"{place}.{key}_epoch")
        epoch = parsed[0]
    return epoch, stamp or iso_utc(epoch)


def _list(raw: Mapping[str, Any], key: str, place: str) -> str | None:
    """JSON text of a list, whether it came as text or as a list; other text becomes the only item."""
    value = raw.get(key)
    if isinstance(value, list):
        return msgspec.json.encode(value).decode()
    text = _text(raw, key, place)
    if not text:
        return None if text is None else "[]"
    return text if isinstance(_decoded(text), list) else msgspec.json.encode([text]).decode()


def _json(raw: Mapping[str, Any], key: str, place: str) -> str | None:
    value = raw.get(key)
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else _text(raw, key, place)


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


Reader = Callable[[Mapping[str, Any], str], Row]
