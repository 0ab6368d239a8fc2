"""The table of tools: name, words for the agent, parameters, and what is asked of the worker.

The descriptions are read at the start of every session of every agent: each word costs its tokens each time.
"""

from mcp_bridge import workflow
from mcp_bridge.tools import corpora
from mcp_bridge.tools.arguments import Arguments, kinds_or_types
from mcp_bridge.tools.tool import Question, Sender, Tool, as_it_is, as_json, flag, one_of, text, whole
from worker.contract import calls, context, present
from worker.contract.errors import Invalid
from worker.contract.present import Text
from worker.contract.search import BatchQuery, Mode, Order, SearchQuery, TimelineQuery

_DATE_ORDERS = (Order.DATE_DESC.value, Order.DATE_ASC.value)
_ORDERS = (Order.RELEVANCE.value, *_DATE_ORDERS)
"""The orders by tokens are for people who look what memory costs."""
_MODES = tuple(mode.value for mode in Mode)
_DEPTH = 3
"""Fewer than the worker's own 10: an agent pays for each row, and can ask for more."""


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
        return as_json(calls.search(query))
    return as_it_is(calls.search_text(query))


def _timeline(given: Arguments) -> Question:
    query = TimelineQuery(
        anchor=given.text("anchor").strip(),
        query=given.text("query"),
        depth_before=given.number("depth_before", _DEPTH, low=0),
        depth_after=given.number("depth_after", _DEPTH, low=0),
        project=given.text("project") or None,
        platform_source=given.text("platformSource") or None,
    )
    return as_it_is(calls.timeline_text(query))


def _observations(given: Arguments) -> Question:
    query = BatchQuery(
        ids=given.ids("ids"),
        order=Order(given.choice("orderBy", _DATE_ORDERS)),
        limit=given.number("limit", 0, low=0) or None,
        project=given.text("project") or None,
        lean=True,
    )
    return as_json(calls.batch(query))


def _tool_uses(given: Arguments) -> Question:
    return as_json(
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


_PROJECT = text("Only this project (folder name)")
_PLATFORM = text("Only this agent: claude, codex, cursor...")
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
            "query": text("Words to find, any language, no syntax; none: the newest that pass the filters"),
            "limit": whole("Rows at most", 20),
            "offset": whole("Rows to skip, to read on", 0),
            "project": _PROJECT,
            "platformSource": _PLATFORM,
            "type": text("observations, sessions or prompts; or observation types as in obs_type (comma list)"),
            "obs_type": text("bugfix, feature, refactor, change, discovery, decision... (comma list)"),
            "concepts": text("how-it-works, gotcha, trade-off... (comma list)"),
            "files": text("Parts of file paths (comma list)"),
            "dateStart": text("From: 2026-03-10 (whole day, local) or with a time"),
            "dateEnd": text("To, inclusive"),
            "orderBy": one_of("Default relevance", _ORDERS),
            "mode": one_of("Default hybrid: words and meaning", _MODES),
            "format": one_of("json: hits with scores and snippets", ("text", "json")),
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
            "query": text("Instead of anchor: its best hit is the anchor"),
            "depth_before": whole("Records before", _DEPTH),
            "depth_after": whole("Records after", _DEPTH),
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
            "orderBy": one_of("Default date_desc", _DATE_ORDERS),
            "limit": whole("At most; 0: all", 0),
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
            "limit": whole("At most; 0: all", 0),
            "project": _PROJECT,
            "contentSessionId": text("Only this session"),
        },
        required=("ids",),
        aliases={"id": "ids", "session": "contentSessionId"},
    ),
    Tool(
        "session_start_context",
        "What a new session of a project is told: recent observations and sessions, within a token budget.",
        _session_start,
        {
            "project": text("Project (folder name)"),
            "projects": text("Several (comma list), the current one last"),
            "platformSource": _PLATFORM,
            "full": flag("Everything, without a budget"),
            "colors": flag("For a person: ANSI colours"),
        },
        aliases=_SPELLINGS,
    ),
    *corpora.TOOLS,
)


def named(name: str) -> Tool | None:
    """The tool with this name. ``__IMPORTANT`` is what older plugins call the first one."""
    wanted = "important_workflow" if name == "__IMPORTANT" else name
    return next((tool for tool in TOOLS if tool.name == wanted), None)
