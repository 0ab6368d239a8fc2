"""The settings as a whole: every key with its value, and changes written back without losing anything.

Values: environment, then the file, then the default. What the file holds beyond the known keys is shown and kept.
"""

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from worker.contract import known_settings
from worker.contract.errors import Conflict, Invalid
from worker.contract.known_settings import DEFAULTS, checked, looks_masked, masked, may_be_blank
from worker.contract.settings import FILE_NAME, default_port, read_file


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a request to change settings.

    keys: with a new value in the file. ignored: no settings, left out. restart: of ``keys``, those that a running
    worker does not read again. overruled: of ``keys``, those that the environment sets, which goes first.
    """

    keys: tuple[str, ...]
    ignored: tuple[str, ...]
    restart: tuple[str, ...]
    overruled: tuple[str, ...]


def shown(data_dir: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """Every known key as text and every other key of the file as it is; secrets masked. Errors: ``Conflict``."""
    return _shown(_flat(_stored(data_dir)), data_dir, environ)


def change(data_dir: Path, changes: Mapping[str, object], environ: Mapping[str, str]) -> Changed:
    """Write new values, all of them or none. What equals the value that is shown is no change.

    Errors: ``Invalid`` naming the key; ``Conflict`` for a file that is no JSON object or cannot be written.
    """
    stored = _stored(data_dir)
    flat = _flat(stored)
    before = _shown(flat, data_dir, environ)
    new: dict[str, object] = {}
    ignored: list[str] = []
    for key, value in changes.items():
        if key in before and value == before[key]:
            continue
        if looks_masked(key, value):
            raise Invalid(f"{key} is masked: send the whole value, or leave it out", field=key)
        if key in DEFAULTS:
            new[key] = checked(key, value)
        elif key in flat:
            new[key] = value
        else:
            ignored.append(key)
    new = {key: value for key, value in new.items() if key not in flat or flat[key] != value}
    if new:
        _write(data_dir / FILE_NAME, _merged(stored, new))
    return Changed(
        tuple(new),
        tuple(ignored),
        tuple(key for key in new if key in known_settings.RESTART),
        tuple(key for key in new if key in environ),
    )


def defaults(data_dir: Path) -> dict[str, str]:
    """Every known key with its default on this machine, in the file's order."""
    port = default_port()
    server = f"http://127.0.0.1:{port - 37700 + 37877}"
    return DEFAULTS | {
        "CLAUDE_MEM_WORKER_PORT": str(port),
        "CLAUDE_MEM_DATA_DIR": str(data_dir),
        "CLAUDE_MEM_TRANSCRIPTS_CONFIG_PATH": str(data_dir / "transcript-watch.json"),
        "CLAUDE_MEM_CLOUD_SYNC_DEVICE_NAME": os.uname().nodename if hasattr(os, "uname") else "",
        "CLAUDE_MEM_QUEUE_REDIS_PREFIX": f"claude_mem_{port}",
        "CLAUDE_MEM_SERVER_URL": server,
        "CLAUDE_MEM_SERVER_BETA_URL": server,
    }


def _shown(flat: Mapping[str, Any], data_dir: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, default in defaults(data_dir).items():
        given = (_text(source[key]) for source in (environ, flat) if source.get(key) is not None)
        values[key] = next((text for text in given if text or may_be_blank(key)), default)
    # Where it is served from is beyond what any file says.
    values["CLAUDE_MEM_DATA_DIR"] = str(data_dir)
    values |= {key: value for key, value in flat.items() if key not in DEFAULTS}
    return {key: masked(key, value) for key, value in values.items()}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.strip() if isinstance(value, str) else msgspec.json.encode(value).decode()


def _stored(data_dir: Path) -> dict[str, Any]:
    try:
        return read_file(data_dir / FILE_NAME)
    except Invalid as error:
        # The request is in order; the file stands in its way.
        raise Conflict(error.message, field=error.field) from error


def _flat(stored: Mapping[str, Any]) -> dict[str, Any]:
    nested = stored.get("env")
    if not isinstance(nested, dict):
        return dict(stored)
    return {**nested, **{key: value for key, value in stored.items() if key != "env"}}


def _merged(stored: Mapping[str, Any], new: Mapping[str, object]) -> dict[str, Any]:
    """The file's next content: flat, unless other keys stand beside an ``env``; then both places say the same."""
    nested = stored.get("env")
    if not isinstance(nested, dict):
        return {**stored, **new}
    if len(stored) == 1:
        return {**nested, **new}
    return {**stored, **new, "env": {**nested, **{key: value for key, value in new.items() if key in nested}}}


def _write(file: Path, content: dict[str, Any]) -> None:
    """The old file or the new one, whole, whatever happens in between; readable by its owner alone."""
    target = Path(os.path.realpath(file))  # a link into somebody's dotfiles stays a link
    aside = target.with_name(f".{target.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, target)
    except OSError as error:
        raise Conflict(f"{file} cannot be written ({error.strerror or error})", field=FILE_NAME) from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()
