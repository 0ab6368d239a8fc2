"""What agents tell of themselves while they work."""

from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import body, respond
from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls
from worker.contract.capture import Accepted, Begun, PromptSubmitted, SessionEnded, ToolUsed, TurnEnded


class AliasedToolUsed(ToolUsed, frozen=True, kw_only=True):
    """The original takes both spellings."""

    toolUseId: str | None = None
    orGenerationId: str | None = None
    orSessionId: str | None = None


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def begin(request: Request) -> Response:
        return respond(await services.intake.begin(await body(request, PromptSubmitted)))

    async def tool_used(request: Request) -> Response:
        told = await body(request, AliasedToolUsed)
        event = structs.replace(
            told,
            tool_use_id=told.tool_use_id or told.toolUseId,
            or_generation_id=told.or_generation_id or told.orGenerationId,
            or_session_id=told.or_session_id or told.orSessionId,
        )
        return respond(await services.intake.tool_used(event))

    async def turn_ended(request: Request) -> Response:
        return respond(await services.intake.turn_ended(await body(request, TurnEnded)))

    async def session_ended(request: Request) -> Response:
        return respond(await services.intake.session_ended(await body(request, SessionEnded)))

    return [
        Endpoint(
            method="POST", path=calls.SESSION_INIT, run=begin, body=PromptSubmitted, answers=(Begun,), writes=True,
            summary="A person asked an agent something: kept as a prompt, or skipped with the reason.",
        ),
        Endpoint(
            method="POST", path=calls.SESSION_TOOL, run=tool_used, body=AliasedToolUsed, answers=(Accepted,),
            writes=True, summary="An agent used a tool: queued to become a memory, or skipped with the reason.",
        ),
        Endpoint(
            method="POST", path=calls.SESSION_SUMMARIZE, run=turn_ended, body=TurnEnded, answers=(Accepted,),
            writes=True, summary="An agent has answered: queued to be summed up, or skipped with the reason.",
        ),
        Endpoint(
            method="POST", path=calls.SESSION_END, run=session_ended, body=SessionEnded, answers=(Accepted,),
            writes=True, summary="A session is over; what waits of it is worked on all the same.",
        ),
    ]  # fmt: skip
