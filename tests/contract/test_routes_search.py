"""Search over observations, by file, and the timeline by words: the forms of their answers."""

from typing import Any

import pytest

from tests.contract.edge import Edge
from tests.factories import DAY, MINUTE, NOON, make_batch, observation_row, prompt_row, summary_row
from tests.fakes import machine_zone
from worker.api.endpoint import IGNORED
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.costs import CostQuery
from worker.contract.search import SearchQuery, Strip
from worker.contract.sessions import SessionQuery
from worker.contract.tool_uses import ToolUseQuery
from worker.contract.transfer import ExportQuery, ImportBatch, RowKind
from worker.contract.when import parse_range

OBSERVATIONS = "/api/search/observations"
BY_FILE = "/api/search/by-file"
BY_QUERY = "/api/timeline/by-query"


def memory() -> ImportBatch:
    return make_batch(
        [
            observation_row(
                "Token expiry | skew", narrative="x" * 100, discovery_tokens=1200, files_read='["src/a.py"]'
            ),
            observation_row("Token refresh", type="decision", subtitle="kept short", created_at_epoch=NOON + 1),
            observation_row("Giraffe", type="odd", files_modified='["src/auth/b.py"]', created_at_epoch=NOON - DAY),
        ],
        summaries=[summary_row("Token work", files_edited='["src/a.py"]')],
        prompts=[prompt_row("token?")],
    )


async def test_observations_as_text(edge: Edge) -> None:
    await edge.fill(memory())
    assert await edge.text(OBSERVATIONS, query="token", orderBy="date_desc") == (
        'Found 2 observation(s) matching "token"\n'
        "\n"
        "| ID | Time | T | Title | Read | Work |\n"
        "|-----|------|---|-------|------|------|\n"
        "| #2 | 12:00 PM | ⚖ | Token refresh | ~6 | - |\n"
        "| #1 | ″ | ● | Token expiry \\| skew | ~30 | ⚒ 1200 |\n"
    )
    assert (await edge.text(OBSERVATIONS, query="token", limit=1)).startswith(
        'Found 2 observation(s) matching "token" (showing 1-1)\n'
    )
    assert await edge.text(OBSERVATIONS, query="zebra") == 'No observations found matching "zebra"'
    assert await edge.text(OBSERVATIONS, query="token", offset=9) == "No observations at offset 9: there are 2 in all"


async def test_observations_need_words(edge: Edge) -> None:
    assert await edge.problem("GET", OBSERVATIONS) == (422, "invalid", "query")
    assert await edge.problem("GET", OBSERVATIONS, params={"query": " ", "obs_type": "x"}) == (422, "invalid", "query")


async def test_observations_as_rows_and_as_hits(edge: Edge) -> None:
    """R044: the same keys with and without hits."""
    await edge.fill(memory())
    rows = await edge.ask(OBSERVATIONS, query="token", format="json")
    assert sorted(row["id"] for row in rows["observations"]) == [1, 2]
    assert rows["sessions"] == rows["prompts"] == []
    assert (await edge.ask(OBSERVATIONS, query="zebra", format="json")).keys() == rows.keys()
    hits = await edge.ask(OBSERVATIONS, query="token", format="hits")
    assert {hit["kind"] for hit in hits["hits"]} == {"observation"}


@pytest.mark.parametrize("name", ["concept", "concepts"])
async def test_filters_hold_under_all_their_names(edge: Edge, name: str) -> None:
    """R034."""
    await edge.fill(make_batch([observation_row("a zebra", concepts='["gotcha"]'), observation_row("b zebra")]))
    found = await edge.ask(OBSERVATIONS, query="zebra", format="json", **{name: "gotcha"})
    assert [row["title"] for row in found["observations"]] == ["a zebra"]


async def test_by_file_as_text(edge: Edge) -> None:
    await edge.fill(memory())
    assert await edge.text(BY_FILE, filePath="src/") == (
        'Found 3 result(s) for file "src/"\n'
        "\n"
        "### Mar 4, 2026\n"
        "\n"
        "| ID | Time | T | Title | Read | Work |\n"
        "|-----|------|---|-------|------|------|\n"
        "| #S1 | 1:00 PM | 🎯 | Token work | - | - |\n"
        "| #1 | 12:00 PM | ● | Token expiry \\| skew | ~30 | ⚒ 1200 |\n"
        "\n"
        "### Mar 3, 2026\n"
        "\n"
        "| ID | Time | T | Title | Read | Work |\n"
        "|-----|------|---|-------|------|------|\n"
        "| #3 | 12:00 PM | 📝 | Giraffe | ~2 | - |\n"
    )
    assert await edge.text(BY_FILE, files="nowhere") == 'No results found for file "nowhere"'


