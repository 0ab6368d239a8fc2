"""The file in which the app leaves what it begins with next time."""

import os
import tempfile
from pathlib import Path

import msgspec

from tui.state.saved import Saved


def load(file: Path) -> Saved:
    """What was left there; nothing where there is no such file, or one that cannot be read."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Saved)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return Saved()


def store(file: Path, saved: Saved) -> None:
    """Leave this, whole or not at all, readable by its owner alone. Nowhere to leave it is no trouble."""
    if not file.parent.is_dir():
        return  # the worker makes the folder; until it has, there is nothing worth keeping
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".tui-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(msgspec.json.format(msgspec.json.encode(saved), indent=1))
            Path(name).replace(file)
        except OSError:
            Path(name).unlink(missing_ok=True)
    except OSError:
        return
