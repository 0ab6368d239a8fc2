"""A connection that stays open and has little of a client in it: its answers are bytes, and no more is made of them."""

import socket
from typing import Any
from urllib.parse import urlencode

from worker.contract.calls import Call

_PIECE_BYTES = 2**18


class Kept:
    """Asks again where the worker has let go of it. ``close`` it."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._socket: socket.socket | None = None
        self._head = f"HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"

    def get(self, call: Call[Any]) -> bytes:
        """The body of an answer."""
        asked = f"GET {call.path}?{urlencode(call.params)} {self._head}".encode()
        try:
            return self._ask(asked)
        except ConnectionError:  # the worker lets go of one that said nothing for five seconds
            self.close()
            return self._ask(asked)

    def _ask(self, asked: bytes) -> bytes:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=30)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(asked)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._piece()
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        size = int(head.lower().partition(b"content-length:")[2].split()[0])
        while len(body) < size:
            body += self._piece()
        return body

    def _piece(self) -> bytes:
        assert self._socket is not None
        piece = self._socket.recv(_PIECE_BYTES)
        if not piece:
            raise ConnectionResetError
        return piece

    def close(self) -> None:
        """Let go of it; the next question opens another."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
