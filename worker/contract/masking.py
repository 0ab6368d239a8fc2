"""Pure: keys, tokens and passwords, found in texts and in any JSON value, and hidden.

What has a well-known shape is a secret wherever it stands; anything else only by the name that it is given to, and
only if it is a value and no code that fetches one. The rest of the line stays. A text that was masked is left as it is.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from worker.contract.secret_shapes import SHAPES
from worker.contract.secret_values import (
    SAID,
    has_login,
    is_code,
    is_cookie,
    is_login,
    is_no_name,
    is_password,
    is_random,
    is_secret,
    is_told,
    is_value,
    is_word_of_its_own,
)

MASK = "****"


class Found(NamedTuple):
    """A secret in a text: what it is, and where, from ``start`` up to ``end``."""

    kind: str
    start: int
    end: int


# The patterns are compiled on use, and kept by ``re``: a hook would else spend 8 ms on them at each event, for texts
# that have nothing of the kind.
_KEYS = (
    (
        "PRIVATE KEY",
        r"-{4,5} ?(BEGIN|END) (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
        r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
    ),
    (
        "Private-",
        r"(?:Private-(Lines): {0,4}\d{1,5}\b|Private-(?:MAC|Hash): {0,4}[0-9a-fA-F]{32,128})",
        r"Private-(?:MAC|Hash): {0,4}[0-9a-fA-F]{32,128}",
    ),
)
"""Kinds of private keys: what all have, their first or last line (only the first has a group that says so), their last
line. The second is PuTTY's."""

_IN_URL = r"""://[^\s/@:"'`<>\\]{0,256}:([^\s/"'`<>\\]{1,512})@(?=[\w\[])"""
_BEARER = r"\b(?:Bearer|bearer|BEARER)\s{1,4}([\w.~+/=-]{8,})"
_HEADER = (
    r"""(?i)(?<![a-z0-9]_)authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:(?:basic|token|digest|apikey|bearer)\s{1,4}|(?=[a-z]{0,99}[^a-z\s])"""
    r"""(?!\w{0,60}\[|[a-z_]\w{0,60}(?:\.[a-z_]\w{0,60}){1,9}\())"""
    r"""([^\s"'\\,;<>{}$()*]{8,})"""
)
"""What has letters alone is the name of a type, where no word tells how somebody is let in; code fetches one."""
_HEADERS = ("authorization", "proxy-authorization", "cookie", "set-cookie")
_COOKIE_NAME = r"[\w!#%&*+.^|~-]{1,64}"
_COOKIE_PAIR = rf"""{_COOKIE_NAME}=[^\s;,"'\\]{{0,4096}}"""
_COOKIE = (
    rf"""(?i)(?:(?<![\w-])cookie2?\\?["']?\s{{0,4}}:|--cookie[\s=])\s{{0,4}}\\?["']?"""
    rf"""({_COOKIE_PAIR}(?:;\s{{0,4}}{_COOKIE_PAIR}){{0,200}})"""
)
_SET_COOKIE = rf"""(?i)set-cookie2?\\?["']?\s{{0,4}}:\s{{0,4}}\\?["']?({_COOKIE_NAME})=([^\s;,"'\\]{{4,4096}})"""
_COOKIE_OPTION = (
    rf"""\bcurl\b[^\n|;&]{{0,300}}?\s-b\s{{0,4}}["']?({_COOKIE_PAIR}(?:;\s{{0,4}}{_COOKIE_PAIR}){{0,200}})"""
)
_DSN = r"://([0-9a-f]{32}(?::[0-9a-f]{32})?|\w{16,64}(?=@[\w.-]{0,80}\bsentry\b))@(?=\w)"
_DOCKER = r"""(?i)(?<![a-z])_?auth\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?([a-z0-9+/]{8,4096}={0,2})"""
_USER = r"""(?<=[\s"'])(?:-u|--user)[\s=]{1,4}["']?[^\s:"'$]{1,128}:([^\s"'$]{3,})"""

