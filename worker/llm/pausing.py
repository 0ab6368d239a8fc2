"""Pure: how long to leave a provider alone after it failed."""

from worker.llm.provider import Failure

_FIRST_S = {
    Failure.QUOTA: 60.0,
    Failure.AUTH: 300.0,
    Failure.TRANSIENT: 5.0,
    Failure.TOO_LONG: 1.0,
    Failure.BAD_ANSWER: 10.0,
}
_MOST_S = {
    Failure.QUOTA: 3600.0,
    Failure.AUTH: 1800.0,
    Failure.TRANSIENT: 600.0,
    Failure.TOO_LONG: 60.0,
    Failure.BAD_ANSWER: 600.0,
}
_LONGEST_S = 86_400.0
_DOUBLINGS = 16
OF_ALL = frozenset((Failure.QUOTA, Failure.AUTH, Failure.TRANSIENT))
"""Failures of the provider: nothing is asked of it meanwhile. The others are of one question."""


def pause_s(kind: Failure, failures: int, retry_after_s: float | None = None) -> float:
    """Seconds before the next try. failures: how many in a row, with this one. A server's own wish is honoured."""
    own = min(_FIRST_S[kind] * 2.0 ** min(max(failures - 1, 0), _DOUBLINGS), _MOST_S[kind])
    return own if retry_after_s is None else min(max(retry_after_s, _FIRST_S[Failure.TOO_LONG]), _LONGEST_S)
