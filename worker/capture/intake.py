"""What agents tell, taken in: cleaned once more, let through the gate, filed under its session, committed.

Each event is one transaction, and what was answered with success is in it. An event that was taken before, which its
``event_id``, the tool's own id or what it says tell, is answered as it was then and kept once.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from worker.capture import gate
from worker.capture.gate import Rules
from worker.capture.place import Place, filed, place_of, short
from worker.contract.capture import Accepted, Begun, Event, PromptSubmitted, SessionEnded, ToolUsed, TurnEnded
from worker.contract.clean import cleaned, cleaned_payload
from worker.contract.errors import MemError
from worker.contract.privacy import is_protocol_only
from worker.store import aliases, capturing, pending, turns
from worker.store.pending import Captured, Kind
from worker.store.sessions import normalised_platform
from worker.store.tables import Connection, Store

_MEDIA = "[media prompt]"
_MOST_PROMPT_BYTES = 262_144
_DUPLICATE_MS = 10_000
_TIDY_MS = 60_000
_LOOK_S = 600.0
_QUEUED = Accepted(status="queued")

_log = logging.getLogger("worker.capture.intake")

Told = dict[str, Any]
A = TypeVar("A", Begun, Accepted)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The answer to an event, and what listeners are told of it after the commit. queued: something waits now."""

    answer: Begun | Accepted
    told: tuple[Told, ...] = ()
    queued: bool = False


