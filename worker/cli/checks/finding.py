"""One thing that was looked at: how it is, in a sentence, and what to do about it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from worker.contract.errors import MemError
from worker.contract.index import IndexStatus
from worker.contract.settings import Settings
from worker.contract.status import Health
from worker.contract.upkeep import Check

OK, WARN, FAIL = "ok", "warn", "fail"


class Finding(msgspec.Struct, frozen=True):
    """name: of the check. state: ok, warn or fail. message: a sentence. advice: one line, empty when all is well."""

    name: str
    state: str
    message: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """What is known before the checks begin.

    agent_file: Claude Code's own file of settings. health: of our worker, None if none answers; problem: why that
    cannot be told. reports: what the worker, or a look at its file without it, says, by name. meaning: what it
    says of the index by meaning. hooks_file: Claude Code's settings that may have our hooks.
    """

    settings: Settings
    agent_file: Path
    health: Health | None = None
    problem: MemError | None = None
    reports: Mapping[str, Check] = field(default_factory=dict)
    meaning: IndexStatus | None = None
    hooks_file: Path | None = None

    @property
    def way_to_a_worker(self) -> str:
        """What to do where there is none; while something is in its way, that alone."""
        if self.problem is not None:
            return "what is said of `port` settles this too"
        return "`claude-mem worker start`; the other commands start it too"


Look = Callable[[Case], Finding]
