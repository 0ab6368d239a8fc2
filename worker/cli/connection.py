"""The way from a command to the worker."""

import threading

from worker.cli.printing import note
from worker.contract import launch, settings
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings
from worker.contract.status import Health

_PATIENCE_S = 1.0


def chosen(*, demo: bool) -> Settings:
    """The settings of this process, of the demo memory if asked for. Errors: ``Invalid``."""
    mine = settings.load()
    return mine.for_demo() if demo else mine


def started(where: Settings) -> Health:
    """The worker, started if need be; says so when it takes more than a second. Errors: as ``launch.ensure``."""
    patience = threading.Timer(_PATIENCE_S, note, ["waiting for the worker to start..."])
    patience.daemon = True
    patience.start()
    try:
        return launch.ensure(where)
    finally:
        patience.cancel()


def client(where: Settings) -> QuickClient:
    """A sender for a worker that serves. Errors: as ``launch.ensure``."""
    started(where)
    return QuickClient(where.host, where.port, timeout_s=where.timeout_s, token=where.credential)
