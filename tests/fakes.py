"""Stand-ins for what a test must hold still: clocks and zones."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class FakeClock:
    """Seconds since 1970 that move only when told."""

    now: float = 1_772_625_600.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def machine_zone(name: str) -> Iterator[None]:
    """This process in another time zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()
