"""Pure: sessions side by side on one axis of time, with what each was about at every moment."""

import os
from collections.abc import Sequence

from tui.cells import bars, look
from tui.cells.clean import one_line
from tui.cells.fit import left, right, width
from tui.cells.look import Look
from tui.cells.marks import compact, mark
from tui.cells.strip import Shape
from tui.state.scrub import level
from worker.contract.lanes import Lane, Lanes
from worker.contract.search import Entry

Piece = tuple[str, str]
_DECIDED = {"decision", "security_alert", "security_note"}
_NARROW, _ROOMY = 48, 64
_LEAST_KEY, _TAIL = 4, 3


def margins(room: int) -> tuple[int, int] | None:
    """Cells before and after the axis, for the names of sessions and their figures; None without room for lanes."""
    if room < _NARROW:
        return None
    return (10, 12) if room >= _ROOMY else (7, 0)


def lines(
    found: Lanes,
    shape: Shape,
    room: int,
    lk: Look,
    *,
    most: int,
    here: Entry | None = None,
    marks_ms: Sequence[int] = (),
    brush_ms: tuple[int, int] | None = None,
) -> list[list[Piece]]:
    """Axis, lanes, errors, alerts and marks where there are any, playhead."""
    before, after = margins(room) or (0, 0)
    cells = room - before - after
    here_ms = here.created_at_epoch if here is not None else None
    shown = _shown(found, most, here)
    names = _names([lane.session for lane in shown], before - 2)
    figures = right("tok", 6) + right("obs", 5) + " " if after else ""
    page = [[("axis", left(level(shape.bucket_ms), before)), *_padded(bars.labels(shape, cells, lk, folds=True), cells),
             ("axis", figures)]]  # fmt: skip
    for lane, name in zip(shown, names, strict=True):
        ours = here is not None and lane.session == (here.session or "")
        sign = lk.glyphs.cursor if ours else " "
        tail = right(compact(lane.work_tokens), 6) + right(str(lane.records), 5) + " " if after else ""
        page.append([("here" if ours else "name", left(f"{sign}{name}", before, lk.glyphs.ellipsis)),
                     *_padded(_lane(lane, found, shape, lk), cells), ("figures", tail)])  # fmt: skip
    page += _row("errors", "!", "error", _errors(found), shape, before, cells)
    page += _row("alerts", "!", "security", _alerts(found), shape, before, cells)
    page += _row("marks", lk.glyphs.mark, "mark", marks_ms, shape, before, cells)
    last_ms = shape.slots[-1].start_ms
    rest = found.total - len(shown)
    note = f"+{rest}" if rest else look.zone_name(lk, here_ms if here_ms is not None else last_ms)
    page.append([("axis", left(note, before, "")), *bars.below(shape, cells, lk, here_ms=here_ms, brush_ms=brush_ms)])
    return page


def _shown(found: Lanes, most: int, here: Entry | None) -> tuple[Lane, ...]:
    """The lanes nearest to the cursor, its own first of all, in the order they came."""
    if here is None:
        return found.lanes[:most]

    def away(lane: Lane) -> tuple[bool, int]:
        moment = here.created_at_epoch
        return lane.session != (here.session or ""), max(lane.first_epoch_ms - moment, moment - lane.last_epoch_ms, 0)

    kept = {lane.session for lane in sorted(found.lanes, key=away)[:most]}
    return tuple(lane for lane in found.lanes if lane.session in kept)


def _names(sessions: Sequence[str], room: int) -> list[str]:
    """Beginnings of the ids, as long as it takes to tell one from the other."""
    keys = [one_line(session) or "no id" for session in sessions]
    if len({key[:room] for key in keys}) < len(keys):
        common = os.path.commonprefix(keys)  # what they all begin with tells nothing
        keys = [key[len(common) :] or key for key in keys]
    taken = next((size for size in range(_LEAST_KEY, room) if len({key[:size] for key in keys}) == len(keys)), room)
    names = [key[:taken] if session else key for session, key in zip(sessions, keys, strict=True)]
    if taken > _LEAST_KEY + _TAIL:  # those that are alike for so long differ at their ends, if anywhere
        names = [
            name if names.count(name) == 1 else key[: room - _TAIL] + key[-_TAIL:]
            for name, key in zip(names, keys, strict=True)
        ]
    return names


def _lane(lane: Lane, found: Lanes, shape: Shape, lk: Look) -> list[Piece]:
    """What a session did, from its first record to its last."""
    held: dict[int, dict[str, int]] = {}
    for cell in lane.cells:
        slot = shape.slot(found.buckets[cell.bucket].start_epoch_ms) if cell.bucket < len(found.buckets) else None
        if slot is not None:
            types = held.setdefault(slot.at, {})
            for name, count in cell.types.items():
                types[name] = types.get(name, 0) + count
    pieces: list[Piece] = []
    first, last = min(held, default=0), max(held, default=-1)
    for slot in shape.slots:
        if slot.at in held:
            role, glyph = _work(held[slot.at], lk)
            letter = glyph.isalpha()
            pieces.append((role, glyph if letter else glyph * slot.width))
            if letter and slot.width > 1:
                pieces.append(("thread", (lk.glyphs.dot if slot.at < last else " ") * (slot.width - 1)))
        elif first < slot.at < last:
            pieces.append(("thread", lk.glyphs.dot * slot.width))
        else:
            pieces.append(("text", " " * slot.width))
    return pieces


def _work(types: dict[str, int], lk: Look) -> tuple[str, str]:
    """A summary or a prompt by its letter, work by how it is done: made, decided, found out."""
    for name in ("session", "prompt"):
        if name in types:
            return name, mark(name, lk.glyphs).letter
    name = max(sorted(types), key=lambda name: types[name])
    how = 2 if name == "discovery" else 1 if name in _DECIDED else 0
    return mark(name, lk.glyphs).role, lk.glyphs.lane[how]


def _errors(found: Lanes) -> list[int]:
    """Where uses of tools failed."""
    return [
        found.buckets[errors.bucket].start_epoch_ms for errors in found.errors if errors.bucket < len(found.buckets)
    ]


def _alerts(found: Lanes) -> list[int]:
    return [bucket.start_epoch_ms for bucket in found.buckets if {"security_alert", "security_note"} & {*bucket.types}]


def _row(
    name: str, glyph: str, role: str, moments: Sequence[int], shape: Shape, before: int, cells: int
) -> list[list[Piece]]:
    """A line of marks; none where there is nothing to mark."""
    places = {at for moment in moments if (at := shape.cell(moment)) is not None}
    if not places:
        return []
    text = "".join(glyph if at in places else " " for at in range(cells))
    return [[("name", left(f" {name}", before)), (role, text.rstrip())]]


def _padded(pieces: list[Piece], room: int) -> list[Piece]:
    return [*pieces, ("text", " " * (room - sum(width(text) for _, text in pieces)))]