_CURL_USER = r"""\bcurl\b[^\n|;&]{0,300}?\s-u["']?[^\s:"'$-][^\s:"'$]{0,127}:([^\s"'$]{3,})"""
_SUDO = (
    r"""\becho\s{1,4}(?:-n\s{1,4})?["']?([^\s"'$-][^\s"'$]{2,})["']?\s{0,4}\|\s{0,4}sudo\s[^\n|;&]{0,80}?-\w{0,5}S\b"""
)
_USER_OF_URL = r"://(?=\w{20,200}@[a-z])(?=\d{0,40}[A-Za-z])((?:[A-Za-z_]{0,99}\d){3}\w{0,200})@"
_CAPITAL_P = r"""\b(?:zip|unzip|sqlcmd|bcp)\s[^\n|;&]{0,200}?(?<=\s)-P\s{1,4}["']?([^\s"'$-][^\s"'$]{2,})"""
_LDAP = r"""\bldap\w{2,12}\s[^\n|;&]{0,200}?(?<=\s)-w\s{1,4}["']?([^\s"'$-][^\s"'$]{2,})"""
_SQL = (
    r"(?i)\b(?:(?:(?-i:IDENTIFIED)|(?:user|role)\s[^\n;]{0,120}?\sidentified)"
    r"\s{1,4}(?:with\s{1,4}\S{1,40}\s{1,4})?by|(?:with|encrypted)[ ]password"
    r"|convertto-securestring(?:\s{1,4}-string)?)\s{1,4}[\"']([^\s\"']{3,128})[\"']"
)
_SAS = r"(?<=[?&;]sig=)([\w%+/=-]{30,})"
_LOGIN = (
    r"\b(?:docker|podman|helm registry|az|oc)\s{1,4}login\b[^\n|;&]{0,200}?"
    r"""\s-p[\s=]{1,4}["']?([^\s"'$-][^\s"'$]{2,})"""
)
_PLACES = (
    ("password", ("://",), _IN_URL),
    ("token", ("bearer",), _BEARER),
    ("token", ("authorization",), _HEADER),
    ("password", ("-u", "--user"), _USER),
    ("token", ("sig=",), _SAS),
    ("token", ("://",), _DSN),
    ("token", ("://",), _USER_OF_URL),
    ("password", ("curl",), _CURL_USER),
    ("password", ("sudo",), _SUDO),
    ("password", ("zip ", "sqlcmd", "bcp "), _CAPITAL_P),
    ("password", ("ldap",), _LDAP),
    ("password", ("identified", "with password", "encrypted password", "securestring"), _SQL),
    ("password", ("sshpass",), r"""\bsshpass\s{1,4}-p\s{0,4}["']?([^\s"'$]{3,})"""),
    ("password", (" login",), _LOGIN),
    ("password", ("mysql", "mariadb"), r"""\b(?:mysql|mariadb)[\w-]{0,10}\b[^\n|;&]{0,200}?\s-p["']?([^\s"'$=]{3,})"""),
    ("password", ("redis-cli",), r"""\bredis-cli\b[^\n|;&]{0,200}?\s-a\s{1,4}["']?([^\s"'$]{3,})"""),
    ("password", ("pass:",), r"""-pass(?:in|out)?\s{1,4}["']?pass:([^\s"'$<]{3,})"""),
    ("password", ("login",), r"\blogin\s{1,4}\S{1,128}\s{1,20}password\s{1,4}(\S{3,})"),
)
"""Where a secret stands by what is around it: kind, words of which one is there, pattern. The last is of `.netrc`."""