async def test_by_file_of_a_folder_and_of_several(edge: Edge) -> None:
    await edge.fill(memory())
    folder = await edge.ask(BY_FILE, filePath="src/auth", isFolder="true", format="json")
    assert [row["id"] for row in folder["observations"]] == [3]
    several = await edge.ask(BY_FILE, files="a.py,b.py", orderBy="date_asc", format="json")
    assert [row["id"] for row in several["observations"]] == [3, 1]
    assert (await edge.ask(BY_FILE, filePath="a", isFolder="true", format="json"))["observations"] == []
    assert await edge.problem("GET", BY_FILE) == (422, "invalid", "filePath")


async def test_timeline_by_words(edge: Edge) -> None:
    await edge.fill(memory())
    auto = await edge.text(BY_QUERY, query="giraffe", depth_before=0, depth_after=0)
    assert auto.startswith('# Timeline for query: "giraffe"\n**Anchor:** Observation #3 - Giraffe\n')
    assert await edge.text(BY_QUERY, query="giraffe", depth_before=0, depth_after=0, mode="auto") == auto
    assert await edge.text("/api/timeline", query="giraffe", depth_before=0, depth_after=0) == auto
    assert (await edge.ask(BY_QUERY, query="giraffe", format="json"))["anchor"] == "3"
    assert "No observations found" in await edge.text(BY_QUERY, query="zebra")
    assert await edge.problem("GET", BY_QUERY) == (422, "invalid", "query")
    assert await edge.problem("GET", BY_QUERY, params={"query": "x", "mode": "x"}) == (422, "invalid", "mode")


async def test_hits_to_choose_an_anchor_from(edge: Edge) -> None:
    await edge.fill(memory())
    assert await edge.text(BY_QUERY, query="refresh", mode="interactive") == (
        "# Timeline Anchor Search Results\n"
        "\n"
        'Found 1 observation(s) matching "refresh"\n'
        "\n"
        "To see what happened around one of them, ask for the `timeline` with its ID as the anchor.\n"
        "\n"
        "**Top 1 matches:**\n"
        "\n"
        "1. **[decision] Token refresh**\n"
        "   - ID: 2\n"
        "   - Date: 3/4/2026, 12:00:00 PM\n"
        "   - kept short\n"
    )
    few = await edge.ask(BY_QUERY, query="token", mode="interactive", limit=1, format="json")
    assert (few["totalResults"], len(few["observations"])) == (2, 1)
    assert "No observations found" in await edge.text(BY_QUERY, query="zebra", mode="interactive")


async def test_what_plays_no_part_is_told(edge: Edge) -> None:
    await edge.fill(memory())
    params = {"query": "token", "quary": "x", "ünï code,": "1", "limit": "3"}
    answer = await edge.client.get(OBSERVATIONS, params=params)
    assert answer.status_code == 200
    assert answer.headers["x-claude-mem-ignored"] == "quary, %C3%BCn%C3%AF%20code%2C"
    assert "x-claude-mem-ignored" not in (await edge.client.get(OBSERVATIONS, params={"query": "x"})).headers
    twice = await edge.client.get(f"{OBSERVATIONS}?q=b&query=a&limit=3&limit=7&concepts=a&concept=b")
    assert twice.headers["x-claude-mem-ignored"] == "q, limit"
    many = await edge.client.get("/healthz", params={f"n{number}" * 30: "1" for number in range(500)})
    assert len(many.headers["x-claude-mem-ignored"]) < 2000


@pytest.mark.parametrize(
    ("path", "params", "told"),
    [
        (BY_QUERY, {"query": "token", "limit": "abc", "depth_before": "1"}, "limit"),
        (BY_QUERY, {"query": "token", "mode": "interactive", "depthBefore": "1", "depth_after": "x", "limit": "1"},
         "depthBefore, depth_after"),
        (calls.SEARCH, {"query": "token", "phase": "keyword", "mode": "semantic"}, "mode"),
        (calls.SEARCH, {"query": "token", "phase": "keyword", "mode": "keyword"}, None),
        (calls.SEARCH, {"query": "token", "phase": "full", "mode": "semantic"}, None),
        (calls.FACETS, {"stripStart": "yesterday", "stripEnd": "today", "buckets": "9"}, "stripStart, stripEnd"),
        (calls.FACETS, {"bucketMs": "86400000", "stripStart": "yesterday", "buckets": "9"}, "buckets"),
        (calls.FACETS, {"query": "token", "limit": "3", "offset": "1", "limits": "1"}, "limits, limit, offset"),
        (calls.FACETS, {"query": "token", "dateStart": "3d", "format": "xml"}, "format"),
    ],
)  # fmt: skip
async def test_what_plays_no_part_beside_another_is_told(
    edge: Edge, path: str, params: dict[str, str], told: str | None
) -> None:
    await edge.fill(memory())
    answer = await edge.client.get(path, params=params)
    assert (answer.status_code, answer.headers.get(IGNORED)) == (200, told)


