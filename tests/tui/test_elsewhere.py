"""A worker elsewhere, no worker at all, and nothing to be changed."""

from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.processes import running_worker
from tests.tui.memory import Memory, farm
from tests.tui.stage import SETTINGS, FakeClient, Stage
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import _environ
from tui.gateway.front import Gateway
from tui.keymap.table import named
from tui.state import facts
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.errors import Conflict, MemError, Unauthorized, Unavailable, Unreachable
from worker.contract.settings import Settings

TOKEN = "tok_elsewhere_7d"


class FakeReader:
    def __init__(self) -> None:
        self.settings = replace(SETTINGS, port=45998, token="own")
        self.alive = True
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Place:
    """Where the gateway looks. trouble: raised instead of finding the worker."""

    def __init__(self, trouble: MemError | None) -> None:
        self.trouble = trouble
        self.readers: list[FakeReader] = []
        self.connected: list[int] = []

    def ensure(self, settings: Settings) -> object:
        if self.trouble is not None:
            raise self.trouble
        return None

    def connect(self, settings: Settings) -> FakeClient:
        self.connected.append(settings.port)
        return FakeClient(Memory(list(farm())))

    def read_file(self, settings: Settings) -> FakeReader:
        self.readers.append(FakeReader())
        return self.readers[-1]

    def gateway(self, settings: Settings = SETTINGS) -> Gateway:
        return Gateway(settings, ensure=self.ensure, connect=self.connect, read_file=self.read_file)


async def test_without_a_worker_the_file_is_read_until_there_is_one() -> None:
    place = Place(Conflict("port 45999 is taken by another program"))
    gateway = place.gateway()
    assert await gateway.start() == facts.Connected("port 45999 is taken by another program")
    assert await gateway.start() == facts.Connected("port 45999 is taken by another program")
    assert (len(place.readers), place.connected) == (1, [45998])
    place.readers[0].alive = False
    await gateway.start()
    assert (len(place.readers), place.readers[0].closed) == (2, True)
    place.trouble = None
    assert await gateway.start() == facts.Connected()
    assert (place.readers[1].closed, place.connected) == (True, [45998, 45998, 45999])
    await gateway.close()


async def test_a_worker_that_refuses_us_is_not_gone_round() -> None:
    place = Place(Unauthorized("this worker wants its token"))
    assert await place.gateway().start() == facts.Failed("this worker wants its token")
    assert place.readers == []


async def test_elsewhere_there_is_no_file_to_read() -> None:
    place = Place(Unreachable("nobody answers at http://box:4000"))
    gateway = place.gateway(replace(SETTINGS, remote=True))
    assert await gateway.start() == facts.Failed("nobody answers at http://box:4000")
    assert place.readers == []


async def test_the_reason_told_is_why_there_is_no_worker() -> None:
    def unreadable(settings: Settings) -> FakeReader:
        raise Unavailable("there is no memory at /memory")

    place = Place(Conflict("port 45999 is taken"))
    gateway = Gateway(SETTINGS, ensure=place.ensure, connect=place.connect, read_file=unreadable)
    assert await gateway.start() == facts.Failed("port 45999 is taken")


async def test_the_app_says_that_it_reads_the_file() -> None:
    place = Place(Conflict("port 45999 is taken by another program; stop it"))
    async with Stage(size=(120, 36), open_gateway=place.gateway) as stage:
        assert "No worker: port 45999 is taken by another program; stop it." in stage.text
        assert "read from its file" in stage.text
        assert "file only" in stage.screen[0]
        assert stage.state.rows.total == len(stage.memory.records)
        place.trouble = None
        await stage.press("r")
        await stage.until(lambda: "live" in stage.screen[0])
        assert "No worker" not in stage.text
        assert place.readers[0].closed


async def test_where_there_is_no_worker_health_says_so_and_nothing_of_the_reader_s_own() -> None:
    place = Place(Conflict("port 45999 is taken by another program; stop it"))
    async with Stage(size=(120, 36), open_gateway=place.gateway) as stage:
        await stage.press("exclamation_mark")
        await stage.until(lambda: "database" in stage.text)
        assert "there is none: port 45999 is taken by another program" in stage.text
        assert "all is well" not in stage.text
        assert not [said for said in ("version 1.0", "3 h 25 min", "follows its events") if said in stage.text]


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (50, 20), (40, 12)])
async def test_the_way_out_is_whole_however_narrow_it_is(size: tuple[int, int]) -> None:
    place = Place(Conflict("port 45999 is taken by another program; stop it, or set another"))
    async with Stage(size=size, open_gateway=place.gateway) as stage:
        for key in ("exclamation_mark", "q"):
            said = " ".join(stage.text.split())
            assert "No worker: port 45999 is" in said
            assert "Trying again by itself; r does so at once." in said
            await stage.press(key)
            await stage.still()


