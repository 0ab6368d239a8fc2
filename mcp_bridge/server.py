"""The MCP server: lists the table, carries out calls, and keeps a worker at hand."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from mcp_bridge import workflow
from mcp_bridge.errors import explain
from mcp_bridge.tools.table import TOOLS, named
from mcp_bridge.tools.tool import Sender, Tool
from worker.contract import present
from worker.contract.errors import MemError, Unavailable, Unreachable
from worker.contract.present import Text

_TRIES = 3
"""Of one call: with the worker known, with it started again, and once more if just that one went away."""


class Link:
    """The way to the worker, which starts it when it is away.

    ensure: finds or starts the worker, and blocks meanwhile (``launch.ensure``). Nothing is asked before it has
    answered once: whoever listens on the port may be the worker of another memory.
    """

    def __init__(self, ensure: Callable[[], object], sender: Sender) -> None:
        self._ensure, self._sender = ensure, sender
        self._attempt: asyncio.Future[MemError | None] | None = None
        self._found = False

    def begin(self) -> asyncio.Future[MemError | None]:
        """The attempt to find or start the worker that is under way, a new one if none is."""
        if self._attempt is None or self._attempt.done():
            loop = asyncio.get_running_loop()
            self._attempt = loop.create_future()
            # A daemon thread, not the loop's pool: the bridge must not stay for it when its client goes.
            work = partial(self._work, loop, self._attempt)
            threading.Thread(target=work, name="ensure-worker", daemon=True).start()
        return self._attempt

    async def ask(self, question: Callable[[Sender], Awaitable[Text]]) -> Text:
        """The answer, from a worker that is started first, or again, if need be. Errors: ``MemError``."""
        gone: MemError = Unreachable("the worker went away each time it was asked")
        for _ in range(_TRIES):
            # Shielded: a cancelled call must not take the attempt from the others.
            if not self._found and (obstacle := await asyncio.shield(self.begin())) is not None:
                raise obstacle
            self._found = True
            try:
                return await question(self._sender)
            except Unreachable as error:
                self._found, gone = False, error
            except MemError as error:
                # No answer of ours: next time, look again who it is that listens there.
                self._found = type(error) is not MemError
                raise
        raise gone

    def _work(self, loop: asyncio.AbstractEventLoop, attempt: asyncio.Future[MemError | None]) -> None:
        outcome: MemError | None = Unavailable("looking for it broke off; the bridge's error output tells why")
        try:
            self._ensure()
            outcome = None
        except MemError as error:
            outcome = error
        finally:
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
                loop.call_soon_threadsafe(attempt.set_result, outcome)


def build(link: Link, version: str) -> Server[None]:
    """The server, ready to run on any pair of streams. The worker is looked for as soon as it runs."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Server[None]) -> AsyncIterator[None]:
        link.begin()
        yield

    async def list_tools(
        context: ServerRequestContext[None], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in TOOLS])

    async def call_tool(
        context: ServerRequestContext[None], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = named(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {_sayable(params.name)}")
        try:
            question = tool.question(params.arguments or {})
            answer = question if isinstance(question, Text) else await link.ask(question)
        except MemError as error:
            answer = present.text(explain(error), error=True)
        return _result(answer)

    return Server(
        "claude-mem",
        version=version,
        instructions=workflow.INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _listed(tool: Tool) -> types.Tool:
    marks = types.ToolAnnotations(
        read_only_hint=tool.reads,
        destructive_hint=None if tool.reads else tool.destroys,
        idempotent_hint=tool.repeats,
        open_world_hint=tool.outside,
    )
    return types.Tool(name=tool.name, description=tool.about, input_schema=tool.schema(), annotations=marks)


def _result(answer: Text) -> types.CallToolResult:
    text = types.TextContent(type="text", text=_sayable(answer.text))
    return types.CallToolResult(content=[text], is_error=answer.isError)


def _sayable(text: str) -> str:
    """The text without halves of surrogate pairs, which no JSON writer of the SDK takes."""
    return text.encode("utf-8", "replace").decode()
