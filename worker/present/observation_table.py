"""Pure: observations as one table, with what each costs to read and once cost to find out."""

import datetime as dt
from collections.abc import Iterator, Sequence

from worker.contract.records import RecordKind
from worker.contract.search import Hit, SearchPage
from worker.contract.tokens import shown_tokens
from worker.present import marks
from worker.present.index_table import notes

HEAD = ("| ID | Time | T | Title | Read | Work |", "|-----|------|---|-------|------|------|")


def observation_table(page: SearchPage, zone: dt.tzinfo | None = None) -> str:
    """The page in its own order, best hit first, without groups of days."""
    said = notes(page)
    matching = f'matching "{marks.cell(page.query)}"'
    if not page.hits and page.total:
        return "\n".join([f"No observations at offset {page.offset}: there are {page.total} in all", *said])
    if not page.hits:
        return "\n".join([f"No observations found {matching}", *said])
    head = f"Found {page.total} observation(s) {matching}{shown_of(page)}"
    return "\n".join([head, *said, "", *HEAD, *rows(page.hits, zone)]) + "\n"


def rows(hits: Sequence[Hit], zone: dt.tzinfo | None) -> Iterator[str]:
    """A line of six cells for each; a time equal to the one above is `″`."""
    before = ""
    for hit in hits:
        time = marks.clock(hit.created_at_epoch, zone)
        shown = "″" if time == before else time
        before = time
        read, work = "-", "-"
        if hit.kind is RecordKind.OBSERVATION:
            read = shown_tokens(hit.read_tokens)
            work = f"{marks.work_icon(hit)} {hit.discovery_tokens}" if hit.discovery_tokens else "-"
        yield f"| {marks.label(hit.key)} | {shown} | {marks.icon(hit)} | {marks.cell(hit.title)} | {read} | {work} |"


def shown_of(page: SearchPage) -> str:
    """`, showing 21-40` where a page is not all there is."""
    if page.total == len(page.hits):
        return ""
    return f" (showing {page.offset + 1}-{page.offset + len(page.hits)})"