_WORDS = (
    r"password|passwd|passphrase|pass|pwd|secret|token|credentials?"
    r"|(?:api|access|private|secret|auth|encryption|signing|master|account|shared|service|admin|subscription)[_-]?key"
)
_TAIL = r"(?:[_-](?:prod|production|dev|test|staging|live|value|b64|base64|\d{1,3}))?"
_NAMED = (
    rf"""(?i)(?P<word>{_WORDS}){_TAIL}(?P<close>\\{{0,2}}["'`]?\]?)"""
    rf"""(?P<op>\s{{0,8}}(?::\s{{0,4}}[A-Za-z_][\w.\[\]|?]{{0,40}}\s{{0,4}}=(?![=>]|[^\S\n]{{0,8}}(?:\n|\Z))|:=|=>|=(?![=>~])|:(?![:=]))\s{{0,8}})"""
)
_ELEMENT = rf"(?i)<(?:[\w.:-]{{0,40}}[_.:-])?(?:{_WORDS})>([^<\n]{{3,512}})</"
_FLAG = rf"""(?i)(?<![\w-])--?(?:[a-z]{{1,20}}[_-]){{0,3}}(?:{_WORDS})\s{{1,4}}(["']?)([^\s"'$-][^\s"']{{2,}})\1"""
_SPACED = (
    rf"""\b(?:setenv|set[ \t]{{1,4}}-[gxUu]{{1,3}}|ENV)[ \t]{{1,4}}(?i:(?:\w{{0,40}}_)?(?:{_WORDS}){_TAIL})"""
    r"""[ \t]{1,8}["']?([^\s"'$=][^\s"']{3,})"""
)
_PASSWORDS = r"(?:password|passwd|passphrase|passcode|pwd)"
_ALONE = (
    r"(?m)(?:^|[;&][ ]{0,4}|^[ ]{0,16}-[ ])"
    rf"(?:(?:export|set|local|declare[ ]-\w)[ ]{{1,4}}(?i:(?:\w{{0,40}}_)?(?:{_WORDS}){_TAIL})"
    rf"|(?:[a-z][\w.-]{{0,60}}[_.-])?(?:{_PASSWORDS}|secret))"
    r"=([\w!@#%^*+/-]{4,128})[ \t]{0,8}(?=[;&\r\n]|\Z)"
)
"""A whole line of a shell or of an `.env` file: in code there are blanks around the sign, or a comma behind it."""
_BESIDE = (
    rf"""(?i)\b(?:user(?:[_-]?name)?|login|e-?mail|account)["']?\s{{0,4}}[:=]\s{{0,4}}[^\s,;|(){{}}\[\]]{{1,128}}[\s,;|]{{1,8}}"""
    rf"""(?:and\s{{1,4}})?(?:\w{{1,20}}_)?{_PASSWORDS}\s{{0,4}}:\s{{1,4}}([a-z][\w!@#%^-]{{4,128}})(?=[.]?(?:\s(?!\s{{0,16}}[)}}\]])|\Z))"""
)
"""Beside the name that it goes with, which tells it from the name of a type."""
_LINE = (
    rf"(?im)^[ \t>*-]{{0,16}}(?:\w{{0,40}}[_.-])?{_PASSWORDS}[ \t]?:[ \t]{{1,8}}"
    r"((?-i:[a-z]{6,24}|[a-z]{1,24}(?:[-_.][a-z]{1,24}){3,12}))"
    r"(?=[.]?[ \t]{0,8}(?:\r?\n[ \t]{0,16}[^ \t)}\]]|\s{0,64}\Z))"
)
"""A line that says nothing else; the last one within brackets is code."""
_WITH_VALUE = (
    rf"""(?i)(?<![\w-])(?:name|key)\\?["']?\s{{0,4}}[:=]\s{{0,4}}\\?["']?(?:[\w.-]{{0,60}}[_.-])?(?:{_WORDS}){_TAIL}\\?["']?"""
    r"""[\s,]{1,40}\\?["']?value\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?([^\s"'\\,;<>{}]{4,256})"""
)
"""As settings of containers and of .NET have it."""
_SET = (
    rf"(?i)\bconfigure\s{{1,4}}set\s{{1,4}}(?:[\w.-]{{0,80}}[_.-])?(?:{_WORDS})"
    r"""\s{1,4}["']?([^\s"'$-][^\s"']{5,})"""
)
_FALLBACK = (
    rf"""(?i)(?:(?:getenv|environ\.get|env\.get|env\.fetch|env)\(\s{{0,4}}["'](?:\w{{0,60}}_)?(?:{_WORDS}){_TAIL}["']\s{{0,4}},"""
    rf"""|\benv\.(?:\w{{0,60}}_)?(?:{_WORDS}){_TAIL}\s{{0,4}}(?:\|\||\?\?))\s{{0,4}}["']([^\s"'/]{{4,128}})["']"""
)
_IS = (
    r"""\s(?:is|was|will\sbe)(?:\s(?:now|currently|still|just))?:?\s{1,4}"""
    r"""(?:(?P<quote>["'`])(?P<quoted>[^\s"'`]{4,128})(?P=quote)|(?P<bare>[^\s"'`,;<>]{4,128}))"""
)
_SPOKEN_OF = (
    rf"""(?i)(?<![\w-])({_WORDS}|passcode|(?:api|access|secret|private)[ ]key)"""
    r"""(?:\s(?:for|of|on|to|in)\s[^\n.:;"'`]{1,40})?\s{0,3}\Z"""
)
_OPTION = (
    rf"""(?i)(?<![\w-])--?(?:[a-z]{{1,20}}[_-]){{0,3}}(?:{_WORDS})="""
    r"""["']?([^\s"'$=,;<>|&()]{4,128})["']?(?=[\s;|&)]|\Z)"""
)
_INLINE = rf"(?i)(?<=[\w'\"/] )(?:\w{{1,20}}_)?{_PASSWORDS}=([\w!@#%^*+/-]{{4,128}})(?=\s|\Z|[\"'])"
"""Among other words of a command or of an address, `host=db password=…`: in code there is a comma before it."""
_EQUAL = ("password=", "passwd=", "passphrase=", "passcode=", "pwd=")
_COLON = tuple(word[:-1] + colon for word in _EQUAL for colon in (":", " :"))
_GIVEN: tuple[tuple[str, tuple[str, ...], Callable[[str], bool]], ...] = (
    (_WITH_VALUE, ("value",), is_word_of_its_own),
    (_SET, ("configure",), is_no_name),
    (_FALLBACK, ("env(", "env.", "environ.get("), is_no_name),
    (_SPACED, ("setenv", "set -", "env "), is_password),
    (_BESIDE, _COLON, is_word_of_its_own),
    (_LINE, _COLON, is_word_of_its_own),
    (_INLINE, _EQUAL, is_no_name),
    (_ALONE, (*_EQUAL, "secret=", "export ", "set ", "local ", "declare "), is_word_of_its_own),
    (_OPTION, (*_EQUAL, "secret=", "token=", "pass=", "key=", "credential=", "credentials="), is_no_name),
)
"""How passwords are given that no shape tells: pattern, words of which one is there, what they must be."""
_QUOTED = re.compile(
    r"""(?:[bBrRuU]{1,2}(?=["']))?(?P<quote>\\{0,2}["'`])(?P<value>(?:(?!(?P=quote))[^\n]){1,4096})(?P=quote)"""
)
_BARE = re.compile(r"[^\s\"'`,;<>&|]{3,256}")
_REST = re.compile(r"[^\s\"'`,;<>&|]*")
_NAME_CHARS = re.compile(r"[\w.-]{0,64}\Z", re.ASCII)
_WHOLE_NAME = rf"(?is)(?:.*[^A-Za-z]|.*[a-z](?=[A-Z])|)(?:{_WORDS}){_TAIL}"

