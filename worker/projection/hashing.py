"""A model without weights: words and pieces of words, hashed. For tests, and for machines without onnxruntime.

Texts are near when they share words, or words of the same stem; it knows nothing of meaning. The same text has the
same vector in every process and on every machine.
"""

import re
import unicodedata
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from worker.contract.settings import Embedding
from worker.projection.embed import Kind, Matrix
from worker.projection.excerpt import excerpt

NAME = "hash-v1"
DIMENSION = 384
MAX_TOKENS = 256

_TOKEN = re.compile(r"\w+|[^\w\s\x00-\x7f]")
_MOST_CHARS = MAX_TOKENS * 16
_PIECE_WEIGHT = 0.4
"""Of a piece beside a whole word's 1: a word has several."""


class Hashing:
    """The embedder; holds nothing."""

    name = NAME
    dimension = DIMENSION
    max_tokens = MAX_TOKENS

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """A vector for each text, in their order."""
        found = np.zeros((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            for feature, weight in _features(text).items():
                code = zlib.crc32(feature.encode())
                # The highest bit is the sign: what falls into one place by chance cancels out on the average.
                found[row, code % DIMENSION] += weight if code >> 31 else -weight
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        return found


def load(wanted: Embedding) -> Hashing:
    """The embedder."""
    return Hashing()


def _features(text: str) -> Mapping[str, float]:
    """What a text is made of, each with its weight; a word said often counts little more than one said once."""
    plain = unicodedata.normalize("NFKC", excerpt(text, _MOST_CHARS)).casefold()
    words = Counter(_TOKEN.findall(plain)[:MAX_TOKENS])
    weights: defaultdict[str, float] = defaultdict(float)
    for word, times in words.items():
        often = float(np.sqrt(times))
        weights[f"w {word}"] += often
        for piece in _pieces(word):
            weights[f"p {piece}"] += often * _PIECE_WEIGHT
    return weights


def _pieces(word: str) -> Iterator[str]:
    """Overlapping pieces: three letters of a word in its borders, two characters of other scripts."""
    width, framed = (3, f"<{word}>") if word.isascii() else (2, word)
    for start in range(len(framed) - width + 1):
        yield framed[start : start + width]
