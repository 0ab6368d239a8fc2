"""Pure: where the words that were looked for stand in a record's own text."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import snowballstemmer

from worker.contract.search import Snippet
from worker.store import analysis

_WIDTH = 160
_LEAD = 40
_LONGEST_KEPT = 64
"""Characters of a piece whose stems are kept; longer ones do not come again."""
_SCANNED = 20_000
"""Characters of a field that are looked through; a match further on is not worth the wait."""
_BEGINNING = re.compile("(?<![A-Za-z0-9])|(?<=[a-z0-9])(?=[A-Z])")
"""Where a word begins, or a hump in one."""
_JOINED = re.compile(
    r"[-_./\\:@'A-Z+#](?:(?<=[-_./\\:@'])[A-Za-z0-9]|(?<=[a-z0-9][A-Z])|(?<=[A-Z])[A-Z][a-z]|(?<=\+)\+|(?<=#))"
)
"""Within a piece that is more than one word in ASCII text, or another one than it looks."""
_ENDINGS = (
    "s", "ed", "ing", "y", "e", "ll",
    "al", "ant", "ator", "ent", "er", "ful", "ic", "ion", "ism", "iti", "li", "nci", "ou",
)  # fmt: skip
"""All that Porter's rules look for at the end of a word, shortest forms. Without one of these it is its own stem, which
is told in a fiftieth of the time that the rules take."""

Spans = tuple[tuple[int, int], ...]
"""(start, end) of each, in characters."""


class Marks(NamedTuple):
    """What is shown of a record. title: what is marked in its title."""

    snippet: Snippet
    title: Spans


class Highlighter:
    """Finds words by stem, as the index does. words: as ``terms.terms`` gives them; prefix: an unfinished last word."""

    def __init__(self, words: Sequence[str], prefix: str | None = None) -> None:
        self._stems = frozenset(map(_stem, words))
        self._prefix = prefix
        self._starts = _starts(words, prefix)
        self._chunks: dict[str, Spans] = {}

    def spans(self, text: str) -> Spans:
        """(start, end) of each match, merged where they touch, in characters."""
        return self._spans((text,))[0]

    def snippet(self, texts: Iterable[str]) -> Snippet:
        """The stretch of a record's texts (``rows.body``) that shows a match, or their beginning."""
        return self.marks([("", texts)])[0].snippet

    def marks(self, records: Sequence[tuple[str, Iterable[str]]]) -> list[Marks]:
        """What is shown of records, each by its title and texts; in half the time of one after the other."""
        stretches = [self._stretches(texts) for _, texts in records]
        likely = [next(each) for each in stretches]
        found = self._spans([*(title for title, _ in records), *likely])
        in_titles, in_likely = found[: len(records)], found[len(records) :]
        made: list[Marks] = []
        for title, stretch, spans, others in zip(in_titles, likely, in_likely, stretches, strict=True):
            while not spans and (other := next(others, None)) is not None:
                stretch, spans = other, self.spans(other)
            made.append(Marks(Snippet(stretch, spans), title))
        return made

    def _stretches(self, texts: Iterable[str]) -> Iterator[str]:
        """The stretches of a record's texts in which a match is likely, then their beginning."""
        first = ""
        for text in texts:
            first = first or text
            scanned = text[:_SCANNED]
            low = _lowered(scanned)
            near = self._near(scanned, low, 0)
            while near is not None:
                yield _cut(text, near)
                near = self._near(scanned, low, near + _WIDTH)
        yield _cut(first, 0)

    def _near(self, text: str, low: str, at: int) -> int | None:
        """The first place from one on where a look is worth it: a word, or a hump in one, begins like one looked for.

        low: the text in lower case. By ``find``, because to compile a pattern for each question takes longer than all
        of its looks.
        """
        best: int | None = None
        last = len(low)
        for start in self._starts:
            end = last if best is None else best - 1 + len(start)
            place = low.find(start, at, end)
            # Scripts without blanks have no beginnings of words. Before most words is a blank, which is told sooner.
            while place > 0 and low[place - 1] != " " and start.isascii() and not _BEGINNING.match(text, place):
                place = low.find(start, place + 1, end)
            if place >= 0:
                best = place
        return best

    def _spans(self, texts: Sequence[str]) -> list[Spans]:
        """``spans`` of each; those of ASCII text all at once."""
        if not self._starts:
            return [()] * len(texts)
        joined = _plain(" ".join(texts))
        if joined.isascii():
            return _shared_out(self._found_in_ascii(joined), texts)
        if len(texts) > 1:
            return [self.spans(text) for text in texts]
        return [_merged(self._found(texts[0]))]

    def _found(self, text: str) -> list[tuple[int, int]]:
        """What is found in text of any script."""
        return [
            (start, end)
            for start, end, words in analysis.pieces(text)
            if any(_stem(word) in self._stems for word in words) or self._begin(words)
        ]

    def _found_in_ascii(self, text: str) -> list[tuple[int, int]]:
        # What is joined of words is looked at in any case: it may be what is looked for, written otherwise.
        places = [*self._places(text), *[joined.start() for joined in _JOINED.finditer(text)]]
        places.sort()
        found: list[tuple[int, int]] = []
        looked = 0
        for place in places:  # what is looked for comes again and again
            if place >= looked:
                start = place if text[place - 1] == " " else text.rfind(" ", looked, place) + 1 or looked
                end = text.find(" ", place)
                looked = end if end >= 0 else len(text)
                chunk = text[start:looked]
                if (known := self._chunks.get(chunk)) is None:
                    known = self._chunks[chunk] = self._in_chunk(chunk)
                for first, last in known:
                    found.append((start + first, start + last))
        return found

    def _in_chunk(self, chunk: str) -> Spans:
        """What is found in ASCII text without blanks."""
        return tuple(each.span() for each in analysis.ascii_pieces(chunk) if self._is_wanted(each.group()))

    def _places(self, text: str) -> list[int]:
        """All places of ASCII text where a look is worth it, as ``_near`` tells them one by one; in no order."""
        places: list[int] = []
        low = text.lower()
        for start in self._starts:
            place = low.find(start)
            while place >= 0:
                if place == 0 or low[place - 1] == " " or _BEGINNING.match(text, place):
                    places.append(place)
                place = low.find(start, place + 1)
        return places

    def _is_wanted(self, piece: str) -> bool:
        """Whether a piece of ASCII text has what is looked for."""
        stems = _stems(piece) if len(piece) <= _LONGEST_KEPT else _stems.__wrapped__(piece)
        if self._prefix is None or not self._stems.isdisjoint(stems):
            return not self._stems.isdisjoint(stems)
        # Most pieces are one word in lower case, which is all that ``words`` would say.
        return self._begin((piece,) if piece.islower() and piece.isalpha() else analysis.words(piece))

    def _begin(self, words: Iterable[str]) -> bool:
        """Whether one of the words begins with the unfinished one."""
        return self._prefix is not None and any(word.startswith(self._prefix) for word in words)


