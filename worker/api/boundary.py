"""Who may ask: programs of this machine, and pages that this machine serves. Pure ASGI, so streams pass untouched.

A web page elsewhere could otherwise read the whole memory through its visitor's browser: by fetch (foreign Origin) or
by pointing a name of its own at 127.0.0.1 (foreign Host).
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worker.api.errors import response_for
from worker.contract.errors import Forbidden, TooLarge

MOST_BODY_BYTES = 64 * 2**20
"""The original takes 5 MB; an import of long texts needs more."""

_LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))
_METHODS = "GET,HEAD,POST,PUT,PATCH,DELETE"
_HEADERS = "Content-Type,Authorization,X-Requested-With"


class Boundary:
    """Refuses foreign Host and Origin with 403; answers preflights; marks what a local page may read."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._hosts = _LOCAL | {host.lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if _name(headers.get("host", "")) not in self._hosts:
            await response_for(Forbidden("this host name is not served here", field="Host"))(scope, receive, send)
        elif origin is not None and not _is_local(origin):
            await response_for(Forbidden("CORS not allowed", field="Origin"))(scope, receive, send)
        elif int(headers.get("content-length", "0")) > MOST_BODY_BYTES:
            await response_for(_too_large())(scope, receive, send)
        elif scope["method"] == "OPTIONS":
            await self._preflight(origin)(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive), send if origin is None else _granting(send, origin))

    def _preflight(self, origin: str | None) -> Response:
        granted = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Allow-Headers": _HEADERS}
        if origin is not None:
            granted |= {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
        return Response(status_code=204, headers=granted)


def _bounded(receive: Receive) -> Receive:
    """The same body, as far as the limit. Starlette's own limit does not answer in JSON."""
    read = 0

    async def with_limit() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MOST_BODY_BYTES:
            raise _too_large()
        return message

    return with_limit


def _too_large() -> TooLarge:
    return TooLarge(f"the body is over the limit of {MOST_BODY_BYTES // 2**20} MB")


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


def _is_local(origin: str) -> bool:
    try:
        parts = urlsplit(origin)
        return parts.scheme == "http" and (parts.hostname or "") in _LOCAL
    except ValueError:
        return False
