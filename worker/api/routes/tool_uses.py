"""What agents did with their tools."""

from starlette.requests import Request
from starlette.responses import Response

from worker.api import params
from worker.api.codec import Query, body, respond, text_list, whole_number
from worker.api.endpoint import Endpoint
from worker.api.params import Choice, Number, Text, Texts
from worker.api.services import Services
from worker.contract import calls
from worker.contract.search import Order
from worker.contract.tool_uses import ToolUse, ToolUseBatch, ToolUseQuery, ToolUses
from worker.store import tool_uses

_MOST_IN_FULL = 200
_SESSION = Text(("session", "contentSessionId"), "the agent's own id of the session")
_MEMORY = Text(("memorySessionId",), "the memory's id of the session")
_TOOLS = Texts(("tool_name", "toolName"), "any of these tools")
_AGENT = Text(("agentId",), "the sub-agent")
_LIMIT = Number(("limit",), "how many at most", default=50, low=1, high=500)
_PROJECT = Text(("project",), "this project")
_ORDER = Choice(
    ("orderBy", "order_by"),
    "newest or oldest first; `relevance` is newest first too",
    {order.value: order for order in (Order.RELEVANCE, Order.DATE_DESC, Order.DATE_ASC)},
    Order.RELEVANCE,
)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def listed(request: Request) -> Response:
        query = Query(request)
        asked = ToolUseQuery(
            project=_PROJECT.of(query),
            content_session_id=_SESSION.of(query),
            memory_session_id=_MEMORY.of(query),
            tool_names=_TOOLS.of(query),
            agent_id=_AGENT.of(query),
            platform_source=params.PLATFORM.of(query),
            since_epoch_ms=params.SINCE.of(query),
            until_epoch_ms=params.UNTIL.of(query),
            order=_ORDER.of(query),
            limit=_LIMIT.of(query),
            offset=params.OFFSET.of(query),
        )
        found = await services.store.read(lambda connection: tool_uses.listing(connection, asked))
        return respond(ToolUses(count=len(found), toolUses=found))

    async def batch(request: Request) -> Response:
        asked = await body(request, ToolUseBatch)
        given = [asked.ids] if isinstance(asked.ids, int | float) else asked.ids
        ids = text_list(given, "ids", most=params.MOST)
        limit = _MOST_IN_FULL if asked.limit is None else whole_number(asked.limit, "limit", low=1, high=_MOST_IN_FULL)
        found = await services.store.read(
            lambda connection: tool_uses.by_ids(
                connection, ids, project=asked.project, content_session_id=asked.contentSessionId, limit=limit
            )
        )
        return respond(found)

    return [
        Endpoint(
            method="GET", path=calls.TOOL_USES, run=listed, answers=(ToolUses,),
            summary="Tool uses, newest first, without what went in and came out.",
            params=(
                _PROJECT, _SESSION, _MEMORY, _TOOLS, _AGENT, params.PLATFORM, params.SINCE, params.UNTIL, _ORDER,
                _LIMIT, params.OFFSET,
            ),
        ),
        Endpoint(
            method="POST", path=calls.TOOL_USES_BATCH, run=batch, answers=(list[ToolUse],), body=ToolUseBatch,
            summary="Tool uses in full, newest first; unknown ids are left out.", reads=True,
        ),
    ]  # fmt: skip