async def test_the_app_finds_a_worker_by_itself_while_it_reads_the_file() -> None:
    """And is left alone until then: of what fails meanwhile nothing is shown."""
    place = Place(Conflict("port 45999 is taken by another program; stop it"))
    tried = 0

    def ensure(settings: Settings) -> object:
        nonlocal tried
        tried += 1
        return place.ensure(settings)

    def gateway(settings: Settings) -> Gateway:
        return Gateway(
            settings, ensure=ensure, connect=place.connect, read_file=place.read_file, pause_s=lambda attempt: 0.01
        )

    async with Stage(size=(120, 36), open_gateway=gateway) as stage:
        await stage.until(lambda: "file only" in stage.screen[0] and not stage.state.waiting)
        before = stage.state
        await stage.until(lambda: tried > 3)
        assert stage.state == before and len(place.readers) == 1
        place.trouble = None
        await stage.until(lambda: "live" in stage.screen[0])
        assert "No worker" not in stage.text
        assert place.readers[0].closed


async def test_a_worker_elsewhere_is_tried_again_without_a_key() -> None:
    place = Place(Unreachable("nobody answers at http://127.0.0.1:45999: is the tunnel open?"))

    def gateway(settings: Settings) -> Gateway:
        return Gateway(settings, ensure=place.ensure, connect=place.connect, pause_s=lambda attempt: 0.01)

    far = replace(SETTINGS, remote=True)
    async with Stage(size=(120, 36), open_gateway=gateway, settings=far, started=False) as stage:
        await stage.until(lambda: "is the tunnel open?" in stage.text)
        assert "Trying again by itself" in stage.text
        place.trouble = None
        await stage.until(lambda: "live" in stage.screen[0])
        assert stage.state.rows.total
        await stage.press(named("demo").keys[0])
        assert "the worker is elsewhere" in stage.text


async def test_read_only_is_shown_and_refuses() -> None:
    async with Stage(records=[], guarded=True) as stage:
        assert "READ-ONLY" in stage.screen[0]
        await stage.press(named("demo").keys[0])
        assert "demo: started with --read-only" in stage.text
        assert len(stage.clients) == 1


@pytest.mark.parametrize("flag", ["file", "environment"])
def test_by_url_on_a_real_terminal(tmp_path: Path, flag: str) -> None:
    """And nothing is started or left here."""
    with running_worker(tmp_path / "far", environ={"CLAUDE_MEM_API_TOKEN": TOKEN}) as worker:
        worker.quick.send(calls.save(Save(text="About it", title="Far away finding", project="shop")))
        (tmp_path / "token").write_text(TOKEN)
        url = f"http://127.0.0.1:{worker.port}"
        argv = ["-m", "tui", "--url", url, "--read-only"]
        argv += ["--token-file", str(tmp_path / "token")] if flag == "file" else []
        near = tmp_path / "near"
        near.mkdir()
        environ = _environ(str(near), 41398) | ({} if flag == "file" else {"CLAUDE_MEM_API_TOKEN": TOKEN})
        with Terminal(argv, environ, size=(100, 30)) as terminal:
            terminal.until(lambda text: "Far away finding" in text and "READ-ONLY" in text and "live" in text)
            terminal.send("q")
            assert terminal.left() == 0
        assert [file.name for file in near.iterdir()] in ([], [f"tui-127.0.0.1-{worker.port}.json"])


def test_a_wrong_token_is_a_sentence(tmp_path: Path) -> None:
    with running_worker(tmp_path / "far", environ={"CLAUDE_MEM_API_TOKEN": TOKEN}) as worker:
        argv = ["-m", "tui", "--url", f"127.0.0.1:{worker.port}", "--token", "wrong"]
        with Terminal(argv, _environ(str(tmp_path), 41398), size=(120, 36)) as terminal:
            terminal.until(lambda text: "does not take this token" in text and "Trying again by itself" in text)
            terminal.send("q")
            assert terminal.left() == 0


def test_a_url_that_is_none_is_a_line(tmp_path: Path) -> None:
    with Terminal(["-m", "tui", "--url", "https://box:1"], _environ(str(tmp_path), 41398)) as terminal:
        assert terminal.left() == 2
        assert "SSH tunnel" in terminal.text


def test_somebody_else_on_the_port_and_a_memory_in_the_file(tmp_path: Path) -> None:
    """Point 9: it lists, searches and opens records all the same."""
    memory = tmp_path / "memory"
    with running_worker(memory) as worker:
        worker.quick.send(calls.save(Save(text="Two workers refreshed at once.", title="Token race", project="shop")))
        worker.stop()
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        Thread(target=other.serve_forever, args=(0.02,), daemon=True).start()
        environ = _environ(str(memory), other.server_port) | {"CLAUDE_MEM_CHROMA_ENABLED": "false"}
        with Terminal(["-m", "tui"], environ, size=(120, 36)) as terminal:
            terminal.until(lambda text: "No worker: port" in text and "Token race" in text and "file only" in text)
            terminal.send("/race")
            terminal.until(lambda text: "1 hit" in text)
            terminal.send("\r\r")
            terminal.until(lambda text: "Two workers refreshed at once." in text and "back" in text)
            terminal.send("q")
            terminal.until(lambda text: "q quit" in text)
            terminal.send("q")
            assert terminal.left() == 0
        other.shutdown()


async def test_a_worker_elsewhere_has_no_demo_to_offer() -> None:
    async with Stage([], settings=replace(SETTINGS, remote=True)) as stage:
        assert stage.state.remote
        assert "No memory yet" in stage.text
        assert "demo" not in stage.text
        assert "looks again" in stage.text
