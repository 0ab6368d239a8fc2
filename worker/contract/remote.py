"""A worker elsewhere: given by its URL, mostly through an SSH tunnel. Nothing is started, here or there."""

import argparse
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from worker.contract import settings
from worker.contract.errors import (
    Conflict,
    Forbidden,
    Invalid,
    MemError,
    TimedOut,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from worker.contract.settings import Settings
from worker.contract.status import PROGRAM, Health

_MOST_TOKEN_BYTES = 4096
_HOW = "give it by --token-file FILE or CLAUDE_MEM_API_TOKEN"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that ``chosen`` reads."""
    group = parser.add_argument_group("a worker elsewhere")
    group.add_argument("--url", metavar="URL", help="ask the worker there, such as http://127.0.0.1:37777; start none")
    group.add_argument("--token", metavar="TOKEN", help="its token; others may see it among the processes")
    group.add_argument("--token-file", type=Path, metavar="FILE", help="a file that holds its token")


def chosen(given: argparse.Namespace, mine: Settings) -> Settings:
    """The settings that the flags ask for; ``mine`` without a URL. Errors: ``Invalid``.

    The token that this machine's own settings file holds is never sent elsewhere; the environment's is.
    """
    if given.url is None:
        if given.token is None and given.token_file is None:
            return mine
        return replace(mine, token=_token(given, mine.token))
    host, port = address(given.url)
    token = _token(given, settings.environment().get("CLAUDE_MEM_API_TOKEN", "").strip())
    return replace(mine, host=host, port=port, token=token, read_token="", remote=True, demo=False)


def address(url: str) -> tuple[str, int]:
    """Host and port of `http://HOST:PORT` or `HOST:PORT`. Errors: ``Invalid`` with what is wrong."""
    text = url.strip()
    try:
        parts = urlsplit(text if "//" in text else f"//{text}", scheme="http")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise Invalid(f"--url {url!r} cannot be read: {error}", field="--url") from error
    if parts.scheme != "http":
        raise Invalid(
            f"--url must begin with http://, not {parts.scheme}://; over a net, go through an SSH tunnel", field="--url"
        )
    if parts.username is not None or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise Invalid("--url must be http://HOST:PORT and nothing more", field="--url")
    if not host or not port:
        raise Invalid("--url must name host and port, such as http://127.0.0.1:37777", field="--url")
    return host, port


def reached(where: Settings, *, timeout_s: float = 5.0) -> Health:
    """The worker elsewhere, once it serves us.

    Errors, each a sentence to show: ``Unreachable``, ``TimedOut``, ``Unauthorized``, ``Conflict`` for another program,
    ``Unavailable`` for one that is still opening its database.
    """
    from worker.contract import calls  # 15 ms with the client that the terminal app's first paint does not wait for
    from worker.contract.quick import QuickClient

    client = QuickClient(where.host, where.port, timeout_s=timeout_s, token=where.credential)
    try:
        health = client.send(calls.health())
        if health.program != PROGRAM:
            raise Conflict(f"another program than our worker answers at {where.url}")
        if not health.initialized:
            raise Unavailable(f"the worker at {where.url} is still opening its database", retry_after_s=2)
        # Its health is told to all of its machine, and so to whoever comes through a tunnel; this is not.
        client.send(calls.version())
    except Unreachable as error:
        raise Unreachable(
            f"nobody answers at {where.url}: is the tunnel open, and the worker running there?"
        ) from error
    except TimedOut as error:
        raise TimedOut(f"{where.url} takes connections, but gave no answer within {timeout_s:g} s") from error
    except Unauthorized as error:
        refused = "does not take this token" if where.credential else "wants its token"
        raise Unauthorized(f"the worker at {where.url} {refused}; {_HOW}") from error
    except (Conflict, Unavailable):
        raise
    except Forbidden as error:
        raise Forbidden(f"the worker at {where.url} does not let us in: {error.message}") from error
    except MemError as error:
        raise Conflict(f"another program than our worker answers at {where.url}") from error
    return health


def _token(given: argparse.Namespace, otherwise: str) -> str:
    if given.token is not None:
        return settings.checked_token("--token", given.token)
    if given.token_file is None:
        return otherwise
    try:
        with given.token_file.expanduser().open("rb") as file:
            text = file.read(_MOST_TOKEN_BYTES).decode("ascii", "replace").strip()
    except OSError as error:
        raise Invalid(f"--token-file cannot be read: {error.strerror or error}", field="--token-file") from error
    return settings.checked_token("--token-file", text)
