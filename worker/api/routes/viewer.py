"""The viewer: one page for a browser, which asks the worker as any other front end does.

``viewer/index.html`` in the data directory takes the place of our own page. What such a page may do is what ours may:
ask this worker and nobody else, with the scripts and styles that stand in it.
"""

import asyncio
import base64
import errno
import hashlib
import importlib.resources
import logging
import os
import re
import stat
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls

_log = logging.getLogger("worker.api")
_MOST_BYTES = 8 * 2**20
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""Nobody waits for who writes, should it be a pipe."""
_INLINE = re.compile(rb"<(script|style)(?:\s[^>]*)?>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
_ALWAYS = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def page(request: Request) -> Response:
        content = await asyncio.to_thread(_page, services.data_dir)
        headers = _ALWAYS | {"Content-Security-Policy": policy(content)}
        return Response(content, media_type="text/html; charset=utf-8", headers=headers)

    return [
        Endpoint(
            method="GET", path=path, run=page, answers=(str,), media="text/html",
            summary="The viewer, a page for a browser. It holds nothing of the memory, and needs no token.",
        )
        for path in sorted(calls.VIEWERS)
    ]  # fmt: skip


def policy(page: bytes) -> str:
    """The Content-Security-Policy of a page: what stands in it runs, by its hash, and nothing that comes to it later.

    Text of a memory that found its way into the markup would be no script of the page's, and could load nothing.
    """
    nothing = "'none'"
    hashes: dict[bytes, list[str]] = {b"script": [], b"style": []}
    # A browser hashes the text after it has read CR LF as LF.
    for name, text in _INLINE.findall(page.replace(b"\r\n", b"\n")):
        digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
        hashes[name.lower()].append(f"'sha256-{digest}'")
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(hashes[b'script']) or nothing}",
            f"style-src {' '.join(hashes[b'style']) or nothing}",
            "connect-src 'self'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _page(data_dir: Path) -> bytes:
    """The page of the data directory, or ours where there is none that can be served."""
    own = data_dir / "viewer" / "index.html"
    try:
        content = _read(own)
        if len(content) <= _MOST_BYTES:
            return content
        _log.warning("%s is too large to be served as the viewer", own)
    except FileNotFoundError:
        pass
    except OSError as error:
        _log.warning("%s cannot be served as the viewer: %s", own, error.strerror or error)
    return (importlib.resources.files("worker") / "viewer" / "index.html").read_bytes()


def _read(path: Path) -> bytes:
    """A file as far as one byte beyond the limit. Errors: ``OSError``, also for what is no file."""
    handle = os.open(path, os.O_RDONLY | _AT_ONCE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        with open(handle, "rb", closefd=False) as file:
            return file.read(_MOST_BYTES + 1)
    finally:
        os.close(handle)
