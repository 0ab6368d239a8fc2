"""One scope for all questions about memory: a project, its worktrees too, a session."""

import pytest

from tests.contract.edge import Edge
from tests.factories import MINUTE, NOON, make_batch, observation_row, session_row
from worker.contract.project_name import head, with_worktrees

PROJECTS = ("shop", "shop/fix", "Shop/Late", "shop2", "shop-fix", "mall", "shop0")


@pytest.fixture
async def filled(edge: Edge) -> Edge:
    rows = [
        observation_row(f"lease {name}", memory_session_id=f"m-{name}", project=name, discovery_tokens=100,
                        created_at_epoch=NOON + number * MINUTE)
        for number, name in enumerate(PROJECTS)
    ]  # fmt: skip
    await edge.fill(make_batch(rows, sessions=[session_row(name, project=name) for name in PROJECTS]))
    return edge


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"project": "shop"}, {"shop"}),
        ({"project": "shop/*"}, {"shop", "shop/fix"}),
        ({"project": "shop/fix"}, {"shop/fix"}),
        ({"project": "none/*"}, set()),
        ({"session": "m-mall"}, {"mall"}),
        ({"session": "m-mall", "project": "shop/*"}, set()),
    ],
)
@pytest.mark.parametrize("query", ["", "lease"])
async def test_every_question_has_the_same_scope(
    filled: Edge, asked: dict[str, str], found: set[str], query: str
) -> None:
    page = await filled.ask("/api/search", query=query, format="hits", **asked)
    assert {hit["project"] for hit in page["hits"]} == found
    facets = await filled.ask("/api/facets", query=query, **asked)
    assert {count["value"] for count in facets["projects"]} == found
    assert facets["total"] == sum(bucket["count"] for bucket in facets["buckets"]) == len(found)
    lanes = await filled.ask("/api/lanes", around=NOON, **asked)
    assert {lane["project"] for lane in lanes["lanes"]} == found
    timeline = await filled.ask("/api/timeline", anchor=str(NOON), format="json", **asked)
    assert {entry["project"] for entry in timeline["entries"]} == found
    costs = await filled.ask("/api/costs", **asked)
    assert {line["value"] for line in costs["projects"]} == found


async def test_a_line_may_say_it_too_in_any_letter_case(filled: Edge) -> None:
    page = await filled.ask("/api/search", query="project:SHOP/* lease", format="hits")
    assert {hit["project"] for hit in page["hits"]} == {"shop", "shop/fix", "Shop/Late"}
    assert (await filled.ask("/api/search", query="project:shop/*,mall", format="hits"))["total"] == 4


async def test_sessions_of_worktrees_too(filled: Edge) -> None:
    page = await filled.ask("/api/sessions", project="shop/*")
    assert {session["project"] for session in page["sessions"]} == {"shop", "shop/fix"}


def test_the_name_of_any_of_them_asks_for_all() -> None:
    assert with_worktrees("shop") == with_worktrees("shop/fix") == with_worktrees("shop/*") == "shop/*"
    assert [head(name) for name in ("shop/*", "shop", "shop/fix", "/*", "*")] == ["shop", None, None, None, None]
