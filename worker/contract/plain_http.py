"""One request over a plain socket, for hooks: the standard library's own client takes 20 ms to import.

HTTP/1.0, because its answer is never in chunks: it ends where the connection does.
"""

import socket
import time
from collections.abc import Iterable

from worker.contract.memory_mark import HEADER

_PIECE_BYTES = 65536
_MOST_BYTES = 16 * 2**20
_MARK = HEADER.lower().encode()
_SHORTEST_S = 0.001
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class Stranger(ConnectionError):
    """Another program answers than our memory's worker."""


class Refused(Exception):
    """An answer that is no success. status: as in HTTP. The message is the worker's own."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def exchange(
    host: str,
    port: int,
    method: str,
    target: str,
    body: bytes | None,
    *,
    token: str,
    caller: str,
    deadline_s: float,
    memory: str = "",
) -> bytes:
    """The body of a success. deadline_s: on the clock of ``time.monotonic``. memory: its mark, empty for any memory.

    Errors: ``OSError`` (``ConnectionRefusedError`` when nobody is there, ``TimeoutError`` when it takes too long,
    ``Stranger``); ``Refused`` for another status.
    """
    name = f"[{host}]" if ":" in host else host
    lines = [f"{method} {target} HTTP/1.0", f"Host: {name}:{port}", "Accept: application/json, text/plain"]
    lines += [f"X-Claude-Mem-Caller: {caller}"] + ([f"Authorization: Bearer {token}"] if token else [])
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    head = "\r\n".join((*lines, "", "")).encode("latin-1", "replace")
    with socket.create_connection((host, port), timeout=_left(deadline_s)) as link:
        link.settimeout(_left(deadline_s))
        link.sendall(head + (body or b""))
        pieces: list[bytes] = []
        size = 0
        while size <= _MOST_BYTES:
            link.settimeout(_left(deadline_s))
            piece = link.recv(_PIECE_BYTES)
            if not piece:
                break
            pieces.append(piece)
            size += len(piece)
    return _read(b"".join(pieces), memory)


def query(path: str, pairs: Iterable[tuple[str, str]]) -> str:
    """A path with its parameters, as it stands in a request."""
    return f"{path}?{'&'.join(f'{name}={_quoted(value)}' for name, value in pairs)}"


def _quoted(text: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))


def _left(deadline_s: float) -> float:
    left = deadline_s - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time for this event is over")
    return max(_SHORTEST_S, left)


def _read(answer: bytes, memory: str) -> bytes:
    head, found, body = answer.partition(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split()
    if not found or len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise ConnectionError("what answers speaks no HTTP")
    marked = ""
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        name = key.strip().lower()
        if name == b"content-length" and value.strip().isdigit() and len(body) < int(value):
            raise ConnectionError("the answer ends in the middle")
        if name == _MARK:
            marked = value.strip().decode("latin-1")
    status = int(words[1])
    if not 200 <= status < 300:
        raise Refused(status, body[:300].decode("utf-8", "replace"))
    if not marked or memory not in ("", marked):
        raise Stranger("another program answers, or the worker of another memory")
    return body
