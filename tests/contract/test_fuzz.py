"""Requests made from ``/openapi.json``, fitting and not: no fault of ours, and answers as they are described."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.factories import make_batch, observation_row, prompt_row, summary_row
from worker.api.app import build, endpoints
from worker.api.services import Services
from worker.contract import calls
from worker.search.engine import Engine
from worker.store import imports
from worker.store.tables import Connection, open_store
from worker.stream.broadcaster import Broadcaster

EXAMPLES = 12
"""For each operation, fitting and not fitting requests each."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
TOOL_USE = """INSERT INTO tool_uses (tool_use_id, content_session_id, project, tool_name, tool_input, created_at,
    created_at_epoch) VALUES ('t-1', 'c-1', 'shop', 'Bash', x'ff00', '2026-03-04', 1772625600000)"""


def services(folder: Path) -> Services:
    return Services("0", folder, 37700, Broadcaster(), lambda: 1_772_625_600.0, lambda: None)


# A stream has no end to wait for; it is tested on a real server.
ENDPOINTS = [one for one in endpoints(services(Path())) if one.path != calls.STREAM]
OPERATIONS = [(one.method, one.path, GenerationMode.POSITIVE) for one in ENDPOINTS]
OPERATIONS += [
    (one.method, one.path, GenerationMode.NEGATIVE) for one in ENDPOINTS if one.params or one.body or "{" in one.path
]


def filled(connection: Connection) -> None:
    observations = [
        observation_row(f"Token {number}", files_read='["src/a.py"]', created_at_epoch=1_772_625_600_000 + number)
        for number in range(5)
    ]
    imports.import_batch(connection, make_batch(observations, summaries=[summary_row()], prompts=[prompt_row()]))
    connection.execute(TOOL_USE)


def of_this_machine(app: ASGIApp) -> ASGIApp:
    async def local(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "client": ("127.0.0.1", 1)}, receive, send)

    return local


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("home")
    served = services(folder)
    store = open_store(folder / "claude-mem.db")
    served.opened = (store, Engine(store))
    asyncio.run(store.write(filled))
    yield schemathesis.openapi.from_asgi(calls.OPENAPI, of_this_machine(build(served, "testserver")))
    asyncio.run(store.close())


@pytest.mark.parametrize(("method", "path", "mode"), OPERATIONS)
def test_answers_are_as_described(schema: Any, method: str, path: str, mode: GenerationMode) -> None:
    """R025."""
    operation = schema[path][method]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def asked(case: Any) -> None:
        response = case.call()
        assert response.status_code != 403, "a request that is not let in tries nothing"
        case.validate_response(response, checks=CHECKS)

    asked()
