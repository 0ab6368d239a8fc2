"""Pure: whether a text that stands where a secret may stand is one, or code that fetches one, or words about one."""

import binascii
import re

SAID = re.compile(r"pass|pwd|secret|token|credential|key", re.IGNORECASE)
_UNIT = r"\s{1,4}(?:char|byte|bit|digit|letter|word|second|minute|hour|day|week|month|year|time|token)"
_TECHNICAL = (
    r"(?i)(?:base|sha|md|utf|argon|pbkdf|aes|rsa|[rhep]s|oauth|ed|v|ipv|latin|iso|x|http|s|ec|p|python|node)-?\d{1,4}"
    r"(?:[-_.]?[a-z]\w*)*|\d+(?:-\d+)?-?(?:bit|byte|char|digit|day|hour|minute|second|word|letter|month|week|step)\w*"
    r"|[a-z]+-\d{1,2}|\d+(?:st|nd|rd|th|s|ms|m|h|d|kb|mb|k|x)"
)
_REFERENCE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_MODULE_OR_CLASS = re.compile(
    r"(?:\.[a-z]\w*)+\Z|_[A-Z]\w*[a-z]\w*\Z|(?:[A-Z][a-z\d]{0,30}){0,9}(?:Secret|Key|Token|Password)(?:[A-Z][a-z]{1,30})+\Z"
)
_URL = re.compile(r"https?://[^\s@]*\Z")
_CONSTANT = re.compile(r"[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\Z|0[xX][\dA-Fa-f]{1,8}\Z")
_COMMON = re.compile(r"[A-Za-z]{4,32}\d{2,8}[!@#$%?*]{1,3}|[A-Z][a-z]{3,32}\d{2,8}")
"""As people choose them, `Password123`: a variable is not called so."""
_DIGIT_FOR_A_LETTER = re.compile(r"(?=.*[A-Z])[A-Za-z\d_!@#$%?*]*[A-Za-z][034][a-z]")
"""`Sup3rSecret1`: likewise."""
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
_STATES = frozenset(
    (
        "wrong", "incorrect", "correct", "invalid", "valid", "missing", "empty", "expired", "unknown", "encrypted",
        "hashed", "unset", "username", "email", "user", "value", "auto", "prompt", "input", "varchar", "here",
        "unchanged", "updated", "accepted", "rejected", "failed", "passed", "stored", "plaintext", "protected", "blank",
        "always", "never", "masked", "redacted", "removed", "present", "absent", "denied", "matches", "mandatory",
        "minimum", "weak", "strong", "random", "generated", "rotated", "forgotten", "ignored", "private", "public",
        "confirmed", "verified", "nothing", "nullable", "unused", "varies", "hash", "digest", "custom", "manual",
    )
)  # fmt: skip
"""What texts say about a password."""
_VARIABLE = ("$", "{", "<", "%(", "%s", "#{", "your_", "your-", "YOUR_", "YOUR-", "[", "(", "*", "...", "/", "./", "~")


def is_told(value: str, word: str, after: str) -> bool:
    """Whether a word without quotes in a sentence is a secret, and tells nothing about one."""
    is_password = word.startswith(("pass", "pwd"))
    if value.isdigit():
        return is_password and len(value) >= 4 and re.match(_UNIT, after) is None
    if re.fullmatch(_TECHNICAL, value) is not None or len(value) < (4 if is_password else 8):
        return False
    return is_value(value, quoted=False) or (is_password and (_has_sign(value) or _is_mixed(value)))


def is_code(value: str) -> bool:
    """Whether a text fetches a value, and is none."""
    return _REFERENCE.fullmatch(value) is not None or bool(set(value) & set("()[]{}/="))


def _is_mixed(value: str) -> bool:
    """Whether a text is of letters and digits, and no code."""
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value)) and not is_code(value)


