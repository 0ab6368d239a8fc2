"""`import`: source → batches → worker."""

import argparse
import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from worker.cli import exits, transcripts
from worker.cli.batches import batches, deliver, place
from worker.cli.connection import chosen
from worker.cli.importers import table
from worker.cli.importers.source import LeftOut, Row, Source
from worker.cli.printing import HelpLines, failed, note, say, say_json
from worker.cli.progress import Progress
from worker.cli.sending import Sender
from worker.contract import calls
from worker.contract.copies import Copies
from worker.contract.errors import Invalid, MemError
from worker.contract.settings import Settings
from worker.contract.transfer import ImportBatch, ImportResult, ImportStats, RowKind

_PATIENCE_S = 300.0
_SHOWN = 20
_REPLACED = "holds what is no Unicode text; each such place became \ufffd"


@dataclass(slots=True)
class _Tally:
    """What came of the rows: kind → how many."""

    added: Counter[RowKind] = field(default_factory=Counter)
    known: Counter[RowKind] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    mended: list[LeftOut] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows the worker took."""
        return self.added.total() + self.known.total()

    def count(self, stats: ImportStats) -> None:
        """Add what came of a batch."""
        for kind in RowKind:
            self.added[kind] += getattr(stats, f"{kind.plural}Imported")
            self.known[kind] += getattr(stats, f"{kind.plural}Skipped")


def main(argv: Sequence[str]) -> int:
    """Run `import FILE` or `import transcripts`; gives the exit code."""
    if argv[1:2] == ["transcripts"]:
        return transcripts.main(argv[1:])
    parser = argparse.ArgumentParser(
        prog="claude-mem import",
        description="Bring memories in from a claude-mem database or a JSON export. What is already there is passed "
        "over, so it can be run again, also after it was interrupted. A value that cannot be stored is replaced by the "
        "nearest that can, a row of which nothing can be made is left out, and both are listed. `claude-mem import "
        "transcripts` brings in past sessions of Claude Code; a file of that name is ./transcripts.",
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="claude-mem.db, an export in JSON or JSON lines")
    parser.add_argument("--dry-run", action="store_true", help="only tell what would be new")
    parser.add_argument(
        "--skip-bad", action="store_true", help="rows that have to be left out are no failure (exit code 2)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--demo", action="store_true", help="into the demo memory")
    args = parser.parse_args(argv[1:])
    tally, began = _Tally(), time.monotonic()
    try:
        where = chosen(demo=args.demo)
        _refuse_own(args.file, where)
        with table.opened(args.file) as source:
            _run(source, _Link(where, dry_run=args.dry_run), tally)
    except MemError as error:
        if tally.rows:
            note(f"{tally.rows:,} rows were taken; run it again to go on")
        return failed(error)
    took = time.monotonic() - began
    say_json(_facts(args, source, tally, took)) if args.json else say(_told(args, source, tally, took))
    if tally.left_out and not args.skip_bad:
        note(
            f"{len(tally.left_out):,} rows could not be brought in; mend them and run it again: the rest is passed over"
        )
        return exits.USAGE
    return exits.FOUND if tally.rows or tally.left_out else exits.NOTHING


def _refuse_own(file: Path, where: Settings) -> None:
    with contextlib.suppress(OSError):
        if os.path.samefile(file, where.database):
            raise Invalid(f"{file} is the memory itself; there is nothing to import from it")


class _Link:
    """Sends batches; what is sent twice is in once."""

    def __init__(self, where: Settings, *, dry_run: bool) -> None:
        self._worker, self._dry_run = Sender(where), dry_run
        self._patience_s = max(_PATIENCE_S, where.timeout_s)

    def send(self, batch: ImportBatch) -> ImportResult:
        """What came of a batch. Errors: as ``Sender.send``."""
        call = calls.import_batch(batch, dry_run=self._dry_run, mend=True)
        return self._worker.send(call, timeout_s=self._patience_s)


def _run(source: Source, link: _Link, tally: _Tally) -> None:
    """Everything that can be stored, into the memory."""

    def readable() -> Iterator[Row]:
        for row in source.rows():
            if isinstance(row, LeftOut):
                tally.left_out.append(row)
                continue
            if row.replaced:
                tally.mended.append(LeftOut(row.name, source.place(row), _REPLACED))
            copies.mark(row.kind, row.value)
            yield row

    def send(batch: ImportBatch) -> ImportStats:
        answer = link.send(batch)
        for mended in answer.mended:
            kind, at, key = place(mended.row)
            row = sent[id(getattr(batch, kind)[at])]
            told = f"{mended.problem}, not {mended.given!r}; it became {mended.taken!r}"
            tally.mended.append(LeftOut(row.name + key, source.place(row), told))
        return answer.stats

    def refused(row: Row, name: str, problem: str) -> None:
        tally.left_out.append(LeftOut(name, source.place(row), problem))

    copies, sent = Copies(), dict[int, Row]()
    progress = Progress("import", source.total)
    try:
        for batch in batches(readable()):
            sent = {id(row.value): row for row in batch}
            for stats in deliver(batch, send, refused):
                tally.count(stats)
            progress.at(batch[-1].done, tally.rows)
    finally:
        progress.end()


def _facts(args: argparse.Namespace, source: Source, tally: _Tally, took_s: float) -> dict[str, object]:
    counted = {kind.plural: {"added": tally.added[kind], "known": tally.known[kind]} for kind in RowKind}
    return {
        "file": str(args.file),
        "form": source.form,
        "dry_run": args.dry_run,
        **counted,
        "mended": [_row(bad) for bad in tally.mended],
        "left_out": [_row(bad) for bad in tally.left_out],
        "took_s": round(took_s, 3),
        "rows_per_s": round(tally.rows / took_s) if took_s else 0,
    }


def _row(bad: LeftOut) -> dict[str, str]:
    return {"row": bad.name, "place": bad.place, "problem": bad.problem}


def _told(args: argparse.Namespace, source: Source, tally: _Tally, took_s: float) -> str:
    word = "would be added" if args.dry_run else "added"
    lines = [f"{source.form} {args.file}: {tally.rows:,} rows in {took_s:.1f} s"]
    lines += [
        f"  {kind.plural:<13} {tally.added[kind]:>9,} {word}, {tally.known[kind]:>9,} already there" for kind in RowKind
    ]
    for word, rows in (("mended", tally.mended), ("left out", tally.left_out)):
        if rows:
            lines.append(f"  {word:<13} {len(rows):>9,}")
            lines += [f"    {bad.name} ({bad.place}): {bad.problem}" for bad in rows[:_SHOWN]]
            if len(rows) > _SHOWN:
                lines.append("    ... --json tells them all")
    return "\n".join(lines)