_SHORTEST = len("pwd=abc")
_SHORTEST_SHAPE = len("sk-or-") + 8
"""None has a blank in it. Most texts have nothing so long but a path, and to ask each for ninety words takes longer
than all else."""
_OF_SHAPES = tuple((literal, at) for at, (_, literals, _) in enumerate(SHAPES) for literal in literals)
_OF_PLACES = tuple((word, at) for at, (_, words, _) in enumerate(_PLACES) for word in words)
_OF_GIVEN = tuple((word, at) for at, (_, words, _) in enumerate(_GIVEN) for word in words)
"""Of each pattern the words of which one is there, and its place."""
_GIVES = re.compile(r"[\s=:<(|?]")
"""What stands somewhere in all that gives a secret by what is around it."""
_GIVEN_TO = re.compile(r"(?:pass|pwd|secret|token|credential|key)[^:=]{0,40}[:=]")
"""In lower case, what ``_NAMED`` finds has this, which is looked for in a tenth of the time."""
_FOLDED = (("ſ", "s"), ("ı", "i"), ("i\u0307", "i"))
"""Letters that a pattern for any case takes for others, which `lower` leaves as they are."""
_OF_DOCKER = tuple(f"auth{mark}" for mark in "\"':=\\")
_TELLING = tuple(SAID.pattern.split("|"))


