"""Who is counted, what counts as listed and what as read."""

from typing import Any

import pytest

from tests.contract.edge import Edge
from tests.factories import NOON, make_batch, observation_row, prompt_row, summary_row
from worker.contract.recalls import CALLER

KEYS = "1,2,S1,P1"


@pytest.fixture
async def filled(edge: Edge) -> Edge:
    rows = [observation_row("zebra", files_read='["src/a.py"]'), observation_row("giraffe", created_at_epoch=NOON + 1)]
    await edge.fill(make_batch(rows, summaries=[summary_row("zebra")], prompts=[prompt_row("why?")]))
    return edge


async def counts(edge: Edge) -> dict[str, tuple[int, int]]:
    await edge.services.tally.flush(edge.store)
    found = (await edge.ask("/api/recalls", keys=KEYS))["recalls"]
    assert all(one["last_epoch_ms"] == NOON for one in found.values())
    return {key: (one["listed"], one["read"]) for key, one in found.items()}


@pytest.mark.parametrize(
    ("path", "params", "expected"),
    [
        ("/api/search", {"query": "zebra"}, {"1": (1, 0), "S1": (1, 0)}),
        ("/api/search", {"query": "zebra", "format": "hits", "limit": 1}, {"S1": (1, 0)}),
        ("/api/search", {"query": "zeb", "typing": "true"}, {}),
        ("/api/search", {"query": "zebra", "format": "json"}, {"1": (0, 1), "S1": (0, 1)}),
        ("/api/search/observations", {"query": "zebra"}, {"1": (1, 0)}),
        ("/api/search/by-file", {"filePath": "src"}, {"1": (1, 0)}),
        ("/api/timeline", {"anchor": "1", "depth_before": 1, "depth_after": 0}, {"1": (1, 0), "P1": (1, 0)}),
        ("/api/timeline/by-query", {"query": "giraffe", "mode": "interactive"}, {"2": (1, 0)}),
        ("/api/observation/1", {}, {"1": (0, 1)}),
        ("/api/session/1", {}, {"S1": (0, 1)}),
        ("/api/prompt/1", {}, {"P1": (0, 1)}),
        ("/api/observations/by-file", {"path": "src/a.py"}, {"1": (0, 1)}),
        ("/api/facets", {}, {}),
        ("/api/observations", {}, {}),
        ("/api/recalls", {"keys": KEYS}, {}),
        ("/api/timeline", {"anchor": "99"}, {}),
    ],
)
async def test_what_is_counted(
    filled: Edge, path: str, params: dict[str, Any], expected: dict[str, tuple[int, int]]
) -> None:
    await filled.ask(path, **params)
    assert await counts(filled) == expected


async def test_of_a_file_a_hook_passes_on_titles_alone(filled: Edge) -> None:
    asked = {"path": "src/a.py"}
    await filled.client.get("/api/observations/by-file", params=asked, headers={"X-Claude-Mem-Caller": "hook"})
    assert await counts(filled) == {"1": (1, 0)}


async def test_a_file_of_a_project_that_goes_by_another_name(filled: Edge) -> None:
    await filled.post("/api/projects/aliases", {"alias": "old-shop", "project": "shop"})
    found = await filled.ask("/api/observations/by-file", path="src/a.py", projects="old-shop")
    assert found["count"] == 1


async def test_a_batch_is_read(filled: Edge) -> None:
    await filled.post("/api/observations/batch", {"ids": [1, 2, 9], "limit": 1})
    assert await counts(filled) == {"2": (0, 1)}


@pytest.mark.parametrize(
    ("headers", "count"),
    [
        ({}, 1),
        ({CALLER: "mcp"}, 1),
        ({CALLER: "cli"}, 1),
        ({CALLER: "app"}, 0),
        ({CALLER: " App"}, 0),
        ({"Origin": "http://localhost:3000"}, 0),
    ],
)
async def test_people_who_look_around_are_not_counted(filled: Edge, headers: dict[str, str], count: int) -> None:
    for path in ("/api/search?query=zebra", "/api/observation/1", "/api/timeline?anchor=1"):
        assert (await filled.client.get(path, headers=headers)).status_code == 200
    assert (await counts(filled)).get("1", (0, 0)) == (2 * count, count)


async def test_a_record_that_is_read_tells_how_often_it_was(filled: Edge) -> None:
    asked = {"recalled": "true"}
    assert (await filled.ask("/api/observation/1", **asked))["recalled"] == {
        "listed": 0,
        "read": 0,
        "last_epoch_ms": None,
    }
    await filled.services.tally.flush(filled.store)
    assert "recalled" not in await filled.ask("/api/prompt/1")
    told = await filled.ask("/api/observation/1", **asked)
    assert (told["recalled"], told["title"]) == ({"listed": 0, "read": 1, "last_epoch_ms": NOON}, "zebra")


async def test_keys_that_are_none(edge: Edge) -> None:
    assert await edge.problem("GET", "/api/recalls", params={"keys": "1,x"}) == (422, "invalid", "keys")
    assert (await edge.ask("/api/recalls"))["recalls"] == {}
