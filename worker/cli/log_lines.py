"""`worker logs`: the latest lines of the worker's log, and those that come. Needs no worker that runs."""

import contextlib
import sys
import time
from collections.abc import Iterator

from worker.cli import exits
from worker.cli.printing import note, say, say_json
from worker.contract import log_files
from worker.contract.errors import Unavailable
from worker.contract.settings import Settings


def show(where: Settings, most: int, *, follow: bool, as_json: bool) -> int:
    """Print the last ``most`` lines; gives the exit code. Errors: ``Unavailable`` for a log that cannot be read."""
    with _readable(where):
        tail = log_files.tail(where.logs, most, time.time())
    if as_json:
        say_json({"path": str(tail.path), "lines": tail.lines})
    elif tail.lines:
        say("\n".join(tail.lines))
    elif not tail.exists:
        note(f"there is no log in {where.logs} yet")
    if follow:
        _follow(where, tail)
    return exits.FOUND if tail.exists else exits.NOTHING


def _follow(where: Settings, tail: log_files.Tail) -> None:
    """Until somebody interrupts it."""
    coming = log_files.follow(where.logs, tail.path if tail.exists else None)
    while True:
        with _readable(where):
            line = next(coming)
        if line:
            say(line)
        else:
            sys.stdout.flush()


@contextlib.contextmanager
def _readable(where: Settings) -> Iterator[None]:
    """Of reading alone: what goes wrong with the output is told where the output ends."""
    try:
        yield
    except OSError as error:
        raise Unavailable(f"{error.filename or where.logs} cannot be read: {error.strerror or error}") from error
