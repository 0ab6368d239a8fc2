"""The spool emptied into the memory: what hooks kept while no worker answered, in order, once.

One event after the other, oldest first. An event leaves the disk when it is committed, so that a worker killed between
the two takes it again and knows it by its ``event_id``. One that can never be taken is set aside with the reason, and
hinders none behind it; when the memory takes nothing right now, all stay where they are.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from worker.contract import calls, spool
from worker.contract.capture import Event, PromptSubmitted, SessionEnded, ToolUsed, TurnEnded
from worker.contract.errors import Invalid, MemError, NotFound, TooLarge

PAUSE_S = 2.0
_STALE_S = 3600.0
_FORGOTTEN_S = 7 * 86400.0
_KINDS: dict[str, type[Event]] = {
    calls.SESSION_INIT: PromptSubmitted,
    calls.SESSION_TOOL: ToolUsed,
    calls.SESSION_SUMMARIZE: TurnEnded,
    calls.SESSION_END: SessionEnded,
}
_log = logging.getLogger("worker.capture.drain")

Take = Callable[[Event], Awaitable[object]]
"""Commits an event of one of the four kinds. Errors: ``Invalid`` and its kin for one that can never be taken."""


async def run(data_dir: Path, take: Take, *, pause_s: float = PAUSE_S) -> None:
    """Empty the spool now and every few seconds, for as long as we run."""
    where, known = str(data_dir), ""
    await asyncio.to_thread(_tidy, data_dir)
    while True:
        taken, trouble = await drained(where, take)
        if taken:
            _log.info("took %d events that hooks had kept", taken)
        if trouble and trouble != known:
            _log.warning("the spool waits: %s", trouble)  # once: it may last for days
        known = trouble
        await asyncio.sleep(pause_s)


async def drained(data_dir: str, take: Take) -> tuple[int, str]:
    """How many events were taken, until none is left, or until the memory takes none for now, and why it does not."""
    taken = 0
    while names := await asyncio.to_thread(spool.waiting, data_dir):
        for name in names:
            try:
                await _one(data_dir, name, take)
            except MemError as error:
                return taken, error.message
            except OSError as error:
                return taken, error.strerror or str(error)
            taken += 1
    return taken, ""


async def _one(data_dir: str, name: str, take: Take) -> None:
    """Have an event taken, or set it aside. Errors: ``MemError`` when the memory takes none for now, ``OSError``."""
    try:
        path, body = await asyncio.to_thread(spool.read, data_dir, name)
        kind = _KINDS.get(path)
        if kind is None:
            raise spool.Broken(f"nothing is told at {path[:80]}")
        await take(msgspec.convert(body, kind))
    except FileNotFoundError:
        return  # somebody else took it
    except (spool.Broken, msgspec.ValidationError, Invalid, TooLarge, NotFound) as error:
        _log.warning("an event in the spool was set aside: %s", type(error).__name__)
        await asyncio.to_thread(spool.set_aside, data_dir, name, str(error))
        return
    except (MemError, OSError):
        raise
    except Exception as error:  # noqa: BLE001  one that we trip over would hinder all behind it
        _log.exception("an event in the spool was set aside")
        await asyncio.to_thread(spool.set_aside, data_dir, name, f"a fault of the worker ({type(error).__name__})")
        return
    with contextlib.suppress(FileNotFoundError):
        await asyncio.to_thread(spool.drop, data_dir, name)


def _tidy(data_dir: Path) -> None:
    """Take away what hooks that were killed left half written, and what was noted for sessions long over."""
    for folder, pattern, age_s in (
        (data_dir / spool.FOLDER, ".*.json.*", _STALE_S),
        (data_dir / "state" / "file-context", "*.json*", _FORGOTTEN_S),
        (data_dir / "state" / "private-turns", "*", _FORGOTTEN_S),
    ):
        with contextlib.suppress(OSError):
            for file in folder.glob(pattern):
                if time.time() - file.stat().st_mtime > age_s:
                    file.unlink()
