"""The one table: error → status; and the body of every answer that is not a success."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import respond
from worker.contract import errors
from worker.contract.errors import MemError, Problem

STATUS: dict[type[MemError], int] = {
    errors.Invalid: 422,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.TooLarge: 413,
    errors.WrongType: 415,
    errors.Busy: 429,
    errors.Unavailable: 503,
    errors.TimedOut: 504,
}
_log = logging.getLogger("worker.api")


def response_for(error: MemError) -> Response:
    """The answer that tells an error."""
    response = respond(error.problem(), STATUS.get(type(error), 500))
    if isinstance(error, errors.Unauthorized):
        response.headers["WWW-Authenticate"] = "Bearer"
    if error.retry_after_s is not None:
        response.headers["Retry-After"] = str(max(1, round(error.retry_after_s)))
    return response


async def told(request: Request, error: Exception) -> Response:
    """An error that was raised to be told."""
    assert isinstance(error, MemError)
    return response_for(error)


async def refused(request: Request, error: Exception) -> Response:
    """What the router refuses: an unknown path, a wrong method, a body over the limit."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "wrong_method", 413: "too_large"}.get(error.status_code, "invalid")
    what = {
        404: f"there is no {request.url.path} here",
        405: f"{request.url.path} does not take {request.method}",
        413: "the body is over the limit",
    }.get(error.status_code, str(error.detail))
    response = respond(Problem(what, code), error.status_code)
    response.headers.update(error.headers or {})
    return response


async def left(request: Request, error: Exception) -> Response:
    """The client hung up, or broke its own body off: nobody is there to be told, and nothing of ours went wrong."""
    return Response(status_code=400)


async def unexpected(request: Request, error: Exception) -> Response:
    """A fault of ours: logged, not shown."""
    route = request.scope.get("route")
    # Of the path only its form: the path itself is what somebody typed.
    _log.error("%s %s failed", request.method, getattr(route, "path", "a request"), exc_info=error)
    return respond(Problem("the worker failed on this request; its log tells why", "internal"), 500)
