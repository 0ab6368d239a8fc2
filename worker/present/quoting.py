"""Pure: stored text as history: it can neither close the block it stands in nor pass for anybody's orders."""

from worker.contract import tags
from worker.present import marks

_INDENT = "  "


def line(text: str, limit: int = 160) -> str:
    """As one line, cut at ``limit`` characters."""
    return tags.harmless(marks.one_line(text, limit))


def paragraph(text: str) -> list[str]:
    """As indented lines, so that no line of it passes for a heading or a row; single empty lines within are kept."""
    made: list[str] = []
    for part in text.strip().splitlines():
        bare = tags.harmless(marks.harmless(part)).rstrip()
        if bare.strip():
            made.append(_INDENT + bare)
        elif made and made[-1]:
            made.append("")
    return made
