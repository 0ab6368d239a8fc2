"""Query or body → value; value → response. Under the contract's names and all their aliases."""

import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from worker.contract import calls
from worker.contract.errors import Invalid, TooLarge, WrongType
from worker.contract.when import parse_range
from worker.store.sessions import normalised_platform

T = TypeVar("T")

FIRST_ID, LAST_ID = -(2**61), 2**63 - 1
"""Of rows that are asked for. Programs give ids below 1, too: the index has a number for them from the first on. SQLite
has no larger number than the last."""
UNREAD = "claude_mem.unread"
"""Stands in the scope of a request: what of it plays no part in the answer, beside parameters that nobody knows."""
_KEYS = dict[str, msgspec.Raw]
"""The keys of a body; what they hold is passed over."""
_MOST_VALUES = 100
"""Of one filter; SQLite takes no condition of any length."""
_YES, _NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")


def respond(value: object, status: int = 200) -> Response:
    """JSON of a value; text that is no Unicode (a lone surrogate from a file name) is sent as `?`."""
    try:
        body = msgspec.json.encode(value)
    except UnicodeEncodeError:
        body = msgspec.json.encode(_clean(msgspec.to_builtins(value)))
    return Response(body, status, media_type="application/json")


class Query:
    """The query string of a request. Errors of its methods: ``Invalid``, naming the parameter as it was given."""

    def __init__(self, request: Request) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in request.query_params.multi_items():
            self._values.setdefault(name, []).append(value)
        self._headers = request.headers
        self._unread: list[str] = request.scope.setdefault(UNREAD, [])

    def unread(self, *names: str) -> None:
        """What of these was given plays no part in this answer, and is told so."""
        self._unread += [name for name in names if name in self._values]

    def text(self, *names: str) -> str | None:
        """The first value under the first of these names that has one; blank counts as none."""
        found = self._first(*names)
        return None if found is None or not found[1].strip() else _clean_text(found[1])

    def texts(self, *names: str) -> tuple[str, ...]:
        """All values under these names, also as comma text or a JSON list."""
        given = [value for name in names if name in self._values for value in self._values[name]]
        if not given:
            return ()
        found = tuple(part for value in given for part in _parts(_clean_text(value)))
        if len(found) > _MOST_VALUES:
            raise Invalid(f"{names[0]} takes at most {_MOST_VALUES} values", field=names[0])
        return found

    def number(self, *names: str, default: int, low: int = 0, high: int = 2**31) -> int:
        """A whole number within bounds."""
        found = self._first(*names)
        if found is None or not found[1].strip():
            return default
        return whole_number(found[1], found[0], low=low, high=high)

    def flag(self, *names: str) -> bool:
        """`true` or `false`; absent is false."""
        found = self._first(*names)
        value = "" if found is None else found[1].strip().lower()
        if value not in (*_YES, *_NO):
            raise Invalid(f"{names[0]} must be true or false", field=found[0] if found else names[0])
        return value in _YES

    def moment(self, *names: str, end: bool = False) -> int | None:
        """Epoch ms of a date: its first moment, or with ``end`` its last."""
        found = self._first(*names)
        if found is None or not found[1].strip():
            return None
        parsed = parse_range(found[1], now_epoch_ms=int(time.time() * 1000))
        if parsed is None:
            raise no_date(found[1], found[0])
        return parsed[1 if end else 0]

    def choice(self, *names: str, of: Mapping[str, T], default: T) -> T:
        """One of a few words."""
        found = self._first(*names)
        if found is None or not found[1].strip():
            return default
        if found[1].strip().lower() not in of:
            raise Invalid(f"{found[0]} must be one of {', '.join(of)}, not {found[1][:40]!r}", field=found[0])
        return of[found[1].strip().lower()]

    def platform(self) -> str | None:
        """The platform asked for, by parameter or header, in its one spelling; None for all."""
        value = self.text("platformSource", "platform_source")
        for header in ("x-platform-source", "x-claude-mem-platform-source"):
            value = value or self._headers.get(header)
        return normalised_platform(value) if value else None

    def _first(self, *names: str) -> tuple[str, str] | None:
        for name in names:
            if name in self._values:
                return name, self._values[name][0]
        return None


