"""Where something happened: the project that it is filed under, and whether anything of it is taken. Looks at files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from worker.capture import gate
from worker.capture.gate import Rules
from worker.contract.clean import cleaned
from worker.contract.project_name import is_left_out, project_of
from worker.store.capturing import UNKNOWN


@dataclass(frozen=True, slots=True)
class Place:
    """project: None in a folder for temporary things. parent: to which that belongs. refused: why it is not taken."""

    cwd: str | None
    project: str | None
    parent: str | None
    refused: str | None


def place_of(rules: Rules, cwd: str, project: str | None) -> Place:
    """The place of an event. project: as the event itself tells it, None if it does not."""
    found = project_of(cwd, temp_dirs=rules.temp_dirs) if cwd.strip() else None
    names = tuple(name for name in (project, *(found.names if found else ())) if name)
    refused = gate.of_folder(rules, _forms(cwd), names, marked=is_left_out(cwd, opt_in=rules.opt_in))
    named = project if project not in (None, "", UNKNOWN) else (found.name if found else None)
    parent = found.parents[0] if found and found.parents and named == found.name else None
    return Place(short(cwd, 4096), short(named), short(parent), refused)


def filed(place: Place, aliases: Mapping[str, str]) -> Place:
    """The same place where its projects go by other names. aliases: name → the one that counts."""
    project, parent = (None if name is None else aliases.get(name, name) for name in (place.project, place.parent))
    return replace(place, project=project, parent=None if parent == project else parent)


def short(text: str | None, most: int = 512) -> str | None:
    """A name or path as it is kept; None for an empty one."""
    return (cleaned(text[:8192]).strip()[:most] or None) if text else None


def _forms(cwd: str) -> tuple[str, ...]:
    """A folder as it is named, and as it is without the links on its way."""
    if not os.path.isabs(cwd) or "\0" in cwd:
        return (cwd,)
    return tuple({os.path.normpath(cwd), os.path.realpath(cwd)})
