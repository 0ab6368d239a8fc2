"""One tree of errors, the same on both sides of the wire.

Raised where it happens, with no thought of HTTP: ``worker.api.errors`` holds the status table, and a client turns
a ``Problem`` back into the class it came from.
"""

from typing import ClassVar

import msgspec


class Problem(msgspec.Struct, omit_defaults=True, frozen=True):
    """The body of every answer that is not a success.

    error: one sentence for a person (the key that the original's clients read).
    code: stable, for programs; `unknown` is what a reader makes of an answer without one, and is never sent.
    field: the parameter or body key at fault. fix, available: of a name that is not there, what to do, and which are.
    """

    error: str
    code: str = "unknown"
    field: str | None = None
    retry_after_s: float | None = None
    fix: str | None = None
    available: tuple[str, ...] | None = None


class MemError(Exception):
    """Anything that went wrong and can be told in a sentence."""

    code: ClassVar[str] = "internal"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        retry_after_s: float | None = None,
        fix: str | None = None,
        available: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.retry_after_s = retry_after_s
        self.fix = fix
        self.available = available

    def problem(self) -> Problem:
        """The wire form."""
        return Problem(self.message, self.code, self.field, self.retry_after_s, self.fix, self.available)


class Invalid(MemError):
    """A value cannot be used; ``field`` names it and the message says what was expected."""

    code = "invalid"


class NotFound(MemError):
    """The record asked for does not exist."""

    code = "not_found"


class Conflict(MemError):
    """The state does not allow it."""

    code = "conflict"


class Unauthorized(MemError):
    """The request carries no token that this worker knows."""

    code = "unauthorized"


class Forbidden(MemError):
    """The caller comes from somewhere that may not ask, or its token may only read."""

    code = "forbidden"


class TooLarge(MemError):
    """A body over the limit."""

    code = "too_large"


class WrongType(MemError):
    """A body that is not JSON."""

    code = "wrong_type"


class Busy(MemError):
    """Try again after ``retry_after_s``."""

    code = "busy"


class Unavailable(MemError):
    """A part that is needed is not there yet, or no longer."""

    code = "unavailable"


class TimedOut(MemError):
    """No answer in time."""

    code = "timed_out"


class Unreachable(MemError):
    """Client side only: nobody answers at the worker's address."""

    code = "unreachable"


_BY_CODE: dict[str, type[MemError]] = {
    kind.code: kind
    for kind in (
        Invalid, NotFound, Conflict, Unauthorized, Forbidden, TooLarge, WrongType, Busy, Unavailable, TimedOut,
        Unreachable,
    )
}  # fmt: skip


def from_problem(problem: Problem) -> MemError:
    """The exception that a problem was made from; an unknown code gives a plain ``MemError``."""
    kind = _BY_CODE.get(problem.code, MemError)
    return kind(
        problem.error,
        field=problem.field,
        retry_after_s=problem.retry_after_s,
        fix=problem.fix,
        available=problem.available,
    )


def endless(path: str) -> MemError:
    """For a client that gives an answer up: what streams without end is no worker of ours."""
    return MemError(f"the answer to {path} is longer than any of ours")


def from_body(status: int, body: bytes) -> MemError:
    """The exception in an error answer, also of a server that does not speak our problem form."""
    try:
        return from_problem(msgspec.json.decode(body, type=Problem))
    except msgspec.MsgspecError:
        text = body[:200].decode("utf-8", "replace").strip()
        told = f"the worker answered {status}: {text}" if text else f"the worker answered {status}"
        return Unavailable(told) if status == 503 else MemError(told)  # readiness has a form of its own
