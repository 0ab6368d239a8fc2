"""Pure: questions and records compared token by token, from one bit a number.

For each token of a question the nearest token of the record counts, weighed by how rare its word is. The model has made
the vectors of a record's tokens anyway when it made the record's own. Their signs alone rank as well as the numbers do
(chats 76.4 of 76.5, developers' questions 82.9 of 82.7), and words that tell nothing need not be kept: 75 tokens and
3.6 KB a record, where float16 would take 130 KB and 64 principal components a byte each, which rank worse, 4.8 KB.
Keeping them adds 1 % to the CPU of embedding. Where meaning alone ranks they tell most (nDCG@10 of 71 to 179 questions
each): chats 63.1 → 68.1, developers' questions 75.8 → 80.2, their records 84.3 → 87.5, code 62.0 → 62.1.

A sign is a bit, and a product of bits and whole numbers of a byte is what processors are quickest at. So each number of
the question is written in digits (``rounding``). Comparing fifty records takes 0.8 ms so, and 1.8 where each has all
the 250 tokens that the model reads (as floats 1.0 and 3.0): much of what is left to do when a question has its vector.
Halves on two threads take as long as one after the other, even with a core for each: each asks for Python's turn.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from worker.projection import rounding
from worker.projection.embed import Bits, Digits, Matrix, Multiply, Tokens, Vector

_AT_ONCE = 800
"""Tokens spread out at a time, 300 KB as bits: more of them leave the processor's cache."""
_SUMS_AT_ONCE = 2**18
"""Sums made at a time, 1 MB of them; a question as long as the model reads takes 762 of a token."""


def telling(tokens: Sequence[str], is_common: Callable[[str], bool]) -> list[bool]:
    """Which tokens of a record are worth keeping: those with a letter or digit that are no common word; all, where
    none is. tokens: as the model spells them, without those that it puts around a text."""
    found = [any(map(str.isalnum, token)) and not is_common(token.lower()) for token in tokens]
    return found if any(found) else [True] * len(found)


def packed(tokens: Matrix) -> bytes:
    """The signs of token vectors, 48 bytes for each of 384 numbers. tokens: [n, dimension], of any length."""
    return np.packbits(tokens > 0, axis=1).tobytes()


def kept(read: Tokens, is_common: Callable[[str], bool]) -> bytes:
    """What is kept of a record's tokens: of those that tell something, the signs."""
    own = [at for at, (start, end) in enumerate(read.offsets) if start < end]
    chosen = telling([read.spelled[at] for at in own], is_common)
    return packed(read.vectors[[at for at, tells in zip(own, chosen, strict=True) if tells]])


def width(dimension: int) -> int:
    """Bytes of a packed token."""
    return -(-dimension // 8)


def nearness(
    question: Matrix, weights: Sequence[float], records: Mapping[int, bytes], multiply: Multiply | None = None
) -> dict[int, float]:
    """How near the tokens of a question are to those of each record: a mean of cosines, larger is nearer.

    question: [n, dimension], rows of unit length; weights: of its tokens (``emphasis``). records: what ``packed`` gave.
    multiply: the quickest way there is here. Records of another length are left out; so are all, where no token weighs
    anything.
    """
    size = width(question.shape[1])
    whole = {number: signs for number, signs in records.items() if signs and len(signs) % size == 0}
    share = np.asarray(weights, np.float32)
    total = float(share.sum())
    if not whole or total <= 0:
        return {}
    told = share > 0
    share = share[told] / total
    asked = _asked(question[told], share, size)
    at_once = min(_AT_ONCE, _SUMS_AT_ONCE // asked.digits.shape[1])
    product = multiply or rounding.multiplied
    nearest = [
        np.maximum.reduceat(product(_bits(signs, size), asked.digits, asked.join), starts, axis=0)
        for signs, starts in _together(whole.values(), size, at_once)
    ]
    return dict(zip(whole, (np.dot(np.concatenate(nearest), share) - asked.less).tolist(), strict=True))


class _Asked(NamedTuple):
    """A question, so that signs are compared with it by their bits.

    digits: [bits of a token, 3 × its tokens], first those that weigh most. join: makes a cosine of what they sum up to
    with a token's bits, but for a number that is the same for all tokens of all records; less: the mean of those.
    """

    digits: Digits
    join: Matrix
    less: np.float32


def _asked(question: Matrix, share: Vector, size: int) -> _Asked:
    count, dimension = question.shape
    made, scale = rounding.in_digits(question.T)
    # A bit more is 2 more: Σ ± q = 2 × Σ (q where the bit is set) − Σ q. The length of a vector of signs is the root of
    # its dimension.
    unit = 1 / math.sqrt(dimension)
    less = np.float32(float(question.sum(axis=1) @ share) * unit)
    digits = np.zeros((8 * size, rounding.DIGITS * count), np.int8)
    join = np.zeros((rounding.DIGITS * count, count), np.float32)
    each = np.arange(count)
    digits[:dimension] = made.reshape(dimension, -1)
    for at in range(rounding.DIGITS):
        join[at * count + each, each] = 2 * unit / scale / rounding.BASE**at
    return _Asked(digits, join, less)


def _together(records: Iterable[bytes], size: int, at_once: int) -> Iterator[tuple[bytes, list[int]]]:
    """Records one after the other, about so many tokens at a time, and the token at which each begins."""
    some: list[bytes] = []
    starts: list[int] = []
    tokens = 0
    for signs in records:
        some.append(signs)
        starts.append(tokens)
        tokens += len(signs) // size
        if tokens >= at_once:
            yield b"".join(some), starts
            some, starts, tokens = [], [], 0
    if some:
        yield b"".join(some), starts


def _bits(signs: bytes, size: int) -> Bits:
    """A row for each token."""
    return np.unpackbits(np.frombuffer(signs, np.uint8)).reshape(-1, 8 * size)
