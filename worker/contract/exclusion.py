"""Pure: whether a folder is one of those of which nothing is kept and to which nothing is given (R144).

Light: hooks import it.
"""

import re
from collections.abc import Iterable


def excluded(patterns: Iterable[str], cwd: str, *, home: str, names: Iterable[str] = ()) -> bool:
    """Whether a pattern fits the folder, a folder above it, or the last part of its path.

    patterns: `*` is anything without a slash, `**` anything, `?` one character, a leading `~` the home folder.
    names: what the project is called; a pattern without a slash is compared with those too.
    """
    path = cwd.replace("\\", "/").rstrip("/") or "/"
    called = {path.rpartition("/")[2], *names}
    for pattern in patterns:
        bare = pattern.strip().rstrip("/")
        if not bare:
            continue
        if bare == "~" or bare.startswith("~/"):
            bare = home.rstrip("/") + bare[1:]
        form = _form(bare)
        if re.match(form + r"(?:/|\Z)", path, re.DOTALL):
            return True
        if "/" not in bare and any(re.fullmatch(form, name, re.DOTALL) for name in called):
            return True
    return False


def skipped(patterns: Iterable[str], tool: str) -> bool:
    """Whether one of the patterns is the name of a tool, or fits it: `*` is anything, `?` one character."""
    return any(
        re.fullmatch(_form(pattern), tool) is not None if "*" in pattern or "?" in pattern else pattern == tool
        for pattern in patterns
    )


def _form(pattern: str) -> str:
    # A run of stars is one, so that no pattern makes the search slow.
    parts = re.split(r"(\*{2,}|\*|\?)", pattern)
    forms = {"": "", "*": "[^/]*", "?": "[^/]"}
    return "".join(forms.get(part, ".*" if part.startswith("**") else re.escape(part)) for part in parts)
