"""Every name that a parameter goes by means the same as its first one, at every endpoint that takes it."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.contract.edge import Edge, served
from tests.contract.test_routes_rows import keep_tool_uses
from tests.factories import DAY, NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from worker.api.app import endpoints
from worker.api.endpoint import IGNORED
from worker.api.services import Services
from worker.contract import calls
from worker.stream.broadcaster import Broadcaster

Named = tuple[tuple[str, ...], str]
"""The names of one parameter, and a value that makes a difference to the answer."""

_PLATFORM: Named = ("platformSource", "platform_source"), "codex"
_SINCE: Named = ("dateStart", "date_start", "date_from"), "2026-03-04"
_UNTIL: Named = ("dateEnd", "date_end", "date_to"), "2026-03-03"
_AS_OF: Named = ("asOf", "as_of"), "2026-03-03"
_OLDEST: Named = ("orderBy", "order_by"), "date_asc"
_PATHS: Named = ("files", "filePath", "file"), "src/b"
_DEPTHS: tuple[Named, ...] = (("depth_before", "depthBefore"), "0"), (("depth_after", "depthAfter"), "0")
_WORDS: tuple[Named, ...] = (
    (("query", "q"), "giraffe"), (("obs_type", "obsType"), "decision"), (("concepts", "concept"), "gotcha"), _PATHS,
    _PLATFORM, _SINCE, _UNTIL,
)  # fmt: skip
_KINDS: Named = ("kind", "kinds"), "prompt"

TAKEN: dict[str, tuple[dict[str, str], tuple[Named, ...]]] = {
    calls.SEARCH: ({"query": "zebra", "format": "hits"}, (*_WORDS, _KINDS, _OLDEST)),
    calls.SEARCH_OBSERVATIONS: ({"query": "zebra", "format": "hits"}, (*_WORDS, _OLDEST)),
    calls.SEARCH_BY_FILE: (
        {"filePath": "src", "format": "hits"}, ((("filePath", "files", "file"), "src/b"), *_WORDS[4:], _OLDEST)
    ),
    calls.FACETS: ({"query": "zebra"}, (*_WORDS, _KINDS)),
    calls.TIMELINE: ({"anchor": "1", "format": "json"}, (*_DEPTHS, _PLATFORM)),
    calls.TIMELINE_BY_QUERY: ({"query": "zebra", "format": "json"}, (*_DEPTHS, _PLATFORM)),
    calls.OBSERVATIONS_BY_FILE: ({"path": "src/a.py"}, (_PLATFORM,)),
    calls.OBSERVATIONS: ({}, (_PLATFORM,)),
    calls.SUMMARIES: ({}, (_PLATFORM,)),
    calls.PROMPTS: ({}, (_PLATFORM,)),
    "/api/observation/1": ({}, (_PLATFORM,)),
    "/api/session/1": ({}, (_PLATFORM,)),
    "/api/prompt/1": ({}, (_PLATFORM,)),
    calls.SESSIONS: ({}, (_PLATFORM, _SINCE, _UNTIL, _AS_OF)),
    "/api/sessions/m-1": ({}, (_AS_OF,)),
    calls.LANES: ({"around": "2026-03-04T12:00", "bucketMs": "86400000"}, (_PLATFORM, _UNTIL)),
    calls.LANES_NEXT: ({"around": "2026-03-04T14:00"}, (_PLATFORM, _UNTIL)),
    calls.CONTEXT_INJECT: ({"projects": "shop"}, ((("projects", "project"), "mall"), _PLATFORM)),
    calls.CONTEXT_PREVIEW: ({"project": "shop"}, (_PLATFORM,)),
    calls.CONTEXT_ROWS: ({"project": "shop"}, (_PLATFORM,)),
    calls.CONTEXT_RECENT: ({"project": "shop"}, (_PLATFORM,)),
    calls.COSTS: ({}, (_PLATFORM, _SINCE, _UNTIL)),
    calls.EXPORT: ({"kind": "observation"}, (_SINCE, _UNTIL)),
    calls.TOOL_USES: (
        {},
        (
            (("session", "contentSessionId"), "c-1"), (("tool_name", "toolName"), "Read"), _PLATFORM, _SINCE, _UNTIL,
            _OLDEST,
        ),
    ),
    calls.PROJECTS: ({}, (_PLATFORM,)),
}  # fmt: skip
_ELSEWHERE = {
    # Makes no difference to observations alone, and counts have no order.
    (calls.SEARCH_OBSERVATIONS, _KINDS[0]),
    (calls.FACETS, _OLDEST[0]),
    # Who is given it shows in what comes after: tests/contract/test_routes_context.py.
    (calls.CONTEXT_INJECT, ("contentSessionId", "session")),
}


@pytest.fixture
async def edge(tmp_path: Path) -> AsyncIterator[Edge]:
    """Two days, two platforms, two projects: enough for every filter to take something away."""
    async with served(tmp_path / "memory") as edge:
        old, other = {"created_at_epoch": NOON - DAY}, {"memory_session_id": "m-2", "platform_source": "codex"}
        await edge.fill(
            make_batch(
                [
                    observation_row("zebra one", concepts='["gotcha"]', files_read='["src/a.py"]'),
                    observation_row("zebra two", type="decision", files_read='["src/a.py","src/b.py"]', **old),
                    observation_row("zebra giraffe", files_modified='["src/a.py"]', **other),
                    observation_row("giraffe", project="mall", memory_session_id="m-3"),
                ],
                sessions=[
                    session_row(started_at_epoch=NOON - DAY),
                    session_row("2", started_at_epoch=NOON, platform_source="codex"),
                    session_row("3", started_at_epoch=NOON, project="mall"),
                    session_row("4", started_at_epoch=NOON - DAY),
                ],
                summaries=[summary_row("zebra summary"), summary_row("of the other", **other)],
                prompts=[prompt_row("zebra?"), prompt_row("giraffe?", content_session_id="c-2")],
            )
        )
        await keep_tool_uses(
            edge,
            {"platform_source": "claude"},
            {"tool_use_id": "toolu_2", "content_session_id": "c-2", "tool_name": "Read"},
            {"tool_use_id": "toolu_3", "content_session_id": "c-2", "created_at_epoch": NOON - DAY},
        )
        yield edge


async def answer(edge: Edge, path: str, params: dict[str, str]) -> tuple[int, str]:
    told: httpx.Response = await edge.client.get(path, params=params)
    assert IGNORED not in told.headers, told.headers[IGNORED]
    return told.status_code, re.sub(r'"took_ms":[\d.]+', "", told.text)


@pytest.mark.parametrize("path", TAKEN)
async def test_by_another_name_it_means_the_same(edge: Edge, path: str) -> None:
    """R034."""
    asked, taken = TAKEN[path]
    for (first, *others), value in taken:
        rest = {name: said for name, said in asked.items() if name != first}
        by_first, without = await answer(edge, path, rest | {first: value}), await answer(edge, path, asked)
        assert without[0] == 200 and by_first != without, f"{first}={value} makes no difference"
        for other in others:
            assert await answer(edge, path, rest | {other: value}) == by_first, other


def test_every_name_that_is_taken_is_tried() -> None:
    services = Services("1.2.3", Path(), 0, Broadcaster(), lambda: 0.0, lambda: None)
    taken = {
        (endpoint.path, param.names) for endpoint in endpoints(services) for param in endpoint.params if param.names[1:]
    }
    tried = {(path, names) for path, (_, those) in TAKEN.items() for names, _ in those}
    by_id = {"/api/observation/1": calls.OBSERVATION, "/api/session/1": calls.SUMMARY, "/api/prompt/1": calls.PROMPT}
    named = by_id | {"/api/sessions/m-1": calls.SESSION}
    assert {(named.get(path, path), names) for path, names in tried} | _ELSEWHERE == taken


@pytest.mark.parametrize("header", ["X-Platform-Source", "X-Claude-Mem-Platform-Source"])
async def test_the_platform_may_stand_in_a_header(edge: Edge, header: str) -> None:
    by_name = await edge.ask(calls.OBSERVATIONS, platformSource="codex")
    told = await edge.client.get(calls.OBSERVATIONS, headers={header: "codex"})
    assert told.json() == by_name != await edge.ask(calls.OBSERVATIONS)
