"""Query parameters as values: under which names they come, what they may hold, how they are read.

A route reads ``LIMIT.of(query)``, and ``/openapi.json`` tells the same parameter's names, bounds and default.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from worker.api.codec import Query
from worker.contract.recalls import CALLER
from worker.contract.search import Order

T = TypeVar("T")
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter. names: the first is the one to use, the others mean the same. headers: where it may also come."""

    names: tuple[str, ...]
    about: str
    headers: tuple[str, ...] = field(default=(), kw_only=True)
    required: bool = field(default=False, kw_only=True)

    def schema(self) -> Schema:
        """Its JSON Schema."""
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Text(Param):
    """Any text; blank is none."""

    def of(self, query: Query) -> str | None:
        """The value in a query string."""
        return query.text(*self.names)


@dataclass(frozen=True, slots=True)
class Texts(Param):
    """Several texts: comma text, a JSON list, or the parameter repeated. words: the only ones there are."""

    words: tuple[str, ...] = ()

    def of(self, query: Query) -> tuple[str, ...]:
        """The values in a query string."""
        return query.texts(*self.names)

    def schema(self) -> Schema:
        """An array."""
        items = {"type": "string"} | ({"enum": list(self.words)} if self.words else {})
        return {"type": "array", "items": items}


@dataclass(frozen=True, slots=True)
class Number(Param):
    """A whole number."""

    default: int
    low: int = 0
    high: int = 2**31

    def of(self, query: Query) -> int:
        """The value in a query string."""
        return query.number(*self.names, default=self.default, low=self.low, high=self.high)

    def schema(self) -> Schema:
        """An integer with its bounds."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high, "default": self.default}


@dataclass(frozen=True, slots=True)
class Flag(Param):
    """`true` or `false`; absent is false."""

    def of(self, query: Query) -> bool:
        """The value in a query string."""
        return query.flag(*self.names)

    def schema(self) -> Schema:
        """A truth value."""
        return {"type": "boolean", "default": False}


@dataclass(frozen=True, slots=True)
class Moment(Param):
    """A date with or without a time, milliseconds since 1970, or told from now. end: the span's last millisecond."""

    end: bool = False

    def of(self, query: Query) -> int | None:
        """The value in a query string, in epoch ms."""
        return query.moment(*self.names, end=self.end)

    def in_words(self, query: Query) -> bool:
        """Whether it is given in a form that a zone and the time of asking give a meaning to."""
        text = (query.text(*self.names) or "").strip()
        return bool(text) and not (len(text) == 13 and text.isdigit())

    def schema(self) -> Schema:
        """Text in one of its forms; a few more are understood."""
        forms: list[Schema] = [
            {"format": "date"},
            {"format": "date-time"},
            {"pattern": r"^[0-9]{12,14}$"},
            {"enum": ["today", "yesterday", "3d", "2h", "last week", "2026-03", "2026-03-10T14:00"]},
        ]
        return {"type": "string", "anyOf": forms}


@dataclass(frozen=True, slots=True)
class Choice(Param, Generic[T]):
    """One of a few words."""

    words: Mapping[str, T]
    default: T

    def of(self, query: Query) -> T:
        """What the word in a query string stands for."""
        return query.choice(*self.names, of=self.words, default=self.default)

    def schema(self) -> Schema:
        """The words."""
        usual = next((word for word, value in self.words.items() if value == self.default), None)
        return {"type": "string", "enum": list(self.words)} | ({} if usual is None else {"default": usual})


@dataclass(frozen=True, slots=True)
class Platform(Param):
    """Which agent's memory; also by header."""

    def of(self, query: Query) -> str | None:
        """The platform in its one spelling, None for all."""
        return query.platform()


MOST = 1000
"""Entries in one answer."""
_DEEPEST = 10_000_000

WHO = Param(
    (),
    "who asks: what is returned is counted as recalled, but not for `app`, people who look around, nor for a web page",
    headers=(CALLER,),
)

WORDS = Text(("query", "q"), "the words as a person types them; nothing in them is syntax")
PROJECT = Text(("project",), "this project, and what was merged into it; `shop/*`: its worktrees too")
SESSION = Text(("session",), "this session alone, by its memory id, or what else names it in a query line")
PLATFORM = Platform(
    ("platformSource", "platform_source"),
    "the agent's platform: claude, codex, cursor, …",
    headers=("X-Platform-Source", "X-Claude-Mem-Platform-Source"),
)
CONCEPTS = Texts(("concepts", "concept"), "any of these concepts")
FILES = Texts(("files", "filePath", "file"), "part of the path of any file of the record")
SINCE = Moment(("dateStart", "date_start", "date_from"), "from this moment on")
UNTIL = Moment(("dateEnd", "date_end", "date_to"), "up to this moment; a day counts to its end", end=True)
AS_OF = Moment(("asOf", "as_of"), "how it was at this moment; nothing later is found, counted or told", end=True)
ORDER = Choice(("orderBy", "order_by"), "order of the answer", {order.value: order for order in Order}, Order.RELEVANCE)
LIMIT = Number(("limit",), "how many at most", default=20, low=1, high=MOST)
OFFSET = Number(("offset",), "how many to pass over", default=0, high=_DEEPEST)
DEPTH_BEFORE = Number(("depth_before", "depthBefore"), "records before the anchor", default=10, high=MOST)
DEPTH_AFTER = Number(("depth_after", "depthAfter"), "records after the anchor", default=10, high=MOST)
FORM = Choice(
    ("format",),
    "text for an agent; json: rows; hits: the index with scores and snippets",
    {"text": "text", "json": "json", "hits": "hits"},
    "text",
)
