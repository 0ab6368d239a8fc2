"""The index by meaning: how far it is, whether it is whole, and what mends it."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import body, respond
from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls
from worker.contract.errors import Conflict
from worker.contract.index import IndexFaults, IndexOrder, IndexStatus


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def status(request: Request) -> Response:
        return respond(await services.index_status())

    async def verify(request: Request) -> Response:
        return respond(await services.index.verify())

    async def repair(request: Request) -> Response:
        return respond(await services.index.repair())

    async def rebuild(request: Request) -> Response:
        order = await body(request, IndexOrder)
        await services.index.rebuild(reembed=order.reembed)
        return respond(await services.index_status())

    def then_status(deed: Callable[[], Awaitable[None]]) -> Callable[[Request], Awaitable[Response]]:
        async def run(request: Request) -> Response:
            await deed()
            return respond(await services.index_status())

        return run

    return [
        Endpoint(
            method="GET", path=calls.INDEX_STATUS, run=status, answers=(IndexStatus,),
            summary="How much can be found by meaning, and what is still to be done.",
        ),
        Endpoint(
            method="POST", path=calls.INDEX_VERIFY, run=verify, answers=(IndexFaults,), errors=(Conflict,),
            summary="Compare the index with the records; nothing is changed.",
        ),
        Endpoint(
            method="POST", path=calls.INDEX_REPAIR, run=repair, answers=(IndexFaults,), errors=(Conflict,),
            summary="The same, and queue what is missing or of an older text, remove what belongs to no record.",
        ),
        Endpoint(
            method="POST", path=calls.INDEX_REBUILD, run=rebuild, answers=(IndexStatus,), body=IndexOrder,
            errors=(Conflict,), summary="Begin the index anew, from the vectors that are kept or from the texts.",
        ),
        Endpoint(
            method="POST", path=calls.INDEX_PAUSE, run=then_status(lambda: services.index.pause()),
            answers=(IndexStatus,), errors=(Conflict,), summary="Embed nothing until resumed, also after a restart.",
        ),
        Endpoint(
            method="POST", path=calls.INDEX_RESUME, run=then_status(lambda: services.index.resume()),
            answers=(IndexStatus,), errors=(Conflict,), summary="Go on.",
        ),
    ]  # fmt: skip
