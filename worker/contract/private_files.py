"""What in a data directory is its owner's alone: a folder of ours as a whole, and files that lie beside others'."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_FILES = (
    "claude-mem.db", "claude-mem.db-wal", "claude-mem.db-shm", "settings.json", ".env", "worker.pid", "keymap.toml",
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
_TELLING = frozenset(("worker.pid", "keymap.toml", "logs", "state", "viewer"))
"""Those that hold nothing of the memory, nor a key."""


def private_files(data_dir: Path) -> Iterator[Path]:
    """Those that are there. Of a folder nothing but itself: when it is shut, nobody comes to what is in it."""
    yield from (path for path in (data_dir / name for name in _FILES) if path.exists())
    for name, ours in _FOLDERS.items():
        if any(islice((data_dir / name).glob(ours), 1)):
            yield data_dir / name


def is_secret(path: Path) -> bool:
    """Whether what can be read there is the memory itself, or a key."""
    return path.name not in _TELLING
