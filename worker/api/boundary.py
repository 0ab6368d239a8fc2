"""Who may ask: programs of this machine, pages that this machine serves, and whoever carries the worker's token.

A web page elsewhere could otherwise read the whole memory through its visitor's browser: by fetch (foreign Origin) or
by pointing a name of its own at 127.0.0.1 (foreign Host). Pure ASGI, so streams pass untouched.
"""

import asyncio
import re
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worker.api.access import TRUSTED, Access, Rights
from worker.api.errors import response_for
from worker.contract.errors import Forbidden, Invalid, MemError, TimedOut, TooLarge, Unavailable, WrongType
from worker.contract.memory_mark import HEADER

MOST_BODY_BYTES = 64 * 2**20
"""The original takes 5 MB; an import of long texts needs more."""
MOST_HELD_BYTES = 128 * 2**20
"""Of all bodies together that are read at one time; a small one always has room."""
_SMALL_BYTES = 2**20
MOST_HEADER_BYTES = 64 * 2**10
MOST_HEADERS = 200
BODY_PAUSE_S = 20.0
"""How long the next piece of a body may take to come."""
SLOWEST_BYTES_S = 4096
"""Of a body, on the average after the first pause: one that trickles holds a connection for nothing."""

_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s/?#@\\:\[\]]+)(?::(\d{0,5}))?", re.ASCII)
_PORTS = range(1, 2**16)
_JUDGED = ("Host", "Origin", "Content-Type")
_LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))
_METHODS = "GET,HEAD,POST,PUT,PATCH,DELETE"
_HEADERS = "Content-Type,Authorization,X-Api-Key,Last-Event-ID,X-Requested-With"


class Boundary:
    """Refuses foreign Host, Origin and content types, and who lacks a token; marks what a local page may read."""

    def __init__(self, app: ASGIApp, host: str, access: Access | None = None, mark: str = "") -> None:
        """mark: of the memory that is served, for each answer to carry."""
        self._app = app
        self._mark = (HEADER.lower().encode(), mark.encode()) if mark else None
        self._hosts = _LOCAL | {host.lower()}
        self._access = access or Access()
        self._held = _Held()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._mark is not None:
            send = _carrying(send, self._mark)
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        refusal = _too_much(headers) or _ambiguous(headers) or self._refusal(scope, headers, origin)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif scope["method"] == "OPTIONS":
            await _preflight(origin)(scope, receive, send)
        else:
            body = _Body(receive, self._held)
            try:
                await self._app(scope, body.receive, send if origin is None else _granting(send, origin))
            finally:
                body.leave()

    def _refusal(self, scope: Scope, headers: Headers, origin: str | None) -> Response | None:
        host = headers.get("host", "")
        named = _name(host) in self._hosts
        if not named and (not self._access.wanted or (host and not _name(host))):
            return response_for(Forbidden("this host name is not served here", field="Host"))
        if origin is not None and not _is_local(origin) and not _is_own(origin, host):
            return response_for(Forbidden("CORS not allowed", field="Origin"))
        if scope["method"] == "OPTIONS" and origin is not None:
            return None  # a preflight carries no token, and is told nothing
        rights = self._access.rights(headers)
        if rights is Rights.ALL:
            scope[TRUSTED] = True
        client = (scope.get("client") or (None,))[0]
        error = self._access.refusal(rights, scope["method"], scope["path"], headers, client=client, local=named)
        error = error or _of_body(headers)
        return None if error is None else response_for(error)


