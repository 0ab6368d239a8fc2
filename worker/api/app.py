"""The route table, inside the boundary."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp

from worker.api import errors, openapi
from worker.api.access import Access
from worker.api.boundary import Boundary
from worker.api.endpoint import Endpoint, table
from worker.api.routes import (
    admin,
    batches,
    capture,
    context,
    corpus,
    costs,
    curation,
    index,
    integrations,
    lanes,
    logs,
    overview,
    projects,
    prompting,
    records,
    search,
    sessions,
    settings,
    status,
    stream,
    timeline,
    tool_uses,
    transfer,
    viewer,
    writing,
)
from worker.api.services import Services
from worker.contract.errors import MemError
from worker.contract.memory_mark import mark

_TOPICS = (
    search, timeline, batches, records, sessions, lanes, context, prompting, costs, curation, projects, writing,
    transfer, capture, tool_uses, status, overview, settings, logs, index, integrations, admin, stream,
    corpus,
    viewer,
)  # fmt: skip


def endpoints(services: Services) -> list[Endpoint]:
    """All that is served: the one table from which routes and ``/openapi.json`` are made."""
    listed = [endpoint for topic in _TOPICS for endpoint in topic.routes(services)]
    listed.append(openapi.endpoint(listed, services.version))
    return listed


def build(
    services: Services,
    host: str,
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None,
    *,
    token: str = "",
    read_token: str = "",
) -> ASGIApp:
    """The application.

    host: the name or address it is bound to, which requests may name beside the local ones. token: what every
    request must carry; read_token: with which one may read.
    """
    listed = endpoints(services)
    access = Access(
        token,
        read_token,
        frozenset(one.path for one in listed if one.method == "POST" and one.reads),
        services.read_only,
    )
    return Starlette(
        routes=table(listed),
        middleware=[Middleware(Boundary, host=host, access=access, mark=mark(str(services.data_dir)))],
        exception_handlers={
            MemError: errors.told,
            HTTPException: errors.refused,
            ClientDisconnect: errors.left,
            Exception: errors.unexpected,
        },
        lifespan=lifespan,
    )