def secrets(text: str) -> list[Found]:
    """The secrets in a text, in their order; no two overlap."""
    found = sorted(_all(text), key=lambda one: (one.start, -one.end))
    apart: list[Found] = []
    for one in found:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
        elif one.end > apart[-1].end:
            apart[-1] = apart[-1]._replace(end=one.end)
    return apart


def masked(text: str) -> str:
    """The text with ``****`` in the place of each secret."""
    found = secrets(text)
    if not found:
        return text
    pieces: list[str] = []
    at = 0
    for one in found:
        pieces += (text[at : one.start], MASK)
        at = one.end
    return "".join((*pieces, text[at:]))


def masked_under(text: str, key: str | None) -> str:
    """A text that stands under a key, masked."""
    if key is not None and len(key) <= 64 and _is_whole_name(key) and is_secret(text, key, quoted=True):
        return MASK
    if key is not None and key.lower() in _HEADERS and is_random(text.rpartition(" ")[2]):
        return MASK
    if key is not None and key.lower() == "cookie" and has_login(text):
        return MASK
    if key is not None and key.lower() in ("auth", "_auth") and is_login(text):
        return MASK
    return masked(text)


def _is_whole_name(key: str) -> bool:
    return SAID.search(key) is not None and re.fullmatch(_WHOLE_NAME, key) is not None


def _all(text: str) -> Iterator[Found]:
    if len(text) < _SHORTEST:
        return
    yield from _key_blocks(text)
    yield from _shaped(text)
    if _GIVES.search(text) is None:
        return
    lowered = _lowered(text)
    for at in {place for word, place in _OF_PLACES if word in lowered}:
        kind, _, pattern = _PLACES[at]
        yield from _groups(kind, pattern, text, is_password if kind == "password" else is_random)
    if "cookie" in lowered:
        yield from _groups("token", _COOKIE, text, has_login)
        for match in re.finditer(_SET_COOKIE, text):
            if is_cookie(match[1], match[2]):
                yield Found("token", *match.span(2))
    if "curl" in lowered:
        yield from _groups("token", _COOKIE_OPTION, text, has_login)
    if "auth" in lowered and any(mark in lowered for mark in _OF_DOCKER):
        yield from _groups("password", _DOCKER, text, is_login)
    if any(word in lowered for word in _TELLING):
        yield from _named(text, lowered)


def _lowered(text: str) -> str:
    """In lower case, as patterns see it that look for letters in any case."""
    lowered = text.lower()
    if not lowered.isascii():
        for letter, plain in _FOLDED:
            lowered = lowered.replace(letter, plain)
    return lowered


def _shaped(text: str) -> Iterator[Found]:
    long = "\n".join([word for word in text.split() if len(word) >= _SHORTEST_SHAPE])
    for at in {place for literal, place in _OF_SHAPES if literal in long} if long else ():
        kind, _, pattern = SHAPES[at]
        if re.search(pattern, long, re.ASCII):
            for match in re.finditer(pattern, text, re.ASCII):
                yield Found(kind, *match.span())


