"""Pure: the query language, read in one place for app, command line, HTTP and MCP.

    words            found by relevance, any of them
    "exact phrase"   these words next to each other (in a sentence of five words and more: words like others)
    -word -"phrase"  leave out what has it. A word begins with a letter and has three characters and more, or any that
                     is not ASCII: `-v`, `-1` and `--force` are looked for, and what looks as if it was meant to be left
                     out is told
    type:bugfix,decision   project:shop   concept:gotcha   file:src/app   session:S14
    is:observation   is:summary   is:prompt
    since:2026-03-10   until:yesterday   at:"last week"   (see ``when``)
    at:14:30   at:2026-03-10T14:30   a moment: as of then, as if nothing had come after it

Values are lists with commas, quoted if they hold blanks. A pair of round brackets around, and what ends a clause
behind, are no part of a phrase, a filter or a word to leave out; other brackets begin text, as a dash does. Typographic
quotes, minus and colon are what they look like. A `word:` that is not one of these is plain text, and so is one without
a value; one whose value cannot be read is looked for as text. ``notes`` says so. So nothing that a person types is an
error. The filters must all hold; within one, any value will do.
"""

import datetime as dt
import difflib
import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct, field

from worker.contract.records import RecordKind
from worker.contract.search import MOST_CHARS
from worker.contract.when import at_ms, parse_range

_FIELDS = {
    "type": "type", "types": "type", "project": "project", "projects": "project", "concept": "concept",
    "concepts": "concept", "file": "file", "files": "file", "session": "session", "sessions": "session", "is": "is",
    "kind": "is", "since": "since", "until": "until", "at": "at",
}  # fmt: skip
_DATES = ("since", "until", "at")
_MEANT = {
    "on": "at", "date": "at", "day": "at", "when": "at", "after": "since", "from": "since", "before": "until",
    "to": "until", "tag": "concept", "tags": "concept", "path": "file", "repo": "project", "prj": "project",
}  # fmt: skip
"""What people call the filters who know them from elsewhere."""
_LIKE_FILTER = re.compile(r"(?P<name>[A-Za-z]{2,16}):(?![\d.:]+$)[\w\"]")
"""A word and what belongs to it, which an address (`localhost:8080`, `https://a`) or `std::vector` has not."""
_MOST_VALUES = 100
_MINUS = "-\u2212\uff0d"
_ARROWS = f"{_MINUS}\u2013>"
"""Behind a minus: of a flag or an arrow."""
_OPENING, _CLOSING = "([{（【", ")]}）】"
_ENDS = ",;，；。、"
_STOPS = ".!?…！？"
_CURVED = "[“„][^“”„]*[“”]|«[^«»]*»|「[^「」]*」|『[^『』]*』|＂[^＂]*＂"
_QUOTED = rf'"[^"]*"|{_CURVED}'
_BEHIND = f"[{re.escape(f'{_ENDS}{_STOPS})）')}]*"
_TOKEN = re.compile(
    # `file://` begins an address.
    rf"(?P<open>[(（]*)(?P<minus>[{_MINUS}])?(?:"
    rf"(?P<field>{'|'.join(_FIELDS)})[:：](?!//)(?P<value>(?:{_QUOTED}|\S)+)"
    rf"|(?P<quoted>{_QUOTED})(?P<behind>{_BEHIND})(?=\s|$)"
    r"|(?P<bare>\S+))",
    re.IGNORECASE,
)
_WORD = re.compile(r"\S+")
_QUOTATION = re.compile(_QUOTED)
_CURVED_VALUE = re.compile(rf"(?<![^,，、(（])(?:{_CURVED})(?=[{re.escape(_CLOSING + _ENDS + _STOPS)}]*(?:[,，、]|$))")
_CODE = re.compile(r"[\[\]{}=]|[:：] +[\"“]|\w\(|\(\"[^\"]*\",|;\s*$")
"""A line with one of these is code, whose quotations with a comma or the like behind are no phrases: `["a", "b"]`,
`key: "a",`, `f("a", "b")`, `("a", 1)`, `echo "a";`."""
_ENDING = re.compile(_BEHIND)
_SEPARATORS = re.compile("[,，、]")
_MARKS = frozenset(f'{_MINUS}:："“„«「『＂')
"""Without one of these a line has nothing but words."""
_CLOCK = re.compile(rf" +(\d{{1,2}}:\d{{2}}(?::\d{{2}})?)(?=[\s{re.escape(_CLOSING + _ENDS + _STOPS)}]|$)")
_LETTER = re.compile("[LNM]|So")
"""The categories of letters, digits, marks on them and emoji."""
_SIGN = re.compile(r"\+\+|#")
_STARS = re.compile(r"^\*+/?|\*+$")
_TWO_WORDS = re.compile(r"(last|this) +(week|month|year)\b", re.IGNORECASE)
_KINDS = {
    "observation": RecordKind.OBSERVATION, "observations": RecordKind.OBSERVATION, "obs": RecordKind.OBSERVATION,
    "summary": RecordKind.SUMMARY, "summaries": RecordKind.SUMMARY, "session": RecordKind.SUMMARY,
    "sessions": RecordKind.SUMMARY, "prompt": RecordKind.PROMPT, "prompts": RecordKind.PROMPT,
}  # fmt: skip


