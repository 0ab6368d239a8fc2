"""Pure: user text to an FTS5 expression. Nothing a person types is ever syntax.

Words are OR-ed and ranked by bm25, so a question in whole sentences finds its record; common words are left out while
any other is there. Each word stands in quotes and holds only letters and digits.
"""

import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from worker.store import analysis
from worker.store.stopwords import is_common

_MOST_TERMS = 64
_MOST_PHRASES = 16
_SHORTEST_STEM = 3
_LONGEST_SUFFIX = 4
_SHORTEST_BEGINNING = 2
_SENTENCE = 5
"""Telling words beside a phrase that make a sentence of it."""


@functools.lru_cache(maxsize=64)
def terms(text: str) -> tuple[str, ...]:
    """The words that are looked for, without repetition, in the order typed; at most 64. Asked of a question twice."""
    found = list(dict.fromkeys(analysis.words(text, run_ends=False)))
    telling = [word for word in found if not is_common(word)]
    return tuple((telling or found)[:_MOST_TERMS])


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for in the records' words. typing: the last word of ``text`` may be unfinished."""

    text: str = ""
    phrases: tuple[str, ...] = ()
    typing: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """All words, of the phrases too, for marking them."""
        return tuple(
            dict.fromkeys((*(word for phrase in self.phrases for word in _in_order(phrase)), *terms(self.text)))
        )

    @property
    def unfinished(self) -> str | None:
        """The word that is still being typed."""
        return unfinished(self.text) if self.typing else None


def expression(wanted: Wanted, *, strict: bool = True) -> str:
    """The MATCH expression; empty when there is no word in it.

    Phrases must be there, words need not. In a sentence a quotation is no demand: there, and without ``strict``, the
    words of the phrases are words like others.
    typing: the last word also finds the words that begin with it; one letter is no word yet.
    """
    phrases = _phrases(wanted.phrases)
    parts = _parts(wanted)
    if not phrases:
        return " OR ".join(parts)
    if not strict or len(terms(wanted.text)) >= _SENTENCE:
        loose = [_quoted(word) for phrase in wanted.phrases[:_MOST_PHRASES] for word in terms(phrase)]
        return " OR ".join(list(dict.fromkeys((*loose, *parts)))[: 2 * _MOST_TERMS])
    together = " AND ".join(phrases)
    return f"({together}) AND ({' OR '.join((*phrases, *parts))})"


def phrase_expression(text: str) -> str:
    """Its words next to each other, empty when there is none."""
    found = _in_order(text)
    if len(found) == 1:
        return _quoted(found[0]) + ("*" if _is_lone(found[0]) else "")
    return _quoted(" ".join(found)) if found else ""


def excluding(texts: Iterable[str]) -> str:
    """An expression for what has any of these words or phrases, empty when there is none."""
    return " OR ".join(_phrases(texts))


def _phrases(texts: Iterable[str]) -> list[str]:
    """Their expressions, each once, and not so many that a question would take seconds."""
    found = (phrase for phrase in map(phrase_expression, dict.fromkeys(texts)) if phrase)
    return list(itertools.islice(dict.fromkeys(found), _MOST_PHRASES))


def _in_order(text: str) -> list[str]:
    return analysis.words(text, run_ends=False)[:_MOST_TERMS]


def _parts(wanted: Wanted) -> list[str]:
    last = wanted.unfinished
    words = terms(wanted.text)
    if last is not None and len(last) < _SHORTEST_BEGINNING:
        words, last = tuple(word for word in words if word != last), None
    parts = [_quoted(word) + ("*" if _is_lone(word) else "") for word in words]
    return list(dict.fromkeys((*parts, *(_beginnings(last) if last is not None else ()))))


def _quoted(word: str) -> str:
    return f'"{word}"'


def _is_lone(word: str) -> bool:
    """One character of a script without blanks: the index has it as the beginning of a pair, or alone."""
    return len(word) == 1 and analysis.is_unspaced(word)


def unfinished(text: str) -> str | None:
    """The word at the end of what was typed, if it can go on: None after a blank or punctuation."""
    if not text or not (text[-1].isalnum() or text[-1] == "_"):
        return None
    found = list(analysis.words(text, run_ends=False))
    return found[-1] if found and found[-1].isascii() else None


def _beginnings(word: str) -> list[str]:
    """What an unfinished word may become. The index holds stems, and the stem may be shorter than what is typed:
    `happine` must find `happiness`, kept as `happi`."""
    shortest = max(_SHORTEST_STEM, len(word) - _LONGEST_SUFFIX)
    return [_quoted(word) + "*", *(_quoted(word[:length]) for length in range(len(word) - 1, shortest - 1, -1))]
