"""A folder of vectors on disk: who owns it, whether it was left in order, and how it is put aside."""

import os
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from worker.contract.errors import Unavailable
from worker.owner import taken

HOST = "worker.projection.host"
"""The module whose process holds a folder; the folder's path is its first word."""
_BROKEN = "-broken-"
_ENDING_S = 10.0
_KILLED_S = 2.0
_MOST_NAMED_BYTES = 40
_KEPT = 1  # what is put aside can be built again; it is kept to be looked at, and may be large
_Seen = dict[str, tuple[int, int]]


class InUse(Unavailable):
    """Another process owns the folder."""


@dataclass(slots=True)
class Folder:
    """Ours, from ``own`` to ``leave``. The kernel ends it with the process, so that a dead owner never holds it."""

    path: Path
    lock: int = field(repr=False)

    @property
    def _mark(self) -> Path:
        return self.path.with_name(f".{self.path.name}.clean")

    @property
    def _doubt(self) -> Path:
        return self.path.with_name(f".{self.path.name}.suspect")

    def is_new(self) -> bool:
        """Whether nothing is in it yet."""
        with os.scandir(self.path) as entries:
            return next(entries, None) is None

    def was_left_in_order(self) -> bool:
        """Whether the last owner closed it and nobody touched it since."""
        try:
            return msgspec.json.decode(self._mark.read_bytes(), type=_Seen) == _seen(self.path)
        except (OSError, msgspec.MsgspecError):
            return False

    def suspect(self, why: str) -> None:
        """Have the next owner put it aside without a look: what is in it ended who used it."""
        with suppress(OSError):
            self._doubt.write_text(why, "utf-8")

    def suspicion(self) -> str:
        """Why it is to be put aside; empty when it is not."""
        try:
            return self._doubt.read_text("utf-8")
        except OSError:
            return ""

    def held_by(self, host: int) -> None:
        """Note the process that inherits the lock, so that the next owner can end it if ours cannot any more."""
        _name(self.lock, f"{os.getpid()} {host}")

    def begin(self) -> None:
        """Take the mark of order away, before something is written."""
        self._mark.unlink(missing_ok=True)

    def leave(self, *, in_order: bool) -> None:
        """Give it up. in_order: all of it is on disk, so that the next owner need not look."""
        if self.lock < 0:
            return
        with suppress(OSError):  # without the mark the next owner looks first
            if in_order:
                self._mark.write_bytes(msgspec.json.encode(_seen(self.path)))
        os.close(self.lock)
        self.lock = -1

    def put_aside(self) -> None:
        """Begin with an empty one; what was there is kept beside it, and what was kept before that goes.

        Errors: ``Unavailable`` when it can be neither moved nor removed.
        """
        self.begin()
        aside = self.path.with_name(f"{self.path.name}{_BROKEN}{time.time_ns()}")
        try:
            try:
                self.path.rename(aside)
            except OSError:
                shutil.rmtree(self.path)
            self.path.mkdir(mode=0o700)
        except OSError as error:
            raise Unavailable(f"the broken folder of vectors {self.path} cannot be moved: {error.strerror}") from error
        for old in broken(self.path)[:-_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        self._doubt.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete all that is in it, and give it up. Errors: ``Unavailable``."""
        self.begin()
        try:
            shutil.rmtree(self.path)
        except OSError as error:
            raise Unavailable(f"the folder of vectors {self.path} cannot be removed: {error.strerror}") from error
        finally:
            self.leave(in_order=False)


def own(path: Path) -> Folder:
    """Make the folder, if need be, and own it. Errors: ``Unavailable``, naming the process that owns it."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.with_name(f".{path.name}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(f"the folder of vectors {path} cannot be used: {error.strerror}") from error
    # Beside the folder: what is put aside does not take the lock with it.
    until = time.monotonic() + _ENDING_S
    while not taken(lock):
        owner, _, host = os.pread(lock, _MOST_NAMED_BYTES, 0).decode("ascii", "replace").strip().partition(" ")
        orphan = _orphan(host, owner, path)
        if (not orphan and _lives(owner)) or time.monotonic() > until + _KILLED_S:
            os.close(lock)
            raise InUse(f"the folder of vectors {path} is in use by process {owner or 'unknown'}")
        # The owner is dead; its process of vectors inherited the lock, and ends as soon as it notices, in order. One
        # that is stopped or hangs never does.
        if orphan and (_is_stopped(orphan) or time.monotonic() > until):
            with suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
        time.sleep(0.02)
    _name(lock, str(os.getpid()))
    return Folder(path, lock)


def _name(lock: int, who: str) -> None:
    with suppress(OSError):  # a full disk: the lock holds without a name
        os.ftruncate(lock, 0)
        os.pwrite(lock, who.encode(), 0)


def _orphan(host: str, owner: str, path: Path) -> int:
    """The process that holds the folder for a worker that is no more; 0 when it is none, or that cannot be told."""
    if not host.isdecimal():
        return 0
    try:
        words = Path(f"/proc/{host}/cmdline").read_bytes().split(b"\0")
        is_ours = words[words.index(HOST.encode()) + 1] == os.fsencode(path)
        return int(host) if is_ours and _stat(host)[1] != owner else 0
    except (OSError, ValueError, IndexError):
        return 0


def _is_stopped(process: int) -> bool:
    with suppress(OSError, IndexError):
        return _stat(str(process))[0] in "Tt"
    return False


def _stat(process: str) -> list[str]:
    """Its state, its parent, and so on."""
    # Counted from behind the name, which may hold blanks and brackets.
    return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()


def _lives(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    return True


def broken(path: Path) -> list[Path]:
    """What was put aside of a folder, oldest first."""
    return sorted(path.parent.glob(f"{path.name}{_BROKEN}*"))


def _seen(path: Path) -> _Seen:
    """Size and time of change of each file."""
    found: _Seen = {}
    for folder, _, names in os.walk(path):
        for name in names:
            file = Path(folder, name)
            stat = file.stat()
            found[str(file.relative_to(path))] = (stat.st_size, stat.st_mtime_ns)
    return found
