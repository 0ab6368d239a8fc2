"""The client of short programs: standard library only, one deadline for the whole call."""

import http.client
import time
from collections.abc import Iterator
from typing import TypeVar
from urllib.parse import urlencode

import msgspec

from worker.contract import calls, sse
from worker.contract.calls import Call
from worker.contract.errors import MemError, TimedOut, Unreachable, endless, from_body
from worker.contract.events import StreamEvent, from_frame
from worker.contract.recalls import CALLER, CLI
from worker.contract.settings import dialled

T = TypeVar("T")

_PIECE_BYTES = 65536
_SHORTEST_S = 0.001


class QuickClient:
    """Sends calls one by one, a connection for each.

    host, port: the worker's. timeout_s: for a whole call. token: the worker's, if it wants one.
    """

    def __init__(self, host: str, port: int, *, timeout_s: float = 30.0, token: str = "") -> None:
        self._host, self._port, self._timeout_s = dialled(host), port, timeout_s
        self._headers = {"Accept": "application/json", CALLER: CLI}
        self._headers |= {"Authorization": f"Bearer {token}"} if token else {}

    def send(self, call: Call[T], *, timeout_s: float | None = None) -> T:
        """The answer. Errors: the ``MemError`` the worker told, ``Unreachable``, ``TimedOut``."""
        allowed = max(self._timeout_s, call.patience_s) if timeout_s is None else timeout_s
        try:
            status, body = self._exchange(call, allowed)
        except TimeoutError as error:
            raise TimedOut(f"no answer from the worker within {allowed:g} s") from error
        except (OSError, UnicodeError, http.client.HTTPException) as error:
            raise Unreachable(f"no worker answers at {self._host}:{self._port}") from error
        if status >= 400:
            raise from_body(status, body)
        try:
            return call.decode(body)
        except msgspec.MsgspecError as error:
            raise MemError(f"the worker's answer to {call.path} cannot be read: {error}") from error

    def hears(self, path: str, word: bytes, *, timeout_s: float) -> bool:
        """Whether ``word`` comes in an answer that does not end. Errors: as ``send``."""
        deadline = time.monotonic() + timeout_s
        connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        heard = b""
        try:
            connection.request("GET", path, headers=self._headers)
            response = connection.getresponse()
            if response.status >= 400:
                raise from_body(response.status, response.read(_PIECE_BYTES))
            while word not in heard and time.monotonic() < deadline and (piece := response.read1(_PIECE_BYTES)):
                heard += piece
        except TimeoutError as error:
            raise TimedOut(f"nothing came from {path} within {timeout_s:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"no worker answers at {self._host}:{self._port}") from error
        finally:
            connection.close()
        return word in heard

    def events(self, *, after: int | None = None) -> Iterator[StreamEvent]:
        """What happens from now on, until the connection ends; as that of ``WorkerClient``.

        Errors: ``Unreachable`` when nobody answers, or nothing was heard for 45 s.
        """
        resumed = {} if after is None else {"Last-Event-ID": str(after)}
        connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)
        try:
            connection.connect()
            sock = connection.sock  # kept, as in ``_exchange``
            connection.request("GET", calls.STREAM, headers=self._headers | resumed)
            response = connection.getresponse()
            if response.status >= 400:
                raise from_body(response.status, response.read(_PIECE_BYTES))
            sock.settimeout(sse.QUIET_S)
            decoder = sse.Decoder()
            while piece := response.read1(_PIECE_BYTES):
                for frame in decoder.feed(piece):
                    if (event := from_frame(frame)) is not None:
                        yield event
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"the stream of {self._host}:{self._port} broke off") from error
        finally:
            connection.close()

    def _exchange(self, call: Call[T], allowed_s: float) -> tuple[int, bytes]:
        deadline = time.monotonic() + allowed_s
        path = call.path + ("?" + urlencode(call.params, errors="replace") if call.params else "")
        headers = self._headers | ({"Content-Type": "application/json"} if call.body else {})
        connection = http.client.HTTPConnection(self._host, self._port, timeout=max(_SHORTEST_S, allowed_s))
        try:
            connection.connect()
            # Kept, because the connection lets go of it as soon as the worker says that it will close.
            sock = connection.sock
            connection.request(call.method, path, body=call.body, headers=headers)
            sock.settimeout(max(_SHORTEST_S, deadline - time.monotonic()))
            response = connection.getresponse()
            pieces = []
            size = 0
            while piece := response.read1(_PIECE_BYTES):
                pieces.append(piece)
                if (size := size + len(piece)) > call.most_bytes:
                    if response.status >= 400:
                        return response.status, b"".join(pieces)
                    raise endless(call.path)
                if (left_s := deadline - time.monotonic()) <= 0:
                    raise TimeoutError
                if sock.fileno() >= 0:
                    sock.settimeout(left_s)
            if response.length:  # the worker died in the middle of its answer
                raise http.client.IncompleteRead(b"", response.length)
            return response.status, b"".join(pieces)
        finally:
            connection.close()
