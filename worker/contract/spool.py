"""Events that nobody could be told of, on disk until the worker takes them: one file each under ``spool/``.

A file's name begins with the moment the event happened, so that sorted names are the order. It is written aside and
renamed, and is the owner's alone. What stands in it is clean already: tags and secrets are taken out before.

What is guaranteed: an event that was put here is taken once (``event_id``), after every older one that was here before
it; and a hook that finds something here puts its own event behind it, so that none overtakes what waits. A clock that
is set back between two events can turn those two around.

Light: hooks import it, so it knows the standard library alone.
"""

import json
import os
from collections.abc import Mapping

FOLDER = "spool"
MOST_EVENTS = 20_000
MOST_BYTES = 512 * 2**20
_ASIDE = "broken"
_ENDING = ".json"


class Full(Exception):
    """The spool is as large as it may be; the message says how large."""


class Broken(Exception):
    """A file that holds no event; the message says why."""


def folder(data_dir: str) -> str:
    """Where the events of a memory wait."""
    return os.path.join(data_dir, FOLDER)


def put(data_dir: str, path: str, body: Mapping[str, object], *, moment_ns: int, tag: str) -> str:
    """Keep an event; gives the name of its file. path: where it was to be sent. tag: tells two of a moment apart.

    Errors: ``Full``; ``OSError`` when the folder cannot be written to.
    """
    where = folder(data_dir)
    os.makedirs(data_dir, mode=0o700, exist_ok=True)
    os.makedirs(where, mode=0o700, exist_ok=True)
    content = json.dumps({"path": path, "body": body}, separators=(",", ":")).encode()
    count, size = _held(where)
    if count >= MOST_EVENTS or size + len(content) > MOST_BYTES:
        raise Full(f"{count} events ({size // 2**20} MB) wait in {where}, and no more are kept")
    name = f"{moment_ns:020d}-{tag}-{len(content)}{_ENDING}"
    aside = os.path.join(where, f".{name}.{os.getpid()}")
    handle = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, os.path.join(where, name))
    except OSError:
        _away(aside)
        raise
    return name


def is_empty(data_dir: str) -> bool:
    """Whether nothing waits."""
    try:
        with os.scandir(folder(data_dir)) as entries:
            return not any(_is_event(entry.name) for entry in entries)
    except OSError:
        return True


def waiting(data_dir: str) -> list[str]:
    """The names of what waits, oldest first."""
    try:
        return sorted(name for name in os.listdir(folder(data_dir)) if _is_event(name))
    except OSError:
        return []


def read(data_dir: str, name: str) -> tuple[str, dict[str, object]]:
    """Where an event was to be sent, and its body. Errors: ``Broken``; ``OSError`` when it cannot be read."""
    with open(os.path.join(folder(data_dir), name), "rb") as file:
        content = file.read(MOST_BYTES)
    try:
        kept = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Broken(f"it is no JSON ({type(error).__name__})") from error
    path, body = (kept.get("path"), kept.get("body")) if isinstance(kept, dict) else (None, None)
    if not isinstance(path, str) or not isinstance(body, dict):
        raise Broken("it names no path with a body")
    return path, body


def drop(data_dir: str, name: str) -> None:
    """It was taken. Errors: ``OSError``."""
    os.unlink(os.path.join(folder(data_dir), name))


def set_aside(data_dir: str, name: str, reason: str) -> None:
    """Keep it out of the others' way, with the reason beside it. Errors: ``OSError``."""
    where = os.path.join(folder(data_dir), _ASIDE)
    os.makedirs(where, mode=0o700, exist_ok=True)
    os.replace(os.path.join(folder(data_dir), name), os.path.join(where, name))
    handle = os.open(os.path.join(where, f"{name}.why"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{reason}\n")


def set_aside_count(data_dir: str) -> int:
    """How many events were set aside."""
    try:
        return sum(1 for name in os.listdir(os.path.join(folder(data_dir), _ASIDE)) if _is_event(name))
    except OSError:
        return 0


def _is_event(name: str) -> bool:
    return name.endswith(_ENDING) and not name.startswith(".")


def _held(where: str) -> tuple[int, int]:
    """How many events wait and how many bytes, as their names tell."""
    sizes = [name.removesuffix(_ENDING).rpartition("-")[2] for name in os.listdir(where) if _is_event(name)]
    return len(sizes), sum(int(size) for size in sizes if size.isdigit() and len(size) < 12)


def _away(file: str) -> None:
    try:
        os.unlink(file)
    except OSError:
        return
