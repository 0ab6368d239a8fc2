"""Pure: tokens read against tokens once spent."""

from collections.abc import Iterable, Mapping

from worker.contract.costs import CostLine, Spent
from worker.store.costs import Sums


def spent(sums: Sums) -> Spent:
    """Sums as they are told."""
    return Spent(
        records=sums.records,
        read_tokens=sums.read,
        work_tokens=sums.work,
        ratio=round(sums.work / sums.read, 2) if sums.read else 0.0,
        recalled=sums.recalled,
        read_back=sums.back,
        read_back_tokens=sums.back_tokens,
        never=sums.records - sums.recalled,
        never_work_tokens=sums.work - sums.recalled_work,
    )


def saved(sums: Sums) -> tuple[int, int]:
    """Tokens that reading saves against finding out anew, and percent of the work, rounded half up; may be negative.

    Source: contract/context.md, section 6.
    """
    tokens = sums.work - sums.read
    return tokens, (200 * tokens + sums.work) // (2 * sums.work) if sums.work else 0


def dearest(values: Mapping[str, Sums], most: int) -> tuple[CostLine, ...]:
    """A line for each value, most work first."""
    order = sorted(values, key=lambda value: (-values[value].work, -values[value].records, value))
    return tuple(CostLine(value=value, spent=spent(values[value])) for value in order[:most])


def folded(sums: Iterable[tuple[str, Sums]]) -> dict[str, Sums]:
    """The sums of equal values."""
    found: dict[str, Sums] = {}
    for value, more in sums:
        found[value] = found.get(value, Sums()) + more
    return found


def total(sums: Iterable[Sums]) -> Sums:
    """Of all."""
    return sum(sums, Sums())
