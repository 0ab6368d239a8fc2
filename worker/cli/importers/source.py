"""What every reader gives: rows in an order in which they can be stored, and their places in the file."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from worker.contract.transfer import RowKind


@dataclass(frozen=True, slots=True)
class Row:
    """A row to import.

    at: which of its kind, from 0. mark: where it stands, in the reader's own unit. size: bytes, about.
    done: how much of ``Source.total`` is behind it. replaced: whether there is U+FFFD in it for what is no Unicode.
    """

    kind: RowKind
    at: int
    value: dict[str, Any]
    size: int
    mark: int
    done: int
    replaced: bool = False

    @property
    def name(self) -> str:
        """`observations[3]`."""
        return f"{self.kind.plural}[{self.at}]"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is no row that can be stored. name: `observations[3].created_at_epoch`. place: `line 17`."""

    name: str
    place: str
    problem: str


class Source(Protocol):
    """An opened file. form: what it is, for people. total: how much there is, in any unit."""

    form: str
    total: int

    def rows(self) -> Iterator[Row | LeftOut]:
        """Everything in it, once. Errors: ``Invalid`` when reading on makes no sense."""

    def place(self, row: Row) -> str:
        """Where a row stands in the file, for people."""

    def close(self) -> None:
        """Let go of the file."""
