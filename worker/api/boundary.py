"""Who may ask: programs of this machine, pages that this machine serves, and whoever carries the worker's token.

A web page elsewhere could otherwise read the whole memory through its visitor's browser: by fetch (foreign Origin) or
by pointing a name of its own at 127.0.0.1 (foreign Host). Pure ASGI, so streams pass untouched.
"""

import asyncio
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worker.api.access import TRUSTED, Access, Rights
from worker.api.errors import response_for
from worker.contract.errors import Forbidden, Invalid, MemError, TimedOut, TooLarge, WrongType
from worker.contract.memory_mark import HEADER

MOST_BODY_BYTES = 64 * 2**20
"""The original takes 5 MB; an import of long texts needs more."""
MOST_HEADER_BYTES = 64 * 2**10
MOST_HEADERS = 200
BODY_PAUSE_S = 20.0
"""How long the next piece of a body may take to come."""
SLOWEST_BYTES_S = 4096
"""Of a body, on the average after the first pause: one that trickles holds a connection for nothing."""

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
            await self._app(scope, _bounded(receive), send if origin is None else _granting(send, origin))

    def _refusal(self, scope: Scope, headers: Headers, origin: str | None) -> Response | None:
        named = _name(headers.get("host", "")) in self._hosts
        if not named and not self._access.wanted:
            return response_for(Forbidden("this host name is not served here", field="Host"))
        if origin is not None and not _is_local(origin) and not _is_own(origin, headers.get("host", "")):
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
    """A body with two lengths: whoever stands between may have taken the other, and its rest for another request."""
    if "content-length" not in headers or "transfer-encoding" not in headers:
        return None
    response = response_for(Invalid("the request has both a Content-Length and a Transfer-Encoding"))
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


def _bounded(receive: Receive) -> Receive:
    """The same body, as far as the limit and no slower than one. Starlette's own limit does not answer in JSON."""
    read, more = 0, True
    clock = asyncio.get_running_loop().time
    began = clock()

    async def with_limit() -> Message:
        nonlocal read, more
        if not more:
            return await receive()  # whether the client is still there, which may take for ever
        latest = began + BODY_PAUSE_S + read / SLOWEST_BYTES_S
        try:
            async with asyncio.timeout(min(BODY_PAUSE_S, latest - clock())):
                message = await receive()
        except TimeoutError as error:
            raise TimedOut("the body of the request did not come in time") from error
        read += len(message.get("body", b""))
        more = bool(message.get("more_body", False))
        if read > MOST_BODY_BYTES:
            raise _too_large()
        return message

    return with_limit


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


def _name(host: str) -> str:
    """The name in a Host header, without its port; empty if it cannot be read."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_own(origin: str, host: str) -> bool:
    """Whether it is a page of ours under the name it was called by. Which names are served is decided before.

    By https it comes through a proxy; under a local name that would be another program's page.
    """
    try:
        parts = urlsplit(origin)
        named = parts.hostname is not None and parts.hostname not in _LOCAL
        return named and parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()
    except ValueError:
        return False


def _is_local(origin: str) -> bool:
    try:
        parts = urlsplit(origin)
        # A port that is none (`http://localhost:80.evil.example`) raises as it is looked at.
        return parts.scheme == "http" and (parts.hostname or "") in _LOCAL and parts.port != 0
    except ValueError:
        return False
