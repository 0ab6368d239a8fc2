"""Pure: tool payloads cut to what a memory can use, with their size noted, before they are cleaned and sent.

Nothing private comes to light by a cut: what is cut away takes with it all that follows if a hidden part could begin in
it, and both ends of a cut lie between words.
"""

import math
import re
from collections.abc import Iterable

from worker.cli.harness.event import whole

MOST_CHARS = 256 * 1024
"""Of a text; the original cuts prompts there too."""
_MOST_OF_ALL = 1024 * 1024
_DEEPEST = 100
_BINARY_CHARS = 2048
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_WORD_CHARS = 1000
_NUMBER_CHARS = 8


def bounded(value: object, tags: Iterable[str]) -> object:
    """A JSON value with long texts cut and binary ones left out. tags: names of elements that hide what is in them."""
    return _bounded(value, tuple(f"<{tag}" for tag in tags), [_MOST_OF_ALL], 0)


def cut(text: str, most: int, openings: Iterable[str] = ()) -> str:
    """A text of about so many characters: its beginning, and its end too if nothing hidden can begin between them.

    openings: what hides the text behind it, in lower case.
    """
    if len(text) <= most:
        return text
    head = text[: most * 2 // 3]
    head = head[: _last_gap(head)]
    tail = text[len(text) - most // 3 :]
    tail = tail[_first_gap(tail) :]
    between = text[len(head) : len(text) - len(tail)].lower()
    if any(opening in between for opening in ("-----begin", *openings)):
        tail = ""
    return f"{head}\n[... {len(text) - len(head) - len(tail):,} of {len(text):,} characters are left out ...]\n{tail}"


def _bounded(value: object, openings: tuple[str, ...], left: list[int], depth: int) -> object:
    match value:
        case str():
            if len(value) >= _BINARY_CHARS and _BASE64.fullmatch(value):
                return f"[{len(value):,} characters of binary content are left out]"
            most = min(MOST_CHARS, left[0])
            left[0] -= min(len(value), most)
            return whole(cut(value, most, openings))
        case dict() | list() if depth >= _DEEPEST:
            return "[nested too deep]"
        case dict():
            kept: dict[object, object] = {}
            for key, item in value.items():
                if left[0] <= 0:
                    kept["..."] = f"[{len(value) - len(kept):,} more are left out]"
                    break
                left[0] -= len(key)
                kept[whole(key)] = _bounded(item, openings, left, depth + 1)
            return kept
        case list():
            some: list[object] = []
            for item in value:
                if left[0] <= 0:
                    some.append(f"[{len(value) - len(some):,} more are left out]")
                    break
                some.append(_bounded(item, openings, left, depth + 1))
            return some
        case float() if not math.isfinite(value):
            return str(value)  # no JSON
        case _:
            left[0] -= _NUMBER_CHARS
            return value


def _last_gap(text: str) -> int:
    """Where the last word begins, so that no word is cut; well before the end if no gap is near it."""
    found = max(text.rfind(gap, len(text) - _WORD_CHARS) for gap in ("\n", " ", "\t"))
    return found + 1 if found >= 0 else max(0, len(text) - _WORD_CHARS)


def _first_gap(text: str) -> int:
    found = [at for gap in ("\n", " ", "\t") if (at := text.find(gap, 0, _WORD_CHARS)) >= 0]
    return min(found) if found else len(text)
