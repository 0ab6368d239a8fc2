"""The route table, inside the boundary."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from worker.api import errors
from worker.api.boundary import Boundary
from worker.api.routes import records, search, status, stream, writing
from worker.api.services import Services
from worker.contract.errors import MemError

MOST_BODY_BYTES = 64 * 2**20
"""The original takes 5 MB; an import of long texts needs more."""


def build(
    services: Services, host: str, lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None
) -> ASGIApp:
    """The application. host: the name or address it is bound to, which requests may name beside the local ones."""
    topics = (search, records, status, writing, stream)
    return Starlette(
        routes=[route for topic in topics for route in topic.routes(services)],
        middleware=[Middleware(Boundary, host=host)],
        exception_handlers={
            MemError: errors.told,
            HTTPException: errors.refused,
            Exception: errors.unexpected,
        },
        lifespan=lifespan,
        max_body_size=MOST_BODY_BYTES,
    )
