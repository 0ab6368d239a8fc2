"""What memory costs, as the routes tell it: sums of the rows, and what came back of them."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from tests.contract.edge import Edge
from tests.factories import DAY, HOUR, NOON, make_batch, observation_row, prompt_row, session_row, summary_row
from worker.contract.transfer import ImportBatch
from worker.store import spend
from worker.store.tables import Connection

SUMMED = ("records", "read_tokens", "work_tokens", "recalled", "read_back", "read_back_tokens", "never")


def memory() -> ImportBatch:
    return make_batch(
        [
            observation_row("zebra", narrative="x" * 393, discovery_tokens=1000),
            observation_row("giraffe", type="decision", discovery_tokens=300, created_at_epoch=NOON - DAY),
            observation_row("lion", memory_session_id="m-2", project="mall", created_at_epoch=NOON - 3 * DAY),
        ],
        sessions=[session_row(), session_row("2", project="mall", custom_title="Cats")],
        summaries=[summary_row("Animals", discovery_tokens=200)],
        prompts=[prompt_row("which animals?")],
    )


async def costs(edge: Edge, **params: object) -> dict[str, Any]:
    await edge.services.tally.flush(edge.store)
    found: dict[str, Any] = await edge.ask("/api/costs", **params)
    for name in ("projects", "types", "days"):
        for figure in SUMMED:
            assert sum(line["spent"][figure] for line in found[name]) == found["total"][figure], (name, figure)
    return found


async def test_sums_and_their_parts(edge: Edge) -> None:
    await edge.fill(memory())
    found = await costs(edge)
    reading = [(await edge.ask("/api/search", format="hits"))["hits"][n]["read_tokens"] for n in range(5)]
    assert found["total"]["read_tokens"] == sum(reading)
    assert (found["total"]["records"], found["total"]["work_tokens"]) == (5, 1500)
    assert found["total"]["ratio"] == round(1500 / sum(reading), 2)
    assert (found["saved_tokens"], found["saved_percent"]) == (
        1500 - sum(reading),
        round(100 * (1500 - sum(reading)) / 1500),
    )
    assert [(line["value"], line["spent"]["work_tokens"]) for line in found["projects"]] == [
        ("shop", 1500),
        ("mall", 0),
    ]
    assert [line["value"] for line in found["types"]] == ["bugfix", "decision", "session", "prompt"]
    assert [(line["value"], line["spent"]["records"]) for line in found["days"]] == [
        ("2026-03-04", 3),
        ("2026-03-03", 1),
        ("2026-03-01", 1),
    ]
    assert [(line["session"], line["id"], line["title"]) for line in found["sessions"]] == [
        ("m-1", 1, "Animals"),
        ("m-2", 2, "Cats"),
    ]
    assert (found["session_count"], found["first_epoch_ms"], found["last_epoch_ms"]) == (
        2,
        NOON - 3 * DAY,
        NOON + HOUR,
    )


async def test_what_came_back_and_what_never_did(edge: Edge) -> None:
    await edge.fill(memory())
    assert (await costs(edge))["counting_since_epoch_ms"] is None
    await edge.ask("/api/search", query="giraffe")
    for _ in range(3):
        read = await edge.ask("/api/observation/1")
    found = await costs(edge)
    total, reading = found["total"], 100
    assert read["title"] == "zebra"
    assert (total["recalled"], total["read_back"], total["read_back_tokens"]) == (2, 1, 3 * reading)
    assert (total["never"], total["never_work_tokens"]) == (3, 200)
    assert found["back_saved_tokens"] == 1000 - 3 * reading
    assert found["counting_since_epoch_ms"] == NOON
    assert found["sessions"][0]["spent"]["read_back"] == 1
    await edge.client.delete("/api/observation/1")
    total = (await costs(edge))["total"]
    assert (total["records"], total["recalled"], total["read_back"]) == (4, 1, 0)


async def test_filters(edge: Edge) -> None:
    await edge.fill(memory())
    for params, records in (
        ({"project": "mall"}, 1),
        ({"project": "none"}, 0),
        ({"platformSource": "codex"}, 0),
        ({"dateStart": NOON}, 2),
        ({"dateStart": "2026-03-03", "dateEnd": "2026-03-03"}, 1),
    ):
        found = await costs(edge, **params)
        assert found["total"]["records"] == records, params
        assert (found["first_epoch_ms"] is None) == (not records)
    assert len((await edge.ask("/api/costs", days=2))["days"]) == 2
    assert [line["session"] for line in (await costs(edge, sessions=1))["sessions"]] == ["m-1"]
    assert (await costs(edge, sessions=0))["sessions"] == []


async def test_days_are_those_of_the_zone(edge: Edge) -> None:
    edge.services.zone = ZoneInfo("Asia/Tokyo")
    night = int(dt.datetime(2026, 3, 3, 15, tzinfo=dt.UTC).timestamp() * 1000)
    await edge.fill(
        make_batch([observation_row("a", created_at_epoch=night), observation_row("b", created_at_epoch=night - 1)])
    )
    assert [line["value"] for line in (await costs(edge))["days"]] == ["2026-03-04", "2026-03-03"]


async def test_moments_of_any_size(edge: Edge) -> None:
    await edge.fill(
        make_batch([observation_row(f"{n}", created_at_epoch=at) for n, at in enumerate((0, 2**62, 2**63 - 1))])
    )
    found = await edge.ask("/api/costs")
    assert found["total"]["records"] == 3
    assert sum(line["spent"]["records"] for line in found["days"]) == 1


async def test_of_one_session_alone(edge: Edge) -> None:
    await edge.fill(memory())
    found = await costs(edge, session="m-1")
    assert found["total"]["records"] == 4
    assert [(line["value"], line["spent"]["work_tokens"]) for line in found["types"]] == [
        ("bugfix", 1000),
        ("decision", 300),
        ("session", 200),
        ("prompt", 0),
    ]
    assert [line["session"] for line in found["sessions"]] == ["m-1"]
    assert (await costs(edge, session="m-1", project="mall"))["total"]["records"] == 0
    assert (await costs(edge, session="nobody"))["total"]["records"] == 0


async def test_what_the_observer_paid_is_told_apart(edge: Edge) -> None:
    await edge.fill(memory())
    assert (await costs(edge))["observer"] == {
        "total": {"value": "", "calls": 0, "tokens": 0}, "today_tokens": 0, "days": [], "projects": [], "models": [],
    }  # fmt: skip
    now = edge.services.now_ms()

    def paid(connection: Connection) -> None:
        spend.add(connection, spend.Call("shop", 1, "haiku", 100), now)
        spend.add(connection, spend.Call("shop", 1, "haiku", 50), now)
        spend.add(connection, spend.Call("mall", 2, "flash", 7), now - DAY)

    await edge.store.write(paid)
    found = (await costs(edge))["observer"]
    assert (found["total"]["calls"], found["total"]["tokens"], found["today_tokens"]) == (3, 157, 150)
    assert [(line["value"], line["calls"], line["tokens"]) for line in found["projects"]] == [
        ("shop", 2, 150),
        ("mall", 1, 7),
    ]
    assert [line["tokens"] for line in found["days"]] == [150, 7]
    assert [line["value"] for line in (await costs(edge, project="mall"))["observer"]["models"]] == ["flash"]
    assert (await costs(edge, session="m-1"))["observer"]["total"]["tokens"] == 150


async def test_one_day_alone_is_a_day(edge: Edge) -> None:
    await edge.fill(memory())
    found = await costs(edge, dateStart="2026-03-04", dateEnd="2026-03-04")
    assert [day["spent"]["records"] for day in found["days"]] == [3]
    assert (await costs(edge, dateEnd="2000-01-01"))["total"]["records"] == 0


async def test_an_answer_of_a_model_is_counted_once(edge: Edge) -> None:
    """The original notes what an answer cost on each record of it; we share it out, and equal parts stay parts."""
    told = [
        observation_row(title, memory_session_id=f"m-{name}", type=kind, discovery_tokens=cost, created_at_epoch=NOON)
        for name, cost in (("1", 1000), ("2", 50))
        for title, kind in ((f"zebra {name}", "bugfix"), (f"giraffe {name}", "decision"), (f"lion {name}", "bugfix"))
    ]
    later = observation_row("okapi", discovery_tokens=1000, created_at_epoch=NOON + 1)
    await edge.fill(make_batch([*told, later], sessions=[session_row(), session_row("2")]))
    await edge.store.write(lambda connection: spend.add(connection, spend.Call("shop", 2, "haiku", 150), NOON))
    found = await costs(edge)
    assert found["total"]["work_tokens"] == 1000 + 1000 + 3 * 50
    assert {line["value"]: line["spent"]["work_tokens"] for line in found["types"]} == {
        "bugfix": 334 + 333 + 1000 + 2 * 50,
        "decision": 333 + 50,
    }
    assert {line["session"]: line["spent"]["work_tokens"] for line in found["sessions"]} == {"m-1": 2000, "m-2": 150}
    listed = (await edge.ask("/api/sessions"))["sessions"]
    assert {line["memory_session_id"]: line["work_tokens"] for line in listed} == {"m-1": 2000, "m-2": 150}
    given = await edge.ask("/api/context/rows", project="shop")
    assert "7 obs" in given["text"] and "| 2,150t work |" in given["text"]
