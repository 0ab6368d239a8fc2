"""Pure: a model's answer as drafts. Tolerant and total: any text gives something, in time that grows with its length.

Taken: thinking aloud before the answer, one code fence around all, entities, CDATA, tags of any case and with
attributes, several blocks, both kinds at once, fields that hold tags (R170), fields that are not closed. A type that
nobody knows becomes the neutral one and the raw one stays in the metadata (R168). What is no answer at all is
told apart, so that the events go back (R172).
"""

import html
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from worker.observer.identity import is_empty
from worker.observer.mode import NEUTRAL, known_type
from worker.observer.wording import one_line
from worker.store.drafts import Draft, SummaryDraft

_MOST_CHARS = 400_000
_MOST_BLOCKS = 60
_MOST_ITEMS = 60
_MOST_TITLE = 200
_MOST_TEXT = 20_000

_TEXTS = ("type", "title", "subtitle", "narrative")
_LISTS = {"facts": "fact", "concepts": "concept", "files_read": "file", "files_modified": "file"}
_SUMMED = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_FIELDS = {"observation": frozenset((*_TEXTS, *_LISTS)), "summary": frozenset(_SUMMED)}
_NAMES = "|".join(
    sorted({*_FIELDS, *_TEXTS, *_LISTS, *_LISTS.values(), *_SUMMED, "skip", "skip_summary"}, key=len, reverse=True)
)
_TAG = re.compile(rf"<(/?)({_NAMES})(?:\s[^<>]*|/)?>", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```[\w-]*[ \t]*\n(.*?)\n?```\s*$", re.DOTALL)
_THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_HELD = re.compile("\ue000(\\d+)\ue001")
_WRAPPED = re.compile(r"^\[\*\*[^*\n]{1,40}\*\*:\s*(.*?)\]$", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said. skipped: that nothing is worth it."""

    observations: tuple[Draft, ...] = ()
    summary: SummaryDraft | None = None
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    closes: bool
    begin: int
    end: int


def answer(text: str) -> Answer | None:
    """What an answer holds; None where it is none."""
    text = text[:_MOST_CHARS].replace("\ue000", "").replace("\ue001", "")
    text = _without_thought(text)
    fenced = _FENCE.match(text)
    held: list[str] = []
    reading = _Reading(_without_cdata(fenced.group(1) if fenced else text, held), held)
    drafts, summaries = [], []
    for kind, begin, end in reading.blocks():
        if kind == "observation":
            draft = _observation(reading, begin, end)
            drafts += [draft] if draft is not None else []
        else:
            summed = _summary(reading, begin, end)
            summaries += [summed] if summed.says_anything or summed.notes else []
    if not drafts and not summaries:
        return Answer(skipped=True) if reading.skips else None
    return Answer(tuple(drafts), summaries[0] if summaries else None)


def _without_thought(text: str) -> str:
    """What a model thought aloud before it answered is no answer, though it may try one out."""
    while (thought := _THOUGHT.match(text)) is not None:
        _, end, rest = text[thought.end() :].partition(f"</{thought.group(1)}>")
        if not end:
            return text
        text = rest
    return text


def _without_cdata(text: str, held: list[str]) -> str:
    """The text with a mark in the place of each CDATA section, whose words go into ``held``."""
    parts: list[str] = []
    at = 0
    while (begin := text.find("<![CDATA[", at)) >= 0 and (end := text.find("]]>", begin)) >= 0:
        parts += [text[at:begin], f"\ue000{len(held)}\ue001"]
        held.append(text[begin + 9 : end])
        at = end + 3
    return "".join((*parts, text[at:]))


class _Reading:
    """A text with its tags found once."""

    def __init__(self, text: str, held: Sequence[str]) -> None:
        self.text = text
        self._held = held
        self._tags = [
            _Tag(found.group(2).lower(), found.group(1) == "/", found.start(), found.end())
            for found in _TAG.finditer(text)
        ]
        self.skips = any(tag.name in ("skip", "skip_summary") for tag in self._tags)
        self._starts = [at for at in range(len(self._tags)) if self._starts_block(at)]
        # Closing tags by name: all of them, and those after which only what may stand there stands.
        self._closing: dict[str, list[int]] = {}
        self._proper: dict[str, list[int]] = {}
        for at, tag in enumerate(self._tags):
            if tag.closes:
                self._closing.setdefault(tag.name, []).append(at)
                if self._ends_there(at):
                    self._proper.setdefault(tag.name, []).append(at)

    def blocks(self) -> list[tuple[str, int, int]]:
        """Kind, first and last tag (that one not included) of each block, in their order."""
        found: list[tuple[str, int, int]] = []
        at = 0
        while at < len(self._tags) and len(found) < _MOST_BLOCKS:
            tag = self._tags[at]
            if tag.closes or tag.name not in _FIELDS:
                at += 1
                continue
            end = self._close(tag.name, at, len(self._tags))
            stop = min(len(self._tags) if end is None else end, self._next_block(at))
            found.append((tag.name, at, stop))
            at = stop if stop < len(self._tags) and not self._tags[stop].closes else stop + 1
        return found

    def fields(self, begin: int, end: int, names: frozenset[str]) -> list[tuple[str, int, int]]:
        """Name, opening tag and tag that ends it of the fields in a block, in their order."""
        found: list[tuple[str, int, int]] = []
        at = begin + 1
        while at < end:
            tag = self._tags[at]
            if tag.closes or tag.name not in names:
                at += 1
                continue
            close = self._close(tag.name, at, end)
            if close is None:
                close = next((later for later in range(at + 1, end) if self._begins(later, names)), end)
                found.append((tag.name, at, close))
                at = close
            else:
                found.append((tag.name, at, close))
                at = close + 1
        return found

    def inside(self, begin: int, end: int) -> str:
        """The words between two tags, entities and CDATA opened."""
        stop = self._tags[end].begin if end < len(self._tags) else len(self.text)
        plain = html.unescape(self.text[self._tags[begin].end : stop])
        return _HELD.sub(
            lambda found: self._held[int(found.group(1))] if int(found.group(1)) < len(self._held) else "", plain
        ).strip()

    def _next_block(self, at: int) -> int:
        """Where the block after this one begins: at an opening tag that a field follows at once."""
        later = bisect_right(self._starts, at)
        return self._starts[later] if later < len(self._starts) else len(self._tags)

    def _starts_block(self, at: int) -> bool:
        tag, after = self._tags[at], self._tags[at + 1] if at + 1 < len(self._tags) else None
        if tag.closes or tag.name not in _FIELDS or after is None or after.closes:
            return False
        return after.name in _FIELDS[tag.name] and not self.text[tag.end : after.begin].strip()

    def _begins(self, at: int, names: frozenset[str]) -> bool:
        return not self._tags[at].closes and self._tags[at].name in names

    def _close(self, name: str, at: int, end: int) -> int | None:
        """The tag that closes a field: the first after which something may follow, else the last one there is."""
        for marks, pick_last in ((self._proper, False), (self._closing, True)):
            known = marks.get(name, [])
            first = bisect_right(known, at)
            if first < len(known) and known[first] < end:
                return known[bisect_right(known, end - 1) - 1] if pick_last else known[first]
        return None

    def _ends_there(self, at: int) -> bool:
        """Whether after a closing tag comes the next field, the end of what holds it, or of all."""
        tag = self._tags[at]
        after = self._tags[at + 1] if at + 1 < len(self._tags) else None
        if tag.name in _FIELDS:
            return after is None or (not after.closes and (after.name in _FIELDS or after.name.startswith("skip")))
        gap = self.text[tag.end : after.begin] if after else self.text[tag.end :]
        if gap.strip():
            return False
        if after is None:
            return True
        return not after.closes or after.name in _HOLDERS.get(tag.name, frozenset())


_HOLDERS = {
    **{name: frozenset(("observation",)) for name in (*_TEXTS, *_LISTS)},
    **{name: frozenset(("summary",)) for name in _SUMMED},
    "fact": frozenset(("facts",)),
    "concept": frozenset(("concepts",)),
    "file": frozenset(("files_read", "files_modified")),
}


def _observation(reading: _Reading, begin: int, end: int) -> Draft | None:
    texts: dict[str, str] = {}
    lists: dict[str, tuple[str, ...]] = {}
    for name, opened, closed in reading.fields(begin, end, _FIELDS["observation"]):
        if name in _LISTS:
            lists.setdefault(name, _items(reading, opened, closed, _LISTS[name]))
        else:
            texts.setdefault(name, reading.inside(opened, closed)[:_MOST_TEXT])
    free = "" if texts or lists else reading.inside(begin, end)
    raw = texts.get("type", "")
    kind = known_type(raw)
    narrative = texts.get("narrative") or free or None
    facts = lists.get("facts", ())
    concepts = tuple(dict.fromkeys(filter(None, (item.split(":", 1)[0].strip() for item in lists.get("concepts", ())))))
    draft = Draft(
        type=kind or NEUTRAL,
        title=_title(texts.get("title", "")),
        subtitle=texts.get("subtitle") or None,
        narrative=narrative,
        facts=facts,
        concepts=tuple(item for item in concepts if item != raw),
        files_read=lists.get("files_read", ()),
        files_modified=lists.get("files_modified", ()),
        metadata=() if kind else (("raw_type", one_line(raw, 100)),),
    )
    if is_empty(draft):
        return None
    if not draft.title:
        told = (narrative, draft.subtitle, *facts, *draft.concepts)
        draft = replace(draft, title=one_line(next(filter(None, told), ""), 120))
    return draft


def _summary(reading: _Reading, begin: int, end: int) -> SummaryDraft:
    texts = dict.fromkeys(_SUMMED, "")
    for name, opened, closed in reading.fields(begin, end, _FIELDS["summary"]):
        texts[name] = texts[name] or reading.inside(opened, closed)[:_MOST_TEXT]
    request, investigated, learned, completed, next_steps, notes = texts.values()
    return SummaryDraft(
        request=request,
        investigated=investigated,
        learned=learned,
        completed=completed,
        next_steps=next_steps,
        notes=notes,
    )


def _items(reading: _Reading, opened: int, closed: int, item: str) -> tuple[str, ...]:
    inner = reading.fields(opened, closed, frozenset((item,)))
    if inner:
        found = [reading.inside(begin, end) for _, begin, end in inner]
    else:
        found = [_BULLET.sub("", line).strip() for line in reading.inside(opened, closed).splitlines()]
    return tuple(dict.fromkeys(text[:_MOST_TEXT] for text in found if text))[:_MOST_ITEMS]


def _title(raw: str) -> str:
    wrapped = _WRAPPED.match(raw)
    return one_line(wrapped.group(1) if wrapped else raw, _MOST_TITLE)
