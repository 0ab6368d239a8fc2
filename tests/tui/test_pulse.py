"""A worker that is stopped: no connection breaks, and nothing is answered."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.processes import running_worker
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import Memory, farm
from tests.tui.stage import Stage
from tests.tui.terminal import Terminal
from tui.gateway.pulse import Pulse
from tui.state import facts
from tui.state.facts import Fact
from tui.state.model import Link
from worker.contract.client import WorkerClient
from worker.contract.errors import Unreachable


class Probe:
    """Answers once it is let; counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.let = asyncio.Event()

    async def __call__(self) -> bool:
        self.asked += 1
        await self.let.wait()
        return True


@contextlib.asynccontextmanager
async def _felt(pulse: Pulse) -> AsyncIterator[asyncio.Queue[Fact]]:
    told: asyncio.Queue[Fact] = asyncio.Queue()

    async def feel() -> None:
        async for fact in pulse.felt():
            told.put_nowait(fact)

    task = asyncio.create_task(feel())
    yield told
    task.cancel()


async def test_a_question_that_nobody_answers_is_told_and_so_is_the_answer() -> None:
    probe = Probe()
    pulse = Pulse(probe, wait_s=0.02)
    async with asyncio.timeout(60), _felt(pulse) as told:
        with pulse.asking():
            assert await told.get() == facts.Silenced()
            assert probe.asked == 1
            probe.let.set()
            assert await told.get() == facts.Answering()


async def test_a_question_that_takes_long_is_no_silence() -> None:
    probe = Probe()
    probe.let.set()
    pulse = Pulse(probe, wait_s=0.02)
    async with asyncio.timeout(60), _felt(pulse) as told:
        with pulse.asking():
            while probe.asked < 5:  # noqa: ASYNC110 - as a real one is asked: again and again
                await asyncio.sleep(0.005)
        assert told.empty()


async def test_nothing_is_asked_while_nobody_waits() -> None:
    probe = Probe()
    pulse = Pulse(probe, wait_s=0.01)
    async with asyncio.timeout(60), _felt(pulse) as told:
        with pulse.asking():
            pass
        await asyncio.sleep(0.1)
        assert probe.asked == 0 and told.empty()


async def test_a_stream_without_its_signs_of_life_is_given_up() -> None:
    with FakeWorker(Memory([])) as worker:
        client = WorkerClient("127.0.0.1", worker.port)
        heard = list[str]()
        async with asyncio.timeout(60):
            while not heard:  # a worker kept from running does not greet in time
                with pytest.raises(Unreachable, match=r"nothing was heard from .* for 1 s"):
                    async for event in client.events(quiet_s=1.0):
                        heard.append(event.type)
        assert heard in (["connected"], [])  # a busy machine may not get so far
        await client.close()


async def test_the_silence_is_said_and_what_is_shown_is_read_anew_after_it() -> None:
    async with Stage(farm()) as stage:
        before = stage.state.seq
        stage.app.tell(facts.Silenced())
        await stage.still()
        assert "○ no answer" in stage.screen[0]
        assert "The worker takes questions and does not answer" in " ".join(stage.text.split())
        assert "r try again" in stage.screen[-1]
        stage.app.tell(facts.Answering())
        await stage.settled()
        assert stage.state.link is Link.LIVE and "● live" in stage.screen[0]
        assert stage.state.seq > before


async def test_an_answer_does_not_mend_a_stream_that_broke() -> None:
    async with Stage(farm()) as stage:
        stage.break_off("the cable is out")
        await stage.until(lambda: stage.state.link is Link.LOST)
        stage.app.tell(facts.Silenced())
        stage.app.tell(facts.Answering())
        await stage.still()
        assert stage.state.link is Link.LOST and "the cable is out" in stage.text


def test_a_worker_that_is_stopped_and_goes_on(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory") as worker:
        environ = {
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "TZ": "UTC",
            "TERM": "xterm-256color", "CLAUDE_MEM_DATA_DIR": str(tmp_path / "memory"),
            "CLAUDE_MEM_WORKER_PORT": str(worker.port),
        }  # fmt: skip
        with Terminal(["-m", "tui"], environ) as terminal:
            terminal.until(lambda text: "● live" in text and "No memory yet" in text)
            worker.process.send_signal(signal.SIGSTOP)
            try:
                terminal.send("/token")
                terminal.until(lambda text: "○ no answer" in text)
            finally:
                worker.process.send_signal(signal.SIGCONT)
            terminal.until(lambda text: "● live" in text and "no answer" not in text)
