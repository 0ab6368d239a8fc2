"""Pure: what may be kept of a text or of any JSON value. The one place that everybody calls before anything is sent,
written or logged: first what is private goes, then secrets are masked.

What tools take and give may be of any size, and is cut in between: after the tags, of which half might be cut away,
and before the masks, which would take long on what nobody will read.
"""

import re
from typing import overload

from worker.contract.masking import masked_under
from worker.contract.privacy import stripped, walked

MOST_CHARS = 65_536
"""Of one payload, and of a text in it."""
_HEAD, _TAIL = 0.6, 0.3
_AROUND = 8_192
"""Masked beyond what is kept: a secret that is cut in two has no shape."""
_MOST_ITEMS = 2_000
_LONG_RUN = r"(?<![A-Za-z0-9+/_-])(?:data:[\w/+.-]{1,80};base64,)?[A-Za-z0-9+/_-]{1024,}={0,2}"
# Each piece ends with a blank, so that there is one way only to read a text.
_IN_LINES = r"(?:[A-Za-z0-9+/=]{16,200}\s{1,4}){15,}[A-Za-z0-9+/=]*"
_UNPRINTABLE = r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]"


@overload
def cleaned(value: str) -> str: ...
@overload
def cleaned(value: object) -> object: ...
def cleaned(value: object) -> object:
    """A text or JSON value as it may be kept; cleaning it again changes nothing.

    Of a value each text and key by itself, never their serialised form.
    """
    return walked(value, lambda text, key: masked_under(stripped(text), key))


def cleaned_payload(value: object) -> object:
    """What went into a tool or came out of it, cleaned, no longer than is of use, without binary data.

    Of each long text 60 % of the limit are kept from its head and 30 % from its tail. If there are many, or many
    items, each is cut shorter.
    """
    limit = MOST_CHARS
    value = walked(value, lambda text, key: _short(stripped(text), key, limit))
    while _chars(value) > MOST_CHARS and limit > 512:
        limit //= 4
        value = _fewer(walked(value, lambda text, key, most=limit: cut(text, most)), limit)  # type: ignore[misc]
    return value


def cut(text: str, most: int) -> str:
    """A text of at most ``most`` characters, with its size in place of what is left out."""
    if len(text) <= most:
        return text
    head, tail = int(most * _HEAD), int(most * _TAIL)
    return f"{text[:head]}\n... [{len(text) - head - tail} of {len(text)} characters left out] ...\n{text[-tail:]}"


def _short(text: str, key: str | None, limit: int) -> str:
    text = _without_binary(text)
    if len(text) <= 2 * (limit + _AROUND):
        return cut(masked_under(text, key), limit)
    head, tail = int(limit * _HEAD), int(limit * _TAIL)
    first, last = masked_under(text[: head + _AROUND], key), masked_under(text[-tail - _AROUND :], key)
    left_out = len(text) - head - tail
    return f"{first[:head]}\n... [{left_out} of {len(text)} characters left out] ...\n{last[-tail:]}"


def _without_binary(text: str) -> str:
    if len(text) < 1024:
        return text
    sample = text[:4096]
    if len(re.findall(_UNPRINTABLE, sample)) * 10 > len(sample) or re.fullmatch(_IN_LINES, text.strip()):
        return _named(text)
    return re.sub(_LONG_RUN, lambda run: _named(run[0]), text)


def _named(data: str) -> str:
    return f"[binary data, {len(data)} characters]"


def _chars(value: object) -> int:
    """About as many as its JSON has."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, dict):
        return sum(len(name) + 4 + _chars(item) for name, item in value.items())
    if isinstance(value, list):
        return sum(2 + _chars(item) for item in value)
    return 6


def _fewer(value: object, limit: int) -> object:
    """Of long lists and objects the first items, and how many were left out."""
    most = max(16, _MOST_ITEMS * limit // MOST_CHARS)
    if isinstance(value, dict):
        kept = {name: _fewer(item, limit) for name, item in list(value.items())[:most]}
        return kept if len(value) <= most else kept | {"...": f"[{len(value) - most} of {len(value)} left out]"}
    if isinstance(value, list):
        some = [_fewer(item, limit) for item in value[:most]]
        return some if len(value) <= most else [*some, f"[{len(value) - most} of {len(value)} left out]"]
    return value
