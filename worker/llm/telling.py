"""Pure: what words of a provider, or a status, mean for whoever asked."""

import re

from worker.llm.provider import Failure

_STATUS = {401: Failure.AUTH, 402: Failure.QUOTA, 403: Failure.AUTH, 413: Failure.TOO_LONG, 429: Failure.QUOTA}
_SENTENCES = {
    Failure.QUOTA: "its quota is used up",
    Failure.AUTH: "it does not accept the key or the login",
    Failure.TRANSIENT: "it cannot answer now",
    Failure.TOO_LONG: "the question is too long for it",
    Failure.BAD_ANSWER: "it answered what cannot be used",
}
_TOO_LONG = re.compile(
    r"(?i)prompt is too long|context[ _-]?(?:length|window)|maximum context|too many tokens|input is too long"
    r"|exceeds the (?:maximum|limit)|request too large|token count .{0,40}exceeds"
)
_AUTH = re.compile(
    r"(?i)not logged in|please (?:run|use) /?login|/login|invalid (?:x-)?api[ _-]?key|api key not valid|unauthori[sz]ed"
    r"|authentication[ _]?(?:error|failed)|oauth token|credit balance is too low|permission denied"
)
_QUOTA = re.compile(
    r"(?i)quota|usage limit|rate[ _-]?limit|limit reached|hit your limit|too many requests|resource_exhausted"
    r"|insufficient credits|billing"
)
_PASSING = re.compile(
    r"(?i)overloaded|internal server error|service unavailable|connection error|timed? ?out|API Error"
)
_LOOKED_AT = 2_000


def of_status(status: int, body: str) -> Failure:
    """What an HTTP status that is no success means, with the words beside it."""
    known = _STATUS.get(status)
    if known is not None:
        return known
    if status == 400 and (said := of_words(body)) in (Failure.TOO_LONG, Failure.AUTH, Failure.QUOTA):
        return said or Failure.BAD_ANSWER
    return Failure.TRANSIENT if status >= 500 or status in (408, 409, 425) else Failure.BAD_ANSWER


def of_words(text: str) -> Failure | None:
    """What kind of complaint a short text is; None if it is none that we know."""
    head = text[:_LOOKED_AT]
    for kind, pattern in (
        (Failure.TOO_LONG, _TOO_LONG), (Failure.AUTH, _AUTH), (Failure.QUOTA, _QUOTA), (Failure.TRANSIENT, _PASSING),
    ):  # fmt: skip
        if pattern.search(head):
            return kind
    return None


def sentence(kind: Failure) -> str:
    """What a kind of failure means, for people."""
    return _SENTENCES[kind]


def retry_after(value: str | None, body: str = "") -> float | None:
    """Seconds that a server asks to wait; None if it names none.

    value: of its `Retry-After`, of which a date is not read. body: Google's servers say it there, as `retryDelay`.
    """
    text = (value or "").strip()
    if re.fullmatch(r"\d{1,7}(?:\.\d{1,6})?", text):
        return float(text)
    found = re.search(r'"retryDelay":\s{0,4}"(\d{1,7}(?:\.\d{1,9})?)s"', body)
    return float(found.group(1)) if found else None