def is_word_of_its_own(value: str) -> bool:
    """Whether a text that a password may be given as is more than a type, a state or a variable."""
    return value.lower() not in _PLAIN | _STATES and is_password(value)


def _has_sign(value: str) -> bool:
    """Whether a text has a sign within it as words have none, and is no address of somebody."""
    return re.match(r"[A-Za-z][\w.-]*[@#%^!][\w@#%^!.-]*[A-Za-z0-9]\Z", value) is not None and "." not in value


def has_login(pairs: str) -> bool:
    """Whether one of the values of a `Cookie:` line may let somebody in."""
    values = (pair.partition("=")[2] for pair in pairs.split(";"))
    return any(is_password(one) and (len(one) >= 8 or any(map(str.isdigit, one))) for one in values)


def is_cookie(name: str, value: str) -> bool:
    """Whether the value of a `Set-Cookie:` line lets somebody in."""
    named = SAID.search(name) is not None or re.search(r"(?i)sess|auth|jwt|sid\b", name) is not None
    return is_password(value) and (named or len(value) >= 8 or any(map(str.isdigit, value)))


def is_no_name(value: str) -> bool:
    """Whether a text that a password is given as in a command is more than what it is called."""
    return is_word_of_its_own(value) and SAID.search(value) is None


def is_login(value: str) -> bool:
    """Whether a text is a name and a password in base64, as registries of images and packages want it."""
    try:
        name, colon, password = binascii.a2b_base64(value, strict_mode=True).decode().partition(":")
    except ValueError:
        return False
    return bool(colon) and len(password) >= 3 and (name + password).isprintable()


def is_secret(value: str, name: str, *, quoted: bool) -> bool:
    """Whether the value given to a name that tells of secrets is one."""
    if name.lower().endswith("token"):
        before = name[:-5]
        if not re.search(_STRONG_TOKEN, before) and not name.isupper():
            return is_value(value, quoted=False) and len(value) >= 8
    if quoted and _MODULE_OR_CLASS.match(value):
        return False
    if quoted and " " in value.strip():
        return "passphrase" in name.lower()
    return is_value(value, quoted=quoted)


def is_value(value: str, *, quoted: bool) -> bool:
    """Whether a text is a value of its own, and neither a variable, nor code, nor the name of a type."""
    if not is_password(value) or len(value) < 4 or value.lower() in _PLAIN:
        return False
    if quoted:
        return True
    if (
        _DATE.match(value)
        or _URL.match(value)
        or _CONSTANT.match(value)
        or (SAID.search(value) and not _is_chosen(value))
    ):
        return False
    has_digit, has_letter = any(char.isdigit() for char in value), any(char.isalpha() for char in value)
    if not has_letter:
        return has_digit and len(value) >= 6 and not value.replace(".", "").replace("_", "").isdigit()
    return has_digit and not _REFERENCE.fullmatch(value) and not set(value) & set("()[]{}")


def _is_chosen(value: str) -> bool:
    """Whether a text is what people, or programs, choose as a password, although it has a word that tells of one."""
    return _is_noise(value) or _COMMON.fullmatch(value) is not None or _DIGIT_FOR_A_LETTER.match(value) is not None


def _is_noise(value: str) -> bool:
    """Whether a text is so long and mixed that a word in it is chance."""
    kinds = (str.isdigit, str.isupper, str.islower)
    return (
        len(value) >= 32
        and all(any(map(kind, value)) for kind in kinds)
        and re.fullmatch(r"[\w+/=-]+", value) is not None
    )


def is_password(value: str) -> bool:
    """Whether a text may be one: no variable of a shell or template, no path, no mask."""
    return not value.startswith(_VARIABLE) and any(char.isalnum() for char in value) and _DRIVE.match(value) is None


def is_random(value: str) -> bool:
    """Whether a text is no word that people use."""
    if not is_password(value):
        return False
    return any(char.isdigit() for char in value) or (not value.islower() and not value.istitle() and len(value) >= 12)
