"""Pure: a phrase as the index has it, wherever it stands.

The index has each identifier whole before its parts, and the last character of each run of a script without blanks
alone. So `use session-lock`, which is `use sessionlock session lock` there, has no `use` next to a `session`, though
that is what a person sees. Three readings of a phrase tell it all:

- exact: an expression for what follows word by word, as in a text that has nothing but the phrase;
- near: an expression for all that may have it otherwise, its words close together; empty where there is no other way;
- atoms: its words as a person sees them, by which ``store.standing`` tells of those near who has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from worker.store import analysis

MOST_WORDS = 64
_WHOLES = 3
"""The most that the index has of an identifier before its first part: path, name in it, word with humps."""

_HUMP = 3
"""Letters of a part of a word with humps, of which the index has each behind it."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that has a word at least."""

    exact: str
    near: str
    atoms: tuple[tuple[str, ...], ...]


def read(text: str) -> Phrase | None:
    """What a phrase asks for, None where it has no word."""
    words = in_order(text)
    if not words:
        return None
    exact = quoted(" ".join(words), beginning=is_lone(words[-1]))
    atoms = tuple(atom for atom in analysis.atoms(text) if atom)[:MOST_WORDS]
    members = [_member(atom[0]) for atom in atoms]
    if len(atoms) > 1:
        near = f"NEAR({' '.join(members)}, {_between(atoms)})"
    else:
        near = "" if members == [exact] else members[0]
    return Phrase(exact, near, atoms)


def in_order(text: str) -> list[str]:
    """The words of a phrase as the index has them, but for the last character of a run that may go on."""
    words = analysis.words(text)
    if len(words) > 1 and is_lone(words[-1]) and len(words[-2]) == 2 and words[-2][1] == words[-1]:
        words.pop()
    return words[:MOST_WORDS]


def is_lone(word: str) -> bool:
    """One character of a script without blanks: the index has it as the beginning of a pair, or alone."""
    return len(word) == 1 and analysis.is_unspaced(word)


def quoted(words: str, *, beginning: bool = False) -> str:
    """Words in an expression. beginning: or what begins with the last."""
    return f'"{words}"' + ("*" if beginning else "")


def _is_run(atom: str) -> bool:
    return analysis.is_unspaced(atom[0])


def _between(atoms: Sequence[tuple[str, ...]]) -> int:
    """The most words that the index has between the first and the last of a phrase, those of the others included."""
    behind = sum(1 if _is_run(atom[0]) else max(len(atom) - 1, len(atom[0]) // _HUMP) for atom in atoms[:-1])
    others = sum(len(_pairs(atom[0])) or 1 if _is_run(atom[0]) else 1 for atom in atoms[1:-1])
    return behind + others + _WHOLES * (len(atoms) - 1)


def _member(atom: str) -> str:
    """An expression for what the index has of a word in any case."""
    pairs = " ".join(_pairs(atom)) if _is_run(atom) else atom
    return quoted(pairs or atom, beginning=not pairs)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]
