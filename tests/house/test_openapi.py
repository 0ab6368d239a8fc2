"""``/openapi.json`` says what is served: every path of ``calls``, with everything that its routes read, and no more."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from starlette.applications import Starlette
from starlette.routing import Route

import worker.api.routes
from worker.api import openapi, params
from worker.api.app import build, endpoints
from worker.api.endpoint import IGNORED, Endpoint
from worker.api.params import Param
from worker.api.services import Services
from worker.contract import calls
from worker.stream.broadcaster import Broadcaster

ROUTES = Path(next(iter(worker.api.routes.__path__)))


@pytest.fixture(scope="module")
def services() -> Services:
    return Services("1.2.3", Path(), 0, Broadcaster(), lambda: 0.0, lambda: None)


@pytest.fixture(scope="module")
def table(services: Services) -> list[Endpoint]:
    return endpoints(services)


@pytest.fixture(scope="module")
def document(table: list[Endpoint]) -> dict[str, Any]:
    return openapi.document(table, "1.2.3")


def test_every_path_is_described_and_every_description_has_its_path(document: dict[str, Any]) -> None:
    paths = {value for name, value in vars(calls).items() if name.isupper() and str(value).startswith("/")}
    assert set(document["paths"]) == paths


def test_every_method_that_is_served_is_described(services: Services, document: dict[str, Any]) -> None:
    application = build(services, "127.0.0.1")
    assert isinstance(application, Starlette)
    served = {
        (route.path, method.lower())
        for route in application.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert served == {(path, method) for path, methods in document["paths"].items() for method in methods}


def test_it_is_an_openapi_document(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    schemathesis.openapi.from_dict(document).validate()


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for reference in set(re.findall(r"'\$ref': '#/components/(\w+)/([^']+)'", str(document))):
        assert reference[1] in document["components"][reference[0]], reference


def test_every_operation_is_told_in_words_and_by_a_name_of_its_own(document: dict[str, Any]) -> None:
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    assert all(one["summary"].endswith(".") for one in operations)
    assert len({one["operationId"] for one in operations}) == len(operations)
    assert all(IGNORED in one["responses"]["200"]["headers"] for one in operations)
    told = [parameter for one in operations for parameter in one["parameters"] if parameter["in"] == "query"]
    assert all(parameter["description"] for parameter in told)


def test_no_parameter_has_two_meanings(table: list[Endpoint]) -> None:
    for endpoint in table:
        names = [name for param in endpoint.params for name in param.names]
        assert len(names) == len(set(names)), endpoint.path


def test_every_parameter_that_a_route_reads_is_told(table: list[Endpoint]) -> None:
    """A ``Param`` of a module of routes that no endpoint lists would be read and answered as ignored."""
    listed = {id(param) for endpoint in table for param in endpoint.params}
    for file in ROUTES.glob("[a-z]*.py"):
        module = __import__(f"worker.api.routes.{file.stem}", fromlist=["routes"])
        own = {name: value for name, value in inspect.getmembers(module) if isinstance(value, Param)}
        assert [name for name, value in own.items() if id(value) not in listed] == [], file.name
    shared = inspect.getmembers(params, lambda value: isinstance(value, Param))
    assert [name for name, value in shared if id(value) not in listed] == []
