"""Pure: rows from elsewhere, checked and brought to the form in which they are stored.

Tolerant where nothing is lost by it (numbers as text, lists where JSON text is stored, one of the two dates). A value
that cannot be stored is refused, naming the row and the key; or, for whoever brings in a whole memory, it is mended:
replaced by the nearest that can be, and told.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from worker.contract.errors import Invalid
from worker.contract.transfer import NTH, SHARED, Mended
from worker.contract.when import iso_utc, parse_range

Row = dict[str, Any]
T = TypeVar("T")

UNNAMED = "imported-unnamed"
"""The session of records that name none, once they are mended."""
_NUMBER = re.compile(r"-?[0-9]{1,19}")
_STATES = ("active", "completed", "failed")
_DONE = "completed"
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Raw:
    """A row as it came. place: where it stands, to be told. mended: takes what was replaced, if that is allowed."""

    values: Mapping[str, Any]
    place: str
    mended: list[Mended] | None

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return self.instead(key, "must be a text", msgspec.json.encode(value).decode())

    def count(self, key: str, *, absent: int | None = None) -> int | None:
        """A whole number. absent: where the key is not there at all, as the column's default."""
        value = self.values.get(key, absent)
        if value is None or value == "":
            return None
        whole = _whole(value)
        return self.instead(key, "must be a whole number", absent) if whole is None else whole

    def nth(self) -> int:
        """Which of several equal rows it is."""
        return self.count(NTH, absent=1) or 1

    def moment(self, key: str) -> tuple[int, str]:
        """(epoch ms, ISO text) from `<key>_epoch`, or from `<key>` alone; the text is made if it is missing."""
        given, stamp = self.values.get(f"{key}_epoch"), self.text(key)
        epoch = _epoch(given)
        if epoch is None:
            dated = _dated(stamp)
            if dated is None or given not in (None, ""):
                nearest = _rounded(given) if dated is None else dated
                epoch = self.instead(f"{key}_epoch", "must be milliseconds since 1970", nearest)
            else:
                epoch = dated
        return epoch, stamp or iso_utc(epoch)

    def items(self, key: str) -> str | None:
        """JSON text of a list, whether it came as text or as a list; other text becomes the only item."""
        value = self.values.get(key)
        if isinstance(value, list):
            return msgspec.json.encode(value).decode()
        text = self.text(key)
        if not text:
            return None if text is None else "[]"
        return text if isinstance(_decoded(text), list) else msgspec.json.encode([text]).decode()

    def json(self, key: str) -> str | None:
        value = self.values.get(key)
        return msgspec.json.encode(value).decode() if isinstance(value, dict) else self.text(key)

    def name(self, key: str, says: Sequence[str]) -> str:
        """What a record's session is called by. says: the texts of the record, without any of which it is nothing."""
        given, problem = self.text(key), "must be a text that is not empty"
        if not given and not any(self.values.get(each) for each in says):
            raise Invalid(f"{self.place}.{key} {problem}", field=f"{self.place}.{key}")
        return given or self.instead(key, problem, UNNAMED)

    def instead(self, key: str, problem: str, value: T) -> T:
        """The value in place of one that cannot be stored. Errors: ``Invalid`` where nothing is to be mended."""
        field = f"{self.place}.{key}"
        if self.mended is None:
            raise Invalid(f"{field} {problem}", field=field)
        self.mended.append(Mended(row=field, problem=problem, given=_shown(self.values.get(key)), taken=_shown(value)))
        return value


