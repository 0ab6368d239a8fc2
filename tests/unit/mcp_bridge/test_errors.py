"""Each error says what happened and what an agent can do."""

import pytest

from mcp_bridge.errors import explain
from worker.contract.errors import (
    Busy,
    Conflict,
    Forbidden,
    Invalid,
    MemError,
    NotFound,
    TimedOut,
    TooLarge,
    Unavailable,
    Unreachable,
    WrongType,
)


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (Invalid("must be a number", field="limit"), ("limit: must be a number.",)),
        (Invalid("limit must be a number", field="limit"), ("limit must be a number.",)),
        (NotFound("Observation #9 not found"), ("Observation #9 not found.",)),
        (TooLarge("too much"), ("too much.",)),
        (TimedOut("no answer within 30 s"), ("Try again", "smaller limit")),
        (Busy("busy", retry_after_s=2), ("busy. Try again in 2 s.",)),
        (Unavailable("opening", retry_after_s=5), ("Try again in 5 s.",)),
        (Unavailable("the worker ended at once: disk full"), ("disk full", "tries again", "worker status")),
        (Unreachable("no worker answers at 127.0.0.1:1"), ("127.0.0.1:1", "try again in a few seconds")),
        (Conflict("port 1 is taken"), ("port 1 is taken.", "go on without it")),
        (Forbidden("not from here"), ("go on without it",)),
        (WrongType("no JSON"), ("its log",)),
        (MemError("the worker answered 500"), ("the worker answered 500.", "its log")),
    ],
)
def test_what_an_agent_reads(error: MemError, parts: tuple[str, ...]) -> None:
    text = explain(error)
    assert all(part in text for part in parts), text
    assert ".." not in text.replace("...", "")
