"""The client of long-lived programs: async, one connection pool, and the live stream."""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self, TypeVar

import httpx
import msgspec

from worker.contract import calls, sse
from worker.contract.calls import Call
from worker.contract.errors import Invalid, MemError, TimedOut, Unreachable, endless, from_body
from worker.contract.events import StreamEvent, from_frame
from worker.contract.recalls import APP, CALLER
from worker.contract.settings import dialled

T = TypeVar("T")


_IDLE_S = 3.0
"""The worker drops a connection that was idle for 5 s; we let go first, or a call could meet it as it closes."""


class WorkerClient:
    """Sends calls to one worker. Use as an async context manager, or ``close`` it.

    token: the worker's, if it wants one. caller: who asks, as ``recalls`` tells; people who look around unless said
    otherwise. transport: for tests, an ASGI app in place of a socket.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        timeout_s: float = 30.0,
        token: str = "",
        caller: str = APP,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        host = dialled(host)
        self._where = f"{host}:{port}"
        authority = f"[{host}]" if ":" in host else host
        self._timeout_s = timeout_s
        self._http = httpx.AsyncClient(
            base_url=f"http://{authority}:{port}",
            headers={CALLER: caller} | ({"Authorization": f"Bearer {token}"} if token else {}),
            timeout=timeout_s,
            transport=transport,
            trust_env=False,
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=_IDLE_S),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def send(self, call: Call[T]) -> T:
        """The answer. Errors: the ``MemError`` the worker told, ``Unreachable``, ``TimedOut``."""
        headers = {"Content-Type": "application/json"} if call.body else None
        # Half a surrogate pair, which a paste may hold, is nothing that httpx can write into an address.
        params = tuple((name, value.encode("utf-8", "replace").decode()) for name, value in call.params)
        allowed_s = max(self._timeout_s, call.patience_s)
        timeout = httpx.Timeout(self._timeout_s, read=allowed_s)
        try:
            async with self._http.stream(
                call.method, call.path, params=params, content=call.body, headers=headers, timeout=timeout
            ) as response:
                pieces = []
                size = 0
                async for piece in response.aiter_bytes():
                    pieces.append(piece)
                    if (size := size + len(piece)) > call.most_bytes:
                        if response.status_code >= 400:
                            break
                        raise endless(call.path)
        except httpx.TimeoutException as error:
            raise TimedOut(f"no answer from the worker within {allowed_s:g} s") from error
        except httpx.InvalidURL as error:
            raise Invalid(f"the question is too long to be sent: {error}", field="query") from error
        except httpx.TransportError as error:
            raise Unreachable(f"no worker answers at {self._where}") from error
        body = b"".join(pieces)
        if response.status_code >= 400:
            raise from_body(response.status_code, body)
        try:
            return call.decode(body)
        except msgspec.MsgspecError as error:
            raise MemError(f"the worker's answer to {call.path} cannot be read: {error}") from error

    async def events(self, *, after: int | None = None, quiet_s: float = sse.QUIET_S) -> AsyncIterator[StreamEvent]:
        """What happens from now on, until the connection ends; the caller decides when to come back.

        after: id of the last event seen; what came since is sent again, or ``resync`` if it is no longer known.
        Errors: ``Unreachable`` when nobody answers or nothing was heard for ``quiet_s``.
        """
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        timeout = httpx.Timeout(self._timeout_s, read=quiet_s)
        try:
            async with self._http.stream("GET", calls.STREAM, headers=headers, timeout=timeout) as response:
                if response.status_code >= 400:
                    raise from_body(response.status_code, await response.aread())
                decoder = sse.Decoder()
                async for chunk in response.aiter_raw():
                    for frame in decoder.feed(chunk):
                        event = from_frame(frame)
                        if event is not None:
                            yield event
        except httpx.ReadTimeout as error:
            raise Unreachable(f"nothing was heard from {self._where} for {quiet_s:g} s") from error
        except httpx.TransportError as error:
            raise Unreachable(f"the stream of {self._where} broke off") from error
