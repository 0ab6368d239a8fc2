"""Pure: keys, tokens and passwords, found in texts and in any JSON value, and hidden.

What has a well-known shape is a secret wherever it stands; anything else only by the name that it is given to, and
only if it is a value and no code that fetches one. The rest of the line stays. A text that was masked is left as it is.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

MASK = "****"


class Found(NamedTuple):
    """A secret in a text: what it is, and where, from ``start`` up to ``end``."""

    kind: str
    start: int
    end: int


_EDGE = r"(?<![A-Za-z0-9_-])"
_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("api key", ("sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-"), r"sk-(?:ant|proj|or|svcacct)-[\w-]{8,}"),
    ("api key", ("sk-",), r"sk-(?=[A-Za-z_-]{0,60}\d)[\w-]{16,}"),
    ("api key", ("k_live_", "k_test_", "whsec_"), r"(?:(?:sk|rk)_(?:live|test)|whsec)_[\w+/=]{10,}"),
    ("api key", ("AIza",), r"AIza[\w-]{30,}"),
    ("api key", ("gsk_", "xai-", "pplx-", "r8_", "hf_"), r"(?:gsk_|xai-|pplx-|r8_|hf_)[A-Za-z0-9]{20,}"),
    ("api key", ("SG.",), r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    ("access key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_\w{16,}"),
    ("token", ("github_pat_",), r"github_pat_\w{16,}"),
    ("token", ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"), r"gl(?:pat|dt|rt|ptt|cbt)-[\w.-]{16,}"),
    ("token", ("xox", "xapp-"), r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    ("token", ("npm_",), r"npm_[A-Za-z0-9]{30,}"),
    ("token", ("pypi-",), r"pypi-Ag[\w-]{40,}"),
    ("token", ("ya29.", "GOCSPX-"), r"(?:ya29\.|GOCSPX-)[\w-]{20,}"),
    ("token", ("_v1_",), r"do[oprt]_v1_[a-f0-9]{32,}"),
    ("token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,}"),
    ("token", ("dapi",), r"dapi[a-f0-9]{32}"),
    ("token", ("hvs.", "lin_api_", "tskey-", "glsa_", "ntn_"), r"(?:hvs\.|lin_api_|tskey-|glsa_|ntn_)[\w-]{20,}"),
    ("token", (":AA",), r"\d{8,10}:AA[\w-]{30,}"),
    ("token", ("ATATT3", "ATCTT3", "ATBB"), r"(?:AT[AC]TT3[\w=-]{20,}|ATBB[A-Za-z0-9]{28,})"),
    (
        "token",
        ("sbp_", "figd_", "pscale_"),
        r"(?:sbp_[a-f0-9]{32,}|figd_[\w-]{30,}|pscale_(?:pw|tkn|oauth)_[\w.-]{20,})",
    ),
    ("token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,30}\.)?[A-Za-z0-9]{30,}"),
    ("api key", ("NRAK-", "PMAK-"), r"(?:NRAK-[A-Z0-9]{20,}|PMAK-[a-f0-9]{20,}-[a-f0-9]{20,})"),
    ("token", ("hooks.slack.com/",), r"hooks\.slack\.com/services/[\w/]{20,}"),
    ("token", ("/api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/\d{5,25}/[\w-]{30,}"),
    ("private key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    ("token", ("eyJ",), r"eyJ[\w-]{6,}\.eyJ[\w-]{6,}(?:\.[\w-]*)?"),
)
_KNOWN = tuple((kind, literals, _EDGE + pattern) for kind, literals, pattern in _SHAPES)
"""These and the patterns below are compiled on use, and kept by ``re``: a hook would else spend 8 ms on them at each
event, for texts that have nothing of the kind."""

_KEY_EDGE = r"-----(BEGIN|END) (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"

_IN_URL = r"""://[^\s/@:"'`<>\\]{0,256}:([^\s/"'`<>\\]{1,512})@(?=[\w\[])"""
_BEARER = r"\b(?:Bearer|bearer|BEARER)\s{1,4}([\w.~+/=-]{8,})"
_HEADER = (
    r"""(?i)authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:(?:basic|token|digest|apikey|bearer)\s{1,4})?"""
    r"""([^\s"'\\,;<>{}$()*]{8,})"""
)
_HEADERS = ("authorization", "proxy-authorization", "cookie", "set-cookie")
_USER = r"""(?<=[\s"'])(?:-u|--user)[\s=]{1,4}["']?[^\s:"'$]{1,128}:([^\s"'$]{3,})"""

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
    ("password", ("sshpass",), r"""\bsshpass\s{1,4}-p\s{0,4}["']?([^\s"'$]{3,})"""),
    ("password", (" login",), _LOGIN),
    ("password", ("mysql", "mariadb"), r"""\b(?:mysql|mariadb)[\w-]{0,10}\b[^\n|;&]{0,200}?\s-p["']?([^\s"'$=]{3,})"""),
    ("password", ("login",), r"\blogin\s{1,4}\S{1,128}\s{1,20}password\s{1,4}(\S{3,})"),
)
"""Where a secret stands by what is around it: kind, words of which one is there, pattern. The last is of `.netrc`."""

