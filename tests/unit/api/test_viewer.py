"""What the viewer's page may do, and that it keeps to it."""

import base64
import hashlib
import importlib.resources
import os
import re
from pathlib import Path

import pytest

from tests.contract.edge import served
from worker.api.routes.viewer import policy
from worker.contract import calls

PAGE = (importlib.resources.files("worker") / "viewer" / "index.html").read_bytes()


def hashed(text: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"


def rules(page: bytes) -> dict[str, str]:
    return {name: value for name, _, value in (rule.partition(" ") for rule in policy(page).split("; "))}


def test_what_stands_in_the_page_runs_and_nothing_else() -> None:
    told = rules(b"<style media=all>a</style><SCRIPT>b\r\nc</SCRIPT ><script>d</script>")
    assert told["script-src"] == f"{hashed(b'b' + bytes([10]) + b'c')} {hashed(b'd')}"
    assert told["style-src"] == hashed(b"a")
    assert told["default-src"] == told["base-uri"] == told["form-action"] == told["frame-ancestors"] == "'none'"
    assert told["connect-src"] == "'self'"


def test_page_without_a_script_runs_none() -> None:
    assert rules(b"<p>hello")["script-src"] == rules(b"")["style-src"] == "'none'"


def test_nothing_of_elsewhere_and_no_markup_from_text() -> None:
    """Every address in the page is of this worker, and no call in it reads text as markup or as code."""
    text = PAGE.decode()
    assert set(re.findall(r"(?:https?:)?//[\w.-]+", text.replace("http://www.w3.org/2000/svg", ""))) == set()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc", text)
    assert not re.search(r"\son\w+=|\sstyle=|javascript:", text)


def test_page_asks_only_what_is_described() -> None:
    asked = set(re.findall(r'"(/(?:api/[\w/-]+|stream))"', PAGE.decode()))
    known = {
        value.replace("{id}", "") for name, value in vars(calls).items() if name.isupper() and isinstance(value, str)
    }
    assert len(asked) > 6 and asked <= known


async def test_page_is_sent_with_its_policy(tmp_path: Path) -> None:
    async with served(tmp_path) as edge:
        for path in calls.VIEWERS:
            answer = await edge.client.get(path)
            assert (answer.status_code, answer.content) == (200, PAGE)
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert answer.headers["content-security-policy"] == policy(PAGE)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["x-frame-options"] == "DENY"


async def test_page_of_the_data_directory_takes_its_place(tmp_path: Path) -> None:
    async with served(tmp_path) as edge:
        own = tmp_path / "viewer" / "index.html"
        own.parent.mkdir()
        own.write_bytes(b"<script>mine()</script>")
        answer = await edge.client.get(calls.VIEWER)
        assert answer.content == own.read_bytes()
        assert hashed(b"mine()") in answer.headers["content-security-policy"]
        own.unlink()
        assert (await edge.client.get(calls.VIEWER)).content == PAGE


@pytest.mark.parametrize("broken", ["folder", "huge", "pipe", "device"])
async def test_page_that_cannot_be_served_is_told_and_ours_is_there(
    tmp_path: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    own = tmp_path / "viewer" / "index.html"
    own.parent.mkdir()
    if broken == "folder":
        own.mkdir()
    elif broken == "pipe":
        os.mkfifo(own)
    elif broken == "device":
        own.symlink_to("/dev/full")
    else:
        with own.open("wb") as file:
            file.truncate(9 * 2**20)
    async with served(tmp_path) as edge:
        assert (await edge.client.get(calls.VIEWER)).content == PAGE
    assert "served as the viewer" in caplog.text
