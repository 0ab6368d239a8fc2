"""Who reads while a question is thought about does so on another core than the model.

On two cores Linux often wakes both threads on one and looks for no idle one: what could be done at once is done one
after the other. Measured there with nothing else to do, the model waited in half of all questions, and for 2.4 ms in a
quarter of them. So its thread is woken on one core, always the same, and who is there goes to the other. Both may be
anywhere as soon as they run. Where something else keeps the cores busy Linux does better alone, and is let.
"""

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Set
from contextlib import suppress
from typing import Protocol

_TWO = 2
"""Of more cores Linux finds an idle one, and of one there is nothing to choose."""
_NOWHERE = -1
_DISTURBED_S = 0.0035
"""With nothing else to do the model's thread waits 0.7 ms, and longer than this for one question in 25; beside one
other program that is busy, for two in three."""
_TWICE = 2
_LET_ALONE_S = 2.0


class System(Protocol):
    """What tells and decides which cores threads run on."""

    def current(self) -> int:
        """The core that this thread is on; -1 where that cannot be told."""
        ...

    def allowed(self) -> set[int]:
        """The cores that this thread may be on; none where that cannot be told."""
        ...

    def allow(self, thread: int, cores: Set[int]) -> None:
        """A thread of ours may be on these alone, and is; as before, where that is not to be. thread: 0 is this one."""
        ...


class Linux:
    """On other systems nothing can be told."""

    def __init__(self) -> None:
        self._current: Callable[[], int] = lambda: _NOWHERE
        if sys.platform == "linux":
            with suppress(OSError, AttributeError):
                self._current = ctypes.CDLL(None).sched_getcpu

    def current(self) -> int:
        """See ``System``."""
        return self._current()

    def allowed(self) -> set[int]:
        """See ``System``."""
        return os.sched_getaffinity(0) if sys.platform == "linux" else set()

    def allow(self, thread: int, cores: Set[int]) -> None:
        """See ``System``."""
        if sys.platform == "linux":
            with suppress(OSError):
                os.sched_setaffinity(thread, cores)


class Apart:
    """Keeps the model's thread and those beside it on two cores. clock, worked: by the clock, and of this thread, s."""

    def __init__(
        self,
        system: System,
        clock: Callable[[], float] = time.perf_counter,
        worked: Callable[[], float] = time.thread_time,
    ) -> None:
        self._system, self._clock, self._worked = system, clock, worked
        self._thread = 0
        self._core = _NOWHERE
        self._cores: frozenset[int] = frozenset()
        # Several questions may be under way: who was sent to a core is let go, whatever was decided meanwhile.
        self._every: frozenset[int] = frozenset()
        self._is_sent = False
        self._called_s = self._began_s = 0.0
        self._alone_until_s = float("-inf")
        self._disturbed = 0

    def call(self) -> None:
        """The model's thread is about to be given a question."""
        self._cores = frozenset()
        if not self._thread or self._clock() < self._alone_until_s:
            return
        cores = frozenset(self._system.allowed())
        if len(cores) == _TWO:
            self._cores = self._every = cores
            self._core, self._called_s = max(cores), self._clock()
            self._system.allow(self._thread, {self._core})
            self._is_sent = True

    def begin(self) -> None:
        """The model's thread has a question, and this is it."""
        self._thread = threading.get_native_id()
        if self._is_sent:
            self._is_sent = False
            self._system.allow(0, self._every)
        self._core, self._began_s = self._system.current(), self._worked()

    def end(self) -> None:
        """The model's thread is done."""
        if not self._cores:
            return
        waited_s = self._clock() - self._called_s - (self._worked() - self._began_s)
        self._disturbed = self._disturbed + 1 if waited_s > _DISTURBED_S else 0
        if self._disturbed >= _TWICE:
            self._disturbed = _TWICE - 1
            self._alone_until_s = self._clock() + _LET_ALONE_S

    def leave(self) -> None:
        """This thread works beside the model's, and goes to the other core if it is on that one."""
        cores, core = self._cores, self._core
        if cores and self._system.current() == core:
            self._system.allow(0, cores - {core})
            self._system.allow(0, cores)
