"""A tool as a value, and what its row in the table is made of."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import msgspec

from mcp_bridge.tools.arguments import Arguments, known_only, schema
from worker.contract import present
from worker.contract.calls import Call
from worker.contract.present import Text

T = TypeVar("T")


class Sender(Protocol):
    """Whoever carries a call to the worker."""

    async def send(self, call: Call[T]) -> T:
        """The answer. Errors: ``MemError``."""


Asking = Callable[[Sender], Awaitable[Text]]
Question = Text | Asking
"""An answer that is known already, or what to ask the worker for it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One row.

    ask: reads all arguments before anything is sent. params: name → JSON Schema.
    aliases: other name → name, for what models write instead.
    reads: it changes nothing. destroys: what it changes may be lost. repeats: a second time changes nothing more, and
    gives the same. outside: a model may be asked for it.
    """

    name: str
    about: str
    ask: Callable[[Arguments], Question]
    params: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    reads: bool = True
    destroys: bool = False
    repeats: bool = True
    outside: bool = False

    def schema(self) -> dict[str, object]:
        """The JSON Schema of its arguments."""
        return schema(self.params, self.required)

    def question(self, sent: Mapping[str, object]) -> Question:
        """What these arguments ask. Errors: ``Invalid``."""
        return self.ask(Arguments(known_only(sent, tuple(self.params), self.aliases)))


def as_it_is(call: Call[Text]) -> Asking:
    """Ask for a text, and give it as it is."""

    async def question(sender: Sender) -> Text:
        return await sender.send(call)

    return question


def as_json(call: Call[T]) -> Asking:
    """Ask, and give the answer as JSON that can be read."""

    async def question(sender: Sender) -> Text:
        answer = await sender.send(call)
        return present.text(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())

    return question


def text(about: str) -> dict[str, object]:
    """The schema of a text."""
    return {"type": "string", "description": about}


def whole(about: str, default: int) -> dict[str, object]:
    """The schema of a whole number."""
    return {"type": "integer", "description": about, "default": default}


def flag(about: str) -> dict[str, object]:
    """The schema of a truth value."""
    return {"type": "boolean", "description": about, "default": False}


def one_of(about: str, options: tuple[str, ...]) -> dict[str, object]:
    """The schema of one of a few words."""
    return {"type": "string", "enum": [str(option) for option in options], "description": about}
