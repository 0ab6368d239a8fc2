"""Pure: what an agent sent, as values; or a message that names the parameter and says what is expected.

Models send numbers as text, lists as text and text as lists. Whatever has one meaning is taken with that meaning.
"""

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from worker.contract import calls, when
from worker.contract.errors import Invalid
from worker.contract.records import RecordKind, parse_key

_WHOLE = re.compile(r"[+-]?\d{1,19}")


def known_only(sent: Mapping[str, object], names: Sequence[str], aliases: Mapping[str, str]) -> dict[str, object]:
    """The arguments under their own names; null ones left out.

    Errors: ``Invalid`` for a name that is not known, and for a parameter given under two names.
    """
    known: dict[str, object] = {}
    for name, value in sent.items():
        own = aliases.get(name, name)
        if own not in names:
            takes = f"known are: {', '.join(names)}" if names else "this tool takes none"
            raise Invalid(f"unknown parameter {_shown(name)}; {takes}", field=name)
        if value is None:
            continue
        if own in known:
            raise Invalid(f"{own} is given twice (also as {_shown(name)})", field=own)
        known[own] = value
    return known


class Arguments:
    """Reads one call's arguments, each by its name. Errors of all: ``Invalid`` with the parameter as ``field``."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """A text; "" if not given. A number is taken as it reads, and so is a list of one."""
        value = self._values.get(name, "")
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return str(int(value)) if value == int(value) else str(value)
        raise _wrong(name, "text", value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Several texts: a list, comma text, or a JSON list as text; () if not given."""
        value = _opened(self._values.get(name, ""))
        items: list[object] = value if isinstance(value, list) else [value]
        texts = [item for item in items if isinstance(item, str)]
        if len(texts) != len(items):
            raise _wrong(name, "a text or a list of texts", value)
        return calls.comma(texts)

    def number(self, name: str, default: int, *, low: int) -> int:
        """A whole number, not below ``low``."""
        value = self._values.get(name, default)
        number = _whole(value)
        if number is None or number < low:
            raise _wrong(name, f"a whole number from {low}", value)
        return number

    def choice(self, name: str, options: Sequence[str]) -> str:
        """One of the options; the first if not given."""
        value = self.text(name).strip().lower()
        if value and value not in options:
            raise _wrong(name, f"one of {', '.join(options)}", value)
        return value or options[0]

    def flag(self, name: str) -> bool:
        """True or false; false if not given. A text is taken as it reads."""
        value = self._values.get(name, False)
        said = value.strip().lower() if isinstance(value, str) else value
        if said in (True, "true", "yes", "1"):
            return True
        if said in (False, "false", "no", "0", ""):
            return False
        raise _wrong(name, "true or false", value)

    def any_ids(self, name: str) -> tuple[int | str, ...]:
        """Row numbers or an agent's own ids, in the order given, each once, as ``ids`` takes them."""
        value = _opened(self._values.get(name, ""))
        items = value if isinstance(value, list) else str(value).split(",")
        found = dict.fromkeys(_any_id(name, item) for item in items if item != "")
        if not found:
            raise Invalid(f'{name} is required: the ids of one or more tool uses, such as [7, "toolu_01"]', field=name)
        return tuple(found)

    def ids(self, name: str) -> tuple[int, ...]:
        """Observation ids in the order given, each once: `[1, 2]`, `"[1,2]"`, `"1,2"`, `["#1", "2 3"]`, `5`."""
        value = _opened(self._values.get(name, ""))
        items = value if isinstance(value, list) else [value]
        each = (part for item in items for part in (re.split(r"[,\s]+", item) if isinstance(item, str) else [item]))
        found = dict.fromkeys(_observation(name, item) for item in each if item != "")
        if not found:
            raise Invalid(f"{name} is required: the ids of one or more observations, such as [118, 121]", field=name)
        return tuple(found)

    def bounds(self, first: str, last: str) -> tuple[int | None, int | None]:
        """Two dates as the first and the last millisecond of what they mean together."""
        since, until = self._moment(first, 0), self._moment(last, 1)
        if since is not None and until is not None and since > until:
            raise Invalid(f"{first} is after {last}: nothing can be found between them", field=first)
        return since, until

    def _moment(self, name: str, end: int) -> int | None:
        text = self.text(name).strip()
        if not text:
            return None
        span = when.parse_range(text, now_epoch_ms=time.time_ns() // 1_000_000)
        if span is None:
            raise _wrong(
                name, "a date such as 2026-03-10, 2026-03-10T14:30, 3d or yesterday, or epoch milliseconds", text
            )
        return span[end]


def kinds_or_types(name: str, values: Sequence[str]) -> tuple[tuple[RecordKind, ...], tuple[str, ...]]:
    """Kinds of record if all the values name one, observation types if none does. Errors: ``Invalid`` for a mixture."""
    kinds = tuple(dict.fromkeys(_KINDS[value.lower()] for value in values if value.lower() in _KINDS))
    if not kinds:
        return (), tuple(values)
    if any(value.lower() not in _KINDS for value in values):
        raise Invalid(f"{name} mixes kinds of record and observation types; put the types into obs_type", field=name)
    return kinds, ()


_KINDS = {
    "observations": RecordKind.OBSERVATION,
    "observation": RecordKind.OBSERVATION,
    "sessions": RecordKind.SUMMARY,
    "session": RecordKind.SUMMARY,
    "summaries": RecordKind.SUMMARY,
    "summary": RecordKind.SUMMARY,
    "prompts": RecordKind.PROMPT,
    "prompt": RecordKind.PROMPT,
}


def _opened(value: object) -> object:
    """A JSON list that came as text, opened; everything else as it is."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            return msgspec.json.decode(value, type=list[object])
        except (msgspec.MsgspecError, UnicodeError):
            return value
    return value


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    return None


def _observation(name: str, item: object) -> int:
    key = parse_key(item) if isinstance(item, str) else None
    if key is not None and key.kind is not RecordKind.OBSERVATION:
        raise Invalid(f'{name} takes observations; {key} is none: read it with timeline(anchor="{key}")', field=name)
    number = key.id if key else _whole(item)
    if number is None or not 0 < number < 2**63:
        raise _wrong(name, "ids of observations, such as [118, 121]", item)
    return number


def _any_id(name: str, item: object) -> int | str:
    number = _whole(item)
    if number is not None and 0 < number < 2**63:
        return number
    if isinstance(item, str) and item.strip():
        return item.strip()
    raise _wrong(name, "ids of tool uses", item)


def _wrong(name: str, expected: str, value: object) -> Invalid:
    return Invalid(f"{name} must be {expected}, not {_shown(value)}", field=name)


def _shown(value: object) -> str:
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def schema(properties: Mapping[str, Mapping[str, object]], required: Iterable[str] = ()) -> dict[str, object]:
    """The JSON Schema of arguments."""
    needed = list(required)
    whole = {"type": "object", "properties": {name: dict(each) for name, each in properties.items()}}
    return whole | ({"required": needed} if needed else {}) | {"additionalProperties": False}
