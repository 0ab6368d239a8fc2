"""Pure: server-sent event frames, from and to bytes.

Lines end at the byte LF alone. JSON text may carry U+2028 and U+0085, at which line readers made for text also
break, so an event would be cut in two.
"""

from collections.abc import Iterator
from dataclasses import dataclass

KEEP_ALIVE = b": keep-alive" + b" " * 8_000 + b"\n\n"
"""Large enough that a listener whose program has stopped is noticed on a quiet stream too: a system takes in what its
programs do not read, and only when it is full, after some minutes of these, does the worker see that nobody does.
"""

QUIET_S = 45.0
"""The worker sends a comment each 15 s; three missed ones mean that nobody is there any more."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event: its payload, and the id under which it can be resumed."""

    data: bytes
    id: str | None = None


def encode(frame: Frame) -> bytes:
    """The bytes of a frame; ``data`` must not hold a line break (compact JSON never does)."""
    head = b"" if frame.id is None else b"id: " + frame.id.encode() + b"\n"
    return head + b"data: " + frame.data + b"\n\n"


class Decoder:
    """Bytes as they arrive, in pieces of any size, to whole frames. Comments and other fields are passed over."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._id: str | None = None

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that this chunk completes."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            line = line.removesuffix(b"\r")
            if not line:
                if self._data:
                    yield Frame(b"\n".join(self._data), self._id)
                self._data, self._id = [], None
                continue
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self._data.append(value)
            elif name == b"id":
                self._id = value.decode("utf-8", "replace")
