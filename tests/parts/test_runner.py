"""The observer on a real store, with a model whose answers are written beforehand, or with none."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.factories import NOON, make_batch, prompt_row, session_row
from tests.parts.conftest import eventually, fill
from worker.contract.errors import Invalid
from worker.contract.observer_settings import Asking, Observing
from worker.llm.provider import Completion, Failure, Prompt, Provider, ProviderFailed, Tier
from worker.observer.runner import Observer
from worker.store import pending, spend, turns
from worker.store.pending import Captured, Kind, QueueCounts
from worker.store.tables import Connection, Store

MODEL = Observing(Asking(provider="openrouter", model="m-1"), pause_ms=0, events=20, bytes=48 * 1024)
LOCAL = Observing(pause_ms=0)
OBSERVATION = """<observation><type>discovery</type><title>{0}</title><narrative>{0}.</narrative>
<facts><fact>f</fact></facts></observation>"""
SUMMARY = "<summary><request>r</request><learned>l</learned></summary>"


@dataclass
class Scripted:
    """Answers in turn, then the last one again. An answer is a text, a failure, or something to wait for."""

    answers: list[str | ProviderFailed | asyncio.Event]
    asked: list[Prompt] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    closed: bool = False
    tokens: int = 101

    async def complete(self, prompt: Prompt) -> Completion:
        self.asked.append(prompt)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if isinstance(answer, asyncio.Event):
                await answer.wait()
                answer = OBSERVATION.format("late")
            await asyncio.sleep(0)
            if isinstance(answer, ProviderFailed):
                raise answer
            return Completion(answer, self.tokens, "m-1")
        finally:
            self.at_once -= 1

    async def close(self) -> None:
        self.closed = True


@dataclass
class Stage:
    """A store with sessions 1 and 2 and an observer on it. now: what its clock shows."""

    store: Store
    now: int = NOON
    observing: Observing = LOCAL
    provider: Provider | None = None
    captured: asyncio.Event = field(default_factory=asyncio.Event)
    completed: list[int] = field(default_factory=list)
    trouble: Invalid | None = None
    observer: Observer = field(init=False)

    def __post_init__(self) -> None:
        self.observer = Observer(
            self.store, captured=self.captured, settings=self._settings, open_provider=lambda _: self.provider,
            now_ms=lambda: self.now, completed=self.completed.append,
        )  # fmt: skip

    def _settings(self) -> Observing:
        if self.trouble is not None:
            raise self.trouble
        return self.observing

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.observer.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

    async def queue(self, *what: Captured) -> None:
        await self.store.write(lambda connection: [pending.add(connection, one) for one in what])
        self.captured.set()

    async def counts(self) -> QueueCounts:
        return await self.store.read(lambda connection: pending.counts(connection, self.now))

    async def is_empty(self) -> bool:
        return (await self.counts()).all == 0

    async def rows(self, table: str = "observations") -> list[dict[str, Any]]:
        found = await self.store.read(lambda c: c.execute(f"SELECT * FROM {table} ORDER BY id").fetchall())
        return [dict(row) for row in found]

    async def done(self) -> None:
        async with self.running():
            await eventually(self.is_empty)


@pytest.fixture
async def stage(store: Store) -> Stage:
    await fill(
        store,
        make_batch(
            [], sessions=[session_row(memory_session_id=None, status="active"), session_row("2", status="active")],
            prompts=[prompt_row("Fix the failing test_login")],
        ),
    )  # fmt: skip
    return Stage(store)


def tool(number: int = 1, session: int = 1, **over: Any) -> Captured:
    usual: dict[str, Any] = {
        "kind": Kind.TOOL, "project": "shop", "prompt_number": 1, "occurred_epoch_ms": NOON + number,
        "tool_use_id": f"t{session}-{number}", "tool_name": "Edit", "cwd": "/shop",
        "tool_input": f'{{"file_path":"/shop/f{number}.py","old_string":"a","new_string":"b"}}',
        "tool_response": '"ok ok ok ok"',
    }  # fmt: skip
    return Captured(session_db_id=session, **(usual | over))


def ended(number: int = 99, session: int = 1) -> Captured:
    return tool(
        number, session, kind=Kind.SUMMARY, tool_use_id=None, tool_name=None, tool_input=None, tool_response=None,
        last_assistant_message="I fixed the login. The root cause was a typo.",
    )  # fmt: skip


def asks(stage: Stage, *answers: str | ProviderFailed | asyncio.Event, **over: Any) -> Scripted:
    provider = Scripted(list(answers))
    stage.provider, stage.observing = provider, replace(MODEL, **over)
    return provider


async def test_by_rules_a_turn_becomes_an_observation_and_a_summary(stage: Stage) -> None:
    await stage.queue(tool(1), tool(2), ended())
    await stage.done()
    (seen,) = await stage.rows()
    assert (seen["type"], seen["title"], seen["project"]) == (
        "bugfix",
        "Fix the failing test_login in f1.py: The root cause was a typo",
        "shop",
    )
    assert (seen["prompt_number"], seen["created_at_epoch"], seen["generated_by_model"]) == (1, NOON + 1, "local")
    assert seen["files_modified"] == '["/shop/f1.py","/shop/f2.py"]' and seen["discovery_tokens"] == 6
    (summed,) = await stage.rows("session_summaries")
    assert (summed["request"], summed["learned"]) == ("Fix the failing test_login", "The root cause was a typo.")
    assert summed["files_edited"] == seen["files_modified"]
    assert summed["memory_session_id"] == seen["memory_session_id"] == f"local-c-1-{NOON + 1}"
    assert not await stage.store.read(lambda c: c.execute("PRAGMA foreign_key_check").fetchall())


async def test_of_a_prompt_that_another_program_kept_no_secret_is_asked_about(stage: Stage) -> None:
    raw = "UPDATE user_prompts SET prompt_text = 'Fix it with ghp_zqCanary0123456789abcdef <private>zqCanary'"
    await stage.store.write(lambda connection: connection.execute(raw).rowcount)
    provider = asks(stage, OBSERVATION.format("x"))
    await stage.queue(tool(1))
    await stage.done()
    (asked,) = provider.asked
    assert "Fix it with ****" in asked.user and "zqCanary" not in asked.user


async def test_a_database_that_cannot_be_written_is_waited_for(
    stage: Stage, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """From the start on, and told once."""
    await stage.queue(tool(1), ended())
    other.execute("BEGIN IMMEDIATE")
    async with stage.running():
        await eventually(lambda: stage.observer.status.state == "paused")
        assert "holds the database" in (stage.observer.status.reason or "")
        other.execute("ROLLBACK")
        await eventually(stage.is_empty)
        await eventually(lambda: stage.observer.status.state == "idle")
    assert len(await stage.rows()) == 1
    assert sum("the observer waits" in record.getMessage() for record in caplog.records) == 1


async def test_cost_of_an_answer_is_shared_out_once(stage: Stage) -> None:
    """R180, in part: the sum over the records is what the answer cost, and the spending says the same."""
    asks(stage, OBSERVATION.format("one") + OBSERVATION.format("two"))
    await stage.queue(tool(1), tool(2))
    await stage.done()
    rows = await stage.rows()
    assert [row["title"] for row in rows] == ["one", "two"]
    assert [row["discovery_tokens"] for row in rows] == [51, 50]
    assert {row["generated_by_model"] for row in rows} == {"m-1"}
    assert await stage.store.read(lambda c: (spend.of_session(c, 1), spend.of_day(c, NOON))) == (101, 101)
    assert await stage.store.read(lambda c: spend.by(c, "project")) == (spend.Line("shop", 1, 101),)


async def test_the_same_observation_twice_in_an_answer_is_one_row(stage: Stage) -> None:
    """R164."""
    asks(stage, OBSERVATION.format("same") * 2)
    await stage.queue(tool(1))
    await stage.done()
    await stage.queue(tool(2))
    await stage.done()
    assert [row["title"] for row in await stage.rows()] == ["same"]


async def test_near_copies_of_what_says_little_are_one_row(stage: Stage) -> None:
    """R166: sixty times the same failing command."""
    for number in range(6):
        run: dict[str, Any] = {
            "tool_name": "Bash",
            "tool_input": '{"command":"make test"}',
            "prompt_number": number + 1,
        }
        await stage.queue(tool(number, tool_response=f'"Exit code 2: {number} failed"', **run))
    await stage.done()
    assert len(await stage.rows()) == 1


async def test_boilerplate_makes_nothing(stage: Stage) -> None:
    """R166."""
    run: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": '{"command":"pytest"}',
        "tool_response": '"60 passed in 1.2s"',
    }
    await stage.queue(*(tool(number, **run) for number in range(60)))
    await stage.done()
    assert await stage.rows() == []


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Not logged in · Please run /login", "login"),
        ("Prompt is too long", "too long"),
        ("", "empty"),
        ("Sure!", "no observation"),
    ],
)
async def test_what_is_no_answer_keeps_the_events(stage: Stage, said: str, reason: str) -> None:
    """R172."""
    provider = asks(stage, said)
    await stage.queue(tool(1))

    async def told() -> bool:
        return reason in ((await stage.counts()).last_error or "")

    async with stage.running():
        await eventually(told)
        assert (await stage.counts()).all == 1 and await stage.rows() == []
        assert await stage.store.read(lambda c: spend.of_session(c, 1)) == 101  # paid all the same
    assert provider.closed


async def test_looking_around_and_summing_up_are_questions_of_their_own_kind(stage: Stage) -> None:
    provider = asks(stage, OBSERVATION.format("x"), SUMMARY, OBSERVATION.format("y"))
    looks = (tool(1, tool_name="Read"), tool(2, tool_name="Grep"))
    await stage.queue(*looks, ended())
    await stage.done()
    assert [asked.tier for asked in provider.asked] == [Tier.SIMPLE, Tier.SUMMARY]
    await stage.queue(tool(3, tool_name="Read"), tool(4, tool_name="Edit"))
    await stage.done()
    assert [asked.tier for asked in provider.asked[2:]] == [Tier.USUAL]


async def test_a_provider_that_fails_is_left_alone_as_long_as_it_asks(stage: Stage) -> None:
    provider = asks(
        stage, ProviderFailed(Failure.QUOTA, "its quota is used up", retry_after_s=700), OBSERVATION.format("x")
    )
    stage.observing = replace(stage.observing, parallel=1)
    await stage.queue(tool(1), tool(1, 2))
    async with stage.running():
        await eventually(lambda: stage.observer.status.state == "paused")
        status = stage.observer.status
        assert (status.reason, status.until_epoch_ms) == ("its quota is used up", NOON + 700_000)
        assert (await stage.counts()).all == 2
        asked = len(provider.asked)
        stage.captured.set()
        await eventually(lambda: not stage.captured.is_set())
        assert len(provider.asked) == asked
        stage.now += 700_001
        stage.captured.set()
        await eventually(stage.is_empty)
        await eventually(lambda: stage.observer.status.state == "idle")


async def test_another_provider_goes_on_at_once(stage: Stage) -> None:
    asks(stage, "Sure!")
    await stage.queue(tool(1))

    async def delayed() -> bool:
        return (await stage.counts()).delayed == 1

    async with stage.running():
        await eventually(delayed)
        asks(stage, OBSERVATION.format("other"))
        stage.observing = replace(stage.observing, asking=Asking(provider="gemini", model="g"))
        stage.captured.set()
        await eventually(stage.is_empty)
    assert [row["title"] for row in await stage.rows()] == ["other"]


async def test_a_change_of_provider_waits_for_nobody_but_those_who_are_asked(stage: Stage) -> None:
    """Two busy sessions do not keep the former one in office."""
    first, second = asyncio.Event(), asyncio.Event()
    former = asks(stage, first, second, OBSERVATION.format("former"), events=1)
    await stage.queue(*(tool(number, session) for number in range(3) for session in (1, 2)))
    async with stage.running():
        await eventually(lambda: len(former.asked) == 2)
        latter = asks(stage, OBSERVATION.format("latter"), events=1)
        stage.observing = replace(stage.observing, asking=Asking(provider="gemini", model="g"))
        first.set()
        await eventually(lambda: former.at_once == 1)
        second.set()
        await eventually(stage.is_empty)
    assert (len(former.asked), len(latter.asked), former.closed) == (2, 4, True)


async def test_a_server_that_does_not_count_is_counted(stage: Stage) -> None:
    provider = asks(stage, OBSERVATION.format("x"))
    provider.tokens = 0
    await stage.queue(tool(1))
    await stage.done()
    spent = await stage.store.read(lambda c: spend.of_session(c, 1))
    assert spent > len(provider.asked[0].user) // 4 and (await stage.rows())[0]["discovery_tokens"] == spent


async def test_sixty_times_the_same_from_a_model_is_one_row(stage: Stage) -> None:
    """R166."""
    provider = asks(stage, *(OBSERVATION.format(f"Ran tests, all {number} pass") for number in range(6)), events=1)
    read: dict[str, Any] = {"tool_name": "Read", "tool_input": '{"file_path":"/a"}'}
    await stage.queue(*(tool(number, **read) for number in range(6)))
    await stage.done()
    assert len(provider.asked) == 6
    assert [row["title"] for row in await stage.rows()] == ["Ran tests, all 0 pass"]


async def test_what_no_model_can_answer_is_told_by_rules_in_the_end(stage: Stage) -> None:
    provider = asks(stage, "Sure!")
    await stage.queue(tool(1))
    async with stage.running():
        async with asyncio.timeout(60):
            while not await stage.is_empty():
                stage.now += 600_001
                stage.captured.set()
                await asyncio.sleep(0.01)
    assert len(provider.asked) == 5
    assert [row["generated_by_model"] for row in await stage.rows()] == ["local"]


async def test_too_long_is_asked_in_smaller_pieces(stage: Stage) -> None:
    provider = asks(stage, ProviderFailed(Failure.TOO_LONG, "too long"), OBSERVATION.format("short"))
    await stage.queue(*(tool(number, tool_response='"' + "x" * 9000 + '"') for number in range(4)))
    async with stage.running():
        await eventually(lambda: len(provider.asked) == 1)
        async with asyncio.timeout(60):
            while not await stage.is_empty():
                stage.now += 60_001
                stage.captured.set()
                await asyncio.sleep(0.01)
    assert len(provider.asked[1].user) < len(provider.asked[0].user) // 2


async def test_cost_is_linear_and_capped(stage: Stage) -> None:
    """R180: 500 events."""
    provider = asks(stage, OBSERVATION.format("x"), bytes=2**20)
    await stage.queue(*(tool(number) for number in range(500)))
    await stage.done()
    assert len(provider.asked) == 25
    sizes = [len(prompt.user) for prompt in provider.asked]
    assert max(sizes) < 1.2 * min(sizes)
    assert await stage.store.read(lambda c: spend.of_session(c, 1)) == 25 * 101


async def test_a_budget_pauses_and_says_so(stage: Stage) -> None:
    provider = asks(stage, OBSERVATION.format("x"), day_tokens=200, events=1, bytes=2**20)
    await stage.queue(*(tool(number) for number in range(5)))
    async with stage.running():
        await eventually(lambda: stage.observer.status.state == "paused")
        assert stage.observer.status.reason == "the budget of this day is spent: 202 of 200 tokens"
        assert stage.observer.status.until_epoch_ms == NOON // 86_400_000 * 86_400_000 + 86_400_000
        assert len(provider.asked) == 2 and (await stage.counts()).waiting == 3
        stage.now += 86_400_000
        stage.captured.set()
        await eventually(lambda: len(provider.asked) == 4)


async def test_a_budget_of_one_session_leaves_the_others(stage: Stage) -> None:
    provider = asks(stage, OBSERVATION.format("x"), session_tokens=150, events=1)
    await stage.queue(*(tool(number) for number in range(5)), tool(1, 2))
    async with stage.running():
        await eventually(lambda: stage.observer.status.reason is not None)
        await eventually(lambda: len(provider.asked) == 3)
        assert "budget of 1 session is spent" in (stage.observer.status.reason or "")
        assert (await stage.counts()).waiting == 3


async def test_sessions_run_side_by_side_and_each_in_order(stage: Stage) -> None:
    answers = [asyncio.Event(), asyncio.Event()]
    provider = asks(stage, *answers, OBSERVATION.format("x"), events=1)
    await stage.queue(tool(1), tool(2), tool(9, 2))
    async with stage.running():
        await eventually(lambda: len(provider.asked) == 2)
        first, other = sorted(range(2), key=lambda at: "f1.py" not in provider.asked[at].user)
        assert "f1.py" in provider.asked[first].user and "f9.py" in provider.asked[other].user
        answers[first].set()
        await eventually(lambda: len(provider.asked) == 3)
        assert "f2.py" in provider.asked[2].user
        answers[other].set()
        await eventually(stage.is_empty)
    assert provider.most_at_once == 2


async def test_many_sessions_at_once(stage: Stage) -> None:
    await fill(stage.store, make_batch([], sessions=[session_row(str(at), status="active") for at in range(3, 203)]))
    await stage.queue(*(tool(number, session) for session in range(1, 203) for number in range(2)))
    await stage.done()
    assert len(await stage.rows()) == 202


async def test_stopped_in_the_middle_it_gives_back_what_it_took(stage: Stage) -> None:
    provider = asks(stage, asyncio.Event())
    await stage.queue(tool(1), tool(2))
    async with stage.running():
        await eventually(lambda: len(provider.asked) == 1)
        assert (await stage.counts()).claimed == 2
    assert (await stage.counts()).waiting == 2
    assert await stage.rows() == []
    asks(stage, OBSERVATION.format("x"))
    stage.__post_init__()
    await stage.done()
    assert len(await stage.rows()) == 1


async def test_what_a_dead_worker_had_taken_is_taken_again(stage: Stage) -> None:
    await stage.queue(tool(1))
    await stage.store.write(lambda c: pending.claim(c, 1, NOON, most=9, most_bytes=9999))
    await stage.done()
    assert len(await stage.rows()) == 1


async def test_a_failure_while_storing_leaves_queue_and_memory_as_they_were(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records, queue and spending are one transaction: what a kill between any two steps would leave."""
    asks(stage, OBSERVATION.format("x"))
    await stage.queue(tool(1))
    add = spend.add

    def broken(connection: Connection, call: spend.Call, now: int) -> None:
        monkeypatch.setattr(spend, "add", add)
        raise ValueError("no")

    monkeypatch.setattr(spend, "add", broken)
    async with stage.running():

        async def told() -> bool:
            return "fault of ours (ValueError)" in ((await stage.counts()).last_error or "")

        await eventually(told)
        assert await stage.rows() == [] and (await stage.counts()).all == 1
        stage.now += 60_000
        stage.captured.set()
        await eventually(stage.is_empty)
    assert len(await stage.rows()) == 1


