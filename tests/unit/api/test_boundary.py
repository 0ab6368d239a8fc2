import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from worker.api import boundary
from worker.api.access import Access
from worker.api.boundary import Boundary
from worker.api.errors import STATUS
from worker.contract.errors import MemError, TimedOut


async def ask(
    method: str = "GET", *, bound: str = "127.0.0.1", access: Access | None = None, **headers: str
) -> tuple[int, dict[str, str]]:
    """As ``asked``, with the headers as arguments."""
    return await asked(headers, method, bound=bound, access=access)


async def asked(
    headers: dict[str, str], method: str = "GET", *, bound: str = "127.0.0.1", access: Access | None = None
) -> tuple[int, dict[str, str]]:
    """Status and headers of the answer; 200 is the application's."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def application(scope: Scope, receive: object, send: object) -> None:
        Request(scope)
        await PlainTextResponse("memory", headers={"Vary": "Accept"})(scope, receive, send)  # type: ignore[arg-type]

    # What is to stand there twice has a comma between.
    given = [(name, one) for name, value in headers.items() for one in value.split(",")]
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in given]
    await Boundary(application, bound, access)(
        {"type": "http", "method": method, "headers": raw, "path": "/api/search"}, receive, send
    )
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:37777", "localhost:1", "LOCALHOST", "[::1]:37777"])
async def test_local_names_are_served(host: str) -> None:
    assert (await ask(host=host))[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:37777",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "",
        "[::1",
        "10.0.0.1",
        "[::2]",
        "localhost/evil.example",
        "localhost#.evil.example",
        "localhost?evil.example",
        "localhost\\.evil.example",
        "evil.example@127.0.0.1",
        "127.0.0.1:80:90",
        "127.0.0.1:evil",
        "127.0.0.1:70000",
        "[localhost]",
        "::1",
    ],
)
async def test_foreign_host_is_refused(host: str) -> None:
    """R156: a name of the attacker's that points to this machine."""
    assert (await ask(host=host))[0] == 403


@pytest.mark.parametrize("host", ["localhost/evil.example", "evil.example@127.0.0.1", "127.0.0.1:80:90"])
async def test_host_that_is_none_is_refused_to_who_has_a_token_too(host: str) -> None:
    assert (await asked({"host": host, "authorization": "Bearer tok"}, access=OWN))[0] == 403


@pytest.mark.parametrize(
    "twice",
    [
        {"host": "localhost,evil.example"},
        {"origin": "http://localhost,https://evil.example"},
        {"content_length": "5", "content_type": "application/json,text/plain"},
    ],
)
async def test_what_is_judged_by_stands_there_once(twice: dict[str, str]) -> None:
    assert (await asked({"host": "localhost"} | twice, "POST"))[0] == 400


async def test_request_without_a_host_is_refused() -> None:
    assert (await ask())[0] == 403


async def test_name_it_is_bound_to_is_served_in_any_case() -> None:
    assert (await ask(host="mybox:1", bound="MyBox"))[0] == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example", "http://evil.example", "null", "", "file://", "http://localhost.evil.example", "http://localhost:80.evil.example",
        "http://localhost/evil.example", "http://localhost#.evil.example", "http://evil.example@localhost", "http://localhost:0",
        "http://evil.example:80/localhost", "https://localhost", "http://[::1", "localhost", "http://",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_foreign_origin_is_refused_and_granted_nothing(origin: str, method: str) -> None:
    """R156."""
    status, headers = await ask(method, host="localhost", origin=origin)
    assert status == 403
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:37777", "http://[::1]:5"])
async def test_local_page_may_read(origin: str) -> None:
    status, headers = await ask(host="localhost", origin=origin)
    assert (status, headers["access-control-allow-origin"]) == (200, origin)
    assert headers["vary"] == "Accept, Origin"
    status, headers = await ask("OPTIONS", host="localhost", origin=origin)
    assert (status, headers["access-control-allow-origin"]) == (204, origin)
    assert "POST" in headers["access-control-allow-methods"]


OWN = Access("tok", "reads")


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_page_of_ours_may_post_under_the_name_it_was_called_by(scheme: str) -> None:
    own = {"host": "10.0.0.7:37700", "origin": f"{scheme}://10.0.0.7:37700", "authorization": "Bearer tok"}
    assert (await asked(own, "POST", access=OWN))[0] == 200
    assert (await asked(own | {"authorization": ""}, "POST", access=OWN))[0] == 401
    assert (await asked(own | {"authorization": "Bearer reads"}, "POST", access=OWN))[0] == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://10.0.0.7:37701",
        "http://10.0.0.7",
        "http://10.0.0.8:37700",
        "ftp://10.0.0.7:37700",
        "null",
        "http://[",
        "",
    ],
)
async def test_page_of_another_may_not(origin: str) -> None:
    asking = {"host": "10.0.0.7:37700", "authorization": "Bearer tok", "origin": origin}
    assert (await asked(asking, "POST", access=OWN))[0] == 403


