"""Pure: JSON objects out of bytes that are almost JSON, as programs in other languages write them."""

import re
from typing import Any

import msgspec

_ESCAPE = re.compile(
    rb"\\(?:u(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|([dD][89a-fA-F][0-9a-fA-F]{2})|)|[^u])"
)


class NoObject(ValueError):
    """What was read is no JSON object; the message says why."""


def halves_replaced(text: bytes | memoryview) -> bytes:
    """The same JSON, as long as before, with U+FFFD for each half of a surrogate pair (JavaScript writes such)."""
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], text)


def json_object(text: bytes) -> tuple[dict[str, Any], bool]:
    """The object in a JSON text, and whether half surrogate pairs or bytes that are no UTF-8 had to be replaced in it.

    Errors: ``NoObject``.
    """
    try:
        value, replaced = _decoded(text)
    except RecursionError as error:
        raise NoObject("is nested too deep") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise NoObject(f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise NoObject("is no JSON object")
    return value, replaced


def _decoded(text: bytes) -> tuple[object, bool]:
    try:
        return msgspec.json.decode(text), False
    except (msgspec.DecodeError, UnicodeError):
        return msgspec.json.decode(halves_replaced(text.decode("utf-8", "replace").encode())), True