async def test_a_session_is_completed_when_it_ended_and_nothing_waits(stage: Stage) -> None:
    """R178: the end comes while the summary is in the making."""
    late = asyncio.Event()
    asks(stage, late, SUMMARY)
    await stage.queue(tool(1), ended())
    async with stage.running():
        await eventually(lambda: stage.observer.status.state == "working")
        await stage.store.write(lambda c: turns.end(c, 1, NOON))
        stage.captured.set()
        await eventually(lambda: not stage.captured.is_set())
        assert stage.completed == []
        late.set()
        await eventually(lambda: stage.completed == [1])
    assert [row["request"] for row in await stage.rows("session_summaries")] == ["r"]
    first, second = await stage.rows("sdk_sessions")
    assert (first["status"], first["completed_at_epoch"], second["status"]) == ("completed", NOON, "active")


async def test_files_modified_are_only_those_that_tools_prove(stage: Stage) -> None:
    said = OBSERVATION.format("x").replace(
        "</observation>", "<files_modified><file>f1.py</file><file>made/up.py</file></files_modified></observation>"
    )
    asks(stage, said)
    await stage.queue(tool(1))
    await stage.done()
    assert (await stage.rows())[0]["files_modified"] == '["/shop/f1.py"]'


async def test_a_setting_that_cannot_be_used_pauses_and_loses_nothing(stage: Stage) -> None:
    stage.trouble = Invalid("CLAUDE_MEM_PROVIDER must be one of …")
    await stage.queue(tool(1))
    async with stage.running():
        await eventually(lambda: stage.observer.status.state == "paused")
        assert stage.observer.status.reason == "CLAUDE_MEM_PROVIDER must be one of …"
        stage.trouble = None
        stage.captured.set()
        await eventually(stage.is_empty)


