"""The bridge as a process: standard input and output belong to the protocol, and it ends when its client does."""

import argparse
import contextlib
import io
import json
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType

import anyio

from worker.contract import launch, settings
from worker.contract.errors import MemError
from worker.contract.recalls import MCP
from worker.contract.settings import Settings
from worker.contract.version import __version__

_PARENT_CHECK_S = 30.0
_LAST_WORDS_S = 1.5
"""How long an ended bridge may take to write what is under way; clients kill after 2 s."""

_HALF_A_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}|\\u[dD][c-fC-F][0-9a-fA-F]{2}")


class Input(io.RawIOBase):
    """The client's messages. They end when it closes them, when it dies, and when ``stop`` is called.

    A thread that waits in a plain read cannot be called back: the process would outlive a signal.
    """

    def __init__(self, descriptor: int, *, on_end: Callable[[], None], check_s: float = _PARENT_CHECK_S) -> None:
        self._descriptor, self._on_end, self._check_s = descriptor, on_end, check_s
        self._parent = os.getppid()
        self._stopped, self._stopper = os.pipe()

    def readable(self) -> bool:
        """Yes."""
        return True

    def stop(self) -> None:
        """Let the messages end. Safe in a signal handler."""
        with contextlib.suppress(OSError):
            os.write(self._stopper, b".")

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        """The next bytes; 0 at the end."""
        piece = os.read(self._descriptor, len(buffer)) if self._comes() else b""
        if not piece:
            self._on_end()
        buffer[: len(piece)] = piece
        return len(piece)

    def _comes(self) -> bool:
        while sys.platform != "win32":  # select takes no pipes there, and there is no signal to wait for either
            ready, _, _ = select.select([self._descriptor, self._stopped], [], [], self._check_s)
            if self._stopped in ready or (not ready and os.getppid() != self._parent):
                return False
            if ready:
                break
        return True


class Lines(io.TextIOWrapper):
    """Messages by the line, each of them text that the SDK's JSON reader takes."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """The next line."""
        return mended(super().readline(size))


def mended(line: str) -> str:
    r"""The line with each lone half of a surrogate pair as `?`; JavaScript clients send them for a cut emoji.

    The SDK drops a line with one without an answer, and the client would wait for it.
    """
    if not _HALF_A_PAIR.search(line):
        return line
    try:
        whole = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return whole.encode("utf-8", "replace").decode() + "\n"


class Output(io.RawIOBase):
    """The way to the client; once nobody reads, the bridge ends and the rest is dropped."""

    def __init__(self, descriptor: int, *, on_gone: Callable[[], None]) -> None:
        self._descriptor, self._on_gone = descriptor, on_gone

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, piece: "memoryview[int]") -> int:  # type: ignore[override]
        """How many bytes were written."""
        try:
            return os.write(self._descriptor, piece)
        except OSError:
            self._on_gone()
            return len(piece)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one client on standard input and output until it goes."""
    parser = argparse.ArgumentParser(prog="claude-mem mcp", description="MCP server on standard input and output.")
    parser.add_argument("--demo", action="store_true", help="serve the demo memory")
    demo = parser.parse_args(sys.argv[1:] if argv is None else argv[1:]).demo
    messages = Input(os.dup(0), on_end=_end_soon)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, partial(_stop, messages))
    answers = Output(_claim_stdout(), on_gone=messages.stop)
    try:
        where = settings.load()
    except MemError as error:
        print(f"claude-mem mcp: {error.message}", file=sys.stderr)
        return 2
    anyio.run(_serve, where.for_demo() if demo else where, messages, answers)
    return 0


async def _serve(where: Settings, messages: Input, answers: Output) -> None:
    # 600 ms to 2 s: only here, because what a library prints while it is loaded must not reach standard output,
    # and because a bad flag needs no SDK.
    from mcp.server.stdio import stdio_server

    from mcp_bridge.server import Link, build
    from worker.contract.client import WorkerClient

    worker = WorkerClient(where.host, where.port, timeout_s=where.timeout_s, token=where.credential, caller=MCP)
    async with worker as client:
        server = build(Link(partial(launch.ensure, where), client), __version__)
        lines = Lines(io.BufferedReader(messages), encoding="utf-8", errors="replace")
        buffer = io.BufferedWriter(answers)  # type: ignore[type-var]
        out = io.TextIOWrapper(buffer, encoding="utf-8", errors="replace", newline="\n")
        async with stdio_server(anyio.wrap_file(lines), anyio.wrap_file(out)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


def _claim_stdout() -> int:
    """The way to the client; what anybody prints goes to standard error from now on."""
    wire = os.dup(1)
    if sys.platform != "win32":
        os.set_blocking(wire, True)  # some clients hand over a pipe that is not
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return wire


def _stop(messages: Input, number: int, frame: FrameType | None) -> None:
    messages.stop()


def _end_soon() -> None:
    """Leave for certain: a client that no longer reads keeps a writer waiting for ever."""
    timer = threading.Timer(_LAST_WORDS_S, os._exit, [0])
    timer.daemon = True
    timer.start()


if __name__ == "__main__":
    sys.exit(main())
