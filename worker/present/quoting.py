"""Pure: stored text as history: it can neither close the block it stands in nor pass for anybody's orders."""

import re

from worker.present import marks

# Names that a host or a model may take for its own: those of several words, and a few plain ones. `List<int>` stays.
_TAG = re.compile(
    r"<(?=[ \t]{0,4}[/!?]?[ \t]{0,4}(?:[a-z]\w{0,60}[-_:.]\w|"
    r"(?:private|system|user|assistant|human|instructions?|tools?|functions?|invoke|parameters?|context|memory)\b))",
    re.IGNORECASE,
)
_INDENT = "  "


def told(text: str) -> str:
    """The text with `<` of every tag that could be somebody's order made harmless."""
    return _TAG.sub("&lt;", text)


def line(text: str, limit: int = 160) -> str:
    """As one line, cut at ``limit`` characters."""
    return told(marks.one_line(text, limit))


def paragraph(text: str) -> list[str]:
    """As indented lines, so that no line of it passes for a heading or a row; single empty lines within are kept."""
    made: list[str] = []
    for part in text.strip().splitlines():
        bare = told(marks.harmless(part)).rstrip()
        if bare.strip():
            made.append(_INDENT + bare)
        elif made and made[-1]:
            made.append("")
    return made
