"""`index status|verify|repair|rebuild|pause|resume`: the index by meaning."""

import argparse
import shutil
import textwrap
import time
from collections.abc import Sequence
from typing import TypeVar

from worker.cli import exits
from worker.cli.connection import chosen, client
from worker.cli.printing import HelpLines, failed, note, say, say_json
from worker.cli.progress import Progress
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.errors import MemError, Unavailable
from worker.contract.index import Coverage, IndexFaults, IndexOrder, IndexState, IndexStatus
from worker.contract.quick import QuickClient

T = TypeVar("T")

_LOOK_EVERY_S = 0.5
_LONG_S = 600.0
"""A comparison of a large index takes as long as it takes."""
_START_S = 30.0
_SHOWN = 10
_TABLE_COLUMNS = 80
"""In fewer each row is two lines or more."""
_OPENING = "opening"
"""What the status says of Chroma while it is opened, as after a rebuild: what it lacks is not known yet."""
_AT_WORK = (IndexState.CATCHING_UP, IndexState.READY)


def main(argv: Sequence[str]) -> int:
    """Run `index ACTION`; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="claude-mem index",
        description="The index by meaning: how far it is, whether it is whole, and what mends it.",
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    actions = ("status", "verify", "repair", "rebuild", "pause", "resume")
    parser.add_argument("action", choices=actions, metavar="ACTION", help=f"one of {', '.join(actions)}")
    parser.add_argument("--embed-anew", action="store_true", help="with rebuild: throw the kept vectors away too")
    parser.add_argument("--wait", action="store_true", help="stay until everything can be found by meaning")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--demo", action="store_true", help="the index of the demo memory")
    args = parser.parse_args(argv[1:])
    if args.embed_anew and args.action != "rebuild":
        parser.error("--embed-anew is for rebuild")
    try:
        worker = client(chosen(demo=args.demo))
        faults = _deed(worker, args.action, reembed=args.embed_anew)
        status = _followed(worker) if args.wait else worker.send(calls.index_status())
    except MemError as error:
        return failed(error)
    if args.json:
        say_json(status if faults is None else faults)
    else:
        columns = shutil.get_terminal_size().columns
        say(_fitted(_told(status, columns) if faults is None else f"{_found(faults)}\n{_line(status)}", columns))
    if faults is not None and _falls_short(faults, args.action):
        return exits.NOTHING
    return exits.UNAVAILABLE if status.state is IndexState.FAILED else exits.FOUND


def _deed(worker: QuickClient, action: str, *, reembed: bool) -> IndexFaults | None:
    """Do it; what a comparison found."""
    match action:
        case "verify":
            return _patiently(worker, calls.index_verify())
        case "repair":
            return _patiently(worker, calls.index_repair())
        case "rebuild":
            _patiently(worker, calls.index_rebuild(IndexOrder(reembed=reembed)))
        case "pause":
            _patiently(worker, calls.index_pause())
        case "resume":
            _patiently(worker, calls.index_resume())
    return None


def _patiently(worker: QuickClient, call: Call[T]) -> T:
    """The answer, when a worker that is still starting can give it. Errors: as ``QuickClient.send``."""
    until = time.monotonic() + _START_S
    while True:
        try:
            return worker.send(call, timeout_s=_LONG_S)
        except Unavailable:
            if time.monotonic() > until or worker.send(calls.index_status()).state is IndexState.FAILED:
                raise
            time.sleep(_LOOK_EVERY_S)


def _followed(worker: QuickClient) -> IndexStatus:
    """The status when nothing is left to do, or nothing is being done; the way there is shown."""
    while (status := worker.send(calls.index_status())).state is IndexState.STARTING:
        time.sleep(_LOOK_EVERY_S)
    if status.chroma == _OPENING:
        while status.chroma == _OPENING and status.state in _AT_WORK and not _left(status):
            time.sleep(_LOOK_EVERY_S)
            status = worker.send(calls.index_status())
        # What it lacks is counted when it is open.
        status = worker.send(calls.index_status())
    total = left = _left(status)
    progress = Progress("index", total)
    try:
        while (left or status.chroma == _OPENING) and status.state in _AT_WORK:
            total = max(total, left)
            progress.at(total - left, total - left)
            time.sleep(_LOOK_EVERY_S)
            status = worker.send(calls.index_status())
            left = _left(status)
    finally:
        progress.end()
    if left:
        note(f"{left:,} records still wait: {status.reason or status.chroma or status.state}")
    return status


def _left(status: IndexStatus) -> int:
    """Records that have yet to be embedded or written, but for what failed."""
    return max(0, status.pending - status.failed) + status.unwritten


def _any(faults: IndexFaults) -> bool:
    return bool(faults.missing or faults.orphans or faults.stale)


def _lacks(faults: IndexFaults) -> bool:
    """Whether something was not compared."""
    return bool(faults.waiting or faults.chroma)


def _falls_short(faults: IndexFaults, action: str) -> bool:
    """Whether something is wrong or was not compared; of a repair, whether something is not being mended either."""
    return bool(faults.chroma) if action == "repair" else _any(faults) or _lacks(faults)


def _told(status: IndexStatus, columns: int) -> str:
    lines = [_line(status)]
    if status.state is IndexState.OFF:
        return lines[0]
    served = f", {status.serving} answers until it is complete" if status.serving else ""
    lines.append(f"  model      {status.model or 'not loaded yet'} ({status.dimension} dimensions){served}")
    held = "" if status.documents is None else f", {status.documents:,} documents"
    lines.append(f"  chroma     {status.backend}: {status.chroma or 'not open yet'}{held}")
    if columns < _TABLE_COLUMNS:
        lines += [line for row in status.covered for line in _rows(row)]
    elif status.covered:
        lines.append(f"  {'project':<26} {'kind':<11} {'records':>9} {'embedded':>9} {'pending':>8} {'watermark':>10}")
        lines += [_row(row) for row in status.covered]
    return "\n".join(lines)


def _line(status: IndexStatus) -> str:
    words = [f"index by meaning: {status.state.replace('_', ' ')}"]
    if status.state is not IndexState.OFF:
        words.append(f"{status.embedded:,} of {status.records:,} records embedded")
    if status.pending:
        words.append(f"{status.pending:,} pending")
    if status.failed:
        words.append(f"{status.failed:,} failed and tried again")
    if status.rate_per_s and status.pending:
        left = "" if status.left_s is None else f", {int(status.left_s) // 60}:{int(status.left_s) % 60:02d} left"
        words.append(f"{status.rate_per_s:.1f} records/s{left}")
    return ", ".join(words) + (f" ({status.reason})" if status.reason else "")


def _row(row: Coverage) -> str:
    name = row.project if len(row.project) <= 26 else row.project[:25] + "…"
    return (
        f"  {name:<26} {row.kind.value:<11} {row.records:>9,} {row.embedded:>9,} {row.pending:>8,} {row.watermark:>10,}"
    )


def _rows(row: Coverage) -> tuple[str, str]:
    """The same where a terminal is too narrow for it."""
    return (
        f"  {row.project}: {row.kind.value}",
        f"    {row.embedded:,} of {row.records:,} embedded, {row.pending:,} pending, watermark {row.watermark:,}",
    )


def _fitted(text: str, columns: int) -> str:
    """Broken between words; what belongs to the line before is set in."""
    return "\n".join(_broken(line, columns) for line in text.splitlines())


def _broken(line: str, columns: int) -> str:
    if len(line) <= columns or columns >= _TABLE_COLUMNS:
        return line
    start = " " * (len(line) - len(line.lstrip()))
    words = " ".join(line.split())
    return textwrap.fill(words, max(20, columns), initial_indent=start, subsequent_indent=f"{start}  ")


def _found(faults: IndexFaults) -> str:
    lines = [f"{faults.checked:,} records compared: {_wrong(faults)}"]
    if faults.chroma:
        lines.append(f"  not compared: Chroma, {faults.chroma}")
    if faults.waiting:
        lines.append(f"  not compared: {faults.waiting:,} records that wait to be embedded or written to Chroma")
    lines += [f"  {example}" for example in faults.examples[:_SHOWN]]
    return "\n".join(lines)


def _wrong(faults: IndexFaults) -> str:
    if not _any(faults):
        return "nothing wrong as far as it goes" if _lacks(faults) else "all is as it should be"
    return (
        f"{faults.missing:,} documents missing, {faults.orphans:,} of no record, "
        f"{faults.stale:,} records of an older text"
        + ("; being mended" if faults.repaired else "; `claude-mem index repair` mends it")
    )
