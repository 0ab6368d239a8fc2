"""Corpus files: `<data dir>/corpora/<name>.corpus.json` in the original's form, whole or not there.

Source: contract/corpus.md, 1. ``deleted`` is our own: ids of records that were taken out because they were deleted
from memory; it is not written while there are none. ``lapsed``, our own too: the session that had read it was given up
for that reason, so that the next question has it read anew.
"""

import contextlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from worker.contract.corpus import CorpusFilter, CorpusInfo, CorpusStats, checked_name, is_name
from worker.contract.errors import Conflict, NotFound, Unavailable

_SUFFIX = ".corpus.json"
_MOST_NAMED = 20


class CorpusObservation(msgspec.Struct, frozen=True, kw_only=True):
    """A record in a corpus file."""

    id: int
    type: str
    title: str | None = None
    subtitle: str | None = None
    narrative: str | None = None
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    project: str = ""
    created_at: str = ""
    created_at_epoch: int = 0


class CorpusFile(msgspec.Struct, frozen=True, kw_only=True):
    """A corpus. observations: oldest first."""

    version: int = 1
    name: str
    description: str = ""
    created_at: str
    updated_at: str
    filter: CorpusFilter
    stats: CorpusStats
    system_prompt: str = ""
    session_id: str | None = None
    observations: tuple[CorpusObservation, ...] = ()
    deleted: tuple[int, ...] | UnsetType = UNSET
    lapsed: bool | UnsetType = UNSET

    @property
    def left_out(self) -> tuple[int, ...]:
        """Ids of records that are no longer in it."""
        return () if self.deleted is UNSET else self.deleted

    def info(self, missing: int = 0, notes: Iterable[str] = ()) -> CorpusInfo:
        """What is told of it. missing: records that are still in it and no longer in memory."""
        lacking = missing + len(self.left_out)
        return CorpusInfo(
            version=self.version,
            name=self.name,
            description=self.description,
            created_at=self.created_at,
            updated_at=self.updated_at,
            filter=self.filter,
            stats=self.stats,
            system_prompt=self.system_prompt,
            session_id=self.session_id,
            stale=lacking > 0,
            missing=lacking,
            notes=tuple(notes),
        )


class Shelf:
    """The folder of corpus files. Everything here blocks; it may be used from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Of the corpora that can be read, A to Z; none where there never was one. Errors: as ``all``."""
        return [corpus.name for corpus in self.all()]

    def all(self) -> Iterator[CorpusFile]:
        """Those that can be read, A to Z. Errors: ``Unavailable`` when the folder cannot be."""
        try:
            found = sorted(entry.name.removesuffix(_SUFFIX) for entry in self._folder.iterdir() if _is_corpus(entry))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise Unavailable(f"the folder of corpora cannot be read ({error.strerror or error})") from error
        for name in found:
            if (corpus := self.peek(name)) is not None:
                yield corpus

    def read(self, name: str) -> CorpusFile:
        """One of them; what cannot be read is not there, as in the original. Errors: ``Invalid``, ``NotFound``."""
        if (corpus := self.peek(checked_name(name))) is not None:
            return corpus
        there = self.names()
        more = f" and {len(there) - _MOST_NAMED} more" if len(there) > _MOST_NAMED else ""
        known = f"there are: {', '.join(there[:_MOST_NAMED])}{more}" if there else "there is none yet"
        raise NotFound(
            f'Corpus "{name}" not found; {known}. Check the name or build a new one',
            field="name",
            fix="Check the corpus name or build a new one",
            available=tuple(there),
        )

    def write(self, corpus: CorpusFile) -> None:
        """Put it in its place, which another may have had. Errors: ``Invalid``, ``Conflict``, ``Unavailable``."""
        place = self._place(checked_name(corpus.name))
        encoded = msgspec.json.format(msgspec.json.encode(corpus), indent=2)
        beside = self._folder / f".{secrets.token_hex(8)}.part"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(encoded)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(place)
        except IsADirectoryError as error:
            raise Conflict(f"there is a folder where {place.name} should be", field="name") from error
        except OSError as error:
            raise Unavailable(f"the corpus cannot be written ({error.strerror or error})") from error
        finally:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Take it away. Errors: ``Invalid``, ``NotFound``, ``Unavailable``."""
        self.read(name)
        try:
            self._place(name).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(f"the corpus cannot be deleted ({error.strerror or error})") from error

    def _place(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"

    def peek(self, name: str) -> CorpusFile | None:
        """One of them if it is there. name: one that a corpus can have."""
        try:
            corpus = _decoded(self._place(name).read_bytes())
        except (OSError, ValueError, RecursionError):  # msgspec's and json's errors are ValueErrors
            return None
        return msgspec.structs.replace(corpus, name=name)  # a copy under another name is another corpus


def _is_corpus(entry: Path) -> bool:
    return entry.name.endswith(_SUFFIX) and is_name(entry.name.removesuffix(_SUFFIX))


def _decoded(raw: bytes) -> CorpusFile:
    """The content of a file. The original writes halves of surrogate pairs, where it cut a text within an emoji."""
    try:
        return msgspec.json.decode(raw, type=CorpusFile)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        whole = json.dumps(json.loads(raw), ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.json.decode(whole, type=CorpusFile)
