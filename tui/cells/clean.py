"""Pure: stored text made safe to print, and text cut into what a person takes for one character.

Memory text is hostile input: it may hold escape sequences, characters that turn the line around, and joiners on whose
width no two terminals agree. What is left after cleaning has the same width in every terminal.
"""

import re
import unicodedata

from rich.cells import get_character_cell_size

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]?"  # CSI
    r"|\x9b[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS and kin, with their text
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]")
_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSTEADY = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u302e\u302f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U00016ff0\U00016ff1\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff]"
)
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOTHING = re.compile("[\ufdd0-\ufdef" + "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(17)) + "]")
"""Noncharacters: tmux leaves them out, others draw a box."""
_SPACES = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_MARKS = re.compile(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4,}")
_TAB = "    "


def one_line(text: str) -> str:
    """The text in one line: breaks and runs of blanks are one blank, nothing that moves the cursor is left."""
    if text.isascii() and text.isprintable():
        return text.strip() if "  " not in text else " ".join(text.split())
    return _SPACES.sub(" ", safe(text).replace("\n", " ")).strip()


def safe(text: str) -> str:
    """The text with its line breaks (as LF) and indents, without anything that could steer the terminal."""
    if text.isascii() and text.isprintable():
        return text
    text = _BREAK.sub("\n", _SEQUENCE.sub("", text)).replace("\t", _TAB)
    text = _CONTROL.sub("", text)
    if text.isascii():
        return text
    text = _SURROGATE.sub("\ufffd", _NOTHING.sub("", _UNSTEADY.sub("", text)))
    text = _FLAG.sub(lambda flag: chr(ord(flag[0]) - 0x1F1E6 + ord("A")), text)
    return _MARKS.sub(lambda marks: marks[0][:3], text)


def typed(text: str) -> str:
    """What may stand in the search box: all that a person can type, joiners too, but nothing that steers."""
    if text.isascii() and text.isprintable():
        return text
    text = _CONTROL.sub("", _BREAK.sub(" ", _SEQUENCE.sub("", text)).replace("\n", " ").replace("\t", " "))
    return _SURROGATE.sub("\ufffd", _NOTHING.sub("", _TURNING.sub("", text)))


def graphemes(text: str) -> list[tuple[int, int]]:
    """(start, end) of each character as a person counts them, with joined emoji, marks and flags as one."""
    spans: list[tuple[int, int]] = []
    for index, char in enumerate(text):
        if spans and _joins(text, index, char, spans[-1][0]):
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    return spans


def _joins(text: str, index: int, char: str, start: int) -> bool:
    """Whether the character at ``index`` belongs to the one that began at ``start``."""
    if char.isascii():
        return False
    before = text[index - 1]
    if before == "\u200d" or char == "\u200d" or "\ufe00" <= char <= "\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    if "\U0001f1e6" <= char <= "\U0001f1ff":
        return "\U0001f1e6" <= text[start] <= "\U0001f1ff" and index - start == 1
    return unicodedata.combining(char) != 0 or get_character_cell_size(char) == 0
