"""The machine: the program, its folder and the disk below it."""

import importlib.util
import os
import platform
import shlex
import shutil
import stat
import tomllib
from pathlib import Path

from worker.cli.checks.finding import FAIL, OK, WARN, Case, Finding
from worker.contract import advice
from worker.contract.private_files import is_home, is_secret, private_files
from worker.contract.version import __version__

_NEEDED = (
    "textual", "httpx", "starlette", "uvicorn", "msgspec", "mcp", "snowballstemmer", "chromadb", "numpy", "onnxruntime",
    "tokenizers",
)  # fmt: skip
_ELSEWHERE = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "lustre",
    "vboxsf",
    "fuse.sshfs",
)
_KEYMAP = "keymap.toml"
_MOST_BYTES = 65_536


def installed(case: Case) -> Finding:
    """The program and the packages it stands on."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    what = f"claude-mem {__version__} on Python {platform.python_version()}"
    if missing:
        return Finding("installed", FAIL, f"{what} lacks {', '.join(missing)}", "install it again with `pip install .`")
    return Finding("installed", OK, what)


def folder(case: Case) -> Finding:
    """The data directory."""
    where = case.settings.data_dir
    above = _existing(where)
    if not above.is_dir():
        return Finding("folder", FAIL, f"{above} is no folder", "move it away, or set CLAUDE_MEM_DATA_DIR")
    if not os.access(above, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            "folder",
            FAIL,
            f"{above} cannot be read and written",
            f"`chown -R $USER {above}`, or set CLAUDE_MEM_DATA_DIR",
        )
    return Finding("folder", OK, f"{where} can be written" if above == where else f"{where} is made at the first start")


def file_system(case: Case) -> Finding:
    """Whether SQLite's locks hold where the memory lies."""
    kind = _kind_of(Path(os.path.realpath(_existing(case.settings.data_dir))))
    if kind in _ELSEWHERE:
        advice = "set CLAUDE_MEM_DATA_DIR to a folder on a disk of this machine"
        return Finding("file system", WARN, f"{kind}: the database's locks may not hold over a network", advice)
    return Finding("file system", OK, kind or "a kind that this system does not tell")


def disk(case: Case) -> Finding:
    """Room for what comes."""
    told = advice.disk(shutil.disk_usage(_existing(case.settings.data_dir)).free)
    return Finding("disk", told.state, told.message, told.advice)


def permissions(case: Case) -> Finding:
    """Whether others of this machine may read the memory."""
    where = case.settings.data_dir
    shut = where.exists() and not stat.S_IMODE(where.stat().st_mode) & 0o077
    open_files = [] if shut else [file for file in private_files(where) if stat.S_IMODE(file.stat().st_mode) & 0o077]
    if not open_files:
        return Finding("permissions", OK, "the files are the owner's alone")
    names = ", ".join(file.name for file in open_files[:5]) + (", ..." if len(open_files) > 5 else "")
    state = FAIL if any(map(is_secret, open_files)) else WARN
    which = ["chmod", "go=", *map(str, open_files)] if is_home(where) else ["chmod", "-R", "go=", str(where)]
    return Finding("permissions", state, f"others may read {names}", f"`{shlex.join(which)}`")


def keymap(case: Case) -> Finding:
    """Whether the terminal app can read a person's own keys. Which of them it knows, it tells itself."""
    file = case.settings.data_dir / _KEYMAP
    advice = f"mend {file}, or take it away: until then the usual keys are in force"
    try:
        with file.open("rb") as opened:
            wanted = tomllib.loads(opened.read(_MOST_BYTES).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return Finding("keymap", OK, "the usual keys")
    except OSError as error:
        return Finding("keymap", WARN, f"{_KEYMAP} cannot be read ({error.strerror or error})", advice)
    except (UnicodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        return Finding("keymap", WARN, f"{_KEYMAP} is no TOML: {error}", advice)
    return Finding("keymap", OK, f"{_KEYMAP} asks for {len(wanted)} change{'' if len(wanted) == 1 else 's'}")


def _existing(path: Path) -> Path:
    """The path itself, or what there is of the way to it."""
    return next(one for one in (path, *path.parents) if one.exists())


def _kind_of(path: Path) -> str:
    """The file system's name, empty where it is not told."""
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for fields, _, rest in (line.partition(" - ") for line in lines):
        point = fields.split()[4].replace("\\040", " ")
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, rest.split()[0]
    return kind
