"""Pure: how far a list is scrolled, so that the line under the cursor is seen."""

_STEP = 2
"""Lines of a step at most: over a day's heading it is two."""


def top(line: int, *, was: int, height: int, count: int, ahead: int = 0) -> int:
    """The first line on the screen. was: the one so far. ahead: lines shown beyond the cursor's when it is scrolled."""
    height = max(height, 1)
    if line < was:
        was = line - ahead if line - ahead != 1 or line >= height else 0  # a single line more is not left out
    elif line >= was + height:
        was = line - height + 1 + ahead
    return max(0, min(was, count - height))


def ahead(moved: int, *, height: int, beside: bool) -> int:
    """Lines to show beyond the cursor's after it moved by so many.

    beside: something stands beside the list. Then a terminal cannot scroll it, all its lines are painted, and a step
    beyond the edge brings in half a list, so that the steps after it cost as little as those within.
    """
    return height // 2 if beside and abs(moved) <= _STEP else 0
