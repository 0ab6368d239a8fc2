"""The listening socket. Bound by us, so that a taken port is known before anything is opened."""

import errno
import socket
import time

from worker.api.connection import bound
from worker.api.peer import is_loopback
from worker.contract.errors import Unavailable
from worker.contract.settings import Settings

_POLL_S = 0.05
_WAY_OUT = (
    "stop what holds it (a connection may, for a minute after its end), or set CLAUDE_MEM_WORKER_PORT to a free port"
)


def listen(settings: Settings, *, patience_s: float = 0.0) -> socket.socket:
    """A socket that takes connections. patience_s: for a port that somebody lets go of in a moment.

    The port may be one that the system gives to outgoing connections too, and such a one keeps it, although nobody
    listens there.
    Errors: ``Unavailable`` for an address that cannot be had, and for one that others reach while there is no token.
    """
    if settings.read_token and settings.token in ("", settings.read_token):
        raise Unavailable("CLAUDE_MEM_API_READ_TOKEN needs CLAUDE_MEM_API_TOKEN beside it, and another than itself")
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return _opened(settings)
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            if taken and time.monotonic() < deadline:
                time.sleep(_POLL_S)
                continue
            told = f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}"
            raise Unavailable(f"{told}; {_WAY_OUT}" if taken else told) from error


def _opened(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only on sockets that name it; without it an answer on a
    # kept-alive connection waits 45 ms for the client's delayed acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound(listening)
        listening.bind((settings.host, settings.port))
        # Asked of the socket: a name may lead anywhere.
        if not settings.token and not is_loopback(str(listening.getsockname()[0])):
            raise Unavailable(
                f"CLAUDE_MEM_WORKER_HOST is {settings.host}, which other machines reach: "
                "set CLAUDE_MEM_API_TOKEN, or listen on 127.0.0.1"
            )
        listening.listen(512)
    except BaseException:
        listening.close()
        raise
    return listening