_WORDS = (
    r"password|passwd|passphrase|pass|pwd|secret|token|credentials?"
    r"|(?:api|access|private|secret|auth|encryption|signing|master|account|shared|service|admin)[_-]?key"
)
_TAIL = r"(?:[_-](?:prod|production|dev|test|staging|live|value|b64|base64|\d{1,3}))?"
_SAID = re.compile(r"pass|pwd|secret|token|credential|key", re.IGNORECASE)
_NAMED = (
    rf"""(?i)(?P<word>{_WORDS}){_TAIL}(?P<close>\\{{0,2}}["'`]?\]?)"""
    rf"""(?P<op>\s{{0,8}}(?::\s{{0,4}}[A-Za-z_][\w.\[\]|?]{{0,40}}\s{{0,4}}=(?![=>]|[^\S\n]{{0,8}}(?:\n|\Z))|:=|=>|=(?![=>~])|:(?![:=]))\s{{0,8}})"""
)
_ELEMENT = rf"(?i)<(?:[\w.:-]{{0,40}}[_.:-])?(?:{_WORDS})>([^<\n]{{3,512}})</"
_FLAG = rf"""(?i)(?<![\w-])--?(?:[a-z]{{1,20}}[_-]){{0,3}}(?:{_WORDS})\s{{1,4}}(["']?)([^\s"'$-][^\s"']{{2,}})\1"""
_QUOTED = re.compile(r"""(?P<quote>\\{0,2}["'`])(?P<value>(?:(?!(?P=quote))[^\n]){1,4096})(?P=quote)""")
_BARE = re.compile(r"[^\s\"'`,;<>&|]{3,256}")
_REST = re.compile(r"[^\s\"'`,;<>&|]*")
_REFERENCE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_STRONG_TOKEN = (
    r"(?i)(?:api|auth|access|refresh|bearer|session|bot|csrf|xsrf|personal|deploy|git|hub|lab|slack|npm|pypi|hf|user|jwt"
    r"|app|service|admin|registry|webhook|oauth2?)[_-]?$"
)
_PLAIN = frozenset(
    (
        "string", "str", "text", "number", "integer", "bool", "boolean", "bytes", "none", "null", "undefined", "true",
        "false", "required", "optional", "hidden", "object", "password", "token", "secret", "bearer", "basic",
        "default", "changed", "enabled", "disabled", "include", "omit", "same-origin",
    )
)  # fmt: skip
_VARIABLE = ("$", "{", "<", "%(", "%s", "#{", "your_", "your-", "YOUR_", "YOUR-", "[", "(", "*", "...", "/", "./", "~")
_NAME_CHARS = re.compile(r"[\w.-]{0,64}\Z", re.ASCII)
_WHOLE_NAME = rf"(?is)(?:.*[^A-Za-z]|.*[a-z](?=[A-Z])|)(?:{_WORDS}){_TAIL}"


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
    if key is not None and len(key) <= 64 and _is_whole_name(key) and _is_secret(text, key, quoted=True):
        return MASK
    if key is not None and key.lower() in _HEADERS and _is_random(text.rpartition(" ")[2]):
        return MASK
    return masked(text)


