"""Pure: texts cut, joined and named as observations need them."""

import re
from collections.abc import Sequence

_SPACE = re.compile(r"\s+")


def one_line(text: str, most: int) -> str:
    """A text on one line, at most so long; `…` where it was cut, at the end of a word if one is near."""
    bare = _SPACE.sub(" ", text[: most * 4 + 200]).strip()
    if len(bare) <= most:
        return bare
    cut = bare[: most - 1]
    at = cut.rfind(" ")
    return (cut[:at] if at > most * 2 // 3 else cut).rstrip(" ,;:.-…") + "…"


def listed(names: Sequence[str], most: int = 3) -> str:
    """`a, b and c`, or `a, b, c and 4 more`."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def short_path(path: str, cwd: str = "") -> str:
    """A path as a person would say it: below the folder of the work, else by its last three names."""
    if cwd and path.startswith(cwd.rstrip("/") + "/"):
        return path[len(cwd.rstrip("/")) + 1 :]
    names = [name for name in path.replace("\\", "/").split("/") if name]
    return "/".join(names[-3:]) if path.startswith(("/", "~")) or ":" in path[:3] else path


def plural(count: int, noun: str) -> str:
    """`1 edit`, `2 edits`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def upper_first(text: str) -> str:
    """A text that begins like a sentence; what is no small letter stays, and so does the name of a file or function."""
    first = text[:200].split(" ", 1)[0].rstrip(".,:;!?")
    return text if any(mark in first for mark in "/._") else text[:1].upper() + text[1:]
