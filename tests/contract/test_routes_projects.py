"""Projects that go by two names (R188)."""

from typing import Any

import pytest

from tests.contract.edge import Edge
from tests.factories import make_batch, observation_row, session_row, summary_row

MERGE, ALIASES = "/api/projects/merge", "/api/projects/aliases"


@pytest.fixture
async def moved(edge: Edge) -> Edge:
    """A repository that was `shop` and is `store` now."""
    await edge.fill(
        make_batch(
            [
                observation_row("old", project="shop"),
                observation_row("older", project="shop/feature", merged_into_project="shop"),
                observation_row("new", project="store"),
            ],
            sessions=[session_row(project="shop")],
            summaries=[summary_row("asked", project="shop")],
        )
    )
    return edge


async def titles(edge: Edge, project: str) -> set[str]:
    found = await edge.ask("/api/search", format="json", project=project, kind="observation")
    return {row["title"] for row in found["observations"]}


async def test_what_was_merged_is_found_under_both_names(moved: Edge) -> None:
    """R188."""
    assert await titles(moved, "store") == {"new"}
    assert await moved.post(MERGE, {"project": "shop", "into": "store"}) == {"observations": 2, "summaries": 1}
    assert await titles(moved, "store") == {"new", "old", "older"}
    assert await titles(moved, "shop") == {"old"}
    assert await moved.post(MERGE, {"project": "shop", "into": "store"}) == {"observations": 0, "summaries": 0}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"project": "shop", "into": "shop"}, 422, "into"),
        ({"project": "nowhere", "into": "store"}, 404, "project"),
        ({"project": " ", "into": "store"}, 422, "project"),
        ({"project": "shop"}, 422, None),
    ],
)
async def test_a_merge_that_means_nothing(moved: Edge, body: dict[str, Any], status: int, field: str | None) -> None:
    told = await moved.problem("POST", MERGE, json=body)
    assert told[0] == status and (field is None or told[2] == field)


async def test_aliases_are_kept_and_taken_back(edge: Edge) -> None:
    assert await edge.ask(ALIASES) == {"aliases": {}}
    assert await edge.post(ALIASES, {"alias": "store", "project": "shop"}) == {"aliases": {"store": "shop"}}
    assert (await edge.problem("POST", ALIASES, json={"alias": "x", "project": "store"}))[:2] == (409, "conflict")
    assert (await edge.problem("POST", ALIASES, json={"alias": "shop", "project": "y"}))[:2] == (409, "conflict")
    assert await edge.post(ALIASES, {"alias": "store", "project": "mall"}) == {"aliases": {"store": "mall"}}
    assert await edge.post(ALIASES, {"alias": "store", "project": "store"}) == {"aliases": {}}


async def test_what_comes_from_an_alias_is_filed_under_the_project_and_given_to_it(edge: Edge) -> None:
    """R188: the folder was moved, and its sessions go on where they were."""
    await edge.post(ALIASES, {"alias": "store", "project": "shop"})
    await edge.fill(make_batch([observation_row("old", project="shop")], sessions=[session_row(project="shop")]))
    event = {"contentSessionId": "s", "cwd": "/home/u/store"}
    await edge.post("/api/sessions/init", event | {"prompt": "go on", "project": "store"})
    await edge.post("/api/sessions/observations", event | {"tool_name": "Bash", "tool_use_id": "t"})
    assert (await edge.ask("/api/tool-uses"))["toolUses"][0]["project"] == "shop"
    assert {line["project"] for line in (await edge.ask("/api/sessions"))["sessions"]} == {"shop"}
    rows = (await edge.ask("/api/context/rows", project="store"))["rows"]
    assert [row["title"] for row in rows] == ["old"]
