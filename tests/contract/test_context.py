"""The wire form of what a session is given at its start."""

import msgspec
import pytest

from worker.contract import context
from worker.contract.context import ContextPlan, ContextRow

ROW = (
    b'{"key":"S14","title":"t","type":"session","epoch_ms":5,"density":"summary","read_tokens":62,"kept":true,'
    b'"reason":"recent","change":"new","pinned":true,"muted":false}'
)


def test_a_plan_is_what_the_worker_writes() -> None:
    body = (
        b'{"project":"shop","budget_tokens":3000,"used_tokens":70,"text":"# shop","rows":['
        + ROW
        + b'],"left_out":2,"compared":true,"changed_new":1,"changed_gone":0}'
    )
    row = ContextRow(
        key="S14", title="t", type="session", epoch_ms=5, density="summary", read_tokens=62, kept=True,
        reason="recent", change="new", pinned=True,
    )  # fmt: skip
    expected = ContextPlan(
        project="shop", budget_tokens=3000, used_tokens=70, text="# shop", rows=(row,), left_out=2, changed_new=1
    )
    assert context.plan("shop").decode(body) == expected
    assert msgspec.json.encode(expected) == body


@pytest.mark.parametrize("over", [b'"density":"row and a half"', b'"change":"maybe"'])
def test_what_is_no_density_and_no_change_is_not_read(over: bytes) -> None:
    name = over.split(b":")[0]
    head, _, tail = ROW.partition(name)
    row = head + over + b"," + tail.partition(b",")[2]
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(row, type=ContextRow)


def test_calls_as_they_travel() -> None:
    asked = context.plan("a b")
    assert (asked.method, asked.path, asked.params) == ("GET", "/api/context/rows", (("project", "a b"),))
    for call, path in ((context.pin("118", on=True), "pin"), (context.mute("118", on=False), "mute")):
        assert (call.method, call.path) == ("POST", f"/api/context/{path}")
        assert msgspec.json.decode(call.body or b"") == {"key": "118", "on": path == "pin"}
