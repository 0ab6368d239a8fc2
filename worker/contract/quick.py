"""The client of short programs: standard library only, one deadline for the whole call."""

import http.client
import time
from typing import TypeVar
from urllib.parse import urlencode

import msgspec

from worker.contract.calls import Call
from worker.contract.errors import MemError, TimedOut, Unreachable, from_body

T = TypeVar("T")


class QuickClient:
    """Sends calls one by one, a connection for each. host, port: the worker's. timeout_s: for a whole call."""

    def __init__(self, host: str, port: int, *, timeout_s: float = 30.0) -> None:
        self._host, self._port, self._timeout_s = host, port, timeout_s

    def send(self, call: Call[T], *, timeout_s: float | None = None) -> T:
        """The answer. Errors: the ``MemError`` the worker told, ``Unreachable``, ``TimedOut``."""
        allowed = self._timeout_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + allowed
        path = call.path + ("?" + urlencode(call.params, errors="surrogatepass") if call.params else "")
        headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if call.body else {})
        connection = http.client.HTTPConnection(self._host, self._port, timeout=allowed)
        try:
            connection.request(call.method, path, body=call.body, headers=headers)
            if connection.sock:
                connection.sock.settimeout(max(0.001, deadline - time.monotonic()))
            response = connection.getresponse()
            body = response.read()
        except TimeoutError as error:
            raise TimedOut(f"no answer from the worker within {allowed:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"no worker answers at {self._host}:{self._port}") from error
        finally:
            connection.close()
        if response.status >= 400:
            raise from_body(response.status, body)
        try:
            return call.decode(body)
        except msgspec.MsgspecError as error:
            raise MemError(f"the worker's answer to {call.path} cannot be read: {error}") from error