async def test_a_fault_of_ours_does_not_end_the_work(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.queue(tool(1))
    with monkeypatch.context() as broken:
        broken.setattr(pending, "waiting", lambda connection, now: 1 / 0)
        async with stage.running():
            await eventually(lambda: "ZeroDivisionError" in (stage.observer.status.reason or ""))
            broken.undo()
            stage.captured.set()
            await eventually(stage.is_empty)
            await eventually(lambda: stage.observer.status.state == "idle")


async def test_uses_of_tools_are_told_what_came_of_them(stage: Stage) -> None:
    def note(connection: Connection) -> None:
        connection.executemany(
            """INSERT INTO tool_uses (tool_use_id, content_session_id, project, tool_name, created_at, created_at_epoch)
                VALUES (?, 'c-1', 'shop', 'Edit', '', 0)""",
            [("t1-1",), ("t1-2",), ("other",)],
        )

    await stage.store.write(note)
    await stage.queue(tool(1), tool(2))
    await stage.done()
    linked = {row["tool_use_id"]: row["observation_id"] for row in await stage.rows("tool_uses")}
    (seen,) = await stage.rows()
    assert linked == {"t1-1": seen["id"], "t1-2": seen["id"], "other": None}


async def test_agents_are_told_apart_by_rules(stage: Stage) -> None:
    await stage.queue(tool(1), tool(2, agent_id="a", agent_type="Explore"), tool(3))
    await stage.done()
    assert [(row["agent_id"], row["agent_type"]) for row in await stage.rows()] == [(None, None), ("a", "Explore")]


ODD = ("ls -la", "null", '"ls -la"', "[1,2]", "5", "{", '{"command":null}', '{"file_path":[1]}', "[" * 5000, "{}", "")


@pytest.mark.parametrize("name", ["Bash", "Edit", "Read", "Task", "mcp__x__y", "", "WebFetch"])
async def test_any_input_is_taken(stage: Stage, name: str) -> None:
    """R131."""
    odd = [tool(at, tool_name=name, tool_input=text, tool_response=text) for at, text in enumerate(ODD)]
    await stage.queue(*odd, tool(98, tool_name=name, tool_input=None, tool_response=None), tool(99))
    await stage.done()
    assert [row["files_modified"] for row in await stage.rows()] == ['["/shop/f99.py"]']
    assert (await stage.counts()).last_error is None
