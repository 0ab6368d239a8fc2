"""Pure: the summary of a turn by rules alone: from the prompt, the agent's last words, and the files it touched."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from worker.observer.subject import subject
from worker.observer.wording import listed, one_line, short_path
from worker.store.drafts import SummaryDraft

_MOST = 600
_MOST_REQUEST = 300
_LOOKED_AT = 60_000
_LINES = 600


@dataclass(frozen=True, slots=True)
class Done:
    """What is known of a turn. titles: of its observations; cwd: to tell files by short names."""

    prompt: str = ""
    last_message: str = ""
    titles: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    cwd: str = ""


_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.{1,80})|\*\*([^*\n]{1,80})\*\*:?\s*|([^\n:]{1,40})[:：])$")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+(.*)$")
_NEXT = re.compile(
    r"(?i)\b(?:next steps?|next|to ?do|remaining|still (?:to do|open|needed)|follow[- ]?ups?|left to do"
    r"|you (?:can|may|should)"
    r"|let me know|would you like|want me to|recommend\w*|nächste|prochaine)\b|下一步|接下来|次の|残り|今後|다음"
)
_LEARNED = re.compile(
    r"(?i)\b(?:because|root cause|the (?:problem|issue|cause|bug|culprit|fault|leak|crash|failure|error)"
    r" (?:was|is)|turn(?:s|ed) out|due to|found that"
    r"|caused by"
    r"|works by|learned|findings?|explanation|the reason)\b|原因|因为|なぜなら|ため|때문"
)
_NOTES = re.compile(r"(?i)\b(?:note|caveats?|warning|careful|beware|limitations?|known issues?)\b|注意|留意|주의")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)\s+|(?<=[。！？])\s*")
_REPORTED = re.compile(
    r"(?i)^(?:found (?:it|the (?:problem|issue|cause|bug))|done|fixed|solved|all (?:done|set)|great|perfect|ok(?:ay)?"
    r"|you'?re (?:absolutely |quite )?right|good (?:catch|point|question)"
    r"|good news|decision|summary|answer|in short)\s*(?:[.!:,]|—|–|-\s)\s*"
)
"""With what an agent begins before it says what was found."""
_DECOR = re.compile(r"^[^\w`\"'(\[<]+")
_PREAMBLE = re.compile(
    r"(?i)^(?:(?:now )?let me|here(?:'s| is| are)|based on|i(?: now have|(?:'ve| have)(?: now)? (?:got|completed"
    r"|finished|reviewed|analy[sz]ed|looked|gone)))\b"
)
_SHORTEST = 12
_BRIEF = 160
"""Characters: what is shorter, and answers nothing that was asked, is a courtesy."""
_OFFER = re.compile(r"(?i)^(?:let me know|would you like|want me to|is there anything|shall i|feel free)\b")


def summary(done: Done) -> SummaryDraft | None:
    """The summary; None where nothing was said, done or looked at."""
    asked = subject(done.prompt)
    message = done.last_message[:_LOOKED_AT]
    sections = _sections(message)
    edited = [short_path(path, done.cwd) for path in done.files_edited]
    read = [short_path(path, done.cwd) for path in done.files_read if path not in done.files_edited]
    if not (message.strip() or edited or read or done.titles):
        return None
    if not (asked.text or edited or read or done.titles) and len(message) < _BRIEF:
        return None
    first = _opening(sections)
    learned, after, notes = (_about(sections, pattern) for pattern in (_LEARNED, _NEXT, _NOTES))
    if not learned and asked.question:
        learned = first
    told = "" if asked.question else first.replace(learned, "").strip() if learned else first
    completed = _joined([told, f"Changed {listed(edited, 6)}." if edited else ""])
    return SummaryDraft(
        request=one_line(done.prompt, _MOST_REQUEST) if asked.text or not done.titles else done.titles[0],
        investigated=_joined(
            [f"Read {listed(read, 6)}." if read else "", *_titled(done.titles, edited, asked.text, learned)]
        ),
        learned=learned,
        completed=completed,
        next_steps=after,
        notes=notes if notes != learned else "",
        files_read=done.files_read,
        files_edited=done.files_edited,
    )


def opening(message: str) -> str:
    """The first thing that an agent's last words say."""
    return _opening(_sections(message[:_LOOKED_AT]))


def finding(message: str) -> tuple[str, bool]:
    """The sentence of an agent's first words that says most, and whether it tells a reason; empty if none says much."""
    first = opening(message)
    parts = (_REPORTED.sub("", _DECOR.sub("", part)).strip() for part in _SENTENCE.split(first))
    told = [_DECOR.sub("", part).rstrip(" .!。！:：") for part in parts]
    told = [one for one in told if len(one) >= _SHORTEST and not (_OFFER.match(one) or _PREAMBLE.match(one))]
    reason = next((part for part in told if _LEARNED.search(part)), "")
    if not reason and told and first.lower().startswith("found "):
        reason = told[0]
    return (reason, True) if reason else (next(iter(told), ""), False)


@dataclass(frozen=True, slots=True)
class _Section:
    heading: str
    lines: tuple[str, ...]


def _sections(message: str) -> list[_Section]:
    """The message by its headings; code blocks and tables are left out."""
    found: list[_Section] = []
    heading, lines, fenced, items, gap = "", list[str](), False, False, False
    for line in message.splitlines()[:_LINES]:
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
        elif fenced or bare.startswith("|"):
            continue
        elif bare and (begun := _HEADING.match(bare[:200])):
            found.append(_Section(heading, tuple(lines)))
            heading, lines = next(filter(None, begun.groups()), ""), []
        elif bare:
            if gap and items and not _ITEM.match(bare):  # a list under a heading ends where prose begins again
                found.append(_Section(heading, tuple(lines)))
                heading, lines = "", []
            items, gap = _ITEM.match(bare) is not None, False
            lines.append(_plain(bare))
        else:
            gap = True
    return [*found, _Section(heading, tuple(lines))]


def _plain(line: str) -> str:
    item = _ITEM.match(line)
    return re.sub(r"(?<!\*)\*{1,3}(?!\*)|`{1,3}", "", item.group(1) if item else line)[:2_000]


def _opening(sections: Sequence[_Section]) -> str:
    """The first thing that is said; not that something will be said."""
    for section in sections:
        lines = [line for line in section.lines[:4] if not (_OFFER.match(line) or line.endswith((":", "：")))]
        if lines:
            return one_line(" ".join(lines[:3]), _MOST)
    return ""


def _about(sections: Sequence[_Section], pattern: re.Pattern[str]) -> str:
    """What stands under a heading of this kind; else the sentences that are of it."""
    for section in sections:
        if section.heading and section.lines and pattern.search(section.heading):
            return one_line("; ".join(line.rstrip(".;") for line in section.lines[:6] if not _OFFER.match(line)), _MOST)
    sentences = (part for section in sections for line in section.lines for part in _SENTENCE.split(line))
    found = [part.strip() for part in sentences if part and not _OFFER.match(part.strip()) and pattern.search(part)]
    return one_line(" ".join(found[:3]), _MOST)


def _titled(titles: Sequence[str], edited: Sequence[str], asked: str, learned: str) -> list[str]:
    """What the observations of a turn say beyond what was asked and what is told as learned."""
    bare = [title.removeprefix(f"{asked}: ") for title in titles[:3]] if not edited else []
    news = [title for title in bare if title != asked and title.rstrip(".…") not in learned]
    return [title if title.endswith("…") else f"{title}." for title in news]


def _joined(parts: Sequence[str]) -> str:
    return one_line(" ".join(part for part in parts if part), _MOST)
