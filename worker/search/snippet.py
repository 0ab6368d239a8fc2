"""Pure: where the words that were looked for stand in a record's own text."""

import functools
import re
from collections.abc import Iterator, Sequence

import snowballstemmer

from worker.contract.records import Observation, Prompt, Record, Summary, items
from worker.contract.search import Snippet
from worker.store import analysis

_WIDTH = 160
_LEAD = 40
_LONGEST_KEPT = 64
"""Characters of a piece whose stems are kept; longer ones do not come again."""
_SCANNED = 20_000
"""Characters of a field that are looked through; a match further on is not worth the wait."""


class Highlighter:
    """Finds words by stem, as the index does. words: as ``terms.terms`` gives them; prefix: an unfinished last word."""

    def __init__(self, words: Sequence[str], prefix: str | None = None) -> None:
        self._stems = frozenset(map(_stem, words))
        self._prefix = prefix
        self._near = _near(words, prefix)

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """(start, end) of each match, merged where they touch, in characters."""
        merged: list[tuple[int, int]] = []
        if self._near is None or (text.isascii() and not self._near.search(text)):
            return ()
        for start, end in self._found(text):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return tuple(merged)

    def snippet(self, record: Record) -> Snippet:
        """The stretch of the record's body that shows a match, or its beginning."""
        texts = [text for text in _body(record) if text]
        for text in texts:
            near = self._near.search(text, 0, _SCANNED) if self._near else None
            while near is not None:
                cut = _cut(text, near.start())
                spans = self.spans(cut)
                if spans:
                    return Snippet(cut, spans)
                near = self._near.search(text, near.start() + _WIDTH, _SCANNED) if self._near else None
        beginning = _cut(texts[0], 0) if texts else ""
        return Snippet(beginning, self.spans(beginning))

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        plain = text.replace("…", " ")  # ours, where something was left out
        if plain.isascii() and self._prefix is None:
            yield from (piece.span() for piece in analysis.ascii_pieces(plain) if self._has(piece.group()))
            return
        for start, end, words in analysis.pieces(text):
            if any(_stem(word) in self._stems or self._begins(word) for word in words):
                yield start, end

    def _has(self, piece: str) -> bool:
        return not self._stems.isdisjoint(
            _stems(piece) if len(piece) <= _LONGEST_KEPT else map(_stem, analysis.words(piece))
        )

    def _begins(self, word: str) -> bool:
        return self._prefix is not None and word.startswith(self._prefix)


def _near(words: Sequence[str], prefix: str | None) -> re.Pattern[str] | None:
    """Where a look is worth it: at the beginnings of the words, or of humps in a word. None if nothing is looked for.

    A stem may be a letter shorter than all words that share it, or end in another letter.
    """
    starts = {word[: max(1, min(len(word), len(_stem(word)) - 1))] for word in words} | ({prefix} if prefix else set())
    spaced = "|".join(re.escape(start) for start in sorted(starts) if start.isascii())
    unspaced = "|".join(re.escape(start) for start in sorted(starts) if not start.isascii())
    parts = [rf"(?:(?<![A-Za-z0-9])|(?<=[a-z0-9])(?=[A-Z]))(?i:{spaced})" if spaced else "", f"(?i:{unspaced})"]
    return re.compile("|".join(part for part in parts if part not in ("", "(?i:)"))) if starts else None


def _body(record: Record) -> tuple[str, ...]:
    match record:
        case Observation():
            return (record.narrative or "", *items(record.facts), record.text or "", record.subtitle or "")
        case Summary():
            fields = (record.completed, record.learned, record.investigated, record.next_steps, record.notes)
            return tuple(text or "" for text in fields)
        case Prompt():
            return (record.prompt_text,)


def _cut(text: str, at: int) -> str:
    """About 160 characters around a place, on one line, `…` where something was left out."""
    start = 0 if at <= _LEAD else text.rfind(" ", 0, at - _LEAD // 2) + 1
    start = start if at - start <= _WIDTH // 2 else at
    piece = text[start : start + _WIDTH]
    ended = start + _WIDTH >= len(text)
    return ("…" if start else "") + " ".join(piece.split()) + ("" if ended else "…")


@functools.lru_cache(maxsize=8_192)
def _stems(piece: str) -> tuple[str, ...]:
    """The stems of a piece's words. Texts have the same ones again and again."""
    return tuple(map(_stem, analysis.words(piece)))


@functools.lru_cache(maxsize=8_192)
def _stem(word: str) -> str:
    return str(snowballstemmer.stemmer("porter").stemWord(word)) if word.isascii() else word