def session(raw: Mapping[str, Any], place: str, mended: list[Mended] | None = None) -> Row:
    """A row of ``sdk_sessions``, and ``SHARED``; ``place`` is where it stands, for the error."""
    of = _Raw(raw, place, mended)
    content = of.text("content_session_id") or of.text("memory_session_id")
    if not content:
        # Nothing belongs to it, so there is nothing that could be called by another name.
        raise Invalid(
            f"{place}.content_session_id must be a text that is not empty", field=f"{place}.content_session_id"
        )
    status = of.text("status") or _DONE
    if status not in _STATES:
        status = of.instead("status", f"must be {', '.join(_STATES[:-1])} or {_STATES[-1]}", _DONE)
    started, started_text = of.moment("started_at")
    done = raw.get("completed_at_epoch") is not None or raw.get("completed_at") not in (None, "")
    completed = of.moment("completed_at") if done else (None, None)
    return {
        "content_session_id": content,
        "memory_session_id": of.text("memory_session_id") or None,
        "project": of.text("project") or "",
        "platform_source": of.text("platform_source"),
        "user_prompt": of.text("user_prompt"),
        "started_at": started_text,
        "started_at_epoch": started,
        "completed_at": completed[1],
        "completed_at_epoch": completed[0],
        "status": status,
        "worker_port": of.count("worker_port"),
        "prompt_counter": of.count("prompt_counter", absent=0),
        **{key: of.text(key) for key in ("custom_title", "observed_model", "observed_billing")},
        SHARED: raw.get(SHARED) in (1, True, "1", "true"),
    }


def observation(raw: Mapping[str, Any], place: str, mended: list[Mended] | None = None) -> Row:
    """A row of ``observations``, with the platform of its session where it is given, and ``NTH``."""
    of = _Raw(raw, place, mended)
    return {
        **_child(of, ("title", "subtitle", "narrative", "text", "facts")),
        **{key: of.text(key) for key in ("text", "title", "subtitle", "narrative", "content_hash")},
        **{key: of.text(key) for key in ("generated_by_model", "agent_type", "agent_id")},
        **{key: of.items(key) for key in ("facts", "concepts", "files_read", "files_modified")},
        "type": of.text("type") or "discovery",
        "relevance_count": of.count("relevance_count", absent=0),
        "metadata": of.json("metadata"),
    }


def summary(raw: Mapping[str, Any], place: str, mended: list[Mended] | None = None) -> Row:
    """A row of ``session_summaries``, with the platform of its session where it is given, and ``NTH``."""
    of = _Raw(raw, place, mended)
    texts = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    return {
        **_child(of, texts),
        **{key: of.text(key) for key in texts},
        **{key: of.items(key) for key in ("files_read", "files_edited")},
    }


def prompt(raw: Mapping[str, Any], place: str, mended: list[Mended] | None = None) -> Row:
    """A row of ``user_prompts``, with the project and platform of its session where they are given, and ``NTH``."""
    of = _Raw(raw, place, mended)
    content, text = of.name("content_session_id", ("prompt_text",)), of.text("prompt_text")
    if text is None:
        # A prompt is its text: without it there is nothing to bring in.
        raise Invalid(f"{place}.prompt_text must be a text", field=f"{place}.prompt_text")
    epoch, stamp = of.moment("created_at")
    return {
        "content_session_id": content,
        "prompt_text": text,
        "prompt_number": of.count("prompt_number"),
        "created_at": stamp,
        "created_at_epoch": epoch,
        "project": of.text("project"),
        "platform_source": of.text("platform_source"),
        NTH: of.nth(),
    }


def _child(of: _Raw, says: Sequence[str]) -> Row:
    memory = of.name("memory_session_id", says)
    epoch, stamp = of.moment("created_at")
    return {
        "memory_session_id": memory,
        "project": of.text("project") or "",
        "prompt_number": of.count("prompt_number") or None,
        "discovery_tokens": of.count("discovery_tokens", absent=0),
        "merged_into_project": of.text("merged_into_project"),
        "created_at": stamp,
        "created_at_epoch": epoch,
        "platform_source": of.text("platform_source"),
        NTH: of.nth(),
    }


def _whole(value: object) -> int | None:
    """A number that SQLite can hold, given as one or as its digits."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        return None
    return value


def _epoch(value: object) -> int | None:
    """Milliseconds since 1970, before it negative; a date as text means the same."""
    whole = _whole(value)
    return _dated(value) if whole is None and isinstance(value, str) else whole


def _dated(text: str | None) -> int | None:
    span = parse_range(text) if text else None
    return None if span is None else span[0]


def _rounded(value: object) -> int:
    """The moment that is nearest to what was given; the beginning of 1970 where that says nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -(2.0**62) < value < 2.0**62:
        return 0
    return int(value)


def _shown(value: object) -> str:
    """A value in a sentence: a few of its characters."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


Reader = Callable[[Mapping[str, Any], str, list[Mended] | None], Row]