async def body(request: Request, kind: type[T]) -> T:
    """The JSON body as a value; its keys that ``kind`` does not have are put under ``UNREAD`` in the request's scope.

    Errors: ``WrongType`` for no JSON type, ``Invalid`` naming the path in the body.
    """
    sent = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if sent != "application/json" and not sent.endswith("+json"):
        raise WrongType("the body must be sent as application/json")
    raw = await request.body() or b"{}"
    try:
        value = msgspec.json.decode(raw, type=kind)
        if isinstance(value, msgspec.Struct):
            known = type(value).__struct_encode_fields__
            unread = request.scope.setdefault(UNREAD, [])
            unread += [name for name in msgspec.json.decode(raw, type=_KEYS) if name not in known]
        return value
    except msgspec.ValidationError as error:
        said, _, path = str(error).partition(" - at `")
        missing = re.search(r"(?:required|unknown) field `(\w+)`", said)
        parts = (path.rstrip("`").removeprefix("$").removeprefix("."), missing[1] if missing else "")
        field = ".".join(part for part in parts if part) or None
        raise Invalid(f"{field or 'the body'}: {said}", field=field) from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Invalid(f"the body is not JSON: {error}") from error
    except RecursionError as error:
        raise TooLarge("the body is nested too deep") from error


def no_date(text: str, field: str) -> Invalid:
    """That something is not a date."""
    return Invalid(
        f"{field} must be a date (2026-03-10, 2026-03-10T14:00, 3d, yesterday, or 13 digits of milliseconds "
        f"since 1970), not {text[:40]!r}",
        field=field,
    )


def whole_number(value: object, field: str, *, low: int = 0, high: int = 2**31) -> int:
    """A whole number given as one (5, 5.0), or as its digits. Errors: ``Invalid``."""
    text = _written(value).strip() if not isinstance(value, bool) else ""
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 20 and low <= int(text) <= high:
        return int(text)
    raise Invalid(f"{field} must be a whole number from {low} to {high}, not {text[:40]!r}", field=field)


def id_list(value: object, field: str = "ids") -> tuple[int, ...]:
    """Ids as people and models give them: 5, 5.0, "5", "#5", "1,2", "[1,2]", ["1,2", 3]. Errors: ``Invalid``."""
    given: list[Any] = []
    for item in value if isinstance(value, list) else _unlisted(value) if isinstance(value, str) else [value]:
        if isinstance(item, bool | list | dict) or item is None:
            raise Invalid(f"{field} must be a list of record numbers", field=field)
        given += item.replace(",", " ").split() if isinstance(item, str) else [item]
    bare = (item.removeprefix("#") if isinstance(item, str) else item for item in given)
    return tuple(whole_number(item, field, low=1, high=LAST_ID) for item in bare)


def text_list(value: Iterable[object] | str, field: str, *, most: int) -> tuple[str, ...]:
    """Texts given as a list, as JSON text or as comma text. Errors: ``Invalid`` for too many."""
    found = (
        _parts(value) if isinstance(value, str) else [item for item in map(_clean_text, map(_written, value)) if item]
    )
    if len(found) > most:
        raise Invalid(f"{field} takes at most {most} values", field=field)
    return tuple(found)


def _written(value: object) -> str:
    """A value as text; 5.0, as some write it, is 5."""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _parts(value: str) -> list[str]:
    """The values of a text: the items of a JSON list as they are, else what stands between its commas."""
    items = _unlisted(value)
    return list(calls.comma(items)) if items == [value] else [item for item in map(str.strip, items) if item]


def _unlisted(value: str) -> list[str]:
    """`["a","b"]` as its items; any other text as itself."""
    if value.lstrip().startswith("["):
        try:
            decoded = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return [value]
        return [str(item) for item in decoded if item is not None]
    return [value]


def _clean_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean(value: object) -> object:
    match value:
        case str():
            return _clean_text(value)
        case list() | tuple():
            return [_clean(item) for item in value]
        case dict():
            return {_clean(name): _clean(item) for name, item in value.items()}
        case _:
            return value
