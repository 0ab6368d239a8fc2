"""Pure: what is known of a file, by day."""

import datetime as dt
from collections.abc import Iterator, Sequence
from itertools import groupby

from worker.contract.search import SearchPage
from worker.present import marks
from worker.present.index_table import notes
from worker.present.observation_table import HEAD, rows, shown_of


def file_table(page: SearchPage, paths: Sequence[str], zone: dt.tzinfo | None = None) -> str:
    """The page in groups of days; groups and rows are in the page's order, newest first unless asked otherwise."""
    file, said = marks.cell(", ".join(paths)), notes(page)
    if not page.hits and page.total:
        return "\n".join([f"No results at offset {page.offset}: there are {page.total} in all", *said])
    if not page.hits:
        return "\n".join([f'No results found for file "{file}"', *said])
    head = f'Found {page.total} result(s) for file "{file}"{shown_of(page)}'
    return "\n".join([head, *said, "", *_days(page, zone)]).rstrip() + "\n"


def _days(page: SearchPage, zone: dt.tzinfo | None) -> Iterator[str]:
    for day, hits in groupby(page.hits, key=lambda hit: marks.day(hit.created_at_epoch, zone)):
        yield from (f"### {day}", "", *HEAD, *rows(list(hits), zone), "")
