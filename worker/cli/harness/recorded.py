"""Whether the worker of a memory runs, as its pid file tells."""

import json
import os

from worker.contract.running import PID_FILE, alive, start_token

_MOST_BYTES = 4_096
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""Nobody waits for who writes into it, should it be a pipe."""


def is_recorded(data_dir: str, port: int) -> bool:
    """Whether the worker that wrote the pid file of a memory still runs, on this port.

    It wrote the file when it had the port, and keeps it until it ends: nobody else listens there meanwhile.
    """
    try:
        handle = os.open(os.path.join(data_dir, PID_FILE), os.O_RDONLY | _AT_ONCE)
        with os.fdopen(handle, "rb") as opened:
            told = json.loads(opened.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(told, dict) or told.get("port") != port:
        return False
    pid, token = told.get("pid"), told.get("startToken")
    if type(pid) is not int or pid <= 1 or not isinstance(token, str):
        return False
    return alive(pid) and token == start_token(pid)
