"""Search, facets, timeline, batch."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worker.api.codec import Query, body, id_list, respond, whole_number
from worker.api.services import Services
from worker.contract import calls
from worker.contract.errors import Invalid, MemError, NotFound
from worker.contract.present import text
from worker.contract.records import Observation, RecordKind
from worker.contract.search import Order, SearchQuery, TimelineQuery
from worker.present.index_table import index_table
from worker.present.lean import lean_row, row
from worker.present.timeline_table import timeline_table
from worker.store import observations
from worker.store.sessions import normalised_platform

MOST = 1000
"""Entries in one answer."""
_DEEPEST = 10_000_000

_CATEGORIES = {
    "observations": RecordKind.OBSERVATION, "observation": RecordKind.OBSERVATION,
    "sessions": RecordKind.SUMMARY, "session": RecordKind.SUMMARY,
    "summaries": RecordKind.SUMMARY, "summary": RecordKind.SUMMARY,
    "prompts": RecordKind.PROMPT, "prompt": RecordKind.PROMPT,
}  # fmt: skip
_ORDERS = {order.value: order for order in Order}
_FORMS = {"text": "text", "json": "json", "hits": "hits"}


def routes(services: Services) -> list[Route]:
    """The routes of this topic."""

    async def search(request: Request) -> Response:
        query = Query(request)
        wanted = search_query(query)
        form = query.choice("format", of=_FORMS, default="text")
        if form == "json":
            return respond(await services.engine.search_rows(wanted))
        page = await services.engine.search(wanted)
        return respond(page if form == "hits" else text(index_table(page, services.zone)))

    async def facets(request: Request) -> Response:
        query = Query(request)
        most = query.number("buckets", default=120, low=3, high=400)
        return respond(await services.engine.facets(search_query(query), most_buckets=most))

    async def timeline(request: Request) -> Response:
        query = Query(request)
        form = query.choice("format", of=_FORMS, default="text")
        try:
            found = await services.engine.timeline(timeline_query(query))
        except (Invalid, NotFound) as error:
            # The original answers 200 and says it in the text; who asks for JSON gets an honest status.
            if form != "text" or not _about_anchor(error):
                raise
            return respond(text(error.message, error=error.field is not None))
        return respond(found if form != "text" else text(timeline_table(found, services.zone)))

    async def batch(request: Request) -> Response:
        asked = await body(request, dict[str, object])
        if asked.get("ids") is None:
            raise Invalid("ids must be a list of record numbers", field="ids")
        ids = id_list(asked["ids"])
        limit = None if asked.get("limit") is None else whole_number(asked["limit"], "limit", low=1)
        found = await services.store.read(lambda connection: observations.by_ids(connection, ids))
        chosen = _chosen(list(found.values()), asked)[:limit]
        return respond([lean_row(record) if asked.get("lean") is True else row(record) for record in chosen])

    return [
        Route(calls.SEARCH, search),
        Route(calls.FACETS, facets),
        Route(calls.TIMELINE, timeline),
        Route(calls.BATCH, batch, methods=["POST"]),
    ]


def search_query(query: Query) -> SearchQuery:
    """The question in a query string. ``type`` names kinds if all of its values do, observation types otherwise."""
    kinds, types = _kinds(query.texts("kind", "kinds"), "kind"), query.texts("obs_type", "obsType")
    given = tuple(value for value in query.texts("type") if value.lower() != "all")
    if given and all(value.lower() in _CATEGORIES for value in given):
        kinds += _kinds(given, "type")
    elif given:
        types += given
    return SearchQuery(
        text=query.text("query", "q") or "",
        kinds=tuple(dict.fromkeys(kinds)),
        types=types,
        concepts=query.texts("concepts", "concept"),
        files=query.texts("files", "filePath", "file"),
        project=query.text("project"),
        platform_source=query.platform(),
        since_epoch_ms=query.moment("dateStart", "date_start", "date_from"),
        until_epoch_ms=query.moment("dateEnd", "date_end", "date_to", end=True),
        order=query.choice("orderBy", "order_by", of=_ORDERS, default=Order.RELEVANCE),
        limit=query.number("limit", default=20, low=1, high=MOST),
        offset=query.number("offset", default=0, high=_DEEPEST),
        typing=query.flag("typing"),
    )


def timeline_query(query: Query) -> TimelineQuery:
    """The moment in a query string. Errors: ``Invalid`` unless just one of anchor and query is given."""
    anchor, words = query.text("anchor") or "", query.text("query") or ""
    if anchor.strip() == "0":
        anchor = ""
    if not anchor and not words:
        raise Invalid('Error: Must provide either "anchor" or "query" parameter', field="anchor")
    if anchor and words:
        raise Invalid(
            'Error: Cannot provide both "anchor" and "query" parameters. Use one or the other.', field="anchor"
        )
    return TimelineQuery(
        anchor=anchor,
        query=words,
        depth_before=query.number("depth_before", "depthBefore", default=10, high=MOST),
        depth_after=query.number("depth_after", "depthAfter", default=10, high=MOST),
        project=query.text("project"),
        platform_source=query.platform(),
    )


def _kinds(values: tuple[str, ...], name: str) -> tuple[RecordKind, ...]:
    for value in values:
        if value.lower() not in _CATEGORIES:
            raise Invalid(f"{name} must be observation, summary or prompt, not {value[:40]!r}", field=name)
    return tuple(_CATEGORIES[value.lower()] for value in values)


def _about_anchor(error: MemError) -> bool:
    return isinstance(error, NotFound) or error.field == "anchor"


def _chosen(found: list[Observation], asked: dict[str, object]) -> list[Observation]:
    """The observations in the order asked for, of the project and platform asked for."""
    order = asked.get("orderBy") or Order.DATE_DESC.value
    if order not in ("date_desc", "date_asc"):
        raise Invalid("orderBy must be date_desc or date_asc", field="orderBy")
    project, source = asked.get("project"), asked.get("platformSource") or asked.get("platform_source")
    platform = normalised_platform(str(source)) if source else None
    kept = [
        record
        for record in found
        if (not project or project in (record.project, record.merged_into_project))
        and (not platform or (record.platform_source or "claude") == platform)
    ]
    return sorted(kept, key=lambda record: (record.created_at_epoch, record.id), reverse=order == "date_desc")
