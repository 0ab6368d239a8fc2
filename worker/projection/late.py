"""Pure: questions and records compared token by token, from one bit a number.

For each token of a question the nearest token of the record counts, weighed by how rare its word is. The model has made
the vectors of a record's tokens anyway when it made the record's own. Their signs alone rank as well as the numbers do
(chats 76.4 of 76.5, developers' questions 82.9 of 82.7), and words that tell nothing need not be kept: 75 tokens and
3.6 KB a record, where float16 would take 130 KB and 64 principal components a byte each, which rank worse, 4.8 KB.
Keeping them adds 1 % to the CPU of embedding; comparing fifty records takes 0.7 ms, and 2.6 where each has all the 250
that the model reads: most of what is left to do when a question has its vector. Halves on two threads take as long as
one after the other, even with a core for each: every piece asks twice for Python's turn. Where meaning alone ranks they
tell most (nDCG@10 of 71 to 179 questions each): chats 63.1 → 68.1, developers' questions 75.8 → 80.2, their
records 84.3 → 87.5, code 62.0 → 62.1.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from worker.projection.embed import Matrix, Tokens

_AT_ONCE = 256
"""Tokens spread out at a time, 400 KB as numbers: more of them leave the processor's cache."""
_MULTIPLIED_AT_ONCE = 1_000_000
"""Up to so many products OpenBLAS does not first copy what it multiplies."""
_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1) * np.float32(2) - np.float32(1)
"""Eight signs for each byte: to look them up takes half as long as to unpack bits and make numbers of them."""


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


def nearness(question: Matrix, weights: Sequence[float], records: Mapping[int, bytes]) -> dict[int, float]:
    """How near the tokens of a question are to those of each record: a mean of cosines, larger is nearer.

    question: [n, dimension], rows of unit length; weights: of its tokens (``emphasis``). records: what ``packed`` gave.
    Records of another length are left out; so are all, where no token weighs anything.
    """
    size = width(question.shape[1])
    whole = {number: signs for number, signs in records.items() if signs and len(signs) % size == 0}
    share = np.asarray(weights, np.float32)
    total = float(share.sum())
    if not whole or total <= 0:
        return {}
    told = share > 0
    share = share[told] / total
    # The length of a vector of signs is the root of its dimension.
    asked = np.ascontiguousarray(question[told].T / np.sqrt(np.float32(len(question[0]))))
    raw = np.frombuffer(b"".join(whole.values()), np.uint8).reshape(-1, size)
    # In one place from first to last: memory that is new each time costs more than all that is done in it.
    at_once = min(len(raw), _AT_ONCE, max(1, _MULTIPLIED_AT_ONCE // asked.size))
    spread = np.empty((at_once, size, 8), np.float32)
    rows = spread.reshape(at_once, -1)[:, : len(asked)]
    cosines = np.empty((len(raw), len(share)), np.float32)
    for at in range(0, len(raw), at_once):
        some = raw[at : at + at_once]
        _SIGNS.take(some, axis=0, out=spread[: len(some)], mode="clip")
        np.matmul(rows[: len(some)], asked, out=cosines[at : at + len(some)])
    counts = np.array([len(signs) // size for signs in whole.values()])
    nearest = np.maximum.reduceat(cosines, np.cumsum(counts) - counts, axis=0)
    return dict(zip(whole, (nearest @ share).tolist(), strict=True))
