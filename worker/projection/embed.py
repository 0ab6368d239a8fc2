"""What turns texts into vectors, whichever model does it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
"""float32 [dimension], unit length."""

Matrix: TypeAlias = NDArray[np.float32]
"""float32 [n, dimension], a vector each row."""

Bits: TypeAlias = NDArray[np.uint8]
"""[n, m], whole numbers of a byte; of the signs of tokens each is 0 or 1."""

Digits: TypeAlias = NDArray[np.int8]

Multiply: TypeAlias = Callable[[Bits, Digits, Matrix], Matrix]
"""``bits @ digits @ join``, the first product in whole numbers."""

Kind = Literal["query", "document"]
"""Some models want to be told whether a text asks or answers."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as a model reads it. vector: the text's own; vectors: a row of unit length for each token.

    offsets: where each token stands in the text, in characters; (0, 0) for those that the model puts around it.
    spelled: how the model spells each.
    """

    vector: Vector
    vectors: Matrix
    offsets: tuple[tuple[int, int], ...]
    spelled: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """Documents as a model reads them. vectors: a row for each; tokens: of those that were chosen, by position."""

    vectors: Matrix
    tokens: Mapping[int, Tokens]


@runtime_checkable
class Reader(Protocol):
    """What an embedder may also be: one that tells what it makes of every token."""

    def read(self, text: str) -> Tokens:
        """A text token by token. Errors: as ``Embedder.embed``."""
        ...

    def read_documents(self, texts: Sequence[str], chosen: Collection[int], pause: Callable[[], None]) -> Reading:
        """What ``Embedder.embed`` gives for documents, and the tokens of some, by position; each is run once.

        pause: called before each run, the longest time in which nobody is made way for.
        """
        ...


@runtime_checkable
class Multiplying(Protocol):
    """What a reader may also be: one whose runtime multiplies whole numbers sooner than numpy does floats."""

    def multiplied(self, bits: Bits, digits: Digits, join: Matrix) -> Matrix:
        """See ``Multiply``. Callable from several threads at once. Errors: as ``Embedder.embed``."""
        ...


class Embedder(Protocol):
    """A model, loaded. name: of the model and its variant; vectors of different names are never mixed.

    max_tokens: what is longer is cut.
    """

    @property
    def name(self) -> str:
        """Of the model and its variant."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that are read; the rest is cut."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """A vector for each text, in their order; a zero row for a text without anything in it.

        Blocking, and callable from several threads at once. Errors: ``Unavailable`` with advice.
        """
        ...
