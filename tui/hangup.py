"""Notices that the terminal is no more, where no signal tells of it.

Textual reads the end of its input again and again then, which takes most of a processor for ever.
"""

import os
import select
import threading
import time
from collections.abc import Callable

_STUCK_S = 10.0
_CODE = 129
"""What a shell gives to who dies of a hang-up."""


def watch(terminal: int, gone: Callable[[], None]) -> None:
    """Call ``gone`` on a thread once nobody holds the other end of the terminal.

    Whoever has not ended the program some seconds after that is stuck, writing to nobody: it is ended then.
    """
    if hasattr(select, "poll"):
        threading.Thread(target=_wait, args=(terminal, gone), daemon=True, name="hang-up").start()


def _wait(terminal: int, gone: Callable[[], None]) -> None:
    poll = select.poll()
    poll.register(terminal, 0)  # what was typed wakes nobody here; a hang-up always does
    if not any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll()):
        return  # it is nothing that can be watched
    gone()
    time.sleep(_STUCK_S)
    os._exit(_CODE)
