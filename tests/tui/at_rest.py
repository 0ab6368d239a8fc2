"""Whether programs are at rest: asked of the kernel, since silence alone may be that of a program kept from running."""

import os
from collections.abc import Collection
from pathlib import Path

Ran = dict[int, str]
"""Thread → how often and how long it has had a processor. What is at rest has the same figures a while later."""


def threads_of(pid: int) -> set[int]:
    """The threads of a process; none of one that is gone."""
    try:
        return {int(name) for name in os.listdir(f"/proc/{pid}/task")}
    except (FileNotFoundError, ProcessLookupError):
        return set()


def ran(pid: int, threads: Collection[int]) -> Ran | None:
    """What these threads of a process have run by now; None while one of them runs, or wants to."""
    figures = {}
    for thread in threads:
        of = Path(f"/proc/{pid}/task/{thread}")
        try:
            state = (of / "stat").read_text().rpartition(") ")[2][0]
            figures[thread] = (of / "schedstat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        if state != "S":
            return None
    return figures


def has_children(pid: int) -> bool:
    """Whether a process waits for programs that it has started."""
    for thread in threads_of(pid):
        try:
            if Path(f"/proc/{pid}/task/{thread}/children").read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            continue
    return False
