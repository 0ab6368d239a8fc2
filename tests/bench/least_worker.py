"""The least that can answer over HTTP what FTS5 finds: Starlette, uvicorn, a thread, and nothing of ours.

What this takes beside the bare query, no worker of these libraries can do without. `python -m tests.bench.least_worker
DATABASE` prints its port. `/rows` gives what the bare query gives, `/page` what a page of hits has.
"""

import asyncio
import socket
import sqlite3
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worker.search import terms
from worker.store import listing

_ROWS = f"""SELECT rowid, bm25(py_text, {", ".join(map(str, listing.WEIGHTS))}) s FROM py_text
    WHERE py_text MATCH ? ORDER BY s LIMIT 20"""
_COUNT = "SELECT count(*) FROM observations_fts WHERE observations_fts MATCH ?"
_PAGE = """SELECT o.id, o.type, o.title, o.project, o.created_at_epoch, o.discovery_tokens, o.memory_session_id,
    o.prompt_number, rank, snippet(observations_fts, -1, '[', ']', '…', 24), highlight(observations_fts, 0, '[', ']')
    FROM observations_fts JOIN observations o ON o.id = observations_fts.rowid WHERE observations_fts MATCH ?
    ORDER BY rank LIMIT 20"""

Found = list[tuple[Any, ...]]


def rows(database: sqlite3.Connection, text: str) -> Found:
    """The twenty best, by number and weight."""
    return database.execute(_ROWS, (_match(text),)).fetchall()


def page(database: sqlite3.Connection, text: str) -> Found:
    """How many there are, and the twenty best with what a list shows of them, marked by FTS5, out of the original's
    own table."""
    match = _match(text)
    return [*database.execute(_COUNT, (match,)), *database.execute(_PAGE, (match,))]


def _match(text: str) -> str:
    return terms.expression(terms.Wanted(text))


def _main() -> None:
    database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, check_same_thread=False)
    thread = ThreadPoolExecutor(1)

    def route(path: str, find: Callable[[sqlite3.Connection, str], Found]) -> Route:
        async def answer(request: Request) -> Response:
            text = request.query_params["query"]
            found = await asyncio.get_running_loop().run_in_executor(thread, find, database, text)
            return Response(msgspec.json.encode(found), media_type="application/json")

        return Route(path, answer)

    app = Starlette(routes=[route("/rows", rows), route("/page", page)])
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, http="h11", loop="asyncio", log_level="error", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    _main()
