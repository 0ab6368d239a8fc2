"""Pure: which records of a corpus fit a question best, and an answer made of them alone."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import snowballstemmer

from worker.contract.records import Observation, items
from worker.contract.when import iso_utc
from worker.present import quoting
from worker.search.snippet import Highlighter
from worker.search.terms import terms
from worker.store import analysis, rows

MOST = 8
"""Records in an answer."""
_K1, _B = 1.2, 0.75
_TITLE_WEIGHT = 3
_ENOUGH = 0.25
"""Of the telling words of a question, by their rarity; those of a title, or said as often, count twice."""
_EXCERPT_CHARS = 300


def by_words(question: str, records: Sequence[Observation]) -> list[int]:
    """Ids of the records that speak of the question, best first (bm25, a title's words thrice).

    One speaks of it that has enough of its telling words, by their rarity: one word in common is chance.
    """
    stems = _Stems()
    wanted = {stems[word] for word in terms(question)}
    counted = [Counter(stems[word] for word in _words(record)) for record in records]
    sizes = [sum(counts.values()) for counts in counted]
    usual = sum(sizes) / len(sizes) if sizes else 1.0
    holding = Counter(word for counts in counted for word in wanted & counts.keys())
    # A word that no record has tells as much as one that a single record has.
    often = {word: max(holding[word], 1) for word in wanted}
    rarity = {word: math.log(1 + (len(records) - times + 0.5) / (times + 0.5)) for word, times in often.items()}
    enough = _ENOUGH * sum(rarity.values())
    scores: dict[int, float] = {}
    for record, counts, size in zip(records, counted, sizes, strict=True):
        score = said = 0.0
        for word in wanted & counts.keys():
            said += rarity[word] * (2 if counts[word] >= _TITLE_WEIGHT else 1)
            length = 1 - _B + _B * size / (usual or 1.0)
            score += rarity[word] * counts[word] * (_K1 + 1) / (counts[word] + _K1 * length)
        if score and said >= enough:
            scores[record.id] = score
    return sorted(scores, key=lambda record_id: (-scores[record_id], -record_id))


def answer(name: str, question: str, best: Sequence[int], records: Mapping[int, Observation]) -> str:
    """The best records as text, each by its id and the words of it that fit. records: all of the corpus."""
    head = "No model was used (CLAUDE_MEM_PROVIDER is local)"
    if not best:
        return f'{head}. Nothing in corpus "{name}" speaks of that: none of its {len(records)} records is near enough.'
    shown, marker = best[:MOST], Highlighter(terms(question), None)
    lines = [f'{head}: these records of corpus "{name}" fit the question best, of {len(records)}.', ""]
    for record_id in shown:
        lines += [*_told(records[record_id], marker), ""]
    ids = ", ".join(map(str, shown))
    return "\n".join((*lines, f"In full: get_observations(ids=[{ids}])"))


def _told(record: Observation, marker: Highlighter) -> Iterator[str]:
    title = quoting.line(record.title or record.narrative or "Untitled")
    yield f"#{record.id} {iso_utc(record.created_at_epoch)[:10]} [{quoting.line(record.type, 60)}] {title}"
    excerpt = quoting.line(marker.snippet(rows.body(record)).text, _EXCERPT_CHARS)
    if excerpt and excerpt != title:
        yield f"  {excerpt}"


def _words(record: Observation) -> Iterator[str]:
    for _ in range(_TITLE_WEIGHT):
        yield from analysis.words(record.title or "")
    texts = (record.subtitle, record.narrative, record.text)
    lists = (record.facts, record.concepts, record.files_read, record.files_modified)
    for text in (*texts, *(text for column in lists for text in items(column))):
        yield from analysis.words(text or "")


class _Stems(dict[str, str]):
    """Word → stem, as the index has it. Records repeat their words, so each is worked out once."""

    def __init__(self) -> None:
        super().__init__()
        self._stem = snowballstemmer.stemmer("porter").stemWord

    def __missing__(self, word: str) -> str:
        self[word] = stem = str(self._stem(word)) if word.isascii() else word
        return stem
