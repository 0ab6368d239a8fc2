"""Pure: how everything is, a line for each part, with advice where something is wrong; the log's end below."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.cells import fit, look
from tui.cells.clean import one_line
from tui.cells.glyphs import Glyphs
from tui.cells.look import Look
from tui.cells.marks import grouped
from tui.cells.meter import bar
from tui.cells.sizes import ago, lasted, percent, size
from tui.state.health import Deed, Healthing
from tui.state.model import ViewState
from worker.contract import advice
from worker.contract.advice import FAIL, OK, WARN, Told
from worker.contract.hook_times import HookTimes
from worker.contract.index import IndexState, IndexStatus
from worker.contract.overview import Overview
from worker.contract.records import RecordKind

Piece = tuple[str, str]
Line = list[Piece]
_NAME = 10
_PROJECTS = 12
_DOING = {Deed.PAUSE: "pausing the index", Deed.RESUME: "the index goes on", Deed.REPAIR: "comparing the index"}


@dataclass(frozen=True, slots=True)
class Part:
    """One part: how it is, and what follows from it."""

    name: str
    told: Told


def parts(
    overview: Overview, lk: Look, *, live: bool, queued: int, at_epoch_ms: int, file_only: str = ""
) -> list[Part]:
    """Every part that the worker tells of. live: events come in. queued: as the events tell it.

    file_only: why there is no worker; then it is our own reader of the file that tells, of itself nothing.
    """
    now = at_epoch_ms
    followers = overview.stream_clients
    serving = f"version {overview.version}, up {lasted(overview.uptime_s)}"
    stream = f"{followers} follow{'s' if followers == 1 else ''} its events"
    if file_only:
        way = f"tried again by itself; in the list {lk.key('refresh', 'r')} does so at once"
        worker = Told(WARN, f"there is none: {one_line(file_only)}", way)
    elif live:
        worker = Told(OK, f"{serving}, {stream}")
    else:
        worker = Told(WARN, f"{serving}; events do not come in", f"{lk.key('again', 'r')} asks again")
    records = overview.records
    held = ", ".join(
        _counted(records.get(kind, 0), noun)
        for kind, noun in (
            (RecordKind.OBSERVATION, "observation"), (RecordKind.SUMMARY, "summary"), (RecordKind.PROMPT, "prompt"),
        )
    )  # fmt: skip
    last = overview.last
    stored = Told(OK, "nothing yet: no agent has worked since claude-mem is here")
    if last is not None:
        when = f"{look.short(lk, last.created_at_epoch).strip()}, {ago(now, last.created_at_epoch)}"
        stored = Told(OK, f"#{last.key} {when}, in {one_line(last.project) or 'no project'}")
    disk = overview.disk
    room = Told(OK, "room left: not told") if disk.free_bytes is None else advice.disk(disk.free_bytes)
    free = f", {size(disk.free_bytes)} free" if disk.free_bytes is not None else ""
    wal = f" ({size(disk.wal_bytes)} of it its log)" if disk.wal_bytes else ""
    logs = f", logs {size(disk.logs_bytes)}" if disk.logs_bytes else ""
    used = f"database {size(disk.database_bytes)}{wal}, vectors {size(disk.vectors_bytes)}{logs}{free}"
    found = [
        Part("worker", worker),
        Part("memory", Told(OK, held)),
        Part("stored", stored),
        Part("queue", _queue(overview, queued, now)),
        Part("observer", _observer(overview, lk)),
        Part("spent", _spent(overview)),
        Part("hooks", advice.spooled(overview.spooled, overview.set_aside, f"{one_line(disk.data_dir)}/spool")),
        Part("timing", advice.hook_times(overview.hooks)),
        Part("words", advice.words(overview.unindexed)),
        Part("meaning", _meaning(overview.index, lk)),
        Part("disk", Told(room.state, used, room.advice)),
    ]
    trouble = advice.log(overview.log)
    since = f"since {look.full(lk, overview.log.since_epoch_ms)}"
    return [*found, Part("log", Told(trouble.state, f"{trouble.message} {since}", trouble.advice and "read below"))]


def _observer(overview: Overview, lk: Look) -> Told:
    told, until = advice.observer(overview.queue), overview.queue.until_epoch_ms
    return told if until is None else Told(told.state, f"{told.message}, until {look.full(lk, until)}", told.advice)


def _spent(overview: Overview) -> Told:
    """What the observer's model took today; the rules without a model take nothing."""
    tokens = overview.spent_today_tokens
    return Told(OK, f"{grouped(tokens)} tokens asked of a model today" if tokens else "no model was asked today")