def _named(text: str, lowered: str) -> Iterator[Found]:
    """What is given to a name that tells of a secret."""
    if _GIVEN_TO.search(lowered):
        yield from _assigned(text)
    if "</" in text:
        yield from _groups("password", _ELEMENT, text, lambda value: is_secret(value, "password", quoted=True))
    for match in re.finditer(_FLAG, text):
        if is_value(match[2], quoted=False):
            yield Found("password", *match.span(2))
    for at in {place for word, place in _OF_GIVEN if word in lowered}:
        pattern, _, fits = _GIVEN[at]
        yield from _groups("password", pattern, text, fits)
    if " is" in lowered or " was" in lowered or "will be" in lowered:
        yield from _told(text)


def _groups(kind: str, pattern: str, text: str, fits: Callable[[str], bool]) -> Iterator[Found]:
    for match in re.finditer(pattern, text):
        if fits(match[1]):
            yield Found(kind, *match.span(1))


def _key_blocks(text: str) -> Iterator[Found]:
    """What begins or ends here may have its other half elsewhere: all that may be of a key is."""
    for literal, edge, last in _KEYS:
        at = 0
        while literal in text and (begin := re.compile(edge).search(text, at)) is not None:
            end = re.compile(last).search(text, begin.start())
            start = begin.start() if begin[1] and begin[1] != "END" else at
            at = len(text) if end is None else end.end()
            yield Found("private key", start, at)


def _told(text: str) -> Iterator[Found]:
    """What a sentence says that a password is."""
    for match in re.finditer(_IS, text):
        group = "bare" if match["quoted"] is None else "quoted"
        start, end = match.span(group)
        if group == "bare":
            end = _end_of_bare(text, start, end)
        value = text[start:end]
        if not is_word_of_its_own(value) or (group == "bare" and value.isalpha()):
            continue
        spoken = re.search(_SPOKEN_OF, text[max(0, match.start() - 72) : match.start()])
        if spoken is None:
            continue
        if (group == "quoted" and not is_code(value)) or is_told(
            value, spoken[1].lower(), text[match.end() : match.end() + 16]
        ):
            yield Found("password", start, end)


def _assigned(text: str) -> Iterator[Found]:
    at, named = 0, re.compile(_NAMED)
    while (name := named.search(text, at)) is not None:
        at = name.end()
        before = _NAME_CHARS.search(text[max(0, name.start() - 64) : name.start()])
        whole = (before[0] if before else "") + name["word"]
        quoted = _QUOTED.match(text, at)
        value = quoted or _BARE.match(text, at)
        if value is None or not _stands_alone(whole, name["word"], name["op"].strip()):
            continue
        start, end = value.span("value") if quoted else value.span()
        is_shell = (
            not name["close"] and name["op"] == "=" and whole.isupper() and text[value.end() : value.end() + 1] != ","
        )
        if quoted:
            fits = is_secret(text[start:end], whole, quoted=True)
        elif is_shell:
            # With a bracket it is an argument in code; what a shell is given has none that is not quoted.
            fits = is_password(text[start:end]) and not set(text[start:end]) & set("()")
        else:
            end = _end_of_bare(text, start, end)
            fits = is_secret(text[start:end], whole, quoted=False) and text[end : end + 1] not in ("(", "[")
        if fits:
            if not quoted and end == start + 256 and (rest := _REST.match(text, end)) is not None:
                end = rest.end()
            yield Found("password" if "pass" in whole.lower() else "secret", start, end)
            at = max(at, end)


def _end_of_bare(text: str, start: int, end: int) -> int:
    """Brackets and stops that close what is around a value are not of it."""
    while end > start and text[end - 1] in ")]}.:":
        end -= 1
    return end


def _stands_alone(whole: str, word: str, op: str) -> bool:
    """`pass` and `pwd` count only as words of their own, and `PASS:` tells how a test went."""
    if word.lower() not in ("pass", "pwd"):
        return True
    before = whole[: len(whole) - len(word)]
    if not before:
        return op == "=" and word != "PWD"
    return not before[-1].isalpha() or (word[0].isupper() and word[1].islower())
