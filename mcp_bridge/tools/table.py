"""The table of tools: name, words for the agent, parameters, and what is asked of the worker.

The descriptions are read at the start of every session of every agent: each word costs its tokens each time.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import msgspec

from mcp_bridge import workflow
from mcp_bridge.tools.arguments import Arguments, kinds_or_types, known_only, schema
from worker.contract import calls, context, present
from worker.contract.calls import Call
from worker.contract.errors import Invalid
from worker.contract.present import Text
from worker.contract.search import BatchQuery, Mode, Order, SearchQuery, TimelineQuery

T = TypeVar("T")

_DATE_ORDERS = (Order.DATE_DESC.value, Order.DATE_ASC.value)
_ORDERS = (Order.RELEVANCE.value, *_DATE_ORDERS)
"""The orders by tokens are for people who look what memory costs."""
_MODES = tuple(mode.value for mode in Mode)
_DEPTH = 3
"""Fewer than the worker's own 10: an agent pays for each row, and can ask for more."""


class Sender(Protocol):
    """Whoever carries a call to the worker."""

    async def send(self, call: Call[T]) -> T:
        """The answer. Errors: ``MemError``."""


Question = Text | Callable[[Sender], Awaitable[Text]]
"""An answer that is known already, or what to ask the worker for it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One row.

    ask: reads all arguments before anything is sent. params: name → JSON Schema.
    aliases: other name → name, for what models write instead.
    """

    name: str
    about: str
    ask: Callable[[Arguments], Question]
    params: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def schema(self) -> dict[str, object]:
        """The JSON Schema of its arguments."""
        return schema(self.params, self.required)

    def question(self, sent: Mapping[str, object]) -> Question:
        """What these arguments ask. Errors: ``Invalid``."""
        return self.ask(Arguments(known_only(sent, tuple(self.params), self.aliases)))


def _workflow(given: Arguments) -> Question:
    return present.text(workflow.WORKFLOW)


def _search(given: Arguments) -> Question:
    kinds, types = kinds_or_types("type", given.texts("type"))
    since, until = given.bounds("dateStart", "dateEnd")
    mode = Mode(given.choice("mode", _MODES))
    query = SearchQuery(
        text=given.text("query"),
        kinds=kinds,
        types=tuple(dict.fromkeys((*types, *given.texts("obs_type")))),
        concepts=given.texts("concepts"),
        files=given.texts("files"),
        project=given.text("project") or None,
        platform_source=given.text("platformSource") or None,
        since_epoch_ms=since,
        until_epoch_ms=until,
        order=Order(given.choice("orderBy", _ORDERS)),
        mode=mode if mode is not Mode.HYBRID else None,
        limit=given.number("limit", 20, low=1),
        offset=given.number("offset", 0, low=0),
    )
    if given.choice("format", ("text", "json")) == "json":
        return _as_json(calls.search(query))
    return _as_it_is(calls.search_text(query))


def _timeline(given: Arguments) -> Question:
    query = TimelineQuery(
        anchor=given.text("anchor").strip(),
        query=given.text("query"),
        depth_before=given.number("depth_before", _DEPTH, low=0),
        depth_after=given.number("depth_after", _DEPTH, low=0),
        project=given.text("project") or None,
        platform_source=given.text("platformSource") or None,
    )
    return _as_it_is(calls.timeline_text(query))


def _observations(given: Arguments) -> Question:
    query = BatchQuery(
        ids=given.ids("ids"),
        order=Order(given.choice("orderBy", _DATE_ORDERS)),
        limit=given.number("limit", 0, low=0) or None,
        project=given.text("project") or None,
        lean=True,
    )
    return _as_json(calls.batch(query))


def _tool_uses(given: Arguments) -> Question:
    return _as_json(
        calls.tool_use_rows(
            given.any_ids("ids"),
            limit=given.number("limit", 0, low=0) or None,
            project=given.text("project") or None,
            session=given.text("contentSessionId") or None,
        )
    )


def _session_start(given: Arguments) -> Question:
    projects = given.texts("projects") or given.texts("project")
    if not projects:
        raise Invalid('session_start_context: "project" or "projects" is required', field="project")
    call = context.start(
        projects,
        platform_source=given.text("platformSource") or None,
        everything=given.flag("full"),
        coloured=given.flag("colors"),
    )

    async def question(sender: Sender) -> Text:
        return present.text(await sender.send(call))

    return question


def _as_it_is(call: Call[Text]) -> Question:
    async def question(sender: Sender) -> Text:
        return await sender.send(call)

    return question


def _as_json(call: Call[T]) -> Question:
    async def question(sender: Sender) -> Text:
        answer = await sender.send(call)
        return present.text(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())

    return question


def _text(about: str) -> dict[str, object]:
    return {"type": "string", "description": about}


