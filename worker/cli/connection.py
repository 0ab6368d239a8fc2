"""The way from a command to the worker."""

import threading

from worker.cli.printing import note
from worker.contract import launch, settings
from worker.contract.errors import MemError, TimedOut
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings
from worker.contract.status import Health

_PATIENCE_S = 1.0
_FIRST_LOOK_S = 0.7
"""Long for a worker that is well; whoever waits longer is told for what."""


def chosen(*, demo: bool) -> Settings:
    """The settings of this process, of the demo memory if asked for. Errors: ``Invalid``."""
    mine = settings.load()
    return mine.for_demo() if demo else mine


def found(where: Settings) -> Health | None:
    """Our worker, None if nobody answers; says so when the port is silent at first. Errors: as ``launch.find``."""
    try:
        return launch.find(where, timeout_s=_FIRST_LOOK_S)
    except TimedOut:
        note(f"port {where.port} takes connections but nothing answers yet; waiting a little longer...")
    return launch.find(where)


def started(where: Settings) -> Health:
    """The worker, started if need be; says so when it takes more than a second. Errors: as ``launch.ensure``."""
    patience = threading.Timer(_PATIENCE_S, _say_what_is_waited_for, [where])
    patience.daemon = True
    patience.start()
    try:
        return launch.ensure(where)
    finally:
        patience.cancel()


def _say_what_is_waited_for(where: Settings) -> None:
    what = "the worker to start"
    try:
        launch.find(where, timeout_s=0.2)
    except TimedOut:
        what = f"the worker on port {where.port}, which takes connections, to answer"
    except MemError:
        return  # told by whoever waits
    note(f"waiting for {what}...")


def client(where: Settings) -> QuickClient:
    """A sender for a worker that serves. Errors: as ``launch.ensure``."""
    started(where)
    return QuickClient(where.host, where.port, timeout_s=where.timeout_s, token=where.credential)
