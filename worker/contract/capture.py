"""What a hook tells of an agent at work, and what it is answered.

On the wire the names are the original's. Keys that are not known are passed over, and of what is known only the
session's id, and of a tool its name, must be there.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

Moment = Annotated[int, Meta(ge=0, le=253_000_000_000_000)]
Named = Annotated[str, Meta(min_length=1)]
_NAMES = {
    "content_session_id": "contentSessionId",
    "platform_source": "platformSource",
    "custom_title": "customTitle",
    "agent_id": "agentId",
    "agent_type": "agentType",
    "observed_model": "observedModel",
    "observed_billing": "observedBilling",
    "session_db_id": "sessionDbId",
    "prompt_number": "promptNumber",
    "context_injected": "contextInjected",
}


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename=_NAMES):
    """What every event says. content_session_id: the agent's own id of its session.

    event_id: made once by the hook, so that an event which is sent again, because its answer was not heard, is taken
    once. occurred_at_epoch_ms: when it happened, for one that comes late; by default it happens now.
    """

    content_session_id: Named
    platform_source: str | None = None
    cwd: str | None = None
    event_id: str | None = None
    occurred_at_epoch_ms: Moment | None = None


class PromptSubmitted(Event, frozen=True, kw_only=True, omit_defaults=True, rename=_NAMES):
    """``POST /api/sessions/init``: the person asked something. project: by default that of ``cwd``."""

    project: str | None = None
    prompt: str | None = None
    custom_title: str | None = None


class ToolUsed(Event, frozen=True, kw_only=True, omit_defaults=True, rename=_NAMES):
    """``POST /api/sessions/observations``: a tool was used.

    tool_input, tool_response: any JSON value, never its text. agent_id, agent_type: of the sub-agent, if it was one.
    or_generation_id, or_session_id: OpenRouter's, of the answer in which the agent asked for the tool.
    """

    tool_name: Named
    tool_input: Any = None
    tool_response: Any = None
    tool_use_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    or_generation_id: str | None = None
    or_session_id: str | None = None


class TurnEnded(Event, frozen=True, kw_only=True, omit_defaults=True, rename=_NAMES):
    """``POST /api/sessions/summarize``: the agent has answered, and this is the last it said."""

    last_assistant_message: str | None = None
    agent_id: str | None = None
    observed_model: str | None = None
    observed_billing: str | None = None


class SessionEnded(Event, frozen=True, kw_only=True, omit_defaults=True, rename=_NAMES):
    """``POST /api/sessions/session-end``. reason: as the agent tells it."""

    reason: str | None = None


class Begun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename=_NAMES):
    """The answer to a prompt. reason: of one that was skipped: internal_protocol, private, duplicate, project_excluded.

    prompt_number: from 1. context_injected: whether the session was at work already. status: ``initialized``.
    """

    skipped: bool
    session_db_id: int | None = None
    prompt_number: int | None = None
    reason: str | None = None
    context_injected: bool | None = None
    status: str | None = None


class Accepted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to the other events. status: queued, skipped, accepted, unknown_session.

    queued: it is committed. reason: of what was skipped: project_excluded, tool_excluded, session_memory_meta,
    private, subagent_context, own_session; of a tool use that is known already, it is queued.
    """

    status: str
    reason: str | None = None
