"""Pure: names of corpora, which are names of files on every system and cannot leave their folder."""

import re

from worker.contract.corpus import LONGEST_NAME
from worker.contract.errors import Invalid

_NAME = re.compile(r"[a-zA-Z0-9._-]+")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_RULE = "a corpus name is made of letters (a-z), digits, `.`, `_` and `-`"


def checked(name: str) -> str:
    """The name. Errors: ``Invalid`` with the field ``name``."""
    if not _NAME.fullmatch(name):
        raise Invalid(f"{_RULE}, not {_shown(name)}", field="name")
    if len(name) > LONGEST_NAME:
        raise Invalid(f"{_RULE}, at most {LONGEST_NAME} of them, not {len(name)}", field="name")
    if not name.strip("."):
        raise Invalid(f"{_RULE}, and not of points alone", field="name")
    if _DEVICE.fullmatch(name):
        raise Invalid(f"{name} is a device on some systems; give the corpus another name", field="name")
    return name


def is_name(text: str) -> bool:
    """Whether a corpus can have this name."""
    try:
        checked(text)
    except Invalid:
        return False
    return True


def _shown(name: str) -> str:
    return ascii(name if len(name) <= 40 else name[:39] + "…")
