"""Pure: how long to wait after something failed, and how fast something goes."""

from collections import deque


class Delay:
    """Twice as long after each failure, from a second to ``most_s``."""

    def __init__(self, first_s: float = 1.0, most_s: float = 60.0) -> None:
        self._first_s, self._most_s = first_s, most_s
        self._next_s = first_s

    def next_s(self) -> float:
        """Seconds to wait after one more failure."""
        given, self._next_s = self._next_s, min(self._next_s * 2, self._most_s)
        return given

    def reset(self) -> None:
        """It went well."""
        self._next_s = self._first_s


class Rate:
    """Records a second, over the last minute in which any were done."""

    def __init__(self, span_s: float = 60.0) -> None:
        self._span_s = span_s
        self._done: deque[tuple[float, int]] = deque()

    def add(self, now_s: float, count: int) -> None:
        """So many were done just now."""
        self._done.append((now_s, count))
        while self._done[0][0] < now_s - self._span_s:
            self._done.popleft()

    def per_s(self, now_s: float) -> float:
        """0 until two measures are there, and after a rest."""
        if len(self._done) < 2 or self._done[-1][0] < now_s - self._span_s:
            return 0.0
        # What the first measure tells of was done before it.
        count = sum(count for _, count in self._done) - self._done[0][1]
        return count / max(self._done[-1][0] - self._done[0][0], 1e-3)
