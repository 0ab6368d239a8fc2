"""Events told to the worker one by one, and what it knows of a session already."""

from dataclasses import dataclass
from typing import TypeAlias

from worker.cli.sending import Sender
from worker.contract import calls
from worker.contract.capture import Accepted, Begun, PromptSubmitted, ToolUsed, TurnEnded
from worker.contract.errors import NotFound
from worker.contract.records import RecordKind
from worker.contract.search import Order
from worker.contract.settings import Settings
from worker.contract.tool_uses import ToolUseQuery

Told: TypeAlias = PromptSubmitted | ToolUsed | TurnEnded

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Known:
    """Of a session: when its prompts were asked (epoch ms), and the ids of its tool uses."""

    prompts: frozenset[int] = frozenset()
    tool_uses: frozenset[str] = frozenset()

    def has(self, event: Told) -> bool:
        """Whether an event is there for certain. Of the end of a turn that cannot be told."""
        match event:
            case PromptSubmitted():
                return event.occurred_at_epoch_ms in self.prompts
            case ToolUsed():
                return event.tool_use_id in self.tool_uses
            case TurnEnded():
                return False


class Link:
    """Tells a worker of events; what is told twice is there once."""

    def __init__(self, where: Settings) -> None:
        self._worker = Sender(where)

    def known(self, session: str) -> Known:
        """What is there of a session. Errors: as ``Sender.send``."""
        try:
            return Known(frozenset(self._prompts(session)), frozenset(self._tool_uses(session)))
        except NotFound:
            return Known()

    def tell(self, event: Told) -> str | None:
        """Why the worker left an event out, None if it took it. Errors: as ``Sender.send``."""
        answer: Begun | Accepted
        match event:
            case PromptSubmitted():
                answer = self._worker.send(calls.begin(event))
                return (answer.reason or "skipped") if answer.skipped else None
            case ToolUsed():
                answer = self._worker.send(calls.tool_used(event))
            case TurnEnded():
                answer = self._worker.send(calls.turn_ended(event))
        return (answer.reason or "skipped") if answer.status == "skipped" else None

    def _prompts(self, session: str) -> list[int]:
        moments: list[int] = []
        offset = 0
        while True:
            page = self._worker.send(calls.session(session, limit=_PAGE, offset=offset))
            moments += [entry.created_at_epoch for entry in page.entries if entry.kind is RecordKind.PROMPT]
            offset += len(page.entries)
            if not page.entries or offset >= page.total:
                return moments

    def _tool_uses(self, session: str) -> list[str]:
        ids: list[str] = []
        while True:
            query = ToolUseQuery(content_session_id=session, order=Order.DATE_ASC, limit=_PAGE, offset=len(ids))
            page = self._worker.send(calls.tool_uses(query)).toolUses
            if not page:
                return ids
            ids += [use.tool_use_id for use in page]