@pytest.mark.parametrize(
    ("path", "params", "field"),
    [
        (OBSERVATIONS, {"kind": "prompt"}, "kind"),
        (OBSERVATIONS, {"type": "prompts,sessions"}, "type"),
        (calls.SEARCH, {"phase": "keyword", "mode": "banana"}, "mode"),
        *((path, {"isFolder": "banana"}, "isFolder") for path in (calls.SEARCH, OBSERVATIONS, calls.FACETS)),
    ],
)
async def test_what_cannot_be_meant_is_named(edge: Edge, path: str, params: dict[str, str], field: str) -> None:
    assert await edge.problem("GET", path, params={"query": "x", **params}) == (422, "invalid", field)


async def test_observations_among_several_kinds(edge: Edge) -> None:
    await edge.fill(memory())
    found = await edge.ask(OBSERVATIONS, query="token", kind="prompt,observation", format="hits")
    assert {hit["kind"] for hit in found["hits"]} == {"observation"}


async def test_hits_to_choose_an_anchor_from_are_of_the_session(edge: Edge) -> None:
    rows = [observation_row("Token"), observation_row("Token", memory_session_id="m-2")]
    await edge.fill(make_batch(rows))
    for mode in ("auto", "interactive"):
        found = await edge.text(BY_QUERY, query="token", mode=mode, session="m-1", depth_before=0, depth_after=0)
        assert ("#1" in found or "ID: 1" in found) and "#2" not in found and "ID: 2" not in found


def _bounded(since: int | None, until: int | None) -> list[Call[Any]]:
    search = SearchQuery(since_epoch_ms=since, until_epoch_ms=until)
    strip = Strip(bucket_ms=28 * DAY, start_epoch_ms=until)
    return [
        calls.search(search),
        calls.search_text(search),
        calls.facets(search, strip=strip),
        calls.sessions(SessionQuery(since_epoch_ms=since, until_epoch_ms=until)),
        calls.costs(CostQuery(since_epoch_ms=since, until_epoch_ms=until)),
        calls.export(ExportQuery(kind=RowKind.OBSERVATION, since_epoch_ms=since, until_epoch_ms=until)),
        calls.tool_uses(ToolUseQuery(since_epoch_ms=since, until_epoch_ms=until)),
    ]


@pytest.mark.parametrize("text", ["0001-01-01", "1969-12-31", "1970-01-01", "1976-04-22T07:30Z", "9999-12-31"])
async def test_every_date_that_a_client_can_read_is_taken(edge: Edge, text: str) -> None:
    await edge.fill(memory())
    first, last = parse_range(text) or (None, None)
    for call in _bounded(first, last):
        answer = await edge.client.get(call.path, params=dict(call.params))
        assert (answer.status_code, answer.headers.get(IGNORED)) == (200, None), answer.text
    early = text < "2026"
    for since, until in ((first, None), (None, last)):
        found = await edge.ask(
            calls.SEARCH, **dict(calls.search(SearchQuery(since_epoch_ms=since, until_epoch_ms=until)).params)
        )
        assert bool(found["total"]) == (early if until is None else not early)
        said = {"dateStart": text} if until is None else {"dateEnd": text}
        assert (await edge.ask(calls.SEARCH, format="hits", **said))["total"] == found["total"]


async def test_a_span_by_parameters_is_told_with_its_zone(edge: Edge) -> None:
    """R030: to whoever reads a text, and wherever the worker has read a date."""
    await edge.fill(memory())
    told = "since 2026-03-04 00:00 until 2026-03-04 23:59 UTC"
    day = {"dateStart": "2026-03-04T00:00Z", "dateEnd": "2026-03-04T23:59Z"}
    in_ms = {"dateStart": NOON - DAY // 2, "dateEnd": NOON + DAY // 2 - 1}
    for path in (calls.SEARCH, OBSERVATIONS, BY_FILE):
        asked = {"query": "token"} if path != BY_FILE else {"filePath": "src"}
        for span in (day, in_ms):
            assert f"({told})" in (await edge.text(path, **asked, **span)).splitlines()
        for form in ("hits", "json"):
            assert (await edge.ask(path, **asked, **day, format=form))["notes"] == [told]
            assert (await edge.ask(path, **asked, **in_ms, format=form))["notes"] == []
    with machine_zone("UTC"):
        (since,) = (await edge.ask(calls.SEARCH, query="token", dateStart="yesterday", format="hits"))["notes"]
        assert since.startswith("since ") and since.endswith(" 00:00 UTC")
        (compact,) = (await edge.ask(calls.SEARCH, query="token", dateStart="202603041200", format="hits"))["notes"]
        assert compact == "since 2026-03-04 12:00 UTC"
    assert "since" not in await edge.text(calls.SEARCH, query="token")


async def test_dates_bound_what_is_known_of_a_file(edge: Edge) -> None:
    """R028."""
    await edge.fill(memory())
    found = await edge.ask(BY_FILE, filePath="src", dateStart=NOON - MINUTE, dateEnd=NOON + MINUTE, format="json")
    assert [row["id"] for row in found["observations"]] == [1]
