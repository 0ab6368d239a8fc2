"""Pure: the demo memory as an import batch, apart from reading this package's own JSON files."""

import datetime as dt
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources

import msgspec

from worker.contract.transfer import ImportBatch
from worker.contract.when import at_ms, epoch_ms, iso_utc

QUIET_MINUTES = 20
"""The newest record is at least this old."""

_MINUTE_MS = 60_000
_BREATH_MINUTES = 3
_RECENT_DAYS = 5
_WEEKEND_SHIFT_DAYS = {0: 3, 1: 4, 2: -2, 3: -1, 4: 0, 5: 1, 6: 2}

Row = dict[str, object]


class DemoPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the developer asked, minutes after the session's start."""

    minute: int
    text: str


class DemoObservation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing learned; ``prompt`` is the number of the prompt it came from."""

    minute: int
    prompt: int
    type: str
    title: str
    subtitle: str
    narrative: str
    facts: tuple[str, ...]
    concepts: tuple[str, ...]
    files_read: tuple[str, ...]
    files_modified: tuple[str, ...]
    discovery_tokens: int


class DemoSummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the session came to; the session ends with it."""

    minute: int
    discovery_tokens: int
    request: str
    investigated: str
    learned: str
    completed: str
    next_steps: str
    notes: str | None = None


class DemoSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sitting: days before today, local wall time of its start, which agent."""

    days_ago: int
    start: str
    platform: str
    prompts: tuple[DemoPrompt, ...]
    observations: tuple[DemoObservation, ...]
    summary: DemoSummary


class DemoProject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One JSON file."""

    project: str
    sessions: tuple[DemoSession, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A session with its names and the moment it starts."""

    name: str
    project: str
    session: DemoSession
    start_epoch_ms: int

    def at(self, minute: int) -> int:
        """The moment of a record, with seconds that look lived but never change the order of minutes."""
        jitter_ms = zlib.crc32(f"{self.name}/{minute}".encode()) % _MINUTE_MS
        return self.start_epoch_ms + minute * _MINUTE_MS + jitter_ms

    @property
    def end_epoch_ms(self) -> int:
        return self.start_epoch_ms + (self.session.summary.minute + 1) * _MINUTE_MS


def projects() -> tuple[DemoProject, ...]:
    """Every project of the demo memory, by name."""
    folder = resources.files("worker.demo")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".json"))
    return tuple(msgspec.json.decode((folder / name).read_bytes(), type=DemoProject) for name in names)


def records(now_epoch_ms: int, zone: dt.tzinfo | None = None) -> ImportBatch:
    """The whole demo memory as it would look at that moment, each kind of row in time order.

    zone: whose working hours the sessions keep; by default this machine's.
    The same moment and zone give the same batch; another moment moves every record.
    """
    placed = _place(projects(), now_epoch_ms, zone)
    return ImportBatch(
        sessions=_in_order((_session_row(one) for one in placed), "started_at_epoch"),
        summaries=_in_order((_summary_row(one) for one in placed), "created_at_epoch"),
        observations=_in_order((row for one in placed for row in _observation_rows(one)), "created_at_epoch"),
        prompts=_in_order((row for one in placed for row in _prompt_rows(one)), "created_at_epoch"),
    )


def _place(demo: Sequence[DemoProject], now_epoch_ms: int, zone: dt.tzinfo | None) -> list[_Placed]:
    """All sessions, newest first, none reaching into the next one or into the quiet minutes before now.

    The files keep working days as if today were a Friday; older sessions move by a few days so that this stays true.
    """
    today = at_ms(now_epoch_ms, zone).date()
    planned = [
        _Placed(f"demo-{project.project}-{number:02}", project.project, session, _start_ms(session, today, zone))
        for project in demo
        for number, session in enumerate(project.sessions, 1)
    ]
    planned.sort(key=lambda one: (one.start_epoch_ms, one.name), reverse=True)
    latest_end_ms = now_epoch_ms - QUIET_MINUTES * _MINUTE_MS
    placed: list[_Placed] = []
    for one in planned:
        late_ms = max(0, one.end_epoch_ms - latest_end_ms)
        moved = _Placed(one.name, one.project, one.session, one.start_epoch_ms - late_ms)
        placed.append(moved)
        latest_end_ms = moved.start_epoch_ms - _BREATH_MINUTES * _MINUTE_MS
    return placed


def _start_ms(session: DemoSession, today: dt.date, zone: dt.tzinfo | None) -> int:
    shift_days = _WEEKEND_SHIFT_DAYS[today.weekday()] if session.days_ago >= _RECENT_DAYS else 0
    day = today - dt.timedelta(days=session.days_ago + shift_days)
    wall = dt.datetime.combine(day, dt.time.fromisoformat(session.start), tzinfo=zone)
    return epoch_ms(wall if zone else wall.astimezone())


def _in_order(rows: Iterable[Row], column: str) -> tuple[Row, ...]:
    def moment(row: Row) -> int:
        value = row[column]
        assert isinstance(value, int)
        return value

    return tuple(sorted(rows, key=moment))


def _json(texts: Iterable[str]) -> str:
    return msgspec.json.encode(list(texts)).decode()


def _created(epoch: int) -> Row:
    return {"created_at": iso_utc(epoch), "created_at_epoch": epoch}


def _memory_id(one: _Placed) -> str:
    return f"{one.name}-memory"


def _session_row(one: _Placed) -> Row:
    start, end = one.at(0), one.at(one.session.summary.minute)
    return {
        "content_session_id": one.name,
        "memory_session_id": _memory_id(one),
        "project": one.project,
        "platform_source": one.session.platform,
        "user_prompt": one.session.prompts[0].text,
        "started_at": iso_utc(start),
        "started_at_epoch": start,
        "completed_at": iso_utc(end),
        "completed_at_epoch": end,
        "status": "completed",
    }


def _summary_row(one: _Placed) -> Row:
    summary = one.session.summary
    read = dict.fromkeys(path for seen in one.session.observations for path in seen.files_read)
    edited = dict.fromkeys(path for seen in one.session.observations for path in seen.files_modified)
    return {
        "memory_session_id": _memory_id(one),
        "project": one.project,
        "request": summary.request,
        "investigated": summary.investigated,
        "learned": summary.learned,
        "completed": summary.completed,
        "next_steps": summary.next_steps,
        "notes": summary.notes,
        "files_read": _json(read),
        "files_edited": _json(edited),
        "prompt_number": len(one.session.prompts),
        "discovery_tokens": summary.discovery_tokens,
        **_created(one.at(summary.minute)),
    }


def _observation_rows(one: _Placed) -> Iterable[Row]:
    for seen in one.session.observations:
        yield {
            "memory_session_id": _memory_id(one),
            "project": one.project,
            "type": seen.type,
            "title": seen.title,
            "subtitle": seen.subtitle,
            "narrative": seen.narrative,
            "facts": _json(seen.facts),
            "concepts": _json(seen.concepts),
            "files_read": _json(seen.files_read),
            "files_modified": _json(seen.files_modified),
            "prompt_number": seen.prompt,
            "discovery_tokens": seen.discovery_tokens,
            **_created(one.at(seen.minute)),
        }


def _prompt_rows(one: _Placed) -> Iterable[Row]:
    for number, prompt in enumerate(one.session.prompts, 1):
        yield {
            "content_session_id": one.name,
            "prompt_number": number,
            "prompt_text": prompt.text,
            **_created(one.at(prompt.minute)),
        }
