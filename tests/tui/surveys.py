"""Answers about the memory as a whole, in plain Python, as ``memory`` gives those about its records."""

import re
from collections.abc import Callable, Sequence

import msgspec

from tests.tui.shelf import Shelf
from worker.contract import calls
from worker.contract.context import ContextPlan, ContextRow, ContextWish, ContextWished
from worker.contract.costs import CostLine, Costs, SessionCost, Spent
from worker.contract.errors import NotFound
from worker.contract.hook_times import HookTimes
from worker.contract.index import Coverage, IndexFaults, IndexState, IndexStatus
from worker.contract.overview import Disk, LastRecord, LogTrouble, Overview
from worker.contract.records import RecordKind
from worker.contract.search import Entry
from worker.contract.sessions import SessionLine, SessionPage, SessionRecords
from worker.contract.upkeep import Logs, ProcessingStatus

DAY_MS = 86_400_000
Params = dict[str, str]


class Surveyed:
    """The memory as a whole, made from entries. state: of the index. plan, settings: None where they are not told.

    log: lines as they are in the file. broken: no session tells what it holds. counting: recalls are counted.
    """

    def __init__(self, entries: Callable[[], Sequence[Entry]], now_ms: int) -> None:
        self._entries = entries
        self._now_ms = now_ms
        self.state = IndexState.READY
        self.plan: ContextPlan | None = None
        self.settings: dict[str, object] | None = None
        self.broken = False
        self.counting = True
        self.shelf = Shelf(entries, now_ms)
        self.log: list[str] = [
            "[2026-11-25 14:59:01.000] [INFO ] [WORKER] served",
            "[2026-11-25] [WARN ] [X] \x1b[2Jgone",
        ]

    def answer(self, path: str, params: Params) -> object:
        """What the worker says; None where it is about something else. Errors: ``NotFound``."""
        match path:
            case calls.CONTEXT_ROWS:
                if self.plan is None:
                    raise NotFound("there is nothing at this address")
                return self.plan
            case calls.CONTEXT_PIN | calls.CONTEXT_MUTE:
                return self._wished(path, msgspec.json.decode(params["body"], type=ContextWish))
            case calls.SETTINGS if self.settings is not None:
                return self.settings
            case calls.COSTS:
                return self._costs(params)
            case calls.SESSIONS:
                return self._sessions(params)
            case calls.OVERVIEW:
                return self._overview()
            case calls.LOGS:
                return Logs(logs="\n".join(self.log), path="/memory/logs/x.log", exists=True)
            case calls.INDEX_PAUSE | calls.INDEX_RESUME:
                self.state = IndexState.PAUSED if path == calls.INDEX_PAUSE else IndexState.READY
                return self._index()
            case calls.INDEX_REPAIR:
                return IndexFaults(checked=120, missing=2, orphans=1, repaired=True)
        if found := re.fullmatch(r"/api/sessions/(\d+)", path):
            return self._session(int(found[1]))
        return self.shelf.answer(path, params)

    def _wished(self, path: str, wish: ContextWish) -> ContextWished:
        pinned, muted = path == calls.CONTEXT_PIN and wish.on, path == calls.CONTEXT_MUTE and wish.on
        if self.plan is not None:
            rows = tuple(
                msgspec.structs.replace(row, pinned=pinned, muted=muted, kept=not muted) if row.key == wish.key else row
                for row in self.plan.rows
            )
            self.plan = msgspec.structs.replace(self.plan, rows=rows)
        return ContextWished(key=wish.key, pinned=pinned, muted=muted)

    def _costs(self, params: Params) -> Costs:
        since = int(params.get("dateStart", 0))
        entries = [
            entry
            for entry in self._entries()
            if entry.created_at_epoch >= since
            and params.get("project") in (None, entry.project)
            and params.get("session") in (None, entry.session)
        ]
        total = spent(entries)
        sessions = by(entries, lambda entry: entry.session or "")
        days = by(entries, lambda entry: str(entry.created_at_epoch // DAY_MS))
        return Costs(
            total=total,
            saved_tokens=total.work_tokens - total.read_tokens,
            saved_percent=0,
            back_saved_tokens=max(total.read_back * 1000 - total.read_back_tokens, 0),
            projects=lines(by(entries, lambda entry: entry.project)),
            types=lines(by(entries, lambda entry: entry.type)),
            days=tuple(
                CostLine(value=day, spent=spent(held), start_epoch_ms=int(day) * DAY_MS) for day, held in days.items()
            ),
            sessions=tuple(
                sorted(
                    (
                        SessionCost(session=name, spent=spent(held), id=1, title=held[0].title, project=held[0].project)
                        for name, held in sessions.items()
                        if name
                    ),
                    key=lambda line: -line.spent.work_tokens,
                )
            ),
            session_count=len([name for name in sessions if name]),
            counting_since_epoch_ms=self._now_ms - 20 * DAY_MS if self.counting else None,
        )

    def _lines(self) -> list[SessionLine]:
        """A session for each day and project."""
        held = by(self._entries(), lambda entry: f"{entry.project}|{entry.created_at_epoch // DAY_MS}")
        return sorted(
            (self._line(number, name, entries) for number, (name, entries) in enumerate(held.items(), 1)),
            key=lambda line: -line.started_at_epoch,
        )

    def _line(self, number: int, name: str, entries: Sequence[Entry]) -> SessionLine:
        times = [entry.created_at_epoch for entry in entries]
        learned = "What was learned of it, at some length, so that it takes more than a line.\n\nAnd 学んだこと."
        return SessionLine(
            id=number, content_session_id=f"c-{number}", memory_session_id=f"m-{number}", project=name.split("|")[0],
            platform_source="claude", status="completed", title=entries[0].title, started_at_epoch=min(times),
            ended_at_epoch=max(times) + 60_000, last_at_epoch=max(times), prompts=1, observations=len(entries),
            read_tokens=sum(entry.read_tokens for entry in entries),
            work_tokens=sum(entry.discovery_tokens for entry in entries),
            request=entries[0].title, learned=learned if number % 2 else None,
            next_steps="Watch \x1b]0;it\x07 for a week." if number % 2 else None,
        )  # fmt: skip

    def _sessions(self, params: Params) -> SessionPage:
        found = [line for line in self._lines() if params.get("project") in (None, line.project)]
        offset, limit = int(params.get("offset", 0)), int(params["limit"])
        return SessionPage(sessions=tuple(found[offset : offset + limit]), total=len(found), offset=offset)

    def _session(self, number: int) -> SessionRecords:
        line = next((line for line in self._lines() if line.id == number), None)
        if line is None or self.broken:
            raise NotFound("no such session")
        held = by(self._entries(), lambda entry: f"{entry.project}|{entry.created_at_epoch // DAY_MS}")
        entries = sorted(list(held.values())[number - 1], key=lambda entry: entry.created_at_epoch)
        return SessionRecords(session=line, entries=tuple(entries), total=len(entries))

    def _index(self) -> IndexStatus:
        covered = [
            Coverage(project=name, kind=RecordKind.OBSERVATION, records=len(held), embedded=max(len(held) - at, 0),
                     watermark=0, pending=min(at, len(held)))
            for at, (name, held) in enumerate(by(self._entries(), lambda entry: entry.project).items())
        ]  # fmt: skip
        records, embedded = sum(one.records for one in covered), sum(one.embedded for one in covered)
        state = self.state
        if state is IndexState.READY and embedded < records:
            state = IndexState.CATCHING_UP
        return IndexStatus(
            state=state, records=records, embedded=embedded, pending=records - embedded, chroma="ready",
            covered=tuple(covered), left_s=95.0 if state is IndexState.CATCHING_UP else None,
        )  # fmt: skip

    def _overview(self) -> Overview:
        entries = self._entries()
        kinds = [entry.kind for entry in entries]
        last = max(entries, key=lambda entry: entry.created_at_epoch, default=None)
        return Overview(
            version="1.0", uptime_s=12_300, stream_clients=1, records={kind: kinds.count(kind) for kind in RecordKind},
            unindexed=0, queue=ProcessingStatus(queueDepth=3), index=self._index(),
            disk=Disk(data_dir="/memory", database_bytes=12_400_000, vectors_bytes=31_000_000, free_bytes=300 * 2**20),
            hooks=(
                HookTimes(event="observation", count=1204, median_ms=62, p95_ms=210, slowest_ms=1840, bound_ms=2000,
                          last_epoch_ms=self._now_ms - 120_000),
                HookTimes(event="session-init", count=48, median_ms=91, p95_ms=1240, slowest_ms=1302, bound_ms=1000,
                          late=4, last_epoch_ms=self._now_ms - 3_600_000),
            ),
            log=LogTrouble(warnings=1, since_epoch_ms=self._now_ms - DAY_MS),
            last=LastRecord(key=str(last.key), project=last.project, created_at_epoch=last.created_at_epoch)
            if last else None,
        )  # fmt: skip


def plan(project: str, *, budget_tokens: int = 3000) -> ContextPlan:
    """What a session might be given."""
    rows = (
        row("4821", "Refresh token race in session worker", "bugfix", reason="recent, touched api/", change="new"),
        row("4817", "Choose rotating refresh tokens", "decision", reason="pinned", pinned=True),
        row("4809", "修复身份验证缓存失效", "bugfix", density="full", read_tokens=455, reason="recent"),
        row("S31", "Why do sessions end early?", "session", density="summary", read_tokens=120, reason="last session"),
        row("4402", "Old session store", "refactor", kept=False, reason="superseded by 4771", change="gone"),
        row("4310", "Cookie lacks SameSite", "security_alert", kept=False, reason="muted", muted=True),
    )
    return ContextPlan(
        project=project, budget_tokens=budget_tokens, used_tokens=2310, text="# farm-api\n\n| # | title |\n\x1b[31mred",
        rows=rows, left_out=14, changed_new=1, changed_gone=1,
    )  # fmt: skip


def row(key: str, title: str, kind: str, **over: object) -> ContextRow:
    """One row of it."""
    known: dict[str, object] = {"density": "row", "read_tokens": 60, "kept": True, "epoch_ms": 0}
    return ContextRow(**{**known, "key": key, "title": title, "type": kind, **over})  # type: ignore[arg-type]


def by(entries: Sequence[Entry], name: Callable[[Entry], str]) -> dict[str, list[Entry]]:
    """The entries of each name, in the order of first sight."""
    held: dict[str, list[Entry]] = {}
    for entry in entries:
        held.setdefault(name(entry), []).append(entry)
    return held


def spent(entries: Sequence[Entry]) -> Spent:
    """Their sums; each tenth came back in full, each third never."""
    read, work = sum(entry.read_tokens for entry in entries), sum(entry.discovery_tokens for entry in entries)
    back, never = entries[::10], entries[::3]
    return Spent(
        records=len(entries), read_tokens=read, work_tokens=work, ratio=work / max(read, 1), recalled=len(back),
        read_back=len(back), read_back_tokens=sum(entry.read_tokens for entry in back), never=len(never),
        never_work_tokens=sum(entry.discovery_tokens for entry in never),
    )  # fmt: skip


def lines(held: dict[str, list[Entry]]) -> tuple[CostLine, ...]:
    """The dearest first."""
    made = [CostLine(value=name, spent=spent(entries)) for name, entries in held.items()]
    return tuple(sorted(made, key=lambda line: -line.spent.work_tokens))
