"""A folder of vectors on disk: who owns it, whether it was left in order, and how it is put aside."""

import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from worker.contract.errors import Unavailable
from worker.owner import taken

_BROKEN = "-broken-"
_ENDING_S = 10.0
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
        owner = os.pread(lock, 20, 0).decode("ascii", "replace").strip() or "unknown"
        if _lives(owner) or time.monotonic() > until:
            os.close(lock)
            raise InUse(f"the folder of vectors {path} is in use by process {owner}")
        time.sleep(0.02)  # the owner is dead; its process of vectors inherited the lock, and ends as soon as it notices
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
    except OSError:
        pass  # a full disk: the lock holds without a name
    return Folder(path, lock)


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
