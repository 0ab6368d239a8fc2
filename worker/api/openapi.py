"""`/openapi.json`: the table of endpoints as an OpenAPI 3.1 document."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import FIRST_ID, LAST_ID, respond
from worker.api.endpoint import IGNORED, Endpoint
from worker.api.errors import STATUS
from worker.api.params import Param, Schema
from worker.contract import calls, errors
from worker.contract.corpus import LONGEST_NAME
from worker.contract.errors import MemError, Problem

_ABOUT = "The memory of coding agents: search for an index, look at the timeline around a hit, fetch a few in full."
_IN_PATH: dict[str, Schema] = {
    "id": {"type": "integer", "minimum": FIRST_ID, "maximum": LAST_ID},
    "name": {"type": "string", "pattern": "^[a-zA-Z0-9._-]+$", "maxLength": LONGEST_NAME},
}
_TOKENS = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "CLAUDE_MEM_API_TOKEN, where the worker has one."},
    "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "The same in another header."},
}
_STATUS_WORDS = {200: "The answer.", 503: "Not served now."}


def endpoint(endpoints: Sequence[Endpoint], version: str) -> Endpoint:
    """The endpoint that tells about all in ``endpoints``, among which it may be itself."""

    async def openapi(request: Request) -> Response:
        return respond(document(endpoints, version))

    return Endpoint(method="GET", path=calls.OPENAPI, run=openapi, summary="This document.", answers=(dict[str, Any],))


def document(endpoints: Sequence[Endpoint], version: str) -> dict[str, Any]:
    """The document, paths in the order of the table."""
    types = [Problem, *dict.fromkeys(kind for one in endpoints for kind in _types(one))]
    schemas, components = msgspec.json.schema_components(
        types, schema_hook=_anything, ref_template="#/components/schemas/{name}"
    )
    schema_of = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "claude-mem worker", "version": version, "description": _ABOUT},
        "paths": paths,
        "components": {"schemas": components, "headers": {IGNORED: _ignored()}, "securitySchemes": _TOKENS},
        "security": [{}, *({name: []} for name in _TOKENS)],
    }


def _anything(kind: type) -> Schema:
    """``object`` is any JSON."""
    if kind is object:
        return {"description": "any JSON"}
    raise NotImplementedError


def _path(name: str) -> Schema:
    return _IN_PATH.get(name, {"type": "string", "minLength": 1})


def _types(one: Endpoint) -> Iterator[Any]:
    yield from (kind for kind in one.answers if kind is not str)
    yield from (one.other or {}).values()
    if one.body is not None:
        yield one.body


def _operation(one: Endpoint, schema_of: dict[Any, Schema]) -> dict[str, Any]:
    path_names = re.findall(r"\{(\w+)\}", one.path)
    inside = [{"name": name, "in": "path", "required": True, "schema": _path(name)} for name in path_names]
    answers = [{"type": "string"} if kind is str else schema_of[kind] for kind in one.answers]
    responses: dict[str, Any] = {"200": _answer(200, answers, one.media, headers=True)}
    for status, kind in (one.other or {}).items():
        responses[str(status)] = _answer(status, [schema_of[kind]], "application/json")
    told: dict[int, list[str]] = {}
    for error in _errors(one, bool(path_names)):
        told.setdefault(STATUS[error], []).append(" ".join((error.__doc__ or "").split()))
    for status, words in sorted(told.items()):
        if str(status) not in responses:
            responses[str(status)] = _answer(status, [schema_of[Problem]], "application/json", " ".join(words))
    operation: dict[str, Any] = {
        "operationId": f"{one.method.lower()} {one.path}",
        "summary": one.summary,
        "parameters": [*inside, *(entry for param in one.params for entry in _parameters(param))],
        "responses": responses,
    }
    if one.body is not None:
        operation["requestBody"] = {
            "required": True, "content": {"application/json": {"schema": schema_of[one.body]}}
        }  # fmt: skip
    return operation


def _errors(one: Endpoint, has_id: bool) -> list[type[MemError]]:
    """What may go wrong, by what the endpoint takes; everything may be refused or find the store closed."""
    implied: list[type[MemError]] = [errors.Unauthorized, errors.Forbidden, errors.Unavailable, errors.Busy]
    if one.params or has_id:
        implied.append(errors.Invalid)
    if has_id:
        implied.append(errors.NotFound)
    if one.body is not None:
        implied += [errors.Invalid, errors.WrongType, errors.TooLarge]
    return list(dict.fromkeys((*one.errors, *implied)))


def _answer(
    status: int, schemas: list[Schema], media: str, words: str | None = None, *, headers: bool = False
) -> dict[str, Any]:
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    answer: dict[str, Any] = {
        "description": words or _STATUS_WORDS.get(status, "The answer."), "content": {media: {"schema": schema}}
    }  # fmt: skip
    if headers:
        answer["headers"] = {IGNORED: {"$ref": f"#/components/headers/{IGNORED}"}}
    return answer


def _parameters(param: Param) -> Iterator[dict[str, Any]]:
    """Each name an entry of its own; the first alone can be required."""
    schema = param.schema()
    listed = {"style": "form", "explode": False} if schema.get("type") == "array" else {}
    for name in param.names:
        about = param.about if name == param.names[0] else f"the same as `{param.names[0]}`"
        required = param.required and len(param.names) == 1
        yield {"name": name, "in": "query", "description": about, "required": required, "schema": schema, **listed}
    for name in param.headers:
        about = f"the same as `{param.names[0]}`" if param.names else param.about
        yield {"name": name, "in": "header", "description": about, "schema": schema}


def _ignored() -> dict[str, Any]:
    return {
        "description": "Parameters and keys of the body that played no part, percent-encoded, comma between them.",
        "schema": {"type": "string"},
    }