class Intake:
    """Takes events in. tell: gets what the live stream is told; captured: is set when something was queued."""

    def __init__(
        self,
        store: Store,
        rules: Rules,
        now_ms: Callable[[], int],
        tell: Callable[[Told], None],
        captured: asyncio.Event,
    ) -> None:
        self._store = store
        self._rules = rules
        self._now_ms = now_ms
        self._tell = tell
        self._captured = captured
        self._tidied_ms = 0

    async def take(self, event: Event) -> Begun | Accepted:
        """Any of the four events."""
        match event:
            case PromptSubmitted():
                return await self.begin(event)
            case ToolUsed():
                return await self.tool_used(event)
            case TurnEnded():
                return await self.turn_ended(event)
            case SessionEnded():
                return await self.session_ended(event)
            case _:
                raise TypeError(f"no event that is taken: {type(event).__name__}")

    async def begin(self, event: PromptSubmitted) -> Begun:
        """A prompt: numbered and kept, or the reason why not. Of a private one nothing is kept but that it came."""
        raw = (event.prompt or "").strip() or _MEDIA
        if is_protocol_only(raw):
            return Begun(skipped=True, reason="internal_protocol")
        place = await self._place(event, event.project)
        if place.refused:
            return Begun(skipped=True, reason=place.refused)
        text = await asyncio.to_thread(_prompt, raw)
        title = short(event.custom_title)

        def work(connection: Connection, platform: str, at: int) -> _Outcome:
            content = event.content_session_id
            known = capturing.session(
                connection, platform, content, project=place.project, epoch_ms=at, custom_title=title
            )
            at_work = not known.is_new and not turns.has_ended(connection, known.id)
            if not text:
                turns.begin(connection, known.id, at, private=True)
                self._forget_turn(connection, known.id, at)
                number = capturing.prompts_of(connection, known.id) + 1
                return _Outcome(Begun(skipped=True, session_db_id=known.id, prompt_number=number, reason=gate.PRIVATE))
            same = capturing.same_prompt(connection, known.id, text, at)
            if same is not None:
                turns.hear(connection, known.id, at)
                duplicate = Begun(
                    skipped=True, session_db_id=known.id, prompt_number=same, reason="duplicate",
                    context_injected=at_work,
                )  # fmt: skip
                return _Outcome(duplicate)
            turns.begin(connection, known.id, at, private=False)
            number = capturing.add_prompt(connection, known.id, content, text, at)
            begun = Begun(
                skipped=False, session_db_id=known.id, prompt_number=number, context_injected=at_work,
                status="initialized",
            )  # fmt: skip
            started = {"type": "session_started", "sessionDbId": known.id, "project": known.project}
            return _Outcome(begun, () if platform == "cursor" else (started,))

        return await self._carry_out(event, Begun, work)

    async def tool_used(self, event: ToolUsed) -> Accepted:
        """The use of a tool: kept and queued, or the reason why not."""
        place = await self._place(event)
        refused = place.refused or gate.of_tool(
            self._rules, event.tool_name, event.tool_input, by_agent=bool(event.agent_id)
        )
        if refused:
            return Accepted(status="skipped", reason=refused)
        router = (short(event.or_generation_id), short(event.or_session_id))
        given, came = await asyncio.to_thread(lambda: (_payload(event.tool_input), _payload(event.tool_response)))

        def work(connection: Connection, platform: str, at: int) -> _Outcome:
            content = event.content_session_id
            known = capturing.session(connection, platform, content, project=place.project, epoch_ms=at)
            turns.hear(connection, known.id, at)
            if turns.is_private(connection, known.id, at):
                return _Outcome(Accepted(status="skipped", reason=gate.PRIVATE))
            what = Captured(
                session_db_id=known.id,
                kind=Kind.TOOL,
                project=place.project or known.project,
                parent=place.parent,
                prompt_number=capturing.prompts_until(connection, known.id, at),
                occurred_epoch_ms=at,
                tool_use_id=event.tool_use_id or None,
                tool_name=short(event.tool_name) or "?",
                tool_input=given,
                tool_response=came,
                cwd=place.cwd,
                agent_id=short(event.agent_id),
                agent_type=short(event.agent_type),
            )
            if what.tool_use_id is not None:
                if capturing.has_tool_use(connection, content, what.tool_use_id):
                    return _Outcome(_QUEUED)
                capturing.add_tool_use(connection, known, (platform, content), what, router=router)
            elif _is_known(connection, f"t:{known.id}:{capturing.digest(what)}", at):
                return _Outcome(_QUEUED)
            return self._queue(connection, what)

        return await self._carry_out(event, Accepted, work)

    async def turn_ended(self, event: TurnEnded) -> Accepted:
        """The end of a turn: queued, for a summary to be made of it, or the reason why not."""
        if event.agent_id:
            return Accepted(status="skipped", reason=gate.SUBAGENT)
        place = await self._place(event)
        if place.refused:
            return Accepted(status="skipped", reason=place.refused)
        said = await asyncio.to_thread(lambda: _prompt(event.last_assistant_message or ""))
        model, billing = short(event.observed_model, 200), short(event.observed_billing, 40)

        def work(connection: Connection, platform: str, at: int) -> _Outcome:
            known = capturing.session(
                connection, platform, event.content_session_id, project=place.project, epoch_ms=at
            )
            turns.hear(connection, known.id, at)
            if turns.is_private(connection, known.id, at):
                return _Outcome(Accepted(status="skipped", reason=gate.PRIVATE))
            capturing.note_model(connection, known.id, model, billing)
            what = Captured(
                session_db_id=known.id,
                kind=Kind.SUMMARY,
                project=place.project or known.project,
                parent=place.parent,
                prompt_number=capturing.prompts_until(connection, known.id, at),
                occurred_epoch_ms=at,
                cwd=place.cwd,
                last_assistant_message=said or None,
            )
            name = f"s:{known.id}:{what.prompt_number}:{capturing.digest(what)}"
            return _Outcome(_QUEUED) if _is_known(connection, name, at) else self._queue(connection, what)

        return await self._carry_out(event, Accepted, work)

    async def session_ended(self, event: SessionEnded) -> Accepted:
        """The end of a session. What still waits of it is worked on all the same."""

        def work(connection: Connection, platform: str, at: int) -> _Outcome:
            known = capturing.find(connection, platform, event.content_session_id)
            if known is None:
                return _Outcome(Accepted(status="unknown_session"))
            capturing.complete(connection, known.id, at)
            turns.end(connection, known.id, at)
            return _Outcome(Accepted(status="accepted"), (_completed(known.id),))

        return await self._carry_out(event, Accepted, work)

    async def run(self) -> None:
        """``tidy`` from time to time, for as long as we run."""
        while True:
            try:
                await self.tidy()
            except MemError as error:
                _log.warning("sessions that were left stay open for now: %s", error.message)
            await asyncio.sleep(_LOOK_S)

    async def tidy(self) -> None:
        """Complete sessions that were left, and forget what nobody will ask for any more; at most once a minute."""
        now = self._now_ms()
        if now - self._tidied_ms < _TIDY_MS:
            return
        self._tidied_ms = now

        def work(connection: Connection) -> list[int]:
            turns.tidy(connection, now)
            return capturing.complete_idle(connection, now)

        for number in await self._store.write(work):
            self._tell(_completed(number))

    async def _carry_out(self, event: Event, kind: type[A], work: Callable[[Connection, str, int], _Outcome]) -> A:
        """The answer of ``work``, committed; or that which was given when the very event came before."""
        now = self._now_ms()
        at = now if event.occurred_at_epoch_ms is None else min(event.occurred_at_epoch_ms, now)
        platform = normalised_platform(short(event.platform_source))
        kinds = (PromptSubmitted, ToolUsed, TurnEnded, SessionEnded)
        # By the kind that is told, as a route may read more than what is told.
        told_as = next(number for number, one in enumerate(kinds) if isinstance(event, one))
        name = f"e:{told_as}:{event.event_id[:200]}" if event.event_id else ""

        def once(connection: Connection) -> _Outcome:
            before = turns.seen(connection, name) if name else None
            if before is not None:
                return _Outcome(msgspec.json.decode(before[0], type=kind))
            known = capturing.find(connection, platform, event.content_session_id)
            outcome = work(connection, platform, turns.moment(connection, known.id, at, now) if known else at)
            if name:
                turns.note_seen(connection, name, msgspec.json.encode(outcome.answer), now)
            return outcome

        outcome = await self._store.write(once)
        for told in outcome.told:
            self._tell(told)
        if outcome.queued:
            self._captured.set()
        assert isinstance(outcome.answer, kind)
        return outcome.answer

    def _queue(self, connection: Connection, what: Captured) -> _Outcome:
        if pending.add(connection, what) is None:
            return _Outcome(_QUEUED)
        depth = pending.depth(connection)
        told: tuple[Told, ...] = ({"type": "processing_status", "isProcessing": True, "queueDepth": depth},)
        if what.kind is Kind.TOOL:
            told += ({"type": "observation_queued", "sessionDbId": what.session_db_id},)
        return _Outcome(_QUEUED, told, queued=True)

    def _forget_turn(self, connection: Connection, session_db_id: int, at: int) -> None:
        """What of a private turn came before its prompt, as that had to wait in the spool, is not kept either."""
        until = turns.next_turn(connection, session_db_id, at)
        pending.forget(connection, session_db_id, at, until)
        capturing.forget(connection, session_db_id, at, until)

    async def _place(self, event: Event, project: str | None = None) -> Place:
        place = await asyncio.to_thread(place_of, self._rules, event.cwd or "", short(project))
        return filed(place, await self._store.read(aliases.every))


def _completed(session_db_id: int) -> Told:
    return {"type": "session_completed", "sessionDbId": session_db_id}


def _is_known(connection: Connection, name: str, at: int) -> bool:
    """Whether something of this name came within ten seconds; from now on it did."""
    before = turns.seen(connection, name)
    if before is not None and abs(at - before[1]) <= _DUPLICATE_MS:
        return True
    turns.note_seen(connection, name, b"", at)
    return False


def _prompt(text: str) -> str:
    """A prompt or answer as it is kept: clean, at most 256 KiB; empty when all of it was private."""
    raw = text.encode("utf-8", "replace")
    whole = raw[:_MOST_PROMPT_BYTES].decode("utf-8", "ignore")
    return cleaned(whole).strip()


def _payload(value: object) -> str | None:
    """What went into a tool or came out, as JSON text; None for nothing."""
    if value is None:
        return None
    return msgspec.json.encode(cleaned_payload(value)).decode()
