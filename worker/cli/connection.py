"""The way from a command to the worker."""

import threading

from worker.cli.printing import AlreadyTold, note
from worker.contract import gate, launch, settings
from worker.contract.errors import MemError, TimedOut
from worker.contract.launch import Silent
from worker.contract.quick import QuickClient
from worker.contract.settings import Settings
from worker.contract.status import Health

_PATIENCE_S = 0.7
_SECOND_LOOK_S = 0.2
_FIRST_LOOK_S = 0.7
"""Long for a worker that is well; whoever waits longer is told for what."""


def chosen(*, demo: bool) -> Settings:
    """The settings of this process, of the demo memory if asked for. Errors: ``Invalid``."""
    mine = settings.load()
    return mine.for_demo() if demo else mine


def found(where: Settings) -> Health | None:
    """Our worker, None if nobody answers. One that is silent is told within a second, and given a little longer.

    Errors: as ``launch.find``; ``AlreadyTold`` when it stays silent.
    """
    try:
        return launch.find(where, timeout_s=_FIRST_LOOK_S)
    except (TimedOut, Silent) as error:
        note(error.message)
    try:
        return launch.find(where)
    except (TimedOut, Silent) as error:
        raise AlreadyTold(error.message) from error


def started(where: Settings) -> Health:
    """The worker, started if need be; says so when it takes about a second.

    Errors: as ``launch.ensure``; ``AlreadyTold`` when whoever holds the port stays silent.
    """
    silent: list[str] = []
    patience = threading.Timer(_PATIENCE_S, _say_what_is_waited_for, [where, silent])
    patience.daemon = True
    patience.start()
    try:
        return launch.ensure(where)
    except (TimedOut, Silent) as error:
        patience.cancel()
        patience.join()  # it may be about to say it
        if silent:
            raise AlreadyTold(error.message) from error
        raise
    finally:
        patience.cancel()


def _say_what_is_waited_for(where: Settings, silent: list[str]) -> None:
    """silent: takes what was said of whoever holds the port and does not answer."""
    try:
        launch.find(where, timeout_s=_SECOND_LOOK_S)
    except (TimedOut, Silent) as error:
        if not gate.is_held(where):
            silent.append(error.message)
            note(error.message)
            return
    except MemError:
        return  # told by whoever waits
    note("waiting for the worker to start...")


def client(where: Settings) -> QuickClient:
    """A sender for a worker that serves. Errors: as ``launch.ensure``."""
    started(where)
    return QuickClient(where.host, where.port, timeout_s=where.timeout_s, token=where.credential)
