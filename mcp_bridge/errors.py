"""Pure: what went wrong, as text that an agent can act on."""

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
)

_STATUS = "`claude-mem worker status` tells more."


def explain(error: MemError) -> str:
    """What happened, and what to do next."""
    message = _sentence(error.message)
    match error:
        case Invalid() if error.field and error.field not in error.message:
            return f"{error.field}: {message}"
        case Invalid() | NotFound() | TooLarge():
            return message
        case TimedOut():
            return f"{message} Try again, with a narrower search or a smaller limit. {_STATUS}"
        case Busy() | Unavailable() if error.retry_after_s:
            return f"{message} Try again in {error.retry_after_s:g} s."
        case Unavailable():
            return f"The memory worker is not available: {message} Each call tries again to start it. {_STATUS}"
        case Unreachable():
            return f"{message} Each call tries to start the memory worker: try again in a few seconds. {_STATUS}"
        case Conflict() | Forbidden():
            return f"{message} Memory stays away until this is settled; go on without it. {_STATUS}"
        case _:
            return f"The memory worker could not answer: {message} The reason is in its log. {_STATUS}"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
