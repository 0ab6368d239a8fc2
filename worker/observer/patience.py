"""Pure: what failed lately, and what follows: how long a provider is left alone, how a session's next try differs."""

from collections import Counter
from dataclasses import dataclass, field

from worker.llm import pausing
from worker.llm.provider import Failure, ProviderFailed

_HOPELESS = 5
"""Answers that cannot be used after which our own rules make the records: what waits behind them has waited enough."""
_MOST_SHRINK = 4


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is asked until then, epoch ms, for this reason."""

    reason: str
    until_epoch_ms: int


@dataclass(slots=True)
class Patience:
    """Of one provider. bad: answers of no use in a row, by session; shrunk: how often it was too much, by session."""

    pause: Pause | None = None
    failures: int = 0
    bad: Counter[int] = field(default_factory=Counter)
    shrunk: Counter[int] = field(default_factory=Counter)

    def failed(self, session_db_id: int, failure: ProviderFailed, now_epoch_ms: int) -> int:
        """Until when the session waits, epoch ms. Where the provider itself failed it waits for that, and all do."""
        if failure.kind in pausing.OF_ALL:
            self.failures += 1
            wait_s = pausing.pause_s(failure.kind, self.failures, failure.retry_after_s)
            self.pause = Pause(failure.message, now_epoch_ms + int(1000 * wait_s))
            return now_epoch_ms
        self.bad[session_db_id] += 1
        if failure.kind is Failure.TOO_LONG:
            self.shrunk[session_db_id] = min(self.shrunk[session_db_id] + 1, _MOST_SHRINK)
        wait_s = pausing.pause_s(failure.kind, self.bad[session_db_id], failure.retry_after_s)
        return now_epoch_ms + int(1000 * wait_s)

    def answered(self, session_db_id: int) -> None:
        """An answer was stored."""
        self.failures = 0
        self.bad.pop(session_db_id, None)
        self.shrunk.pop(session_db_id, None)

    def pausing(self, now_epoch_ms: int) -> Pause | None:
        """The pause that lasts, None if none does."""
        if self.pause is not None and now_epoch_ms >= self.pause.until_epoch_ms:
            self.pause = None
        return self.pause

    def is_hopeless(self, session_db_id: int) -> bool:
        """Whether no model is asked any more about what waits first in a session."""
        return self.bad[session_db_id] >= _HOPELESS
