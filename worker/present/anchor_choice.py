"""Pure: hits as a numbered list, to choose the anchor of a timeline from."""

import datetime as dt
from collections.abc import Iterator

from worker.contract.records import Observation
from worker.contract.search import SearchRows
from worker.contract.when import at_ms
from worker.present import marks

_HINT = "To see what happened around one of them, ask for the `timeline` with its ID as the anchor."


def anchor_choice(rows: SearchRows, zone: dt.tzinfo | None = None) -> str:
    """The observations in their order, best first."""
    query = marks.cell(rows.query)
    if not rows.observations:
        return f'No observations found matching "{query}". Try a different search query.'
    lines = ["# Timeline Anchor Search Results", "", f'Found {rows.totalResults} observation(s) matching "{query}"']
    lines += [*rows.notes, "", _HINT, "", f"**Top {len(rows.observations)} matches:**", ""]
    titles = {hit.id: hit.title for hit in rows.hits}
    for number, row in enumerate(rows.observations, 1):
        lines += [f"{number}. **[{marks.cell(row.type)}] {marks.cell(titles[row.id])}**", *_details(row, zone)]
    return "\n".join(lines) + "\n"


def _details(row: Observation, zone: dt.tzinfo | None) -> Iterator[str]:
    moment = at_ms(row.created_at_epoch, zone)
    half = "AM" if moment.hour < 12 else "PM"
    clock = f"{moment.hour % 12 or 12}:{moment.minute:02d}:{moment.second:02d} {half}"
    yield f"   - ID: {row.id}"
    yield f"   - Date: {moment.month}/{moment.day}/{moment.year}, {clock}"
    if row.subtitle and row.subtitle.strip():
        yield f"   - {marks.cell(row.subtitle)}"