class Parsed(Struct, frozen=True):
    """What a line asks for. text: its plain words, in order. Epochs are inclusive.

    as_of_epoch_ms: the moment from which the memory is looked at, where the line names one; ``until`` tells it too.

    ends_in_word: whether the line's last piece is one of the plain words, and so may be going on.
    notes: sentences on what was not read as a filter though it looks like one.
    """

    text: str = ""
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    kinds: tuple[RecordKind, ...] = ()
    types: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    since_epoch_ms: int | None = None
    until_epoch_ms: int | None = None
    as_of_epoch_ms: int | None = None
    ends_in_word: bool = True
    notes: tuple[str, ...] = ()


class _Reading(Struct):
    words: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    since: list[int] = field(default_factory=list)
    until: list[int] = field(default_factory=list)
    as_of: list[int] = field(default_factory=list)
    ends_in_word: bool = True
    no_filter: str = ""
    notes: list[str] = field(default_factory=list)


def parse(line: str, *, now_epoch_ms: int, zone: dt.tzinfo | None = None, typing: bool = False) -> Parsed:
    """What a line asks for.

    typing: the end of the line may be unfinished; a filter there whose value cannot be read yet is passed over, and
    ``notes`` says what it takes.
    Of a line longer than anybody types, the first ``MOST_CHARS`` are read.
    """
    reading = _Reading()
    if len(line) > MOST_CHARS:
        line = line[:MOST_CHARS]
        reading.notes.append(f"only the first {MOST_CHARS:,} characters were read")
    if _MARKS.isdisjoint(line):  # as most lines are; what follows would say the same, in ten times the time
        return Parsed(text=" ".join(line.split()), notes=tuple(reading.notes))
    span = functools.partial(parse_range, zone=zone, now_epoch_ms=now_epoch_ms)
    for token in _tokens(line, span):
        complaint = _read(token, reading, span, typing=typing)
        if complaint and typing and token.ends_line:
            reading.notes.append(_yet(token))
        elif complaint:
            reading.words.append(token.text)
            reading.notes.append(complaint)
    values = {name: _few(name, given, reading.notes) for name, given in reading.values.items()}
    if reading.no_filter:
        reading.notes.append(_no_filter(reading.no_filter))
    return Parsed(
        text=" ".join(reading.words),
        phrases=tuple(reading.phrases),
        excluded=tuple(reading.excluded),
        kinds=tuple(dict.fromkeys(_KINDS[value.lower()] for value in values.get("is", ()))),
        types=tuple(values.get("type", ())),
        projects=tuple(values.get("project", ())),
        concepts=tuple(values.get("concept", ())),
        files=tuple(values.get("file", ())),
        sessions=tuple(values.get("session", ())),
        since_epoch_ms=max(reading.since, default=None),
        until_epoch_ms=min((*reading.until, *reading.as_of), default=None),
        as_of_epoch_ms=min(reading.as_of, default=None),
        ends_in_word=reading.ends_in_word,
        notes=tuple(reading.notes),
    )


def _few(name: str, given: Iterable[str], notes: list[str]) -> list[str]:
    """Each value once, and not more than anybody means."""
    values = list(dict.fromkeys(given))
    if len(values) > _MOST_VALUES:
        notes.append(f"of the {len(values):,} values of {name}: the first {_MOST_VALUES} were read")
    return values[:_MOST_VALUES]


class Filter(Struct, frozen=True):
    """A filter as it stands in a line, from where to where, and its values as they are read, whether they fit or not.

    field: one name for all names of a filter.
    """

    start: int
    end: int
    field: str
    values: tuple[str, ...]


def filters(line: str) -> list[Filter]:
    """The filters of a line, in its order."""
    found: list[Filter] = []
    for token in _tokens(line, functools.partial(parse_range, zone=dt.UTC, now_epoch_ms=0)):
        name = None if token.minus else _FIELDS.get(token.field or "")
        if name is not None:
            values = (token.value,) if name in _DATES else tuple(_values(name, token.value))
            found += [Filter(token.start, token.end, name, values)] if values else []
    return found


