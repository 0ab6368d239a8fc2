"""One connection: uvicorn's, with bounds on how long its peer may take.

Of itself uvicorn waits for ever for the rest of a request's head, and for a peer that no longer reads.
"""

import asyncio
import socket
import sys

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from worker.contract import calls
from worker.contract.errors import Problem

HEAD_S = 10.0
"""From a connection's first byte, or its opening, to the end of the head."""
STALL_S = 30.0
"""How long a peer may take nothing of what waits for it."""
_SEND_BUFFER_BYTES = 64 * 2**10
"""What the system keeps for a peer that does not read; of itself it would let that grow to some MB, in which neither a
stall nor a peer that reads slowly would be seen."""


_TOO_LONG = 431
_LONG = "the first lines of the request are too long"


class Connection(H11Protocol):
    """Ends a connection whose peer is not heard, or does not hear, in time."""

    _late: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A peer: the clock of its first head runs."""
        super().connection_made(transport)
        # Writing counts as paused as soon as the system does not take all, so that a stall is seen as one.
        transport.set_write_buffer_limits(0)
        self._listen()

    def data_received(self, data: bytes) -> None:
        """Bytes. Between requests they are the beginning of a head, or a body that nobody waits for any more."""
        super().data_received(data)
        if self._served():
            self._heard()
        else:
            self._listen()

    def pause_writing(self) -> None:
        """The system's buffer is full."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """It has room again."""
        super().resume_writing()
        self._unwatch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self._heard()
        self._unwatch()
        super().connection_lost(exc)

    def end_waiting(self) -> None:
        """Break off what a peer can keep open: a live stream that is not read, a body that does not come."""
        if self._served() and (self.cycle.more_body or self.cycle.scope["path"] == calls.STREAM):
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP, or more of it than a head may be, told in the form of all our errors."""
        error = sys.exception()  # uvicorn calls this while it handles what h11 found, and passes a sentence of its own
        long = isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == _TOO_LONG
        what = _LONG if long else f"this is no HTTP request: {error or msg}"
        body = msgspec.json.encode(Problem(what, "too_large" if long else "invalid"))
        head = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Connection", "close")]
        status, reason = (_TOO_LONG, b"Request Header Fields Too Large") if long else (400, b"Bad Request")
        response = h11.Response(status_code=status, headers=head, reason=reason)
        # In the middle of an answer to what came before there is nothing to be said.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self._served():  # what it was going to be told, nobody hears any more
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def _served(self) -> bool:
        """Whether a request is in and not yet answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _listen(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_S, self.transport.abort)

    def _heard(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _watch(self) -> None:
        self._unwatch()
        self._stalled = self.loop.call_later(STALL_S, self._look, self.transport.get_write_buffer_size())

    def _look(self, before: int) -> None:
        if self.transport.get_write_buffer_size() < before:
            self._watch()
        else:
            self.transport.abort()

    def _unwatch(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


def bound(listening: socket.socket) -> None:
    """Have the system let go of peers that dropped off the network; accepted sockets inherit it."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
    ms = int(STALL_S * 1000)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", ms)):
        if hasattr(socket, name):
            listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
