"""What finds records by words: one form, two modules that have it (``listing`` by FTS5, ``plain`` without)."""

from collections.abc import Sequence
from typing import Protocol

from worker.contract.records import RecordKind
from worker.contract.search import Order
from worker.store.axis import Run
from worker.store.filters import Condition, Part
from worker.store.listing import Group, Ranked
from worker.store.standing import Atom
from worker.store.tables import Connection


class Finder(Protocol):
    """Takes an expression as ``search.terms`` makes it; empty, it finds all that fit the filters."""

    def search(
        self, connection: Connection, match: str, where: Condition, *, order: Order, limit: int, offset: int
    ) -> list[Ranked]:
        """A page of the records that an expression finds, best first or by time."""
        ...

    def count(
        self, connection: Connection, match: str, where: Condition, *, ranked: bool = False
    ) -> dict[RecordKind, int]:
        """How many of each kind there are. ranked: the best of them are asked for next."""
        ...

    def groups(self, connection: Connection, match: str, where: Condition) -> list[Group]:
        """By kind, type and project."""
        ...

    def concepts(self, connection: Connection, match: str, where: Condition, most: int) -> list[tuple[str, int]]:
        """By concept, the most frequent ones."""
        ...

    def histogram(
        self, connection: Connection, match: str, where: Condition, runs: Sequence[Run]
    ) -> list[tuple[int, str, int]]:
        """By time and type."""
        ...

    def found(self, match: str) -> Part:
        """The docids, as a question within another."""
        ...

    def standing(self, connection: Connection, exact: str, near: str, phrase: Sequence[Atom]) -> tuple[int, ...]:
        """The docids of what is near a phrase and has it, besides what has it exactly (see ``search.phrases``)."""
        ...
