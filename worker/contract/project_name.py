"""What the folder that an agent works in is called: the name under which its memories are filed. Light: hooks use it.

It is told from files alone, without a git at hand: a repository's folder, the file that leads from a worktree or a
submodule to its repository. Nothing here fails: what cannot be read is as if it were not there.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

NOWHERE = "unknown-project"
MARKER = ".claude-mem-off"
"""A file of this name in a folder: nothing that happens in it, or below it, is kept, and nothing is given to it."""
CHOSEN = ".claude-mem-on"
"""Where memory is kept only of folders that were chosen: a file of this name chooses a folder and what is below it."""
TEMP = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/private/var/folders", "/var/folders", "/dev/shm")
"""Folders for temporary things, wherever a system puts them."""
BELOW = "/*"
"""At the end of a project's name in a question: its worktrees count too."""
_MOST_CHARS = 4_096
_DEEPEST = 64
_UNSHOWN = "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+"


class ProjectName(NamedTuple):
    """name: of the project. parents: of what it belongs to and whose memories it shares, the nearest first.

    A worktree is `repository/worktree` and belongs to `repository`; a submodule belongs to what it is part of.
    top: the folder of the working tree; None where there is no repository.
    """

    name: str
    parents: tuple[str, ...] = ()
    top: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All whose memories are of use here."""
        return (self.name, *self.parents)


def is_whole(cwd: str) -> bool:
    """Whether a text can be the whole path of a folder, of this system or of another."""
    rooted = os.path.isabs(cwd) or cwd[:1] == "\\" or (cwd[1:2] == ":" and cwd[:1].isalpha())
    return rooted and "\0" not in cwd and len(cwd) <= _MOST_CHARS


def with_worktrees(name: str) -> str:
    """What asks for a project and all its worktrees, by the name of any of them: `shop/*` for `shop` and `shop/fix`."""
    return name.removesuffix(BELOW).partition("/")[0] + BELOW


def head(name: str) -> str | None:
    """The project whose worktrees are asked for too; None where a name stands for itself alone."""
    return name.removesuffix(BELOW) if name.endswith(BELOW) and len(name) > len(BELOW) else None


def together(known: Mapping[str, str], project: str) -> tuple[str, ...]:
    """All names that a project goes by, its own first. known: alias → the project it stands for."""
    top = head(project)
    own = project if top is None else top
    first = known.get(own, own)
    names = dict.fromkeys((own, first, *(alias for alias, other in known.items() if other == first)))
    return tuple(name if top is None else name + BELOW for name in names)


def is_one_of(project: str, asked: Iterable[str]) -> bool:
    """Whether a project is one of those that are asked for; `shop/*` is `shop` and each of its worktrees."""
    heads = ((name, head(name)) for name in asked)
    return any(project == (top or name) or (top is not None and project.startswith(f"{top}/")) for name, top in heads)


def project_of(cwd: str, *, temp_dirs: tuple[str, ...] = TEMP) -> ProjectName | None:
    """The project of a folder, which need not exist any more; None in a folder for temporary things.

    A repository in such a folder is a project as any other. A file stands for the folder that it is in. What is no
    whole path has no name of its own: all of it is ``NOWHERE``, as the root is.
    """
    if not is_whole(cwd):
        return ProjectName(NOWHERE)
    folder = _real(cwd)
    if os.path.isfile(folder):
        cwd, folder = os.path.dirname(os.path.normpath(cwd)), os.path.dirname(folder)
    top = _top(folder)
    if top is not None:
        return _of_repository(top)
    if folder and any(_is_in(folder, temp) or _is_in(cwd, temp) for temp in temp_dirs):
        return None
    name = _shown(os.path.basename(os.path.normpath(cwd.rstrip("\\").replace("\\", "/"))))
    if len(name) == 2 and name[1] == ":" and name[0].isalpha():
        return ProjectName(f"drive-{name[0].upper()}")
    return ProjectName(name or NOWHERE)


def parents_of(folder: str) -> list[str]:
    """A folder and all above it, the nearest first."""
    found = [os.path.abspath(folder)]
    while len(found) < _DEEPEST and (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def _shown(name: str) -> str:
    """A name without what would break a line, or turn it around, wherever it is shown."""
    return name if name.isprintable() else re.sub(_UNSHOWN, " ", name).strip()


def _real(cwd: str) -> str:
    """The folder without links on its way, as git tells it; empty for what is no path of this machine."""
    try:
        return os.path.realpath(cwd) if os.path.isabs(cwd) else ""
    except (OSError, ValueError):
        return ""


def is_marked(cwd: str, marker: str = MARKER) -> bool:
    """Whether somebody put a ``MARKER`` into a folder or into one above it, of a repository or not."""
    if not os.path.isabs(cwd):
        return False
    try:
        return any(os.path.lexists(os.path.join(folder, marker)) for folder in parents_of(cwd))
    except ValueError:
        return False


def is_left_out(cwd: str, *, opt_in: bool) -> bool:
    """Whether somebody wants nothing kept of a folder. opt_in: also where nobody chose it."""
    return is_marked(cwd) or (opt_in and not is_marked(cwd, CHOSEN))


def _is_in(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(other.rstrip("/") + "/")


def _top(folder: str) -> str | None:
    if not folder:
        return None
    return next((each for each in parents_of(folder) if os.path.lexists(os.path.join(each, ".git"))), None)


def _of_repository(top: str) -> ProjectName:
    own = _shown(os.path.basename(top)) or NOWHERE
    git = _led_to(top)
    if git is None:
        return ProjectName(own, top=top)
    common = _text(os.path.join(git, "commondir"))
    if common:
        main = _main_name(os.path.normpath(os.path.join(git, common)))
        return ProjectName(f"{main}/{own}", (main,), top)
    if "/modules/" in git.replace("\\", "/"):
        above = _top(os.path.dirname(top))
        if above is not None:
            return ProjectName(own, _of_repository(above).names, top)
    return ProjectName(own, top=top)


def _led_to(top: str) -> str | None:
    """The folder that a `.git` file leads to; None where `.git` is the folder itself."""
    said = _text(os.path.join(top, ".git"))
    if not said.startswith("gitdir:"):
        return None
    return os.path.normpath(os.path.join(top, said.removeprefix("gitdir:").strip()))


def _main_name(common: str) -> str:
    """What a repository is called whose files of git are in this folder."""
    name = os.path.basename(common)
    if name.startswith("."):  # `.git`, or `.bare` beside the worktrees
        return os.path.basename(os.path.dirname(common)) or NOWHERE
    return name.removesuffix(".git") or NOWHERE


def _at_once(file: str, flags: int) -> int:
    """Opened without waiting for who writes into it, should it be a pipe."""
    return os.open(file, flags | getattr(os, "O_NONBLOCK", 0))


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace", opener=_at_once) as opened:
            return opened.read(_MOST_CHARS).strip()
    except (OSError, ValueError):
        return ""
