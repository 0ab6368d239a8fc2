"""This process's environment, in which HOME is an absolute path whatever it was. Light: hooks use it.

All that asks for a home gets the same answer by that, libraries and the programs that we start among them.
"""

import os
from collections.abc import MutableMapping

NOWHERE = "/nonexistent"
"""The home of a user who has none, as systems write it. Nothing can be kept there."""


def environment() -> MutableMapping[str, str]:
    """The environment."""
    os.environ["HOME"] = _home(os.environ.get("HOME", ""))
    return os.environ


def _home(given: str) -> str:
    if given.strip():
        return os.path.abspath(given)
    try:
        import pwd  # not on every system

        kept = pwd.getpwuid(os.getuid()).pw_dir
    except ImportError:
        kept = os.path.expanduser("~")
    except KeyError:
        kept = NOWHERE
    return kept if os.path.isabs(kept) else NOWHERE
