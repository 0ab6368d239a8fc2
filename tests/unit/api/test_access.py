"""Who may do what with which token."""

import pytest
from starlette.datastructures import Headers

from worker.api.access import Access, Rights
from worker.api.peer import is_loopback, is_of_this_machine
from worker.contract import calls

ACCESS = Access("tok-all", "tok-read", frozenset((calls.BATCH,)))


def code(method: str, path: str, *, client: str = "127.0.0.1", local: bool = True, **headers: str) -> str | None:
    """The code of the refusal, None if let in."""
    sent = Headers({name.replace("_", "-"): value for name, value in headers.items()})
    error = ACCESS.refusal(ACCESS.rights(sent), method, path, sent, client=client, local=local)
    return None if error is None else error.code


@pytest.mark.parametrize(
    ("headers", "rights"),
    [
        ({"authorization": "Bearer tok-all"}, Rights.ALL),
        ({"authorization": "bearer  tok-all "}, Rights.ALL),
        ({"x_api_key": "tok-all"}, Rights.ALL),
        ({"authorization": "Basic dXNlcg==", "x_api_key": "tok-read"}, Rights.READ),
        ({"authorization": "Bearer tok-read"}, Rights.READ),
        ({"authorization": "Bearer tok-al"}, Rights.NONE),
        ({"authorization": "Bearer tok-all2"}, Rights.NONE),
        ({"authorization": "tok-all"}, Rights.NONE),
        ({"authorization": "Bearer "}, Rights.NONE),
        ({"authorization": "Bearer t\u00f6k"}, Rights.NONE),
        ({}, Rights.NONE),
    ],
)
def test_token_in_either_header(headers: dict[str, str], rights: Rights) -> None:
    """R160."""
    sent = Headers({name.replace("_", "-"): value for name, value in headers.items()})
    assert ACCESS.rights(sent) is rights


def test_no_token_of_ours_is_no_token_to_guess() -> None:
    """R160: an empty token is not that of a worker without one."""
    assert Access().rights(Headers({"authorization": "Bearer "})) is Rights.NONE
    assert Access("tok").rights(Headers({"x-api-key": ""})) is Rights.NONE


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "PUT"])
@pytest.mark.parametrize("path", [calls.SEARCH, calls.STREAM, calls.SAVE, calls.SHUTDOWN, "/nowhere"])
def test_every_request_must_carry_it(method: str, path: str) -> None:
    """R160."""
    assert code(method, path) == "unauthorized"
    assert code(method, path, authorization="Bearer tok-all") is None


@pytest.mark.parametrize("path", sorted(calls.VIEWERS))
def test_viewer_asks_for_the_token_itself(path: str) -> None:
    """The page holds nothing of the memory; everything that it then asks for wants the token."""
    assert code("GET", path) is None and code("HEAD", path) is None
    assert code("GET", path, client="10.0.0.7", local=False) is None
    assert code("POST", path) == code("GET", f"{path}x") == "unauthorized"


@pytest.mark.parametrize(
    ("method", "path", "refused"),
    [
        ("GET", calls.SEARCH, None), ("HEAD", calls.SEARCH, None), ("GET", calls.STREAM, None),
        ("POST", calls.BATCH, None), ("POST", calls.SAVE, "forbidden"), ("POST", calls.IMPORT, "forbidden"),
        ("DELETE", "/api/observation/1", "forbidden"), ("POST", calls.SHUTDOWN, "forbidden"),
        ("PUT", calls.BATCH, "forbidden"), ("POST", calls.SEARCH, "forbidden"), ("OPTIONS", calls.SAVE, "forbidden"),
    ],
)  # fmt: skip
def test_reading_token_only_reads(method: str, path: str, refused: str | None) -> None:
    """R160."""
    assert code(method, path, authorization="Bearer tok-read") == refused


@pytest.mark.parametrize("path", [calls.HEALTH, calls.ALIVE])
def test_who_is_there_is_told_on_this_machine_alone(path: str) -> None:
    """R156, R160: not to another machine, through a proxy or under a foreign name."""
    assert code("GET", path) is None
    assert code("POST", path) == "unauthorized"
    assert code("GET", path, client="10.0.0.9") == "unauthorized"
    assert code("GET", path, x_forwarded_for="10.0.0.9") == "unauthorized"
    assert code("GET", path, local=False) == "unauthorized"


def test_tokens_are_not_shown() -> None:
    assert "tok" not in repr(ACCESS)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("::ffff:127.0.0.1", True), ("10.0.0.1", False),
        ("::ffff:10.0.0.1", False), ("localhost", False), ("", False), ("0.0.0.0", False),
    ],
)  # fmt: skip
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_a_socket_without_an_address_is_of_this_machine() -> None:
    assert is_of_this_machine(None, Headers())
