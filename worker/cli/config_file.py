"""An agent's own settings file: read, and written back with a copy kept beside it. Nothing is written in halves."""

import contextlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TRIES = 5
_MARK = ".claude-mem-backup-"
_BOM = b"\xef\xbb\xbf"
_COPIES_LOOKED_AT = 3


class Unusable(Exception):
    """A file that is left alone; the message says why."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A file that a change makes a difference to. before: what was in it, None if there was none; after: what is now.

    backup: where a copy of it as it was is kept; None where there was none, and in a dry run.
    """

    file: Path
    before: bytes | None
    after: bytes
    backup: Path | None


def changed(file: Path, change: Callable[[dict[str, Any]], dict[str, Any]], *, dry_run: bool = False) -> Changed | None:
    """Change a file; None if the change makes no difference.

    The agent may write the file at the same moment: then it is read anew. A link is followed, the mode stays.
    Errors: ``Unusable`` for what is no JSON object, for what ``change`` refuses (``ValueError``), and for what the
    system refuses.
    """
    try:
        for _ in range(_TRIES):
            raw = _read(file)
            before = _object(file, raw)
            try:
                after = change(before)
            except ValueError as error:
                raise Unusable(f"{file}: {error}") from error
            if after == before:
                return None
            kept = _as_kept(file, after)
            content = _text(after, raw) if kept is None else kept
            if dry_run:
                return Changed(file, raw, content, None)
            backup = _kept(file) if raw is not None else None
            if _replaced(file, raw, content):
                return Changed(file, raw, content, backup)
            if backup is not None:
                backup.unlink(missing_ok=True)
    except OSError as error:
        raise Unusable(f"{file} cannot be changed: {error.strerror or error}") from error
    raise Unusable(f"{file} is being changed by another program all the time; end it and try again")


def taken_back(one: Changed) -> bool:
    """Whether a file is again as it was before a change; it is not if somebody has changed it since."""
    try:
        if one.before is not None:
            done = _replaced(one.file, one.after, one.before)
        elif done := _read(one.file) == one.after:
            one.file.unlink()
        if done and one.backup is not None:
            one.backup.unlink(missing_ok=True)
    except OSError:
        return False
    return done


def read(file: Path) -> dict[str, Any]:
    """What it holds; {} if it is not there. Errors: ``Unusable``."""
    try:
        return _object(file, _read(file))
    except OSError as error:
        raise Unusable(f"{file} cannot be read: {error.strerror or error}") from error


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _object(file: Path, raw: bytes | None) -> dict[str, Any]:
    content = (raw or b"").removeprefix(_BOM)
    if not content.strip():
        return {}
    try:
        value = json.loads(content)
    except json.JSONDecodeError as error:
        raise Unusable(f"{file}, {_told(error)}") from error
    except (ValueError, RecursionError) as error:
        raise Unusable(f"{file} is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise Unusable(f"{file} holds no JSON object")
    return value


def _told(error: json.JSONDecodeError) -> str:
    """Where a text ceases to be JSON, and how; the two ways of many editors by their name."""
    before, here = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    at, what = error.pos, f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
    if here.startswith(("//", "/*")):
        at, what = len(error.doc) - len(here), "has a comment, which JSON knows none of"
    elif before.endswith(",") and here.startswith(("}", "]")):
        at, what = len(before) - 1, "has a comma behind the last of its items, which JSON does not allow"
    line = error.doc.count("\n", 0, at) + 1
    return f"line {line}, column {at - error.doc.rfind(chr(10), 0, at)}: it {what}"


def _as_kept(file: Path, value: dict[str, Any]) -> bytes | None:
    """The newest copy of a file if it holds just this: then not a blank of it is lost."""
    kept = sorted(file.parent.glob(f"{file.name}{_MARK}*"), key=lambda one: one.stat().st_mtime_ns)
    for copy in kept[: -_COPIES_LOOKED_AT - 1 : -1]:
        with contextlib.suppress(Unusable, OSError):
            content = copy.read_bytes()
            if json.dumps(_object(copy, content)) == json.dumps(value):
                return content
    return None


def _text(value: dict[str, Any], before: bytes | None) -> bytes:
    """As JSON, in the way it was written before."""
    found = re.search(rb"\n([ \t]+)\"", before or b"")
    indent = found[1].decode() if found else "  "
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    try:
        encoded = text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only JSON can write
        encoded = json.dumps(value, indent=indent).encode()
    if before is None or not before.removeprefix(_BOM).strip() or before.endswith(b"\n"):
        encoded += b"\n"
    if before is not None and b"\r\n" in before:
        encoded = encoded.replace(b"\n", b"\r\n")
    return (_BOM if before is not None and before.startswith(_BOM) else b"") + encoded


def _kept(file: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        backup = file.with_name(f"{file.name}{_MARK}{stamp}" + (f"-{number}" if number else ""))
        if not backup.exists():
            shutil.copy2(file, backup)
            return backup
    raise OSError(f"no name is free for a copy of {file}")


def _replaced(file: Path, before: bytes | None, content: bytes) -> bool:
    """Whether it was still as it was read, and now is not."""
    target = Path(os.path.realpath(file))
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    mode = target.stat().st_mode & 0o777 if before is not None else 0o600
    try:
        handle = os.open(aside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, mode)
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        os.chmod(aside, mode)
        if _read(target) != before:
            return False
        os.replace(aside, target)
        return True
    finally:
        with contextlib.suppress(FileNotFoundError):
            aside.unlink()
