"""What the engine asks of the index by meaning: one form, with no model and no Chroma behind it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from worker.contract.search import Degraded
from worker.store.vectors import Stored

if TYPE_CHECKING:  # numpy is loaded after the port is open
    from worker.projection.embed import Matrix, Multiply, Vector


@dataclass(frozen=True, slots=True)
class Thought:
    """A question as a model holds it. model: whose stored vectors it can be compared with.

    vectors, offsets: of its tokens, where the model tells: a row for each, and where it stands in the question.
    multiply: how they are compared in the least time, where the model knows.
    """

    model: str
    vector: "Vector"
    vectors: "Matrix | None" = None
    offsets: tuple[tuple[int, int], ...] = ()
    multiply: "Multiply | None" = None


class Shelf(Protocol):
    """What is stored of records, in one state of the file."""

    @property
    def stamp(self) -> int:
        """It grows whenever anything is stored."""
        ...

    def changed(self, model: str, after: int) -> Collection[int]:
        """Records of which anything was stored under a model's name since a stamp."""
        ...

    def vectors(self, model: str, docids: Sequence[int]) -> Iterable[Stored]:
        """The vectors of some records, in no order."""
        ...

    def tokens(self, model: str, docids: Sequence[int]) -> Mapping[int, bytes]:
        """What is kept of the tokens of some records."""
        ...


class Nearness(NamedTuple):
    """Cosines of a question with a record: with the whole of it, and the best with any part of it."""

    whole: float
    part: float


class Nearest(NamedTuple):
    """docids: of the nearest, nearest first. nearness: of these and of others, by docid."""

    docids: list[int]
    nearness: dict[int, Nearness]


class Comparing(Protocol):
    """What is to be compared with a question, once it is there."""

    def nearest(self, thought: Thought, most: int) -> Nearest:
        """The nearest, at most so many, and how near they are and the others that were named. To be asked once."""
        ...


class Unanswered(Exception):
    """Meaning has nothing to say to this question; ``reason`` tells why."""

    def __init__(self, reason: Degraded) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Meaning(Protocol):
    """Called from several threads at once; each call returns within a fixed time."""

    def exact_most(self) -> int:
        """Up to so many records are compared one by one; of more, it names the nearest itself."""
        ...

    def think(self, text: str) -> Future[Thought]:
        """Begin to understand a question; returns at once."""
        ...

    def work_beside(self) -> None:
        """Told by a thread that has something to do while another thinks about a question."""
        ...

    def settle(self, thought: Future[Thought]) -> Thought:
        """What was understood. Errors: ``Unanswered``."""
        ...

    def leaning(self, thought: Thought, weights: Sequence[float]) -> Thought:
        """The same question, leaning to some of its tokens. weights: one for each, not all 0."""
        ...

    def seek(self, thought: Thought, *, more: bool = False) -> Future[list[int]]:
        """Begin to look for some hundred records near a question; more: for several hundred. Returns at once."""
        ...

    def sought(self, seeking: Future[list[int]]) -> list[int]:
        """Docids of what was looked for, nearest first, each once. Errors: ``Unanswered``."""
        ...

    def read_ahead(self, docids: Sequence[int], shelf: Shelf) -> None:
        """Have at hand what is stored of records that will be compared with a question which is still on its way."""
        ...

    def read_tokens_ahead(self, docids: Sequence[int], shelf: Shelf) -> None:
        """The same of what is kept of their tokens."""
        ...

    def near(self, thought: Thought, docids: Sequence[int], shelf: Shelf) -> dict[int, Nearness]:
        """How near records are, in no order; what has no vectors is left out."""
        ...

    def comparing(self, docids: Sequence[int], shelf: Shelf, *, also: Sequence[int]) -> Comparing:
        """Have ready many records that other questions will be about too, to compare them with a question that is
        still on its way; and certain others, which may be among them."""
        ...

    def token_nearness(
        self, thought: Thought, weights: Sequence[float], docids: Sequence[int], shelf: Shelf
    ) -> dict[int, float]:
        """How near the question is to records token by token, by docid; nothing where its tokens are not known.

        weights: of its tokens.
        """
        ...
