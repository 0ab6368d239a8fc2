"""Rows in batches small enough that nobody waits long behind one, and which row is at fault when one is refused."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from worker.cli.importers.source import Row
from worker.contract.errors import Busy, Conflict, Forbidden, MemError, TimedOut, Unavailable, Unreachable
from worker.contract.transfer import ImportBatch, ImportStats, RowKind

MOST_ROWS = 250
MOST_BYTES = 1_000_000
_PLACE = re.compile(r"(\w+)\[(\d+)\](.*)", re.DOTALL)
_NOT_THE_ROWS = (Busy, Conflict, Forbidden, TimedOut, Unavailable, Unreachable)

Refused = Callable[[Row, str, str], None]


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows in their order; a row that is over the limit alone is a batch alone."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        if batch and (len(batch) == MOST_ROWS or size + row.size > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row.size
    if batch:
        yield batch


def deliver(rows: Sequence[Row], send: Callable[[ImportBatch], ImportStats], refused: Refused) -> Iterator[ImportStats]:
    """What the worker did with the rows, one answer for each part that it took.

    A row that the worker names is left out and the rest is sent again; where it names none, the halves are.
    refused: told (row, name with the key at fault, problem); it may raise to stop there.
    Errors: those that no row is to blame for.
    """
    waiting = [list(rows)]
    while waiting:
        part = waiting.pop()
        try:
            yield send(_batch(part))
        except _NOT_THE_ROWS:
            raise
        except MemError as error:
            at, name, problem = _blamed(error, part)
            if at is not None:
                refused(part[at], name, problem)
                waiting += [part[:at] + part[at + 1 :]] if len(part) > 1 else []
            else:
                middle = len(part) // 2
                waiting += [part[middle:], part[:middle]]


def place(field: str) -> tuple[str, int, str]:
    """`observations[3].created_at_epoch` as what the worker means by it: the kind, which of the batch, and the key."""
    found = _PLACE.fullmatch(field)
    assert found is not None, "the worker names the rows of a batch so"
    return found[1], int(found[2]), found[3]


def _batch(rows: Sequence[Row]) -> ImportBatch:
    by_kind = {kind.plural: tuple(row.value for row in rows if row.kind is kind) for kind in RowKind}
    return ImportBatch(**by_kind)


def _blamed(error: MemError, rows: Sequence[Row]) -> tuple[int | None, str, str]:
    """(which row, its name in the file with the key at fault, the problem without the name)."""
    found = _PLACE.fullmatch(error.field or "")
    if found is not None:
        of_kind = [at for at, row in enumerate(rows) if row.kind.plural == found[1]]
        if int(found[2]) < len(of_kind):
            at = of_kind[int(found[2])]
            return at, rows[at].name + found[3], error.message.removeprefix(error.field or "").lstrip(" :")
    return (0, rows[0].name, error.message) if len(rows) == 1 else (None, "", error.message)
