"""One JSON question over HTTP, with one deadline for all of it, and its failures by kind."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import msgspec

from worker.contract.errors import Invalid
from worker.contract.settings import is_loopback
from worker.llm import telling
from worker.llm.provider import Failure, ProviderFailed

MOST_OUTPUT_TOKENS = 4096
_MOST_BYTES = 8 * 2**20


class Wire:
    """A provider's address. ``close`` it."""

    def __init__(self, base_url: str, headers: Mapping[str, str], *, timeout_s: float, setting: str) -> None:
        """setting: the name of the one that holds the address. Errors: ``Invalid`` when it holds none."""
        try:
            address = httpx.URL(base_url)
        except httpx.InvalidURL:
            address = httpx.URL("")
        if address.scheme not in ("http", "https") or not address.host:
            raise Invalid(f"{setting} must be a URL that begins with http:// or https://", field=setting)
        self._base = base_url.rstrip("/")
        self._shown = f"{address.scheme}://{address.host}" + (f":{address.port}" if address.port else "")
        self._timeout_s = timeout_s
        self._client = httpx.AsyncClient(
            headers=dict(headers), timeout=timeout_s, trust_env=not is_loopback(address.host), follow_redirects=False
        )

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that answers. Errors: ``ProviderFailed``."""
        try:
            async with asyncio.timeout(self._timeout_s):
                status, wanted, content = await self._exchange(path, body)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise self._failed(Failure.TRANSIENT, f"did not answer within {self._timeout_s:g} s") from error
        except httpx.HTTPError as error:
            raise self._failed(Failure.TRANSIENT, f"cannot be reached ({type(error).__name__})") from error
        if status != 200:
            said = content[:4096].decode("utf-8", "replace")
            kind = telling.of_status(status, said)
            told = f"answered {status}: {telling.sentence(kind)}"
            raise self._failed(kind, told, telling.retry_after(wanted, said))
        try:
            answer = msgspec.json.decode(content)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise self._failed(Failure.TRANSIENT, "answered what is no JSON") from error
        if not isinstance(answer, dict):
            raise self._failed(Failure.TRANSIENT, "answered no JSON object")
        return answer

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _exchange(self, path: str, body: Mapping[str, Any]) -> tuple[int, str | None, bytes]:
        content = bytearray()
        sent = {"content": msgspec.json.encode(body), "headers": {"content-type": "application/json"}}
        async with self._client.stream("POST", self._base + path, **sent) as response:  # type: ignore[arg-type]
            async for part in response.aiter_bytes():
                content += part
                if len(content) > _MOST_BYTES:
                    raise self._failed(Failure.BAD_ANSWER, "answered more than it was asked for")
            return response.status_code, response.headers.get("retry-after"), bytes(content)

    def _failed(self, kind: Failure, told: str, retry_after_s: float | None = None) -> ProviderFailed:
        return ProviderFailed(kind, f"{self._shown} {told}", retry_after_s=retry_after_s)


def at(value: object, *path: str | int) -> object:
    """What stands at a place of an answer; None where there is nothing."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text(value: object) -> str:
    """A text, empty for anything else."""
    return value if isinstance(value, str) else ""


def count(*values: object) -> int:
    """The sum of what are counts."""
    return sum(
        int(value)
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53
    )


def joined(parts: object) -> str:
    """The texts in a list of parts, one after the other."""
    return "".join(text(at(part, "text")) for part in parts) if isinstance(parts, list) else ""
