"""What in a data directory is its owner's alone: a folder of ours as a whole, and files that lie beside others'."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_DATABASE = "claude-mem.db"
_MARKS = frozenset((".py-worker.lock", ".cwd-remap-applied-v1", ".cleanup-v12.4.3-applied"))
_FILES = (
    _DATABASE, "claude-mem.db-wal", "claude-mem.db-shm", "settings.json", ".env", "worker.pid", "keymap.toml",
    *sorted(_MARKS),
)  # fmt: skip
_FOLDERS = {
    "logs": "*.log",
    "backups": "claude-mem*.db",
    "corpora": "*.corpus.json",
    "spool": "*.json",
    "state": "hook-*",
    "vectors": "*/chroma.sqlite3",
    "chroma": "chroma.sqlite3",
    "viewer": "index.html",
}
"""And what makes each of them ours: the data directory may be a home, where somebody else's bear these names too."""
_SPOOL = "spool"
"""Empty nearly always, and whatever anybody puts there is taken for what an agent did: beside our database it is ours
whatever is in it.
"""
_TELLING = _MARKS | {"worker.pid", "keymap.toml", "logs", "state", "viewer"}
"""Those that hold nothing of the memory, nor a key."""


def private_files(data_dir: Path) -> Iterator[Path]:
    """Those that are there. Of a folder nothing but itself: when it is shut, nobody comes to what is in it."""
    yield from (path for path in (data_dir / name for name in _FILES) if path.exists())
    for name, ours in _FOLDERS.items():
        folder = data_dir / name
        taken = name == _SPOOL and folder.is_dir() and (data_dir / _DATABASE).exists()
        if taken or any(islice(folder.glob(ours), 1)):
            yield folder


def is_home(data_dir: Path) -> bool:
    """Whether the data directory is a home, in which more lies than what is ours."""
    return data_dir.resolve() == Path.home().resolve()


def is_secret(path: Path) -> bool:
    """Whether what can be read there is the memory itself, or a key."""
    return path.name not in _TELLING
