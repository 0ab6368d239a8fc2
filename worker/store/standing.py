"""Which of the records near a phrase have it: told from their words in the index, one by one.

The index has an identifier whole before its parts (`sessionlock session lock`), parts within parts likewise, and a run
of a script without blanks by its pairs and its last character (`修复 复`). A word is a whole where what follows it adds
up to it; whoever reads on from a whole passes over its parts, and whoever looks for a part goes into it.
"""

import sqlite3
from collections.abc import Iterator, Sequence

from worker.store import analysis
from worker.store.memo import remembered

_MOST = 5_000
"""Records that are looked at, the latest first; what is beyond counts as not having it. A look takes some 20 µs."""
_MOST_STEPS = 1_500_000
"""So many words are compared for them, half a second: a dump of zeros may hold a phrase of zeros a thousand times."""
_BYTES = 40
"""What a docid takes."""

Atom = tuple[str, ...]
"""A word of a phrase as ``analysis.atoms`` gives it."""


def look(connection: sqlite3.Connection, sql: str, values: Sequence[object], phrase: Sequence[Atom]) -> tuple[int, ...]:
    """The docids of those that have it. sql: gives a docid and the words of a field each, the latest first, for its
    parameters and how many at most."""

    def read() -> tuple[int, ...]:
        left, having = _MOST_STEPS, []
        for docid, *fields in connection.execute(sql, (*values, _MOST)):
            left -= len(phrase) * sum(field.count(phrase[0][0][:2]) for field in fields)
            if left < 0:
                break
            if any(stands(field, phrase) for field in fields):
                having.append(docid)
        return tuple(having)

    return remembered(connection, ("standing", *values, *phrase), read, lambda made: _BYTES * (1 + len(made)))


def stands(field: str, phrase: Sequence[Atom]) -> bool:
    """Whether the words of a field have a phrase."""
    # Most fields lack a word, which is told at once. Of a run of one character there may be pairs alone.
    if not all(atom[0] in field for atom in phrase if not analysis.is_unspaced(atom[0][0])):
        return False
    words = field.split(" ")
    return any(_goes_on(words, at, phrase) for at in _beginnings(words, phrase))


def _beginnings(words: Sequence[str], phrase: Sequence[Atom]) -> Iterator[int]:
    """Where in the words something is behind what may be the first word of a phrase."""
    first = phrase[0]
    given = _of_run(first[0]) if analysis.is_unspaced(first[0][0]) else None
    wanted, at = first[0] if given is None else given[0], -1
    while True:
        try:
            at = words.index(wanted, at + 1)
        except ValueError:
            return
        if given is None:
            yield _behind(words, at, first)
        elif list(words[at : at + len(given)]) == given:
            yield at + len(given)


def _goes_on(words: Sequence[str], at: int, phrase: Sequence[Atom]) -> bool:
    """Whether the second word of a phrase and all after it are at a place in the words."""
    for number, atom in enumerate(phrase[1:], 2):
        there = _met(words, at, atom, is_last=number == len(phrase))
        if there is None:
            return False
        at = there
    return True


def _met(words: Sequence[str], at: int, atom: Atom, *, is_last: bool) -> int | None:
    """The place behind a word, if it is at this one."""
    if analysis.is_unspaced(atom[0][0]):
        given = _of_run(atom[0])
        if is_last:  # the run may go on
            *pairs, end = given
            is_there = list(words[at : at + len(pairs)]) == pairs
            return at if is_there and (pairs or (at < len(words) and words[at].startswith(end))) else None
        return at + len(given) if list(words[at : at + len(given)]) == given else None
    while at < len(words) and words[at].startswith(atom[0]):
        if len(words[at]) == len(atom[0]):
            return _behind(words, at, atom)
        if _end(words, at) == at + 1:
            return None
        at += 1  # into what this is the whole of
    return None


def _behind(words: Sequence[str], at: int, atom: Atom) -> int:
    """The place behind a word with all that the index has of it."""
    end, own = _end(words, at), at + len(atom)
    return own if end == at + 1 and tuple(words[at:own]) == atom else end


def _end(words: Sequence[str], at: int) -> int:
    """The place behind a word and its parts, if what follows it adds up to it."""
    whole, size, next_at = words[at], 0, at + 1
    while next_at < len(words) and len(words[next_at]) < len(whole) and whole.startswith(words[next_at], size):
        size += len(words[next_at])
        next_at = _end(words, next_at)
        if size == len(whole):
            return next_at
    return at + 1


def _of_run(run: str) -> list[str]:
    """What the index has of a run that stands by itself."""
    return [*(run[at : at + 2] for at in range(len(run) - 1)), run[-1]]
