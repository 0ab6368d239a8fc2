"""What a worker and the process that holds its vectors say to each other, over two sockets.

Each message is its length in four bytes and a msgpack of it. One who asks waits for the answer before asking again on
the same socket.
"""

import socket
import struct
from typing import TypeAlias

import msgspec

_LENGTH = struct.Struct("<I")


class Upsert(msgspec.Struct, tag=True, frozen=True):
    """vectors: float32, one after the other."""

    ids: list[str]
    vectors: bytes
    metadatas: list[dict[str, str | int | float | bool]]


class Delete(msgspec.Struct, tag=True, frozen=True):
    """Remove documents."""

    ids: list[str]


class Nearest(msgspec.Struct, tag=True, frozen=True):
    """vector: float32."""

    vector: bytes
    count: int


class Ids(msgspec.Struct, tag=True, frozen=True):
    """A page of ids, the one that begins at a place."""

    at: int


class Count(msgspec.Struct, tag=True, frozen=True):
    """How many documents there are."""


class Close(msgspec.Struct, tag=True, frozen=True):
    """Let go of the folder and end."""


class Opened(msgspec.Struct, tag=True, frozen=True):
    """The first answer, when the folder can be used."""

    generation: str


class Done(msgspec.Struct, tag=True, frozen=True):
    """An answer. similarities: float32, to ``ids``."""

    count: int = 0
    ids: list[str] = []
    similarities: bytes = b""


class Failed(msgspec.Struct, tag=True, frozen=True):
    """An answer: why it could not be done."""

    reason: str


Ask: TypeAlias = Upsert | Delete | Nearest | Ids | Count | Close
Answer: TypeAlias = Opened | Done | Failed

_asks: msgspec.msgpack.Decoder[Ask] = msgspec.msgpack.Decoder(Ask)
_answers: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)


def send(to: socket.socket, message: Ask | Answer) -> None:
    """Errors: ``OSError`` when nobody is there."""
    body = msgspec.msgpack.encode(message)
    to.sendall(_LENGTH.pack(len(body)) + body)


def next_ask(of: socket.socket) -> Ask | None:
    """The next question; None when no more will come."""
    try:
        return _asks.decode(_received(of))
    except OSError:
        return None


def next_answer(of: socket.socket) -> Answer:
    """The next answer. Errors: ``OSError`` when none comes, ``TimeoutError`` when none came in time."""
    return _answers.decode(_received(of))


def _received(of: socket.socket) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(of, _LENGTH.size))
    return _exactly(of, length)


def _exactly(of: socket.socket, size: int) -> bytes:
    held = bytearray(size)
    view, got = memoryview(held), 0
    while got < size:
        count = of.recv_into(view[got:])
        if not count:
            raise ConnectionResetError("the other side is gone")
        got += count
    return bytes(held)
