"""Pure: a search page as the index an agent chooses from, 50 to 100 tokens a hit."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator

from worker.contract.records import RecordKind
from worker.contract.search import Degraded, Hit, SearchPage
from worker.contract.tokens import shown_tokens
from worker.present import marks

_HEAD = ("| ID | Time | T | Title | Read |", "|----|------|---|-------|------|")
_DEGRADED = {
    Degraded.INDEX_STARTING: "(the index is still being built: more may be found in a minute)",
    Degraded.INDEX_FAILED: "(search by meaning failed; these are keyword hits)",
    Degraded.INDEX_SLOW: "(search by meaning took too long; these are keyword hits)",
    Degraded.NO_FULLTEXT: "(SQLite without FTS5 here: plain text matches only)",
}


def index_table(page: SearchPage, zone: dt.tzinfo | None = None) -> str:
    """The page in groups of days. Groups and rows are in the page's order, so the best hit stays first."""
    said = notes(page)
    if not page.hits:
        return "\n".join([_nothing(page), *said])
    return "\n".join([_header(page), *said, "", *_days(page, zone)]).rstrip() + "\n"


def notes(page: SearchPage) -> list[str]:
    """Lines in brackets: what was degraded, and how the question was understood."""
    # Whoever switched meaning off need not be told with every answer.
    degraded = _DEGRADED.get(page.degraded) if page.degraded else None
    return [*([degraded] if degraded else []), *(f"({note})" for note in page.notes)]


def _header(page: SearchPage) -> str:
    kinds = Counter(page.kinds)
    matching = f' matching "{marks.cell(page.query)}"' if page.query.strip() else ""
    shown = "" if page.total == len(page.hits) else f", showing {page.offset + 1}-{page.offset + len(page.hits)}"
    return (
        f"Found {page.total} result(s){matching} ({kinds[RecordKind.OBSERVATION]} obs, "
        f"{kinds[RecordKind.SUMMARY]} sessions, {kinds[RecordKind.PROMPT]} prompts{shown})"
    )


def _nothing(page: SearchPage) -> str:
    if page.total:
        return f"No results at offset {page.offset}: there are {page.total} in all"
    return f'No results found matching "{marks.cell(page.query)}"' if page.query.strip() else "No results found"


def _days(page: SearchPage, zone: dt.tzinfo | None) -> Iterator[str]:
    # Hits of one day that do not follow each other are gathered where the best of them stands.
    days: dict[str, list[Hit]] = {}
    for hit in page.hits:
        days.setdefault(marks.day(hit.created_at_epoch, zone), []).append(hit)
    for day, hits in days.items():
        yield from (f"### {day}", "", *_HEAD)
        before = ""
        for hit in hits:
            time = marks.clock(hit.created_at_epoch, zone)
            shown = "″" if time == before else time
            before = time
            yield (
                f"| {marks.label(hit.key)} | {shown} | {marks.icon(hit)} | {marks.cell(hit.title)} "
                f"| {shown_tokens(hit.read_tokens)} |"
            )
        yield ""