async def test_without_a_token_a_name_of_its_own_helps_no_page() -> None:
    """R156: to a page whose name was pointed at this machine, Host and Origin are the same too."""
    assert (await ask("POST", host="evil.example:37700", origin="http://evil.example:37700"))[0] == 403


async def test_preflight_from_a_foreign_host_is_refused() -> None:
    assert (await ask("OPTIONS", host="evil.example", origin="http://localhost"))[0] == 403


TOKEN = Access("tok", "reads")


async def test_with_a_token_another_name_is_served_and_another_origin_is_not() -> None:
    """R156, R160."""
    assert (await ask(host="memory.example", access=TOKEN))[0] == 401
    assert (await ask(host="memory.example", authorization="Bearer tok", access=TOKEN))[0] == 200
    refused, _ = await ask(
        host="memory.example", authorization="Bearer tok", origin="https://evil.example", access=TOKEN
    )
    assert refused == 403


async def test_without_it_it_is_told_how_to_come_in() -> None:
    status, headers = await ask(host="localhost", access=TOKEN)
    assert (status, headers["www-authenticate"], headers["content-type"]) == (401, "Bearer", "application/json")


async def test_preflight_of_a_local_page_needs_no_token() -> None:
    status, headers = await ask("OPTIONS", host="localhost", origin="http://localhost:1", access=TOKEN)
    assert status == 204 and "Authorization" in headers["access-control-allow-headers"]
    assert (await ask("OPTIONS", host="localhost", access=TOKEN))[0] == 401


@pytest.mark.parametrize("many", [{f"x_{n}": "1" for n in range(250)}, {"x_long": "a" * 70_000}])
async def test_headers_are_bounded(many: dict[str, str]) -> None:
    assert (await asked({"host": "localhost"} | many))[0] == 431


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content_length": "5", "content_type": "application/json"}, 200),
        ({"content_length": "5", "content_type": "application/problem+json; charset=utf-8"}, 200),
        ({"content_length": "0"}, 200),
        ({"content_length": "5"}, 415),
        ({"content_length": "5", "content_type": "text/plain"}, 415),
        ({"transfer_encoding": "chunked", "content_type": "multipart/form-data"}, 415),
        ({"content_length": str(2**40), "content_type": "application/json"}, 413),
        ({"content_length": "many", "content_type": "application/json"}, 413),
    ],
)
async def test_what_a_page_may_send_unasked_is_refused_before_it_is_read(headers: dict[str, str], status: int) -> None:
    """R156."""
    assert (await asked({"host": "localhost"} | headers, "POST"))[0] == status


async def test_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """R215: neither one that stops nor one that trickles; a client that only listens may be silent for ever."""
    monkeypatch.setattr(boundary, "BODY_PAUSE_S", 0.05)
    monkeypatch.setattr(boundary, "SLOWEST_BYTES_S", 1000)

    async def trickle() -> Message:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    for receive in (trickle, never):
        bounded = boundary._Body(receive, boundary._Held()).receive
        with pytest.raises(TimedOut):
            while True:
                await bounded()
    pieces: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def whole() -> Message:
        return pieces.pop() if pieces else await never()

    bounded = boundary._Body(whole, boundary._Held()).receive
    assert (await bounded())["body"] == b""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await bounded()


async def test_long_bodies_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long one too many is told to come again; a short one always has room, and so has a long one afterwards."""
    monkeypatch.setattr(boundary, "MOST_HELD_BYTES", 5 * 2**20)
    goes_on = asyncio.Event()
    answers: list[tuple[int, str]] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            while (await receive())["more_body"]:
                pass
            answers.append((200, scope["path"]))
        except MemError as error:
            answers.append((STATUS[type(error)], scope["path"]))

    edge = Boundary(application, "127.0.0.1")

    def sent(name: str, size: int, *, waits: bool = False) -> asyncio.Task[None]:
        pieces = [size] if not waits else [size, 1]

        async def receive() -> Message:
            if waits and len(pieces) == 1:
                await goes_on.wait()
            piece = pieces.pop(0)
            return {"type": "http.request", "body": b"x" * piece, "more_body": bool(pieces)}

        async def send(message: Message) -> None:
            raise AssertionError(message)

        headers = [(b"host", b"localhost"), (b"content-length", b"9"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "headers": headers, "path": name}
        return asyncio.create_task(edge(scope, receive, send))

    long = [sent(f"long {number}", 2 * 2**20, waits=True) for number in range(2)]
    await sent("one too many", 2 * 2**20)
    await sent("short", 2**10)
    goes_on.set()
    await asyncio.gather(*long)
    await sent("afterwards", 2 * 2**20)
    assert answers == [(503, "one too many"), (200, "short"), (200, "long 0"), (200, "long 1"), (200, "afterwards")]
