"""Which sessions are in a turn that is nobody's business, on disk: so that its tool uses are not even kept for later.

The worker knows it too and takes nothing of such a turn; but while it is away what is kept waits on disk.
"""

import os
import re

FOLDER = os.path.join("state", "private-turns")


def note(data_dir: str, session_id: str, *, private: bool) -> None:
    """A prompt came, and what follows it is private or not. Errors: ``OSError``."""
    file = _file(data_dir, session_id)
    if not private:
        try:
            os.unlink(file)
        except (FileNotFoundError, NotADirectoryError):
            return
        return
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))


def is_private(data_dir: str, session_id: str) -> bool:
    """Whether the last prompt of a session was."""
    return os.path.lexists(_file(data_dir, session_id))


def _file(data_dir: str, session_id: str) -> str:
    return os.path.join(data_dir, FOLDER, re.sub(r"[^A-Za-z0-9-]", "_", session_id)[:80])
