"""Batches, and which row is at fault when one is refused."""

from collections.abc import Iterable

import pytest

from worker.cli import batches
from worker.cli.importers.source import Row
from worker.contract.errors import Invalid, MemError, TooLarge, Unreachable
from worker.contract.transfer import ImportBatch, ImportStats, RowKind


def row(at: int, *, size: int = 10, kind: RowKind = RowKind.OBSERVATION) -> Row:
    return Row(kind, at, {"n": at}, size, at, at)


def test_batches_are_bounded_by_rows_and_by_bytes() -> None:
    given = [row(at) for at in range(batches.MOST_ROWS + 1)]
    assert [len(batch) for batch in batches.batches(given)] == [batches.MOST_ROWS, 1]
    sizes = [10, batches.MOST_BYTES, 10, batches.MOST_BYTES // 2, batches.MOST_BYTES // 2, 20_000_000, 5]
    given = [row(at, size=size) for at, size in enumerate(sizes)]
    found = list(batches.batches(given))
    assert [len(batch) for batch in found] == [1, 1, 2, 1, 1, 1]
    assert [item for batch in found for item in batch] == given


class Worker:
    """Takes batches but for bad rows, which it names as the real one does, or does not."""

    def __init__(self, bad: Iterable[int], *, names: bool = True) -> None:
        self.bad, self.names = set(bad), names
        self.taken: list[int] = []
        self.asked = 0

    def __call__(self, batch: ImportBatch) -> ImportStats:
        self.asked += 1
        for at, value in enumerate(batch.observations):
            if value["n"] in self.bad:
                if not self.names:
                    raise MemError("the worker failed on this request", field=None)
                field = f"observations[{at}].created_at_epoch"
                raise Invalid(f"{field} must be milliseconds since 1970", field=field)
        self.taken += [value["n"] for value in batch.observations]
        return ImportStats(observationsImported=len(batch.observations))


def delivered(worker: Worker, rows: list[Row]) -> list[tuple[int, str, str]]:
    refused: list[tuple[int, str, str]] = []
    list(batches.deliver(rows, worker, lambda row, name, problem: refused.append((row.at, name, problem))))
    return refused


def test_a_row_that_is_named_is_left_out_and_the_rest_is_taken() -> None:
    worker = Worker({103, 107})
    refused = delivered(worker, [row(2, kind=RowKind.SESSION), *(row(at) for at in range(100, 110))])
    assert refused == [
        (at, f"observations[{at}].created_at_epoch", "must be milliseconds since 1970") for at in (103, 107)
    ]
    assert worker.taken == [100, 101, 102, 104, 105, 106, 108, 109] and worker.asked == 3


def test_a_row_that_nobody_names_is_found_by_halves() -> None:
    worker = Worker({103}, names=False)
    refused = delivered(worker, [row(at) for at in range(100, 116)])
    assert refused == [(103, "observations[103]", "the worker failed on this request")]
    assert sorted(worker.taken) == [at for at in range(100, 116) if at != 103] and worker.asked < 12


def test_all_rows_bad() -> None:
    worker = Worker(range(5))
    assert len(delivered(worker, [row(at) for at in range(5)])) == 5 and worker.taken == []


def test_one_row_over_the_limit_is_at_fault() -> None:
    def refuse(batch: ImportBatch) -> ImportStats:
        raise TooLarge("the body is over the limit")

    refused: list[str] = []
    assert list(batches.deliver([row(4)], refuse, lambda row, name, problem: refused.append(name))) == []
    assert refused == ["observations[4]"]


def test_what_no_row_is_to_blame_for_is_raised() -> None:
    def gone(batch: ImportBatch) -> ImportStats:
        raise Unreachable("no worker answers")

    with pytest.raises(Unreachable):
        list(batches.deliver([row(1), row(2)], gone, lambda *_: None))


def test_the_one_who_is_told_may_stop_it() -> None:
    class Stop(Exception):
        pass

    def stop(row: Row, name: str, problem: str) -> None:
        raise Stop

    worker = Worker({1})
    with pytest.raises(Stop):
        list(batches.deliver([row(0), row(1), row(2)], worker, stop))
    assert worker.taken == [] and worker.asked == 1
