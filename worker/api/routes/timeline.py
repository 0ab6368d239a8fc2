"""What lies around a moment, and the choice of the record to stand at."""

from starlette.requests import Request
from starlette.responses import Response

from worker.api import params, recalling
from worker.api.codec import Query, respond
from worker.api.endpoint import Endpoint
from worker.api.params import Choice, Number, Text
from worker.api.services import Services
from worker.contract import calls, present
from worker.contract.errors import Invalid, MemError, NotFound
from worker.contract.present import text
from worker.contract.records import RecordKind
from worker.contract.search import SearchQuery, SearchRows, Timeline, TimelineQuery
from worker.present.anchor_choice import anchor_choice
from worker.present.timeline_table import timeline_table

_ANCHOR = Text(("anchor",), "`118`, `S14`, `P40`, or a date and time")
_WORDS = Text(("query",), "words whose best hit is the anchor, instead of `anchor`")
_NEEDED = Text(("query",), "words whose best hit is the anchor", required=True)
_MODE = Choice(
    ("mode",),
    "auto: the timeline around the best hit; interactive: the best hits to choose from",
    {"auto": "auto", "interactive": "interactive"},
    "auto",
)
_CHOICES = Number(("limit",), "hits to choose from", default=5, low=1, high=100)
_FORM = Choice(
    ("format",), "text for an agent, or json", {"text": "text", "json": "json", "hits": "json"}, "text"
)  # fmt: skip
_AROUND = (params.DEPTH_BEFORE, params.DEPTH_AFTER, params.PROJECT, params.SESSION, params.PLATFORM, _FORM, params.WHO)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def answer(request: Request) -> Response:
        query = Query(request)
        as_text = _FORM.of(query) == "text"
        try:
            found = await services.engine.timeline(timeline_query(query))
        except (Invalid, NotFound) as error:
            # The original answers 200 and says it in the text; who asks for JSON gets an honest status.
            if not as_text or not _about_anchor(error):
                raise
            return respond(text(error.message, error=error.field is not None))
        recalling.listed(services, request, (entry.key for entry in found.entries))
        return respond(text(timeline_table(found, services.zone)) if as_text else found)

    async def timeline(request: Request) -> Response:
        return await answer(request)

    async def by_query(request: Request) -> Response:
        query = Query(request)
        if not _NEEDED.of(query):
            raise Invalid("query is missing: the words to look for", field="query")
        if _MODE.of(query) == "auto":
            query.unread(*_CHOICES.names)
            return await answer(request)
        query.unread(*params.DEPTH_BEFORE.names, *params.DEPTH_AFTER.names)
        wanted = SearchQuery(
            text=_NEEDED.of(query) or "",
            kinds=(RecordKind.OBSERVATION,),
            project=params.PROJECT.of(query),
            session=params.SESSION.of(query),
            platform_source=params.PLATFORM.of(query),
            limit=_CHOICES.of(query),
        )
        rows = await services.engine.search_rows(wanted)
        recall = recalling.listed if _FORM.of(query) == "text" else recalling.read
        recall(services, request, (hit.key for hit in rows.hits))
        return respond(text(anchor_choice(rows, services.zone)) if _FORM.of(query) == "text" else rows)

    return [
        Endpoint(
            method="GET", path=calls.TIMELINE, run=timeline, summary="The records around an anchor, oldest first.",
            answers=(present.Text, Timeline), params=(_ANCHOR, _WORDS, *_AROUND), errors=(NotFound,),
        ),
        Endpoint(
            method="GET", path=calls.TIMELINE_BY_QUERY, run=by_query,
            summary="The records around the best hit, or the best hits to choose from.",
            answers=(present.Text, Timeline, SearchRows), params=(_NEEDED, _MODE, _CHOICES, *_AROUND),
            errors=(NotFound,),
        ),
    ]  # fmt: skip


def timeline_query(query: Query) -> TimelineQuery:
    """The moment in a query string. Errors: ``Invalid`` unless just one of anchor and query is given."""
    anchor, words = _ANCHOR.of(query) or "", _WORDS.of(query) or ""
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
        depth_before=params.DEPTH_BEFORE.of(query),
        depth_after=params.DEPTH_AFTER.of(query),
        project=params.PROJECT.of(query),
        session=params.SESSION.of(query),
        platform_source=params.PLATFORM.of(query),
    )


def _about_anchor(error: MemError) -> bool:
    return isinstance(error, NotFound) or error.field == "anchor"
