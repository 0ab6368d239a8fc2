"""What agents did with their tools, one row a call."""

from typing import Annotated

import msgspec
from msgspec import Meta

from worker.contract.records import Whole
from worker.contract.search import Order


class ToolUseEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A tool use in a list: everything but what went in and came out, of which it has the sizes."""

    id: int
    tool_use_id: str
    tool_name: str
    project: str
    content_session_id: str
    memory_session_id: str | None
    platform_source: str
    agent_id: str | None
    agent_type: str | None
    observation_id: int | None
    or_generation_id: str | None
    or_session_id: str | None
    prompt_number: int | None
    created_at: str
    created_at_epoch: int
    tool_input_bytes: int
    tool_response_bytes: int


class ToolUses(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/tool-uses``. count: of this answer."""

    count: int
    toolUses: tuple[ToolUseEntry, ...]


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """A whole row. tool_input, tool_response: JSON text as the agent's hook gave it, cut at 64 KiB."""

    id: int
    tool_use_id: str
    content_session_id: str
    memory_session_id: str | None
    session_db_id: int | None
    project: str
    platform_source: str
    tool_name: str
    tool_input: str | None
    tool_response: str | None
    cwd: str | None
    prompt_number: int | None
    agent_type: str | None
    agent_id: str | None
    observation_id: int | None
    or_generation_id: str | None
    or_session_id: str | None
    content_hash: str | None
    created_at: str
    created_at_epoch: int


class ToolUseQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which tool uses; all that is given must hold. since_epoch_ms, until_epoch_ms: inclusive."""

    project: str | None = None
    content_session_id: str | None = None
    memory_session_id: str | None = None
    tool_names: tuple[str, ...] = ()
    agent_id: str | None = None
    platform_source: str | None = None
    since_epoch_ms: int | None = None
    until_epoch_ms: int | None = None
    order: Order = Order.DATE_DESC
    limit: int = 50
    offset: int = 0


class ToolUseBatch(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/tool-uses/batch``. ids: row numbers or the agent's own ids, as a list or as text. limit: ≤ 200."""

    ids: list[int | Whole | str] | int | Whole | str
    limit: (
        Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 200})]
        | Whole
        | Annotated[str, Meta(extra_json_schema={"pattern": "^[1-9][0-9]?$"})]
        | None
    ) = None
    project: str | None = None
    contentSessionId: str | None = None