def _plain(text: str) -> str:
    """Without our own sign of what was left out, which is no part of a word."""
    return text.replace("…", " ")


def _shared_out(found: Sequence[tuple[int, int]], texts: Sequence[str]) -> list[Spans]:
    """What was found in texts with a blank between them, text by text."""
    shared: list[Spans] = []
    at = taken = 0
    for text in texts:
        first, end = taken, at + len(text)
        while taken < len(found) and found[taken][0] < end:
            taken += 1
        if taken == first:
            shared.append(())
        elif taken == first + 1:
            start, last = found[first]
            shared.append(((start - at, last - at),))
        else:
            shared.append(_merged([(start - at, last - at) for start, last in found[first:taken]]))
        at = end + 1
    return shared


def _merged(found: Sequence[tuple[int, int]]) -> Spans:
    """As one where they touch."""
    merged: list[tuple[int, int]] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _starts(words: Sequence[str], prefix: str | None) -> tuple[str, ...]:
    """How what is looked for begins, in whatever form.

    A stem may be a letter shorter than all words that share it, or end in another letter.
    """
    starts = {word[: max(1, min(len(word), len(_stem(word)) - 1))] for word in words} | ({prefix} if prefix else set())
    kept: list[str] = []
    for start in sorted(starts):
        # What begins with one of them is found by that one; both would be found at each letter of `aaaa…`.
        if not (kept and start.startswith(kept[-1]) and start.isascii() == kept[-1].isascii()):
            kept.append(start)
    return tuple(kept)


def _lowered(text: str) -> str:
    """In lower case, character by character: of all there are, only `İ` would become two."""
    return text.replace("İ", "i").lower()


def _cut(text: str, at: int) -> str:
    """About 160 characters around a place, on one line, `…` where something was left out."""
    start = 0 if at <= _LEAD else text.rfind(" ", 0, at - _LEAD // 2) + 1
    start = start if at - start <= _WIDTH // 2 else at
    piece = text[start : start + _WIDTH]
    ended = start + _WIDTH >= len(text)
    # A look is a third of the work: most pieces are on one line, with single blanks.
    line = piece.strip(" ") if piece.isprintable() and "  " not in piece else " ".join(piece.split())
    return ("…" if start else "") + line + ("" if ended else "…")


@functools.lru_cache(maxsize=8_192)
def _stems(piece: str) -> tuple[str, ...]:
    """The stems of a piece's words. Texts have the same ones again and again."""
    return tuple(map(_stem, analysis.words(piece)))


@functools.lru_cache(maxsize=8_192)
def _stem(word: str) -> str:
    if not word.isascii() or not word.endswith(_ENDINGS):
        return word
    return str(snowballstemmer.stemmer("porter").stemWord(word))