def _queue(overview: Overview, queued: int, now_ms: int) -> Told:
    queue = overview.queue
    depth = max(queue.queueDepth, queued)
    if queue.parkedSessions:
        parked = _counted(queue.parkedSessions, "session")
        return Told(WARN, f"{grouped(depth)} wait; {parked} set aside", "`claude-mem worker logs` tells why")
    if not depth:
        return Told(OK, "nothing waits to be understood")
    oldest = queue.oldest_epoch_ms
    since = f", the oldest from {ago(now_ms, oldest)}" if oldest is not None else ""
    said = f"{_counted(depth, 'tool use')} {'waits' if depth == 1 else 'wait'} to be understood{since}"
    if queue.last_error:
        return Told(WARN, f"{said}; given back: {one_line(queue.last_error)}", "it is tried again by itself")
    return Told(OK, said)


def _meaning(status: IndexStatus, lk: Look) -> Told:
    if status.state is IndexState.OFF:
        return Told(OK, "switched off: searches go by words")
    told = advice.meaning(status)
    left = f"; {lasted(status.left_s)} left" if status.left_s else ""
    match status.state:
        case IndexState.PAUSED:
            return Told(told.state, told.message, f"{lk.key('index_rest', 'z')} goes on")
        case IndexState.CATCHING_UP:
            return Told(told.state, f"{told.message}{left}", told.advice)
    return told


def lines(state: ViewState, room: int, lk: Look, *, live: bool) -> list[Line]:
    """The page."""
    health = state.health
    if health.overview is None:
        return list(_before(state, room, lk))
    found = parts(
        health.overview,
        lk,
        live=live,
        queued=state.queued,
        at_epoch_ms=health.at_epoch_ms,
        file_only=state.file_only,
    )
    out: list[Line] = [_title(health, found, room, lk), []]
    if health.failed:
        out += _said("over", f"  Not told now: {one_line(health.failed)}. {lk.key('again', 'r')} asks again.", room)
        out.append([])
    for part in found:
        out += _part(part, room, lk.glyphs)
    out += _hooks(health.overview.hooks, room, health.at_epoch_ms, lk.glyphs)
    out += _coverage(health.overview.index, room, lk.glyphs)
    out += [
        [],
        [("group", "  Log"), ("quiet", fit.cut("  the latest line first", max(room - 6, 0), lk.glyphs.ellipsis))],
    ]
    return [*out, *_log(health, room, lk.glyphs)]


def _before(state: ViewState, room: int, lk: Look) -> Iterator[Line]:
    yield [("heading", "  HEALTH")]
    yield []
    health = state.health
    if health.failed:
        yield from _said("text", f"  The worker does not tell how it is: {one_line(health.failed)}", room)
        yield []
        yield [("text", "  "), ("chosen", lk.key("again", "r")), ("text", "  asks again")]
        yield from _said("quiet", "  `claude-mem doctor` looks without a worker", room)
    elif state.link in ("failed", "lost"):
        yield from _said("text", "  There is no worker to tell how it is.", room)
        yield []
        yield [("text", "  "), ("chosen", lk.key("again", "r")), ("text", "  tries again")]
        yield from _said("quiet", "  `claude-mem doctor` looks without a worker", room)
    else:
        yield [("quiet", f"  asking the worker{lk.glyphs.ellipsis}")]


def _title(health: Healthing, found: list[Part], room: int, lk: Look) -> Line:
    wrong = sum(part.told.state != OK for part in found)
    line: Line = [("heading", "  HEALTH  ")]
    if wrong:
        line.append(("over", f"{wrong} thing{'' if wrong == 1 else 's'} to look at"))
    else:
        line.append(("figure", "all is well"))
    doing = _DOING[health.doing] if health.doing is not None else "asking" if health.waiting else ""
    tail = f"{doing}{lk.glyphs.ellipsis}" if doing else look.clock(lk, health.at_epoch_ms)
    taken = sum(fit.width(text) for _, text in line)
    if taken + fit.width(tail) + 2 <= room:
        line += [("text", " " * (room - taken - fit.width(tail))), ("quiet", tail)]
    return line


_SIGNS = {OK: ("figure", "ok"), WARN: ("match", "! "), FAIL: ("over", "!!")}


