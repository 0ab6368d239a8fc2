"""Pure: the filters a person can choose from, and how many records each leaves."""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from tui.state.chips import Chip, chips
from worker.contract.search import Count

DATES = (
    ("today", Chip("since", "today")),
    ("yesterday", Chip("at", "yesterday")),
    ("the last 7 days", Chip("since", "7d")),
    ("the last 30 days", Chip("since", "30d")),
    ("the last year", Chip("since", "365d")),
)
GROUPS = (("type", "Type"), ("project", "Project"), ("concept", "Concept"))
_MOST = 12
"""Values of one group; the rest are rare, and can be typed."""


class Offer(Struct, frozen=True):
    """Counts for a question. values: by field, as if nothing were chosen in it. dates: by the chip's text."""

    values: Mapping[str, tuple[Count, ...]] = field(default_factory=dict)
    dates: Mapping[str, int] = field(default_factory=dict)


class Choosing(Struct, frozen=True):
    """The panel of filters. open: it is on the screen. trouble: why there are no counts."""

    open: bool = False
    offer: Offer | None = None
    trouble: str = ""


class Choice(Struct, frozen=True):
    """One filter to choose. label: as it is listed. count: records it leaves, None if not told."""

    chip: Chip
    label: str
    count: int | None
    on: bool


class ChoosingBegun(Struct, frozen=True):
    """The panel is on the screen, or no longer."""

    open: bool


class Offered(Struct, frozen=True):
    """The counts are there."""

    offer: Offer


class OfferFailed(Struct, frozen=True):
    """No counts."""

    reason: str


FilterFact = ChoosingBegun | Offered | OfferFailed


def after(state: Choosing, fact: FilterFact) -> Choosing:
    """The panel after a fact."""
    match fact:
        case ChoosingBegun(is_open):
            return replace(state, open=is_open, trouble="")
        case Offered(offer):
            return replace(state, offer=offer, trouble="")
        case OfferFailed(reason):
            return replace(state, trouble=reason)


def groups(line: str, choosing: Choosing) -> Iterator[tuple[str, list[Choice]]]:
    """What can be chosen, by heading; a filter that is on is there even where nothing would be left."""
    there = chips(line)
    offer = choosing.offer
    others = [chip for chip in there if chip.field in ("file", "session", "is")]
    if others:
        yield "In the query", [Choice(chip, str(chip), None, on=True) for chip in others]
    for name, title in GROUPS:
        counts = offer.values.get(name, ()) if offer is not None else ()
        listed = [Chip(name, count.value) for count in counts[:_MOST]]
        figures = {count.value: count.count for count in counts}
        listed += [chip for chip in there if chip.field == name and chip not in listed]
        choices = [Choice(chip, chip.value, figures.get(chip.value), chip in there) for chip in listed if chip.fits]
        if choices:
            yield title, choices
    known = [Choice(chip, label, _date(offer, chip), chip in there) for label, chip in DATES]
    presets = [chip for _, chip in DATES]
    typed = [Choice(chip, str(chip), None, on=True) for chip in there if chip.field in ("since", "until", "at")]
    yield "Date", [*known, *(choice for choice in typed if choice.chip not in presets)]


def _date(offer: Offer | None, chip: Chip) -> int | None:
    return offer.dates.get(str(chip)) if offer is not None else None
