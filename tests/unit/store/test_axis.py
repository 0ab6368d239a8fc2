"""The SQL of buckets puts every moment where the calendar puts it."""

import sqlite3
from zoneinfo import ZoneInfo

import pytest

from tests.factories import DAY, HOUR, MINUTE, NOON
from worker.contract.search import BUCKET_WIDTHS_MS
from worker.search.buckets import edges, runs, start_of
from worker.store import axis

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("width", BUCKET_WIDTHS_MS)
def test_a_moment_is_in_its_bucket_also_where_clocks_change(width: int) -> None:
    days = 30 if width < HOUR else 300
    found = runs(edges(NOON, NOON + days * DAY, width, BERLIN))
    assert len(found) <= 7  # two changes of clocks, and what lies between them
    epochs = range(NOON, NOON + days * DAY, 47 * MINUTE + 1)
    rows = sqlite3.connect(":memory:").execute(
        f"SELECT d.epoch, {axis.bucket(found)}, {axis.within(found)} FROM (SELECT value epoch FROM json_each(?)) d",
        (str(list(epochs)),),
    )
    for epoch, start, inside in rows:
        assert (start, inside) == (start_of(epoch, width, BERLIN), 1)


def test_what_lies_outside_is_told() -> None:
    bound = axis.within([axis.Run(0, 10, 5), axis.Run(10, 13, 3)])
    seen = sqlite3.connect(":memory:").execute(
        f"SELECT {bound} FROM (SELECT value epoch FROM json_each('[-1,0,12,13]')) d"
    )
    assert [row[0] for row in seen] == [0, 1, 1, 0]
