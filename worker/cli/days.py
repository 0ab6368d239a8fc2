"""Records by project and local day, as Markdown: a folder for a project, a file for a day.

Rows come kind by kind; on disk they wait sorted into days, so that no more than one day is held.
"""

import contextlib
import hashlib
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from worker.cli.day_text import Entry, day_text
from worker.cli.output import written
from worker.contract import when
from worker.contract.transfer import RowKind

_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f/\\:*?\"<>|]|^[.\s-]+|[.\s]+$")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_MOST_CHARS = 60

Key = tuple[str, str]


class Days:
    """What an export holds, waiting on disk to be written out; open it with ``spool``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[Key, Path] = {}

    def take(self, pages: Iterable[tuple[RowKind, Sequence[msgspec.Raw]]]) -> None:
        """Sort rows into days; sessions are no records and play no part."""
        for kind, rows in pages:
            by_day: dict[Key, list[bytes]] = {}
            for raw in rows if kind is not RowKind.SESSION else ():
                entry = Entry(kind, msgspec.json.decode(raw))
                key = (entry.project, when.at_ms(entry.epoch).strftime("%Y-%m-%d"))
                by_day.setdefault(key, []).append(msgspec.json.encode(entry) + b"\n")
            for key, lines in by_day.items():
                file = self._files.setdefault(key, self._folder / str(len(self._files)))
                with file.open("ab") as waiting:
                    waiting.writelines(lines)

    def texts(self) -> Iterator[tuple[Key, str]]:
        """((project, day), Markdown), by project, then by day."""
        for key in sorted(self._files, key=lambda key: (key[0].casefold(), *key)):
            with self._files[key].open("rb") as waiting:
                entries = [msgspec.json.decode(line, type=Entry) for line in waiting]
            yield key, day_text(*key, sorted(entries, key=lambda entry: entry.place))

    def write_folder(self, folder: Path) -> None:
        """Write `<project>/<day>.md`, each file whole and for its owner alone; files of other days stay.

        Errors: ``OSError``.
        """
        names: dict[str, str] = {}
        # By itself: of folders that are made on the way to another, the mode is whatever the umask leaves.
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for (project, day), text in self.texts():
            place = folder / folder_name(project, names)
            place.mkdir(mode=0o700, exist_ok=True)
            with written(str(place / f"{day}.md"), lasting=False) as file:
                file.write(text.encode())


@contextlib.contextmanager
def spool() -> Iterator[Days]:
    """A place on disk, gone with the block. Errors: ``OSError``."""
    with tempfile.TemporaryDirectory(prefix="claude-mem-export-") as folder:
        yield Days(Path(folder))


def folder_name(project: str, names: dict[str, str]) -> str:
    """A folder name for a project that leads nowhere else, on any file system, and is no other project's.

    names: those given so far, folded → project; filled by this function.
    """
    name = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", project))[:_MOST_CHARS].rstrip(". ") or "no-project"
    if name != project and project or _RESERVED.fullmatch(name) or names.get(name.casefold(), project) != project:
        name = f"{name}-{hashlib.sha256(project.encode('utf-8', 'replace')).hexdigest()[:6]}"
    names[name.casefold()] = project
    return name
