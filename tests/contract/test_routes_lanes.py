"""Sessions side by side: what each has in each bucket, and where the next one begins."""

import json
import sqlite3
from typing import Any

import pytest

from tests.contract.edge import Edge
from tests.factories import DAY, HOUR, MINUTE, NOON, make_batch, observation_row, prompt_row, session_row, summary_row

QUARTER = 15 * MINUTE


@pytest.fixture
async def filled(edge: Edge) -> Edge:
    await edge.fill(
        make_batch(
            [
                observation_row("zebra", discovery_tokens=70),
                observation_row("giraffe", created_at_epoch=NOON + QUARTER, type="discovery", discovery_tokens=30),
                observation_row("lion", memory_session_id="m-2", project="mall", created_at_epoch=NOON + HOUR),
                observation_row("yeti", memory_session_id="m-3", created_at_epoch=NOON - 9 * DAY),
            ],
            sessions=[session_row(), session_row("2", project="mall"), session_row("3")],
            summaries=[summary_row("animals", created_at_epoch=NOON + QUARTER + MINUTE)],
            prompts=[prompt_row("which animals?", created_at_epoch=NOON - MINUTE)],
        )
    )
    return edge


async def ask(edge: Edge, **params: object) -> dict[str, Any]:
    found: dict[str, Any] = await edge.ask("/api/lanes", **{"around": NOON, **params})
    return found


async def test_sessions_stand_side_by_side_in_the_same_buckets(filled: Edge) -> None:
    found = await ask(filled)
    starts = [bucket["start_epoch_ms"] for bucket in found["buckets"]]
    zero = starts.index(NOON - QUARTER)
    assert starts[zero:] == [NOON + number * QUARTER for number in range(-1, 5)]
    first, second = found["lanes"]
    assert (first["session"], first["project"], first["records"], first["work_tokens"]) == ("m-1", "shop", 4, 100)
    assert first["cells"] == [
        {"bucket": zero, "types": {"prompt": 1}},
        {"bucket": zero + 1, "types": {"bugfix": 1}},
        {"bucket": zero + 2, "types": {"discovery": 1, "session": 1}},
    ]
    assert (first["first_epoch_ms"], first["last_epoch_ms"]) == (NOON - MINUTE, NOON + QUARTER + MINUTE)
    assert (second["session"], second["cells"], found["total"]) == (
        "m-2",
        [{"bucket": zero + 5, "types": {"bugfix": 1}}],
        2,
    )


async def test_the_past_has_no_future(filled: Edge) -> None:
    found = await ask(filled, dateEnd=NOON)
    assert [(lane["session"], lane["records"]) for lane in found["lanes"]] == [("m-1", 2)]
    assert sum(bucket["count"] for bucket in found["buckets"]) == 2


async def test_scope_width_and_a_moment_beyond_all_records(filled: Edge) -> None:
    assert [lane["session"] for lane in (await ask(filled, project="mall"))["lanes"]] == ["m-2"]
    assert (await ask(filled, project="none")) == {
        "buckets": [], "bucket_ms": QUARTER, "lanes": [], "total": 0, "errors": [],
    }  # fmt: skip
    far = await ask(filled, around=NOON + 400 * DAY, bucketMs=3_600_000, buckets=10)
    assert [lane["session"] for lane in far["lanes"]] == ["m-1", "m-2"]
    assert len(far["buckets"]) <= 10
    whole = await ask(filled, bucketMs=86_400_000)
    assert [lane["session"] for lane in whole["lanes"]] == ["m-3", "m-1", "m-2"]
    few = await ask(filled, bucketMs=86_400_000, lanes=1, around=NOON - 9 * DAY)
    assert ([lane["session"] for lane in few["lanes"]], few["total"]) == (["m-3"], 3)


async def test_where_the_next_session_begins(filled: Edge) -> None:
    async def begin(**params: object) -> tuple[str | None, int | None]:
        found = await filled.ask("/api/lanes/next", **params)
        return found["session"], found["epoch_ms"]

    assert await begin(around=NOON) == ("m-1", NOON - MINUTE)
    assert await begin(around=NOON - MINUTE) == ("m-3", NOON - 9 * DAY)
    assert await begin(around=NOON, later="true") == ("m-2", NOON + HOUR)
    assert await begin(around=NOON, later="true", dateEnd=NOON + MINUTE) == (None, None)
    assert await begin(around=NOON - 9 * DAY) == (None, None)


async def test_an_answer_of_a_model_counts_once_in_a_lane(edge: Edge) -> None:
    rows = [observation_row(name, discovery_tokens=900) for name in ("zebra", "giraffe", "lion")]
    rows.append(observation_row("yeti", discovery_tokens=900, created_at_epoch=NOON + MINUTE))
    await edge.fill(make_batch(rows, sessions=[session_row()]))
    assert [lane["work_tokens"] for lane in (await ask(edge))["lanes"]] == [1_800]


USES: tuple[tuple[str, object, object, int], ...] = (
    ("Bash", {"command": "make"}, {"stdout": "", "stderr": "make: *** [all] Error 2", "exit_code": 2}, NOON),
    ("Bash", {"command": "make"}, {"stdout": "done", "stderr": ""}, NOON + MINUTE),
    ("Bash", {"command": "cat log"}, {"stdout": "an error of others, and a failure", "stderr": ""}, NOON + 2 * MINUTE),
    ("Bash", {"command": "pytest"}, {"stdout": "===== 1 failed, 3 passed in 0.1s =====", "stderr": ""}, NOON + QUARTER),
    ("Read", {"file_path": "a.py"}, {"is_error": True, "content": "no such file"}, NOON + QUARTER + MINUTE),
    ("mcp__shop__order", {}, {"status": 200, "said": "Error handling is fine"}, NOON + QUARTER + 2 * MINUTE),
    ("Bash", {"command": "make"}, "Exit code 1\nmake: *** failed", NOON + HOUR),
)


async def test_uses_of_tools_that_failed_are_told_by_bucket(filled: Edge) -> None:
    def keep(connection: sqlite3.Connection) -> None:
        for number, (tool, given, answer, at) in enumerate(USES):
            row = connection.execute("SELECT id FROM sdk_sessions WHERE memory_session_id = 'm-1'").fetchone()
            connection.execute(
                """INSERT INTO tool_uses (tool_use_id, content_session_id, session_db_id, project, created_at,
                    tool_name, tool_input, tool_response, created_at_epoch)
                    VALUES (?, 'c-1', ?, 'shop', '', ?, ?, ?, ?)""",
                (f"t{number}", row[0], tool, json.dumps(given), json.dumps(answer), at),
            )

    await filled.store.write(keep)
    found = await ask(filled)
    starts = [bucket["start_epoch_ms"] for bucket in found["buckets"]]
    told = [(starts[errors["bucket"]], errors["count"]) for errors in found["errors"]]
    assert told == [(NOON, 1), (NOON + QUARTER, 2), (NOON + HOUR, 1)]
    assert [errors["count"] for errors in (await ask(filled, dateEnd=NOON + QUARTER))["errors"]] == [1, 1]
    assert (await ask(filled, project="mall"))["errors"] == []
