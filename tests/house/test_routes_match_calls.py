"""Every path of the published language is served, with its method, and nothing else is."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from worker.api.app import build
from worker.api.services import Services
from worker.contract import calls
from worker.stream.broadcaster import Broadcaster

PATHS = {name: value for name, value in vars(calls).items() if name.isupper() and isinstance(value, str)}


def sent() -> Iterator[tuple[str, str]]:
    """(method, path) of each ``Call`` that ``calls`` makes, read from its source.

    Where the path is looked up in a table, the constants of the whole function count.
    """
    for function in ast.parse(inspect.getsource(calls)).body:
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Call":
                method, path = node.args[:2]
                paths = _paths(path) or _paths(function)
                assert isinstance(method, ast.Constant) and paths, ast.unparse(node)
                yield from ((str(method.value), path) for path in paths)


def _paths(node: ast.AST) -> list[str]:
    return [PATHS[name.id] for name in ast.walk(node) if isinstance(name, ast.Name) and name.id in PATHS]


@pytest.fixture(scope="module")
def served() -> dict[str, set[str]]:
    services = Services("0", Path(), 0, Broadcaster(), lambda: 0.0, lambda: None)
    application = build(services, "127.0.0.1")
    assert isinstance(application, Starlette)
    methods: dict[str, set[str]] = {}
    for route in application.routes:
        assert isinstance(route, Route)
        methods.setdefault(route.path, set()).update(route.methods or ())
    return methods


def test_every_path_is_served_and_every_route_has_its_constant(served: dict[str, set[str]]) -> None:
    assert sorted(served) == sorted(PATHS.values())


def test_every_call_finds_its_method(served: dict[str, set[str]]) -> None:
    found = list(sent())
    assert len(found) >= 15
    assert [(method, path) for method, path in found if method not in served.get(path, ())] == []


def test_no_path_has_two_names() -> None:
    assert len(set(PATHS.values())) == len(PATHS)
