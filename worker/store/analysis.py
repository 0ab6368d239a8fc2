"""Pure: text to search words, one function for records and questions alike.

What it gives is fed to FTS5's `porter unicode61`, which adds the stems; every word it gives is one FTS5 token.

- Compatibility forms are folded (NFKC), accents taken off, all in lower case.
- An identifier is given whole, as one word without its punctuation, and in its parts: `getUserById`,
  `get_user_by_id` and `get-user-by-id` all give `getuserbyid get user by id`. So do paths (each name in them too:
  `src/app.py` gives `srcapppy src apppy app py`), versions (`v3.12.1`) and contractions (`don't`).
- Scripts that write no blanks (Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer) give overlapping pairs, and the
  last character of each run alone: a question of one character finds it as the beginning of a pair or as that end.
- An emoji is a word too.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence

VERSION = 1
"""Counted up with every change of the words given: an index of another version is built anew."""

TOKENIZER = "porter unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
"""FTS5's part. It must not split a word that ``words`` gives, so combining marks count as letters."""

_LONGEST_WHOLE = 64
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3031-\u3035\u3040-\u30fa"
    "\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U000323af"
)
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[\u0900-\u0963\u0966-\u0dff])"  # Indian vowel signs are no `\w`
_PIECE = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<word>{_LETTER}+(?:[-_./\\:@'\u2019]{{1,3}}{_LETTER}+)*(?:\+\+|\#)?)"
    r"|(?P<emoji>[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff])"
)
_ASCII_PIECE = re.compile(r"[A-Za-z0-9]+(?:[-_./\\:@']{1,3}[A-Za-z0-9]+)*(?:\+\+|#)?")
"""The same where there is nothing but ASCII, in a third of the time."""
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_SLASHES = re.compile(r"[/\\]+")
_JOINTS = re.compile(r"[-_.:@'\u2019]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+[a-z]*")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CROWD = re.compile(r"[^\w\s\x00-\x7f]{33,}")
"""More marks on one letter than any script has. Unicode sorts the marks of a letter in quadratic time."""
_EDGES = ".,;:!?()[]{}<>\"'`*=|~^%&$_-/\\@"
"""What may stand around a word without being of it: all ASCII marks but the plus and number signs of `c++` and `c#`."""
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")


def words(text: str, *, run_ends: bool = True) -> list[str]:
    """The search words of a text, in order, with repetitions.

    run_ends: give the last character of each unspaced run too; records need it, questions of two characters or more
    do not.
    """
    found: list[str] = []
    for chunk in _fold(text).split():
        bare = chunk.strip(_EDGES)
        if bare.isascii() and bare.islower() and bare.isalpha():
            found.append(bare)  # most of all prose; what follows would say the same, five times slower
        else:
            found.extend(_chunk(chunk, run_ends))
    return found


def line(text: str) -> str:
    """The search words of a record's text, a blank between them."""
    if not text:
        return ""
    chunks = _fold(text).split()
    if text.isascii() and len(max(chunks, key=len, default="")) <= _LONGEST_WHOLE:
        return " ".join(filter(None, map(_common_line, chunks)))
    return " ".join(
        filter(
            None,
            (
                _common_line(chunk) if chunk.isascii() and len(chunk) <= _LONGEST_WHOLE else " ".join(words(chunk))
                for chunk in chunks
            ),
        )
    )


@functools.lru_cache(maxsize=16_384)
def _common_line(chunk: str) -> str:
    """The search words of ASCII text without blanks. The same ones come often; long ones, and sentences of scripts
    without blanks, do not come again, and would fill the memory."""
    bare = chunk.strip(_EDGES)
    if bare.isalpha() and (bare.islower() or bare[1:].islower()):
        return bare.lower()
    return " ".join(_chunk(chunk, run_ends=True))


def _chunk(text: str, run_ends: bool) -> list[str]:
    """The search words of a text without blanks."""
    found: list[str] = []
    if text.isascii():
        for word in _ASCII_PIECE.findall(text):
            found.extend(_of_word(word))
        return found
    for piece in _PIECE.finditer(text):
        word = piece.group()
        if piece.lastgroup == "run":
            found.extend(map("".join, zip(word, word[1:], strict=False)))
            if run_ends or len(word) == 1:
                found.append(word[-1])
        elif piece.lastgroup == "emoji":
            found.append(_emoji(word))
        else:
            found.extend(_of_word(word))
    return found


def atoms(text: str) -> Iterator[tuple[str, ...]]:
    """The words of a phrase as a person sees them, in order: each run of a script without blanks, each part of an
    identifier, an emoji. Behind each, what else the index has of it when it stands as it does here.
    """
    for piece in _PIECE.finditer(_fold(text)):
        word = piece.group()
        if piece.lastgroup == "run":
            yield (word,)
        elif piece.lastgroup == "emoji":
            yield (_emoji(word),)
        else:
            for name in _SLASHES.split(_spelled(word)):
                if _is_contraction(name):
                    yield tuple(_parts(name))
                else:
                    yield from (tuple(_parts(part)) for part in _JOINTS.split(name) if part)


def _emoji(character: str) -> str:
    return f"emoji{ord(character):x}"


def _of_word(word: str) -> Sequence[str]:
    if word.islower() and word.isalnum():
        return (word,)
    # Long ones are blobs that do not come again, and would fill the memory.
    return _identifier(word) if len(word) <= _LONGEST_WHOLE else _parts(word)


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that writes no blanks."""
    return _UNSPACED_CHARACTER.fullmatch(character) is not None


def ascii_pieces(text: str) -> Iterator[re.Match[str]]:
    """The pieces of ASCII text, whose words ``words`` gives."""
    return _ASCII_PIECE.finditer(text)


def pieces(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """What stands where: (start, end, its search words), in characters of the text as given.

    A run of a script without blanks comes pair by pair, so the spans overlap there.
    """
    for piece in _PIECE.finditer(text):
        start, end = piece.span()
        if piece.lastgroup == "run":
            for at in range(start, end):
                yield at, min(at + 2, end), (_fold(text[at : min(at + 2, end)]),)
        else:
            yield start, end, tuple(words(piece.group()))


def _fold(text: str) -> str:
    if text.isascii():
        return text
    text = _CROWD.sub(lambda crowd: re.sub(".{32}", r"\g<0> ", crowd.group()), text)
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", bare)


@functools.lru_cache(maxsize=8_192)
def _identifier(text: str) -> tuple[str, ...]:
    """A word with punctuation, capitals, digits or marks in it: whole, then its parts. The same ones come often."""
    return tuple(_parts(text))


def _parts(text: str) -> list[str]:
    found: list[str] = []
    names = _SLASHES.split(_spelled(text))
    if len(names) > 1:
        whole = _JOINTS.sub("", "".join(names)).lower()
        if len(whole) <= _LONGEST_WHOLE:
            found.append(whole)
    for name in names:
        parts = [part for part in _JOINTS.split(name) if part]
        contraction = _is_contraction(name)
        if len(parts) > 1:
            whole = "".join(parts).lower()
            if len(whole) <= _LONGEST_WHOLE:
                found.append(whole)
        for part in parts:
            if contraction and len(part) < 3:
                continue
            found.append(part.lower())
            if not part.islower() and _HUMP.search(part):
                found.extend(hump.lower() for hump in _CAMEL.findall(part))
    return found


def _spelled(word: str) -> str:
    """A word with the signs at its end in letters: `c++`, `c#`."""
    if word[-1] not in "+#":
        return word
    return word.rstrip("+#") + ("plusplus" if word[-1] == "+" else "sharp")


def _is_contraction(name: str) -> bool:
    return "'" in name or "\u2019" in name
