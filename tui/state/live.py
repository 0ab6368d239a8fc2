"""Pure: new records as they come: let in by themselves, or kept out for a while."""

from msgspec import Struct

from worker.contract.records import RecordKey


class Live(Struct, frozen=True):
    """on: new records are let in by themselves. paused: nothing changes what is shown, whatever comes.

    missed: what came meanwhile makes it worth reading all anew. queued: the last that was told meanwhile of what waits
    to be understood; None: nothing was. gone: deleted meanwhile.
    """

    on: bool = False
    paused: bool = False
    missed: bool = False
    queued: int | None = None
    gone: frozenset[RecordKey] = frozenset()


class Followed(Struct, frozen=True):
    """New records are to come in by themselves, or no longer."""

    on: bool


class Paused(Struct, frozen=True):
    """What is shown is to stay as it is, or to go on."""

    on: bool


LiveFact = Followed | Paused
