"""A route and its description in one value: from it come the Starlette route and the entry in ``/openapi.json``.

What a query string or a body holds beyond what is described is answered as if it were not there, as in the original,
and named in a header of the answer.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worker.api.access import TRUSTED
from worker.api.codec import UNREAD
from worker.api.params import Param, Texts
from worker.api.peer import is_of_this_machine
from worker.contract.errors import Forbidden, MemError

IGNORED = "X-Claude-Mem-Ignored"
"""Header of an answer: what plays no part, percent-encoded, comma between: query parameters, also those given twice,
and keys of the body. An empty name is left out: with its comma last, it could not be sent."""
_MOST_IGNORED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One method of one path.

    answers: the types that a success may have; ``str`` for text of the media type. other: answers of another status.
    body: the type of the JSON body. errors: those that nothing else in the description implies.
    local: only for programs of this machine, even where the worker listens to others. writes: the same, unless the
    request carries the token that may do all.
    reads: a POST that changes nothing, so that a token which may only read will do.
    """

    method: str
    path: str
    run: Callable[[Request], Awaitable[Response]]
    summary: str
    answers: tuple[Any, ...]
    params: tuple[Param, ...] = ()
    body: Any = None
    errors: tuple[type[MemError], ...] = ()
    other: Mapping[int, Any] | None = None
    media: str = "application/json"
    local: bool = False
    writes: bool = False
    reads: bool = False

    @property
    def owners(self) -> dict[str, Param]:
        """Its query parameters by all their names."""
        return {name: param for param in self.params for name in param.names}


def table(endpoints: Iterable[Endpoint]) -> list[Route]:
    """The routes, one a path; HEAD is answered wherever GET is."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [Route(path, _run(methods), methods=list(methods), name=path) for path, methods in by_path.items()]


def _run(methods: Mapping[str, Endpoint]) -> Callable[[Request], Awaitable[Response]]:
    owners = {method: endpoint.owners for method, endpoint in methods.items()}

    async def run(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        endpoint = methods[method]
        if endpoint.local or (endpoint.writes and TRUSTED not in request.scope):
            _refuse_others(request)
        response = await endpoint.run(request)
        ignored = _ignored([name for name, _ in request.query_params.multi_items()], owners[method])
        if ignored := [name for name in dict.fromkeys(ignored + request.scope.get(UNREAD, [])) if name]:
            response.headers[IGNORED] = ", ".join(quote(name[:80], safe="") for name in ignored[:_MOST_IGNORED])
        return response

    return run


def _ignored(given: Sequence[str], owners: Mapping[str, Param]) -> list[str]:
    """The names under which something was given that plays no part: unknown ones, and what was said twice of what has
    one value, but for the name that counts."""
    ignored = [name for name in dict.fromkeys(given) if name not in owners]
    said: dict[tuple[str, ...], list[str]] = {}
    for name in given:
        if name in owners and not isinstance(owners[name], Texts):
            said.setdefault(owners[name].names, []).append(name)
    for names, those in said.items():
        if len(those) > 1:
            those.remove(min(those, key=names.index))
            ignored += dict.fromkeys(those)
    return ignored


def _refuse_others(request: Request) -> None:
    """Errors: ``Forbidden`` for a program of another machine, and for one that may stand behind a proxy."""
    if not is_of_this_machine(request.client and request.client.host, request.headers):
        raise Forbidden("only programs of this machine may ask this")