def _is_whole_name(key: str) -> bool:
    return _SAID.search(key) is not None and re.fullmatch(_WHOLE_NAME, key) is not None


def _all(text: str) -> Iterator[Found]:
    yield from _key_blocks(text)
    for kind, literals, pattern in _KNOWN:
        if any(literal in text for literal in literals):
            for match in re.finditer(pattern, text, re.ASCII):
                yield Found(kind, *match.span())
    lowered = text.lower()
    for kind, words, pattern in _PLACES:
        if any(word in lowered for word in words):
            yield from _groups(kind, pattern, text, _is_password if kind == "password" else _is_random)
    if any(word in lowered for word in _SAID.pattern.split("|")):
        yield from _assigned(text)
        yield from _groups("password", _ELEMENT, text, lambda value: _is_secret(value, "password", quoted=True))
        for match in re.finditer(_FLAG, text):
            if _is_value(match[2], quoted=False):
                yield Found("password", *match.span(2))


def _groups(kind: str, pattern: str, text: str, fits: Callable[[str], bool]) -> Iterator[Found]:
    for match in re.finditer(pattern, text):
        if fits(match[1]):
            yield Found(kind, *match.span(1))


def _key_blocks(text: str) -> Iterator[Found]:
    """What begins or ends here may have its other half elsewhere: all that may be of a key is."""
    at = 0
    while "PRIVATE KEY" in text and (begin := re.compile(_KEY_EDGE).search(text, at)) is not None:
        end = re.compile(_KEY_END).search(text, begin.start())
        start, at = (begin.start() if begin[1] == "BEGIN" else at), len(text) if end is None else end.end()
        yield Found("private key", start, at)


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
            fits = _is_secret(text[start:end], whole, quoted=True)
        elif is_shell:
            # With a bracket it is an argument in code; what a shell is given has none that is not quoted.
            fits = _is_password(text[start:end]) and not set(text[start:end]) & set("()")
        else:
            end = _end_of_bare(text, start, end)
            fits = _is_secret(text[start:end], whole, quoted=False) and text[end : end + 1] not in ("(", "[")
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


def _is_secret(value: str, name: str, *, quoted: bool) -> bool:
    """Whether the value given to a name that tells of secrets is one."""
    if name.lower().endswith("token"):
        before = name[:-5]
        if not re.search(_STRONG_TOKEN, before) and not name.isupper():
            return _is_value(value, quoted=False) and len(value) >= 8
    if quoted and " " in value.strip():
        return "passphrase" in name.lower()
    return _is_value(value, quoted=quoted)


def _is_value(value: str, *, quoted: bool) -> bool:
    """Whether a text is a value of its own, and neither a variable, nor code, nor the name of a type."""
    if not _is_password(value) or len(value) < 4 or value.lower() in _PLAIN:
        return False
    if quoted:
        return True
    if _DATE.match(value) or (_SAID.search(value) and not _is_noise(value)):
        return False
    has_digit, has_letter = any(char.isdigit() for char in value), any(char.isalpha() for char in value)
    if not has_letter:
        return has_digit and len(value) >= 6 and not value.replace(".", "").replace("_", "").isdigit()
    return has_digit and not _REFERENCE.fullmatch(value) and not set(value) & set("()[]{}")


def _is_noise(value: str) -> bool:
    """Whether a text is so long and mixed that a word in it is chance."""
    kinds = (str.isdigit, str.isupper, str.islower)
    return (
        len(value) >= 32
        and all(any(map(kind, value)) for kind in kinds)
        and re.fullmatch(r"[\w+/=-]+", value) is not None
    )


def _is_password(value: str) -> bool:
    """Whether a text may be one: no variable of a shell or template, no path, no mask."""
    return not value.startswith(_VARIABLE) and any(char.isalnum() for char in value) and _DRIVE.match(value) is None


def _is_random(value: str) -> bool:
    """Whether a text is no word that people use."""
    if not _is_password(value):
        return False
    return any(char.isdigit() for char in value) or (not value.islower() and not value.istitle() and len(value) >= 12)