class _Token(Struct, frozen=True):
    text: str
    start: int
    minus: str
    field: str | None
    quoted: bool
    value: str
    ends_line: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_Span = Callable[[str], tuple[int, int] | None]
"""First and last millisecond of a date text."""


def _tokens(line: str, span: _Span) -> Iterator[_Token]:
    at, last = 0, len(line.rstrip())  # once: copying the rest for each of many words takes a minute for a megabyte
    is_code = _CODE.search(line) is not None
    while match := _TOKEN.search(line, at):
        name = match["field"].lower() if match["field"] else None
        quoted, start, end = match["quoted"] is not None, match.start(), match.end()
        value = match["quoted"][1:-1] if quoted else match["value"] or match["bare"]
        if _FIELDS.get(name or "") in _DATES:
            value, end = _date(line, match, span)
        if _is_whole(match, line[start:end], is_code=is_code):
            minus = match["minus"] or ""
        else:  # a word like any other
            word = _WORD.match(line, start)
            assert word is not None
            minus, name, quoted, value, end = "", None, False, word.group(), word.end()
        yield _Token(line[start:end], start, minus, name, quoted, value, end >= last)
        at = end


def _is_whole(match: re.Match[str], clause: str, *, is_code: bool) -> bool:
    """Whether round brackets at a clause's beginning, or behind its quotation, are a pair around all of it."""
    behind = match["behind"] or ""
    if behind and is_code:
        return False
    if not match["open"]:
        return ")" not in behind and "）" not in behind
    depth, bare = 0, _QUOTATION.sub("", clause).rstrip(_ENDS + _STOPS)
    for at, char in enumerate(bare):
        depth += (char in "(（") - (char in ")）")
        if not depth:
            return at == len(bare) - 1
    return False


def _straight(value: str) -> str:
    """A value with typographic quotes around it, or around one of a list, as if they were straight."""
    return _CURVED_VALUE.sub(lambda quote: f'"{quote[0][1:-1]}"', value)


def _date(line: str, match: re.Match[str], span: _Span) -> tuple[str, int]:
    """The value of a filter by date, and where it ends: `last week` is one, and so is a day with a time behind it."""
    start, end = match.span("value")
    if pair := _TWO_WORDS.match(line, start):
        return pair.group(), _past(line, pair.end())
    value = _clean("at", _straight(match["value"])).replace('"', "")
    if (clock := _CLOCK.match(line, end)) and span(timed := f"{value} {clock[1]}"):
        return timed, _past(line, clock.end())
    return value, end


def _past(line: str, end: int) -> int:
    """Behind what ends a clause."""
    behind = _ENDING.match(line, end)
    return behind.end() if behind else end


def _read(token: _Token, reading: _Reading, span: _Span, *, typing: bool) -> str:
    """Take a token in; what is wrong with it if it cannot be taken as the filter it looks like."""
    name = None if token.minus else _FIELDS.get(token.field or "")
    reading.ends_in_word = False
    if name in _DATES:
        found = span(token.value)
        if found is None:
            return f"{token.field}: takes a date (2026-03-10, 3d, yesterday, 上周), so this was looked for as text"
        if name == "at" and found[0] == found[1]:
            reading.as_of.append(found[0])
        else:
            reading.since += [found[0]] if name in ("since", "at") else []
            reading.until += [found[1]] if name in ("until", "at") else []
    elif name is not None:
        values = _values(name, token.value)
        if not values:
            return f"{token.field}: takes a value, so this was looked for as text"
        if name == "is" and not all(value.lower() in _KINDS for value in values):
            return f"{token.field}: takes observation, summary or prompt, so this was looked for as text"
        reading.values.setdefault(name, []).extend(values)
        if any("*" in value.removesuffix("/*") for value in values):
            reading.notes.append(f"{token.field}: a * within a value stands for itself")
    elif token.field is None and token.quoted and token.value.strip():
        (reading.excluded if token.minus else reading.phrases).append(token.value)
    elif token.minus and token.field is None and (unwanted := _unwanted(token)):
        reading.excluded += unwanted
        if '"' in token.value and not typing:
            reading.notes.append(f"{token.text} has no second quotation mark, so this word alone is left out")
    else:
        _word(token, reading, typing=typing)
    return ""


def _values(name: str, given: str) -> list[str]:
    """The values of a filter, in order."""
    values = (_clean(name, part).replace('"', "").strip() for part in _SEPARATORS.split(_straight(given)))
    if name == "file":
        values = (_STARS.sub("", value) for value in values)
    return [value for value in values if value]


