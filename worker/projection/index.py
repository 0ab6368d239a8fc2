"""What holds many vectors and finds the nearest: Chroma, or a stand-in of tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from worker.projection.embed import Vector

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Fragment:
    """One document of a record, as the index holds it. id: `obs_12_fact_0`; the text itself stays in SQLite."""

    id: str
    vector: Vector
    metadata: Mapping[str, Value]


class Match(NamedTuple):
    """A document near a vector; a tuple, because a question gets hundreds. similarity: cosine, larger is nearer."""

    id: str
    similarity: float


class VectorIndex(Protocol):
    """An open collection. Blocking. One thread at a time writes; others may ask for what is near meanwhile.

    Errors of all: ``Unavailable`` with the reason, when the index cannot be used.
    """

    @property
    def generation(self) -> str:
        """Made up when the collection was created: another one is another collection, which holds nothing of ours."""
        ...

    def upsert(self, fragments: Sequence[Fragment]) -> None:
        """Write documents, over those of the same ids; any number, any id twice."""
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Remove documents; ids that are not there do no harm."""
        ...

    def nearest(self, vector: Vector, count: int) -> list[Match]:
        """The nearest documents, nearest first; fewer when there are fewer."""
        ...

    def ids(self) -> Iterator[Sequence[str]]:
        """All document ids, page by page."""
        ...

    def count(self) -> int:
        """How many documents it says it holds."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
