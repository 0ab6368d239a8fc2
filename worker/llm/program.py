"""A program that is asked one thing on its standard input: run in a process group of its own, and ended as a whole when
its time is over or whoever asked no longer waits."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

_MOST_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Ran:
    """code: negative for a signal that ended it. out, err: what it printed."""

    code: int
    out: bytes
    err: bytes


async def run(words: Sequence[str], told: str, *, folder: Path, environ: Mapping[str, str], timeout_s: float) -> Ran:
    """What the program did with what it was told. Errors: ``OSError`` if it cannot start, ``TimeoutError``."""
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, env=environ, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, start_new_session=True, limit=_MOST_BYTES,
    )  # fmt: skip
    try:
        async with asyncio.timeout(timeout_s):
            out, err = await process.communicate(told.encode("utf-8", "replace"))
    finally:
        await _end(process)
    return Ran(process.returncode or 0, out, err)


def printed_object(out: bytes) -> dict[str, object] | None:
    """The JSON object that it printed, alone or as the last of several lines or of a list; None if there is none."""
    for candidate in (out, out.strip().rpartition(b"\n")[2]):
        with contextlib.suppress(msgspec.DecodeError, UnicodeError, RecursionError):
            found = msgspec.json.decode(candidate)
            found = found[-1] if isinstance(found, list) and found else found
            if isinstance(found, dict):
                return found
    return None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program and whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