def _whole(about: str, default: int) -> dict[str, object]:
    return {"type": "integer", "description": about, "default": default}


def _true(about: str) -> dict[str, object]:
    return {"type": "boolean", "description": about, "default": False}


def _one_of(about: str, options: tuple[str, ...]) -> dict[str, object]:
    return {"type": "string", "enum": [str(option) for option in options], "description": about}


_PROJECT = _text("Only this project (folder name)")
_PLATFORM = _text("Only this agent: claude, codex, cursor...")
_SPELLINGS = {"platform_source": "platformSource", "order_by": "orderBy", "order": "orderBy"}

TOOLS = (
    Tool(
        "important_workflow",
        "How to read memory in 3 steps: search → timeline → get_observations. Full records cost ~10x an index row: "
        "filter first.",
        _workflow,
    ),
    Tool(
        "search",
        "Step 1: search the memory of past sessions: decisions, bugs fixed, how things work. Returns an index: ids "
        "(#118 observation, #S14 session, #P40 prompt), times, titles, tokens to read each. All filters must hold.",
        _search,
        {
            "query": _text("Words to find, any language, no syntax; none: the newest that pass the filters"),
            "limit": _whole("Rows at most", 20),
            "offset": _whole("Rows to skip, to read on", 0),
            "project": _PROJECT,
            "platformSource": _PLATFORM,
            "type": _text("observations, sessions or prompts; or observation types as in obs_type (comma list)"),
            "obs_type": _text("bugfix, feature, refactor, change, discovery, decision... (comma list)"),
            "concepts": _text("how-it-works, gotcha, trade-off... (comma list)"),
            "files": _text("Parts of file paths (comma list)"),
            "dateStart": _text("From: 2026-03-10 (whole day, local) or with a time"),
            "dateEnd": _text("To, inclusive"),
            "orderBy": _one_of("Default relevance", _ORDERS),
            "mode": _one_of("Default hybrid: words and meaning", _MODES),
            "format": _one_of("json: hits with scores and snippets", ("text", "json")),
        },
        aliases=_SPELLINGS
        | {"q": "query", "text": "query", "concept": "concepts", "file": "files", "filePath": "files"}
        | {"date_start": "dateStart", "date_from": "dateStart", "since": "dateStart"}
        | {"date_end": "dateEnd", "date_to": "dateEnd", "until": "dateEnd"},
    ),
    Tool(
        "timeline",
        "Step 2: what happened around a record or moment, in order of time, of all kinds. Give anchor or query, one of "
        "the two.",
        _timeline,
        {
            "anchor": {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "description": "Observation id (118), session S14, prompt P40 or ISO time",
            },
            "query": _text("Instead of anchor: its best hit is the anchor"),
            "depth_before": _whole("Records before", _DEPTH),
            "depth_after": _whole("Records after", _DEPTH),
            "project": _PROJECT,
            "platformSource": _PLATFORM,
        },
        aliases=_SPELLINGS | {"id": "anchor", "depthBefore": "depth_before", "depthAfter": "depth_after"},
    ),
    Tool(
        "get_observations",
        "Step 3: full text of chosen observations (~500-1000 tokens each). Filter with search first; "
        "several ids in one call.",
        _observations,
        {
            "ids": {"type": "array", "items": {"type": "integer"}, "description": "Observation ids"},
            "orderBy": _one_of("Default date_desc", _DATE_ORDERS),
            "limit": _whole("At most; 0: all", 0),
            "project": _PROJECT,
        },
        required=("ids",),
        aliases=_SPELLINGS | {"id": "ids"},
    ),
    Tool(
        "get_tool_uses",
        "What went into tools and came out, raw: for the evidence behind an observation. Costs the most tokens.",
        _tool_uses,
        {
            "ids": {
                "type": "array",
                "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "description": "Row ids or tool use ids",
            },
            "limit": _whole("At most; 0: all", 0),
            "project": _PROJECT,
            "contentSessionId": _text("Only this session"),
        },
        required=("ids",),
        aliases={"id": "ids", "session": "contentSessionId"},
    ),
    Tool(
        "session_start_context",
        "What a new session of a project is told: recent observations and sessions, within a token budget.",
        _session_start,
        {
            "project": _text("Project (folder name)"),
            "projects": _text("Several (comma list), the current one last"),
            "platformSource": _PLATFORM,
            "full": _true("Everything, without a budget"),
            "colors": _true("For a person: ANSI colours"),
        },
        aliases=_SPELLINGS,
    ),
)


def named(name: str) -> Tool | None:
    """The tool with this name. ``__IMPORTANT`` is what older plugins call the first one."""
    wanted = "important_workflow" if name == "__IMPORTANT" else name
    return next((tool for tool in TOOLS if tool.name == wanted), None)