def _part(part: Part, room: int, glyphs: Glyphs) -> Iterator[Line]:
    role, sign = _SIGNS[part.told.state]
    indent = 2 + 3 + _NAME
    for number, text in enumerate(fit.wrap(one_line(part.told.message), max(room - indent, 12))):
        if number:
            yield [("text", " " * indent + text)]
        else:
            yield [("text", "  "), (role, sign), ("text", f" {fit.left(part.name, _NAME)}"), ("text", text)]
    if part.told.advice:
        for number, text in enumerate(fit.wrap(one_line(part.told.advice), max(room - indent - 3, 12))):
            yield [("text", " " * indent), ("match", "-> " if not number else "   "), ("match", text)]


def _hooks(times: Sequence[HookTimes], room: int, now_ms: int, glyphs: Glyphs) -> Iterator[Line]:
    """How long the hooks took, event by event; who keeps an agent waiting is told from the rest."""
    if not times:
        return
    name = min(max(room - 36, 10), 16)
    roomy = room >= name + 36 + 16
    yield []
    head = f"{fit.right('count', 7)}{fit.right('median', 8)}{fit.right('95%', 8)}{fit.right('slowest', 9)}"
    last = "   last" if roomy else ""
    yield [
        ("group", fit.left("  Hooks", name + 2)),
        ("quiet", fit.cut(head + last, max(room - name - 2, 0), glyphs.ellipsis)),
    ]
    for one in times:
        count = fit.right(grouped(one.count), 7)
        took = "".join(
            fit.right(_took(ms), cells) for ms, cells in ((one.median_ms, 8), (one.p95_ms, 8), (one.slowest_ms, 9))
        )
        label = fit.left(one_line(one.event), name)
        role = "match" if one.p95_ms > one.bound_ms else "text"
        since = f"   {ago(now_ms, one.last_epoch_ms)}" if roomy else ""
        yield [("text", f"  {label}"), ("figure", count), (role, took), ("quiet", since)]


def _took(ms: int) -> str:
    """`62 ms`, `1.4 s`."""
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _coverage(status: IndexStatus, room: int, glyphs: Glyphs) -> Iterator[Line]:
    """How much of each project can be found by meaning, those that lack most first."""
    of: dict[str, tuple[int, int]] = {}
    for piece in status.covered:
        records, embedded = of.get(piece.project, (0, 0))
        of[piece.project] = (records + piece.records, embedded + piece.embedded)
    if not of or status.state is IndexState.OFF:
        return
    ordered = sorted(of.items(), key=lambda item: (item[1][1] - item[1][0], item[0]))
    yield []
    yield [("group", "  By meaning"), ("quiet", fit.cut("  of each project", max(room - 12, 0), glyphs.ellipsis))]
    name = max(min(24, room - 30), 8)
    cells = max(min(room - name - 26, 20), 0)
    for project, (records, embedded) in ordered[:_PROJECTS]:
        drawn = bar(embedded, records, cells, glyphs) if cells >= 4 else ""
        figures = f"{fit.right(percent(embedded, records), 5)}  {grouped(embedded)} of {grouped(records)}"
        label = fit.left(one_line(project) or "(no project)", name, glyphs.ellipsis)
        taken = 2 + name + 1 + len(drawn)
        yield [
            ("text", f"  {label} "),
            ("bar", drawn),
            ("figure" if embedded >= records else "match", fit.cut(figures, max(room - taken, 0), glyphs.ellipsis)),
        ]
    if len(ordered) > _PROJECTS:
        rest = f"  and {len(ordered) - _PROJECTS} more projects, better found than these"
        yield [("quiet", fit.cut(rest, room, glyphs.ellipsis))]


def _log(health: Healthing, room: int, glyphs: Glyphs) -> Iterator[Line]:
    if health.log_failed:
        yield from _said("quiet", f"  The log is not told: {one_line(health.log_failed)}", room)
    elif not health.log:
        yield [("quiet", "  nothing is in the log")]
    for line in reversed(health.log):
        text = one_line(line)
        if not text:
            continue
        trouble = "ERROR" in text[:60] or "WARN" in text[:60]
        yield [("match" if trouble else "quiet", fit.cut(f"  {text}", room, glyphs.ellipsis))]


def _said(role: str, text: str, room: int) -> Iterator[Line]:
    for line in fit.wrap(text, room):
        yield [(role, line)]


def _counted(count: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{grouped(count)} {noun if count == 1 else many}"
