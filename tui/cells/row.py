"""Pure: an entry as one line of the list, its columns in the same cells on every line."""

import re

import msgspec

from tui.cells import fit, look
from tui.cells.clean import one_line
from tui.cells.look import Look
from tui.cells.marks import mark, ratio_badge, read_badge, work_badge
from worker.contract.search import Entry, Hit

Piece = tuple[str, str]
_TOKENS = 6
_WHEN = 6
_RATIO = 4
_WHY = 8
_TITLE_BESIDE_WHY = 20
_TITLE_BESIDE_RATIO = 26
"""Cells a title keeps when one of these columns is there."""
_WORD = re.compile(r"\w+")
_WIDE_SCRIPT = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]")
ROLES = ("gutter", "anchor", "mark", "key", "title", "match", "project", "tokens", "head", "blank")


class Columns(msgspec.Struct, frozen=True):
    """Cells of each column, 0 for one that is left out."""

    key: int
    when: int
    title: int
    project: int
    read: int
    work: int
    ratio: int = 0
    why: int = 0


def columns(room: int, *, key: int = 5, projects: bool = False, why: bool = False, ratio: bool = False) -> Columns:
    """The columns that fit: the narrower the list, the fewer, the title last of all.

    why: the hits have places in the engines' lists. ratio: it is what the list is sorted by.
    """
    when = _WHEN if room >= 64 else 0
    read = _TOKENS if room >= 40 else 0
    work = _TOKENS if room >= 60 else 0
    key = key if room >= 30 else 0
    project = min(16, room // 8) if projects and room >= 90 else 0
    fixed = 2 + 2 + 1 + sum(column + 1 for column in (key, when, project, read, work) if column)
    title = max(room - fixed, 4)
    reasons = _WHY if why and room >= 60 and title - _WHY - 1 >= _TITLE_BESIDE_WHY else 0
    title -= reasons + 1 if reasons else 0
    times = _RATIO if title - _RATIO - 1 >= (10 if ratio else _TITLE_BESIDE_RATIO) else 0
    title -= times + 1 if times else 0
    return Columns(key, when, title, project, read, work, times, reasons)


def head(wide: Columns, *, order: str, title: str = "title") -> list[Piece]:
    """The line above the columns. title: said above the titles."""
    text = "  "
    text += fit.right("id", wide.key) + " " if wide.key else ""
    text += fit.left(order, wide.when, "") + " " if wide.when else ""
    text += "  " + fit.left(title, wide.title, "")
    text += " " + fit.left("project", wide.project) if wide.project else ""
    text += " " + fit.right("~Read", wide.read) if wide.read else ""
    text += " " + fit.right("Work", wide.work) if wide.work else ""
    text += " " + fit.right("W/R", wide.ratio) if wide.ratio else ""
    text += " " + fit.left("why", wide.why) if wide.why else ""
    return [("head", text + " ")]


def pieces(
    entry: Entry,
    wide: Columns,
    lk: Look,
    words: re.Pattern[str] | None,
    *,
    gutter: str = " ",
    sign: str = " ",
    by_clock: bool = False,
) -> list[Piece]:
    """The line of an entry, a blank at its end. gutter: one cell before it. sign: one more, of a record that is marked.

    by_clock: only the time of day.
    """
    glyphs = lk.glyphs
    when = (look.clock if by_clock else look.short)(lk, entry.created_at_epoch)
    before = fit.right(str(entry.key), wide.key, glyphs.ellipsis) + " " if wide.key else ""
    before += fit.left(when, wide.when) + " " if wide.when else ""
    known = mark(entry.type, glyphs)
    after = " " + fit.right(read_badge(entry.read_tokens), wide.read) if wide.read else ""
    after += " " + fit.right(work_badge(entry.discovery_tokens), wide.work) if wide.work else ""
    if wide.ratio:
        after += " " + fit.right(ratio_badge(entry.read_tokens, entry.discovery_tokens, glyphs), wide.ratio)
    # An empty gutter takes the next column's role: one style fewer, 40 bytes less a line.
    role = {glyphs.anchor: "anchor", glyphs.cursor: "gutter"}.get(gutter, "key")
    line: list[Piece] = [(role, gutter + " ")] if sign == " " else [(role, gutter), ("mark", sign)]
    line += [("key", before)] if before else []
    line += [(known.role, known.letter), ("title", " "), *_title(entry, wide.title, glyphs.ellipsis, words)]
    if wide.project:
        line.append(("project", " " + fit.left(one_line(entry.project), wide.project, glyphs.ellipsis)))
    if wide.why:
        # In the colour of the tokens: another style would cost 40 bytes a line.
        after += " " + fit.left(why(entry), wide.why, glyphs.ellipsis)
    return [*line, ("tokens", after + " ")]


def why(entry: Entry) -> str:
    """`kw1 v3`: the place of a hit in the list of each engine that found it."""
    if not isinstance(entry, Hit):
        return ""
    by_words = f"kw{entry.keyword_rank}" if entry.keyword_rank is not None else ""
    by_meaning = f"v{entry.vector_rank}" if entry.vector_rank is not None else ""
    return f"{by_words} {by_meaning}".strip()


def waiting(wide: Columns, ellipsis: str) -> list[Piece]:
    """The line of a row that is not loaded yet."""
    return [("blank", "  " + (fit.right(ellipsis, wide.key) if wide.key else ""))]


def marked(line: list[Piece], words: re.Pattern[str] | None, roles: tuple[str, ...]) -> list[Piece]:
    """The line with what was looked for marked, in pieces of these roles."""
    if words is None:
        return line
    out: list[Piece] = []
    for role, text in line:
        out += _split(role, text, words) if role in roles else [(role, text)]
    return out


def _split(role: str, text: str, words: re.Pattern[str]) -> list[Piece]:
    line: list[Piece] = []
    at = 0
    for found in words.finditer(text):
        start, end = found.span()
        line += [(role, text[at:start])] if start > at else []
        line += [("match", text[start:end])] if end > start else []
        at = max(at, end)
    return [*line, (role, text[at:])] if at < len(text) else line


def _title(entry: Entry, room: int, ellipsis: str, words: re.Pattern[str] | None) -> list[Piece]:
    text = fit.left(one_line(entry.title), room, ellipsis)
    return _split("title", text, words) if words is not None else [("title", text)]


def pattern(text: str, entry: Entry | None = None) -> re.Pattern[str] | None:
    """What in a record answers to the words typed, as the worker found it (it knows word stems), else those words."""
    found = {one_line(word).lower() for word in _matched(entry)}
    found = found or {word.lower() for word in _WORD.findall(text) if len(word) > 1 or _WIDE_SCRIPT.search(word)}
    words = sorted((word for word in found if word), key=len, reverse=True)
    parts = [re.escape(word) if _WIDE_SCRIPT.search(word) else rf"\b{re.escape(word)}" for word in words]
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _matched(entry: Entry | None) -> list[str]:
    if not isinstance(entry, Hit):
        return []
    spans = [entry.title[start:end] for start, end in entry.title_matches]
    return spans + [entry.snippet.text[start:end] for start, end in entry.snippet.matches]
