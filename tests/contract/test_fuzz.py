"""Requests made from ``/openapi.json``, fitting and not: no fault of ours, and answers as they are described.

They go over the wire to the server that the worker runs, which refuses to send what is no HTTP.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.factories import make_batch, observation_row, prompt_row, summary_row
from tests.processes import wait_for
from worker.api.app import build, endpoints
from worker.api.codec import LAST_ID
from worker.api.connection import Connection as Served
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
IDS = ("id", "ids", "anchor", "keys", "session", "after")
NUMBERS = st.none() | st.sampled_from((1, 2**31, 2**53, 2**61 - 1, 2**61, LAST_ID))
"""For ``IDS``: at the bounds of what programs take for a number, which are seldom drawn."""
UNKNOWN = st.dictionaries(st.text(max_size=2), st.text(max_size=2), max_size=2)
"""Parameters and keys that nothing describes, one without a name among them."""


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


@contextlib.contextmanager
def listening(served: Services) -> Iterator[str]:
    """The edge on a port of its own, as the worker serves it; its address."""
    with socket.create_server(("127.0.0.1", 0)) as port:
        app = build(served, "127.0.0.1")
        config = uvicorn.Config(app, http=Served, ws="none", log_config=None, access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [port]})
        thread.start()
        try:
            wait_for(lambda: server.started)
            yield f"http://127.0.0.1:{port.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("home")
    served = services(folder)
    store = open_store(folder / "claude-mem.db")
    served.opened = (store, Engine(store))
    asyncio.run(store.write(filled))
    with listening(served) as address:
        yield schemathesis.openapi.from_url(address + calls.OPENAPI)
    asyncio.run(store.close())


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        yield session


@pytest.mark.parametrize(("method", "path", "mode"), OPERATIONS)
def test_answers_are_as_described(
    schema: Any, session: requests.Session, method: str, path: str, mode: GenerationMode
) -> None:
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
    @given(case=operation.as_strategy(generation_mode=mode), number=NUMBERS, unknown=UNKNOWN)
    def asked(case: Any, number: int | None, unknown: dict[str, str]) -> None:
        case.query = {**unknown, **(case.query or {})}
        if isinstance(case.body, dict):
            case.body = {**unknown, **case.body}
        for part in (case.path_parameters, case.query, case.body):
            if number is not None and isinstance(part, dict):
                part.update({name: number for name in IDS if name in part})
        response = case.call(session=session)
        assert response.status_code != 403, "a request that is not let in tries nothing"
        case.validate_response(response, checks=CHECKS)

    asked()