def _clean(name: str, value: str) -> str:
    """A value without what only stands around it, or around its quotes. Names of files and projects may have nearly
    anything in them."""
    value = value.strip()
    is_name = name in ("file", "project")
    ends = _ENDS if is_name else _ENDS + _STOPS
    while value and (
        value[-1] in ends
        or ((at := _CLOSING.find(value[-1])) >= 0 and value.count(_CLOSING[at]) > value.count(_OPENING[at]))
    ):
        value = value[:-1]
    return value if is_name else value.strip(_OPENING + _CLOSING)


def _unwanted(token: _Token) -> list[str]:
    """The words that one with a minus leaves out; none if it is a flag, a number or an arrow."""
    if token.value[:1] in _ARROWS or ("=" in token.value and token.value.isascii()) or _is_cut(token):
        return []
    words = _bare_words(token.value)
    return words if all(_is_word(word) for word in words) else []


def _is_cut(token: _Token) -> bool:
    """Whether it is a piece of what stands between brackets or quotes, as in `[prog -help]`."""
    text, value = token.text, token.value
    opened, closed = text.count("(") + text.count("（"), text.count(")") + text.count("）")
    ends_quote = value[-1] in "'`" and value[-1] not in value[:-1] or ('"' in value and value[0] != '"')
    return opened != closed or ends_quote or any(char in "[]{}【】" for char in text)


def _is_word(word: str) -> bool:
    """Whether nobody writes it as a flag or a number with a minus."""
    return not word[0].isdecimal() and (len(word) >= 3 or not word.isascii())


def _bare_words(text: str) -> list[str]:
    """What commas part, each without the punctuation around it; `c++` and `c#` keep theirs."""
    found: list[str] = []
    for part in _SEPARATORS.split(text):
        if places := [at for at, char in enumerate(part) if _LETTER.match(unicodedata.category(char))]:
            sign = _SIGN.match(part, places[-1] + 1)
            found.append(part[places[0] : sign.end() if sign else places[-1] + 1])
    return found


def _word(token: _Token, reading: _Reading, *, typing: bool) -> None:
    """Take a plain word in, and say if it was meant to be more."""
    reading.words.append(token.text)
    reading.ends_in_word = True
    if token.minus and token.field in _FIELDS:
        reading.notes.append(f"-{token.field}: leaves nothing out, so this was looked for as text")
    elif token.minus and token.value[:1] not in _ARROWS and not (typing and token.ends_line):
        if len(bare := " ".join(_bare_words(token.value))) > 1:
            reading.notes.append(f'{token.text} was looked for; -"{bare}" leaves it out')
    elif token.text[-1] in ":：" and token.text[:-1].lower() in _FIELDS and not token.ends_line:
        reading.notes.append(f"{token.text} has its value right behind it, so this was looked for as text")
    elif (piece := _TOKEN.match(token.text)) and piece["open"] and piece["field"] and not (typing and token.ends_line):
        reading.notes.append(f"{piece['field']}: is in a bracket that goes on, so this was looked for as text")
    if (like := _LIKE_FILTER.match(token.text)) is not None and like["name"].lower() not in _FIELDS:
        reading.no_filter = reading.no_filter or like["name"]


def _yet(token: _Token) -> str:
    """What the filter takes that is being typed."""
    forms = "no date yet: 3d, monday, 2026-03-10" if token.field in _DATES else "no kind yet: prompt, summary"
    return f"{token.field}: {'no date yet: 14:30, 3d, monday' if token.field == 'at' else forms}"


def _no_filter(name: str) -> str:
    """That a word was taken for what it is, and which filter may be meant."""
    near = _MEANT.get(name.lower()) or next(iter(difflib.get_close_matches(name.lower(), _FIELDS, 1, 0.7)), None)
    return f"{name}: is text, no filter" + (f"; is it {near}:?" if near else "")


def shown_span(since_epoch_ms: int | None, until_epoch_ms: int | None, zone: dt.tzinfo | None = None) -> str:
    """A span in words with its zone, empty if it is open at both ends: `since 2026-03-10 00:00 CET`.

    Where clocks change within the span, each end has the name that its zone has then.
    """
    ends = [
        (word, at_ms(epoch, zone))
        for word, epoch in (("since", since_epoch_ms), ("until", until_epoch_ms))
        if epoch is not None
    ]
    names = [moment.tzname() or "" for _, moment in ends]
    if len(set(names)) == 1:
        names[:-1] = [""] * (len(names) - 1)
    told = zip(ends, names, strict=True)
    # Not strftime(), which tells the first thousand years with fewer digits.
    return " ".join(f"{word} {moment.isoformat(' ')[:16]} {name}".strip() for (word, moment), name in told)
