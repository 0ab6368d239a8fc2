import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from worker.api.boundary import Boundary


async def ask(method: str = "GET", *, bound: str = "127.0.0.1", **headers: str) -> tuple[int, dict[str, str]]:
    """Status and headers of the answer; 200 is the application's."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def application(scope: Scope, receive: object, send: object) -> None:
        Request(scope)
        await PlainTextResponse("memory", headers={"Vary": "Accept"})(scope, receive, send)  # type: ignore[arg-type]

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await Boundary(application, bound)({"type": "http", "method": method, "headers": raw, "path": "/"}, receive, send)
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
    ],
)
async def test_foreign_host_is_refused(host: str) -> None:
    """R156: a name of the attacker's that points to this machine."""
    assert (await ask(host=host))[0] == 403


async def test_request_without_a_host_is_refused() -> None:
    assert (await ask())[0] == 403


async def test_name_it_is_bound_to_is_served_in_any_case() -> None:
    assert (await ask(host="mybox:1", bound="MyBox"))[0] == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example", "http://evil.example", "null", "", "file://", "http://localhost.evil.example",
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


async def test_preflight_from_a_foreign_host_is_refused() -> None:
    assert (await ask("OPTIONS", host="evil.example", origin="http://localhost"))[0] == 403