def _preflight(origin: str | None) -> Response:
    granted = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Allow-Headers": _HEADERS}
    if origin is not None:
        granted |= {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
    return Response(status_code=204, headers=granted)


def _too_much(headers: Headers) -> Response | None:
    size = sum(len(name) + len(value) for name, value in headers.raw)
    if size <= MOST_HEADER_BYTES and len(headers.raw) <= MOST_HEADERS:
        return None
    response = response_for(TooLarge("the request has too many or too long headers"))
    response.status_code = 431
    return response


def _ambiguous(headers: Headers) -> Response | None:
    """A body with two lengths: whoever stands between may have taken the other, and its rest for another request.

    Or a header twice by which it is judged: whoever stands between may have judged by the other.
    """
    twice = next((name for name in _JUDGED if len(headers.getlist(name)) > 1), None)
    if twice is not None:
        said = f"the request has more than one {twice}"
    elif "content-length" in headers and "transfer-encoding" in headers:
        said = "the request has both a Content-Length and a Transfer-Encoding"
    else:
        return None
    response = response_for(Invalid(said))
    response.status_code = 400
    response.headers["Connection"] = "close"
    return response


def _of_body(headers: Headers) -> MemError | None:
    """What is wrong with a body, seen before it is read. A form or plain text is what a page may send unasked."""
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return None
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > MOST_BODY_BYTES:
        return _too_large()
    sent = headers.get("content-type", "").split(";")[0].strip().lower()
    empty = length.strip("0") == "" and "transfer-encoding" not in headers
    if not empty and sent != "application/json" and not sent.endswith("+json"):
        return WrongType("the body must be sent as application/json")
    return None


class _Body:
    """The same body, as far as the limit and no slower than one. Starlette's own limit does not answer in JSON."""

    def __init__(self, receive: Receive, held: "_Held") -> None:
        """held: what all the bodies are that are read at this moment; ``leave`` it at the end."""
        self._receive, self._held = receive, held
        self._read, self._more = 0, True
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()

    async def receive(self) -> Message:
        """Its next piece."""
        if not self._more:
            return await self._receive()  # whether the client is still there, which may take for ever
        latest = self._began + BODY_PAUSE_S + self._read / SLOWEST_BYTES_S
        try:
            async with asyncio.timeout(min(BODY_PAUSE_S, latest - self._clock())):
                message = await self._receive()
        except TimeoutError as error:
            raise TimedOut("the body of the request did not come in time") from error
        size = len(message.get("body", b""))
        self._read += size
        self._held.bytes += size
        self._more = bool(message.get("more_body", False))
        if self._read > MOST_BODY_BYTES:
            raise _too_large()
        if self._held.bytes > MOST_HELD_BYTES and self._read > _SMALL_BYTES:
            raise Unavailable("too many long bodies come at once; try again in a moment", retry_after_s=2)
        return message

    def leave(self) -> None:
        """The request is over."""
        self._held.bytes -= self._read


@dataclass(slots=True)
class _Held:
    bytes: int = 0


def _too_large() -> TooLarge:
    return TooLarge(f"the body is over the limit of {MOST_BODY_BYTES // 2**20} MB")


def _carrying(send: Send, header: tuple[bytes, bytes]) -> Send:
    async def with_header(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), header]
        await send(message)

    return with_header


def _granting(send: Send, origin: str) -> Send:
    async def with_grant(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Access-Control-Allow-Origin"] = origin
            headers.add_vary_header("Origin")
        await send(message)

    return with_grant


def _name(authority: str) -> str:
    """The name in `name` or `name:port`, as a Host header has it; empty for anything else."""
    match = _AUTHORITY.fullmatch(authority)
    return match[1].strip("[]").lower() if match and int(match[2] or 80) in _PORTS else ""


def _is_own(origin: str, host: str) -> bool:
    """Whether it is a page of ours under the name it was called by. Which names are served is decided before.

    By https it comes through a proxy; under a local name that would be another program's page.
    """
    scheme, _, authority = origin.partition("://")
    named = _name(authority) not in ("", *_LOCAL)
    return named and scheme in ("http", "https") and authority.lower() == host.lower()


def _is_local(origin: str) -> bool:
    scheme, _, authority = origin.partition("://")
    return scheme == "http" and _name(authority) in _LOCAL
