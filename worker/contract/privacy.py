"""Pure: what was never meant to be remembered, taken out of texts and of any JSON value.

Everything between an opening and a closing tag of ``NAMES`` goes, and the tags with it. Where that cannot be told,
more goes and never less: an opening tag that nobody closes hides the rest of its text, and nested ones hide until the
last of them is closed. Every step is linear in the length of the text.
"""

import re
from collections.abc import Callable

NAMES = (
    "private",
    "claude-mem-context",
    "system_instruction",
    "system-instruction",
    "persisted-output",
    "system-reminder",
)
MOST_PROTOCOL_CHARS = 262_144
TOO_DEEP = "[nested too deep]"
_DEEPEST = 120
_PASSES = 3

# A name counts only when it is whole: `<private-x>` and `<privateer>` are other tags.
_TAG = re.compile(rf"<(/?)({'|'.join(NAMES)})(?=[\s/>]|$)", re.IGNORECASE)
_CLOSED = re.compile(r"\s*>")
_IN_TAG = re.compile(r"""[>"']""")
_PROTOCOL = "task-notification"

Change = Callable[[str, str | None], str]
"""A text and the key that it stands under, None without one → the text to take its place."""


def stripped(text: str) -> str:
    """The text without what is private; trimmed if anything was taken out."""
    if "<" not in text or _TAG.search(text) is None:
        return text
    left = None
    for _ in range(_PASSES):
        text = _once(text)
        left = _TAG.search(text)
        if left is None:
            return text.strip()
    # What is left over makes a tag again and again: somebody's play, of which the harmless part is kept.
    return text[: left and left.start()].strip()


def _once(text: str) -> str:
    kept: list[str] = []
    opened: dict[str, int] = {}
    visible_from = at = 0
    ends = _Ends(text)
    while (tag := _TAG.search(text, at)) is not None:
        name, at = tag[2].lower(), tag.end()
        if not tag[1]:
            if not opened:
                kept.append(text[visible_from : tag.start()])
            opened[name] = opened.get(name, 0) + 1
            at = ends.of_tag(at)
            continue
        closed = _CLOSED.match(text, at)
        if closed is None:
            if not opened:  # no end of anything, and not to be taken for one when the texts around it meet
                kept.append(text[visible_from : tag.start()])
                visible_from = at
            continue
        at = closed.end()
        if not opened:
            kept.append(text[visible_from : tag.start()])
            visible_from = at
        elif name in opened:
            opened[name] -= 1
            if not opened[name]:
                del opened[name]
            if not opened:
                visible_from = at
    if not opened:
        kept.append(text[visible_from:])
    return "".join(kept)


class _Ends:
    """Where opening tags end: a `>` in the quotes of an attribute is none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = {quote: text.rfind(quote) for quote in "\"'"}

    def of_tag(self, at: int) -> int:
        """Just behind the `>` of a tag whose name ends at ``at``; the end of the text if there is none."""
        while (mark := _IN_TAG.search(self._text, at)) is not None:
            if mark[0] == ">":
                return mark.end()
            at = mark.end()
            if not self._text[max(0, mark.start() - 16) : mark.start()].rstrip().endswith("="):  # an apostrophe, say
                continue
            if self._last[mark[0]] < at:
                break
            at = self._text.index(mark[0], at) + 1
        return len(self._text)


def is_protocol_only(text: str) -> bool:
    """Whether a prompt is nothing but one message of the agent's own machinery, which is no business of a memory."""
    whole = text.strip()
    if len(whole) > MOST_PROTOCOL_CHARS or not whole.endswith(f"</{_PROTOCOL}>"):
        return False
    if not whole.startswith((f"<{_PROTOCOL}>", f"<{_PROTOCOL} ", f"<{_PROTOCOL}\n", f"<{_PROTOCOL}\t")):
        return False
    return whole.count(f"<{_PROTOCOL}") == 1 and whole.count(f"</{_PROTOCOL}") == 1


def walked(value: object, change: Change) -> object:
    """A JSON value with every text and key changed. What is nested deeper than anybody does is left out.

    The text of a list has the key of the list. Of keys that become equal the last counts.
    """
    return _walked(value, change, None, 0)


def _walked(value: object, change: Change, key: str | None, depth: int) -> object:
    if isinstance(value, str):
        return change(value, key)
    if isinstance(value, dict | list | tuple) and depth >= _DEEPEST:
        return TOO_DEEP
    if isinstance(value, dict):
        return {change(str(name), None): _walked(item, change, str(name), depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_walked(item, change, key, depth + 1) for item in value]
    return value
