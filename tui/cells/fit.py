"""Pure: text in a given number of cells, which is not its number of characters."""

import re
from collections.abc import Iterator, Sequence
from unicodedata import category

from rich.cells import cell_len, get_character_cell_size

_FREE = "\u2e80-\u2fff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Of scripts that write no blanks, and break lines anywhere; Korean has blanks."""
_OPENING = "「『（【〈《〔［｛〝"
_NEVER_FIRST = "、。，．・：；？！」』）】〉》〕］｝〟ー々…‥〜ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ゛゜"
"""Of a line."""
_WORD = re.compile(rf"\s*(?:[{_OPENING}]*(?:[{_FREE}][{_NEVER_FIRST}]*|[^\s{_FREE}{_OPENING}]+)|[{_OPENING}]+)|\s+")


def width(text: str) -> int:
    """Cells that the text takes.

    A vowel sign that stands beside its letter takes one, as in the C library, and so in tmux; Rich gives it none.
    """
    return len(text) if text.isascii() else cell_len(text) + sum(map(_beside, text))


def cut(text: str, room: int, ellipsis: str = "…") -> str:
    """The text in at most ``room`` cells, its loss shown; never half of a wide character."""
    if width(text) <= room:
        return text
    if room <= len(ellipsis):
        return ellipsis[: max(room, 0)]
    return _head(text, room - len(ellipsis)).rstrip() + ellipsis


def first(told: Sequence[str], room: int, ellipsis: str = "…") -> str:
    """Of the ways to tell something, the longest first, the first that fits; the last one is cut."""
    return next((text for text in told if width(text) <= room), cut(told[-1], room, ellipsis))


def left(text: str, room: int, ellipsis: str = "…") -> str:
    """Just ``room`` cells, the text at their left."""
    text = cut(text, room, ellipsis)
    return text + " " * (room - width(text))


def right(text: str, room: int, ellipsis: str = "…") -> str:
    """Just ``room`` cells, the text at their right."""
    text = cut(text, room, ellipsis)
    return " " * (room - width(text)) + text


def wrap(text: str, room: int) -> Iterator[str]:
    """The lines of the text in ``room`` cells, broken between words, and within one that is longer than a line."""
    room = max(room, 2)
    for paragraph in text.split("\n"):
        if width(paragraph) <= room:
            yield paragraph
            continue
        indent = paragraph[: len(paragraph) - len(paragraph.lstrip())][: room // 2]
        line, taken = "", 0
        for word in _WORD.findall(paragraph):
            if taken + (cells := width(word)) <= room:
                line += word
                taken += cells
                continue
            if line.strip():
                yield line.rstrip()
                word = indent + word.lstrip()
                line = ""
            while width(word) > room:
                head = _head(word, room)
                yield head
                word = indent + word[len(head) :]
            line, taken = word, width(word)
        if line.strip():
            yield line.rstrip()


def in_lines(told: str, rest: str, room: int, most: int, ellipsis: str = "…") -> list[str]:
    """At most so many lines. What does not fit of ``told`` is cut, so that ``rest`` behind it stays whole."""
    left = min(width(told) + 1, max(most * room - width(rest), 0))
    while len(lines := list(wrap(f"{told} {rest}".strip(), room))) > most and left > len(ellipsis):
        left -= 1
        told = cut(told, left, ellipsis)
    return lines[:most]


def _beside(char: str) -> bool:
    """Whether the character is a mark with a place of its own."""
    return char >= "\u0903" and category(char) == "Mc"


def _head(text: str, room: int) -> str:
    if text.isascii():
        return text[:room]
    taken = 0
    for index, char in enumerate(text):
        taken += get_character_cell_size(char) + _beside(char)
        if taken > room:
            return text[:index]
    return text
