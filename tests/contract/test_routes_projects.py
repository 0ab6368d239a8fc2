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
    assert (await edge.post("/api/memory/save", {"text": "a lamp", "project": "store"}))["project"] == "shop"


@pytest.fixture
async def renamed(edge: Edge) -> Edge:
    """Work was done in `store` before it was said to be `shop`; `y` is no business of either."""
    await edge.fill(
        make_batch(
            [
                observation_row("lamp at home", project="shop", files_read='["/w/lamp.py"]'),
                observation_row("lamp before", memory_session_id="m-2", project="store", files_read='["/w/lamp.py"]'),
                observation_row("lamp merged", memory_session_id="m-2", project="x/y", merged_into_project="store"),
                observation_row(
                    "lamp elsewhere", memory_session_id="m-3", project="other", files_read='["/w/lamp.py"]'
                ),
            ],
            sessions=[
                session_row(project="shop"),
                session_row("2", project="store"),
                session_row("3", project="y"),
            ],
            summaries=[summary_row("lamp asked", memory_session_id="m-2", project="store")],
        )
    )
    await edge.post(ALIASES, {"alias": "store", "project": "shop"})
    return edge


BOTH = {"lamp at home", "lamp before", "lamp merged"}


@pytest.mark.parametrize("project", ["shop", "store"])
async def test_what_was_filed_under_an_alias_is_found_by_either_name(renamed: Edge, project: str) -> None:
    """R188: whatever asks for a project."""
    edge = renamed
    assert await titles(edge, project) == BOTH
    assert await titles(edge, f"{project}/*") == BOTH
    said = await edge.ask("/api/search", format="json", query=f"project:{project.upper()} kind:observation lamp")
    assert {row["title"] for row in said["observations"]} == BOTH
    rows = (await edge.ask("/api/context/rows", project=project))["rows"]
    assert {row["title"] for row in rows} >= BOTH
    assert "lamp asked" in (await edge.ask("/api/context/recent", project=project))["content"][0]["text"]
    by_file = await edge.ask("/api/observations/by-file", path="/w/lamp.py", projects=project)
    assert {row["title"] for row in by_file["observations"]} == {"lamp at home", "lamp before"}
    around = await edge.ask("/api/timeline", anchor="2", project=project, format="json")
    assert {entry["title"] for entry in around["entries"]} >= BOTH and "lamp elsewhere" not in str(around)
    ids = [1, 2, 3, 4]
    batch = await edge.post("/api/observations/batch", {"ids": ids, "project": project})
    assert {row["title"] for row in batch} == BOTH
    assert (await edge.ask("/api/observation/2", project=project))["title"] == "lamp before"
    assert {line["project"] for line in (await edge.ask("/api/sessions", project=project))["sessions"]} == {
        "shop", "store"
    }  # fmt: skip
    costs = await edge.ask("/api/costs", project=project)
    assert {line["value"] for line in costs["projects"]} == {"shop", "store", "x/y"}
    for title in ("lamp at home", "lamp before", "lamp merged", "lamp elsewhere"):
        told = await edge.post("/api/context/semantic", {"q": f"what about the {title}?", "project": project})
        assert (title in told["context"]) is (title in BOTH)


async def test_an_alias_that_is_taken_back_counts_no_more(renamed: Edge) -> None:
    await renamed.post(ALIASES, {"alias": "store", "project": "store"})
    assert await titles(renamed, "shop") == {"lamp at home"}
    assert await titles(renamed, "store") == {"lamp before", "lamp merged"}
