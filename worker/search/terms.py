"""Pure: user text to an FTS5 expression. Nothing a person types is ever syntax.

Words are OR-ed and ranked by bm25, so a question in whole sentences finds its record; common words are left out while
any other is there. Each word stands in quotes and holds only letters and digits.
"""

import functools
import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from worker.search.phrases import MOST_WORDS, Phrase, is_lone, quoted, read
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
            dict.fromkeys(
                (
                    *(word for phrase in self.phrases for word in analysis.words(phrase, run_ends=False)[:MOST_WORDS]),
                    *terms(self.text),
                )
            )
        )

    @property
    def unfinished(self) -> str | None:
        """The word that is still being typed."""
        return unfinished(self.text) if self.typing else None


def expression(wanted: Wanted, *, strict: bool = True, near: Collection[Phrase] = ()) -> str:
    """The MATCH expression; empty when there is no word in it.

    Phrases must be there, words need not. In a sentence a quotation is no demand: there, and without ``strict``, the
    words of the phrases are words like others.
    typing: the last word also finds the words that begin with it; one letter is no word yet.
    near: the phrases of which all that is near is found; what of it does not have them is for others to tell.
    """
    parts = _parts(wanted)
    if not strict or not (demanded := demands(wanted)):
        loose = [quoted(word) for phrase in wanted.phrases[:_MOST_PHRASES] for word in terms(phrase)]
        return " OR ".join(list(dict.fromkeys((*loose, *parts)))[: 2 * _MOST_TERMS])
    phrases = [f"({phrase.exact} OR {phrase.near})" if phrase in near else phrase.exact for phrase in demanded]
    together = " AND ".join(phrases)
    return f"({together}) AND ({' OR '.join((*phrases, *parts))})"


def demands(wanted: Wanted) -> list[Phrase]:
    """The phrases that must be there; none in a sentence."""
    return phrases(wanted.phrases) if len(terms(wanted.text)) < _SENTENCE else []


def phrases(texts: Iterable[str]) -> list[Phrase]:
    """Phrases as they are looked for, each once, and not so many that a question would take seconds."""
    found = (phrase for phrase in map(read, dict.fromkeys(texts)) if phrase is not None)
    return list(itertools.islice(dict.fromkeys(found), _MOST_PHRASES))


def excluding(unwanted: Iterable[Phrase]) -> str:
    """An expression for what has any of these words or phrases, empty when there is none."""
    return " OR ".join(phrase.exact for phrase in unwanted)


def passed_over(wanted: Wanted, excluded: Sequence[str]) -> list[str]:
    """Sentences on what is more than is looked for."""
    words = len({word for word in analysis.words(wanted.text, run_ends=False) if not is_common(word)})
    counts = (
        ("words", words, _MOST_TERMS),
        ("phrases", len(set(wanted.phrases)), _MOST_PHRASES),
        ("words and phrases to leave out", len(set(excluded)), _MOST_PHRASES),
    )
    return [f"of the {count:,} {name}: the first {most} were read" for name, count, most in counts if count > most]


def _parts(wanted: Wanted) -> list[str]:
    last = wanted.unfinished
    words = terms(wanted.text)
    if last is not None and len(last) < _SHORTEST_BEGINNING:
        words, last = tuple(word for word in words if word != last), None
    parts = [quoted(word, beginning=is_lone(word)) for word in words]
    return list(dict.fromkeys((*parts, *(_beginnings(last) if last is not None else ()))))


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
    return [quoted(word, beginning=True), *(quoted(word[:length]) for length in range(len(word) - 1, shortest - 1, -1))]
