"""Pure: a record on the whole screen: what is related to it, and the way from one to the next and back."""

from collections.abc import Callable, Set

from msgspec import Struct
from msgspec.structs import replace

from worker.contract.records import RecordKey
from worker.contract.search import Entry

JUMPS = 9
"""As many as there are digits to jump by."""


class Reading(Struct, frozen=True):
    """open: a record fills the screen. entry: the one jumped to; None: that of the list's cursor.

    back, on: where the way came from and where it was gone back from, the nearest last and first.
    related_to: whose relatives these are. prompt: what was asked when it was found out. session, files: records of the
    same session, and about the same files.
    """

    open: bool = False
    entry: Entry | None = None
    back: tuple[Entry, ...] = ()
    on: tuple[Entry, ...] = ()
    related_to: RecordKey | None = None
    prompt: Entry | None = None
    session: tuple[Entry, ...] = ()
    files: tuple[Entry, ...] = ()

    @property
    def related(self) -> tuple[Entry, ...]:
        """All of them in the order of their numbers."""
        first = (self.prompt,) if self.prompt is not None else ()
        return (*first, *self.session, *self.files)[:JUMPS]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All records that can be got to from here, and the one that was."""
        here = (self.entry,) if self.entry is not None else ()
        asked = (self.prompt,) if self.prompt is not None else ()
        return (*here, *self.back, *self.on, *asked, *self.session, *self.files)


class Begun(Struct, frozen=True):
    """A record fills the screen."""


class Ended(Struct, frozen=True):
    """Back to the list."""


class Jumped(Struct, frozen=True):
    """From one record to a related one."""

    here: Entry
    to: Entry


class WentBack(Struct, frozen=True):
    """To where the last jump came from."""

    here: Entry


class WentOn(Struct, frozen=True):
    """To where it was gone back from."""

    here: Entry


class Related(Struct, frozen=True):
    """What is related to a record."""

    key: RecordKey
    prompt: Entry | None
    session: tuple[Entry, ...]
    files: tuple[Entry, ...]


class Opened(Struct, frozen=True):
    """A record fills the screen that is not the one of the list's cursor."""

    entry: Entry


ReadingFact = Opened | Begun | Ended | Jumped | WentBack | WentOn | Related


def after(reading: Reading, fact: ReadingFact) -> Reading:
    """The reading after a fact."""
    match fact:
        case Begun():
            return Reading(open=True)
        case Opened(entry):
            return Reading(open=True, entry=entry)
        case Ended():
            return Reading()
        case Jumped(here, to):
            return replace(reading, entry=to, back=(*reading.back, here), on=())
        case WentBack(here) if reading.back:
            return replace(reading, entry=reading.back[-1], back=reading.back[:-1], on=(here, *reading.on))
        case WentOn(here) if reading.on:
            return replace(reading, entry=reading.on[0], back=(*reading.back, here), on=reading.on[1:])
        case Related(key, prompt, session, files):
            return replace(reading, related_to=key, prompt=prompt, session=session, files=files)
        case _:
            return reading


def stepped(reading: Reading) -> Reading:
    """The list's cursor moved: its record is read now."""
    return replace(reading, entry=None) if reading.entry is not None else reading


def without(reading: Reading, keys: Set[RecordKey]) -> Reading:
    """No way leads to these records any more; the one that is read stays."""
    if not any(entry.key in keys for entry in reading.entries):
        return reading
    return replace(
        reading,
        back=_left(reading.back, keys),
        on=_left(reading.on, keys),
        prompt=reading.prompt if reading.prompt is not None and reading.prompt.key not in keys else None,
        session=_left(reading.session, keys),
        files=_left(reading.files, keys),
    )


def _left(entries: tuple[Entry, ...], keys: Set[RecordKey]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.key not in keys)


def renewed(reading: Reading, now: Callable[[Entry], Entry]) -> Reading:
    """The same, with its records as they are now."""
    if all(now(entry) is entry for entry in reading.entries):
        return reading
    return replace(
        reading,
        entry=now(reading.entry) if reading.entry is not None else None,
        back=tuple(map(now, reading.back)),
        on=tuple(map(now, reading.on)),
        prompt=now(reading.prompt) if reading.prompt is not None else None,
        session=tuple(map(now, reading.session)),
        files=tuple(map(now, reading.files)),
    )
