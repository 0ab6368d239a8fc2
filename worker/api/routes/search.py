"""Search over all kinds, over observations alone, by file; and what a filtered set is made of."""

from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from worker.api import params, recalling
from worker.api.codec import Query, respond
from worker.api.endpoint import Endpoint
from worker.api.params import Choice, Flag, Moment, Number, Texts
from worker.api.services import Services
from worker.contract import calls
from worker.contract.errors import Invalid
from worker.contract.present import Text, text
from worker.contract.records import RecordKind
from worker.contract.search import BUCKET_WIDTHS_MS, Facets, Mode, Order, SearchPage, SearchQuery, SearchRows, Strip
from worker.present.file_table import file_table
from worker.present.index_table import index_table
from worker.present.observation_table import observation_table

_CATEGORIES = {
    "observations": RecordKind.OBSERVATION, "observation": RecordKind.OBSERVATION,
    "sessions": RecordKind.SUMMARY, "session": RecordKind.SUMMARY,
    "summaries": RecordKind.SUMMARY, "summary": RecordKind.SUMMARY,
    "prompts": RecordKind.PROMPT, "prompt": RecordKind.PROMPT,
}  # fmt: skip

_KIND = Texts(("kind", "kinds"), "any of these kinds", tuple(_CATEGORIES))
_TYPES = Texts(("obs_type", "obsType"), "any of these observation types")
_TYPE = Texts(("type",), "kinds if every value is one, observation types otherwise; `all` is no filter")
_MODE = Choice(
    ("mode",),
    "which engines look: words and meaning, or one of them",
    {mode.value: mode for mode in Mode},
    None,
)
_PHASE = Choice(
    ("phase",),
    "`keyword` answers at once by words alone; the same question without it gives the whole list",
    {"keyword": Mode.KEYWORD, "full": None},
    None,
)
_TYPING = Flag(("typing",), "the last word may be unfinished")
_IS_FOLDER = Flag(("isFolder",), "the path is a folder's: only what lies in it")
_BUCKETS = Number(("buckets",), "bars of the histogram at most", default=120, low=3, high=400)
_WITH_CONCEPTS = Flag(("withConcepts",), "count the concepts too, which takes longer than all the rest")
_BUCKET_MS = Choice(
    ("bucketMs",),
    "bars of exactly this width, empty ones too, at most 2000: 5 or 15 minutes, 1 or 6 hours, 1, 7 or 28 days",
    {str(width): width for width in BUCKET_WIDTHS_MS},
    None,
)
_STRIP_START = Moment(
    ("stripStart",), "the first moment of the histogram, with `bucketMs`; counts stay of the whole set"
)
_STRIP_END = Moment(("stripEnd",), "its last moment, with `bucketMs`", end=True)
_PATHS = Texts(("filePath", "files", "file"), "part of a path; any of them", required=True)

_FILTERS = (_KIND, _TYPES, _TYPE, params.CONCEPTS, params.FILES, params.PROJECT, params.SESSION, params.PLATFORM)
_SPAN = (params.SINCE, params.UNTIL)
_PAGE = (params.ORDER, params.LIMIT, params.OFFSET)
_SEARCH = (params.WORDS, *_FILTERS, *_SPAN, *_PAGE, _TYPING, _MODE, _PHASE)
_BY_FILE = (_PATHS, _IS_FOLDER, params.PROJECT, params.PLATFORM, *_SPAN, *_PAGE, params.FORM, params.WHO)
# Known, so that it is not told to be ignored: what it asks for is the case anyway.
_HARMLESS = Flag(("isFolder",), "plays a part in `/api/search/by-file` alone")
_FORMS = (Text, SearchPage, SearchRows)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def answer(
        request: Request, query: Query, wanted: SearchQuery, as_text: Callable[[SearchPage], str]
    ) -> Response:
        form = params.FORM.of(query)
        # A person or an agent asks to be told, and who leaves the reading of dates to us.
        in_words = params.SINCE.in_words(query) or params.UNTIL.in_words(query)
        wanted = msgspec.structs.replace(wanted, tell_span=in_words or form == "text")
        if form == "json":
            rows = await services.engine.search_rows(wanted)
            recalling.read(services, request, (hit.key for hit in rows.hits))
            return respond(rows)
        page = await services.engine.search(wanted, marked=form == "hits")
        if not wanted.typing:  # what flits by while somebody types was not asked for
            recalling.listed(services, request, (hit.key for hit in page.hits))
        return respond(page if form == "hits" else text(as_text(page)))

    async def search(request: Request) -> Response:
        query = Query(request)
        return await answer(request, query, search_query(query), lambda page: index_table(page, services.zone))

    async def search_observations(request: Request) -> Response:
        query = Query(request)
        wanted = search_query(query)
        if not wanted.text:
            raise Invalid("query is missing: the words to look for", field="query")
        if wanted.kinds and RecordKind.OBSERVATION not in wanted.kinds:
            field = "kind" if _KIND.of(query) else "type"
            raise Invalid(f"{field} names no observations, and {calls.SEARCH} finds the others", field=field)
        wanted = msgspec.structs.replace(wanted, kinds=(RecordKind.OBSERVATION,))
        return await answer(request, query, wanted, lambda page: observation_table(page, services.zone))

    async def search_by_file(request: Request) -> Response:
        query = Query(request)
        wanted = file_query(query)
        return await answer(request, query, wanted, lambda page: file_table(page, wanted.files, services.zone))

    async def facets(request: Request) -> Response:
        query = Query(request)
        query.unread(*params.LIMIT.names, *params.OFFSET.names)
        facets = services.engine.facets(
            search_query(query),
            most_buckets=_BUCKETS.of(query),
            with_concepts=_WITH_CONCEPTS.of(query),
            strip=strip(query),
        )
        return respond(await facets)

    return [
        Endpoint(
            method="GET", path=calls.SEARCH, run=search, summary="The index: what is found by words and filters.",
            answers=_FORMS, params=(*_SEARCH, params.FORM, params.WHO, _HARMLESS),
        ),
        Endpoint(
            method="GET", path=calls.SEARCH_OBSERVATIONS, run=search_observations,
            summary="The same over observations alone; `query` is needed.", answers=_FORMS,
            params=(*_SEARCH, params.FORM, params.WHO, _HARMLESS),
        ),
        Endpoint(
            method="GET", path=calls.SEARCH_BY_FILE, run=search_by_file,
            summary="Observations and summaries of a file, newest first.", answers=_FORMS, params=_BY_FILE,
        ),
        Endpoint(
            method="GET", path=calls.FACETS, run=facets, summary="Counts by kind, type, project, concept and time.",
            answers=(Facets,),
            params=(*_SEARCH, _BUCKETS, _WITH_CONCEPTS, _BUCKET_MS, _STRIP_START, _STRIP_END, _HARMLESS),
        ),
    ]  # fmt: skip


def search_query(query: Query) -> SearchQuery:
    """The question in a query string. ``type`` names kinds if all of its values do, observation types otherwise."""
    kinds, types = _kinds(_KIND.of(query), "kind"), _TYPES.of(query)
    given = tuple(value for value in _TYPE.of(query) if value.lower() != "all")
    if given and all(value.lower() in _CATEGORIES for value in given):
        kinds += _kinds(given, "type")
    elif given:
        types += given
    phase, mode = _PHASE.of(query), _MODE.of(query)
    if phase not in (None, mode):
        query.unread(*_MODE.names)
    _HARMLESS.of(query)
    return SearchQuery(
        text=params.WORDS.of(query) or "",
        kinds=tuple(dict.fromkeys(kinds)),
        types=types,
        concepts=params.CONCEPTS.of(query),
        files=params.FILES.of(query),
        project=params.PROJECT.of(query),
        session=params.SESSION.of(query),
        platform_source=params.PLATFORM.of(query),
        since_epoch_ms=params.SINCE.of(query),
        until_epoch_ms=params.UNTIL.of(query),
        order=params.ORDER.of(query),
        limit=params.LIMIT.of(query),
        offset=params.OFFSET.of(query),
        typing=_TYPING.of(query),
        mode=phase or mode,
    )


def strip(query: Query) -> Strip | None:
    """The part of the histogram that is asked for."""
    width = _BUCKET_MS.of(query)
    if width is None:
        query.unread(*_STRIP_START.names, *_STRIP_END.names)
        return None
    query.unread(*_BUCKETS.names)
    return Strip(bucket_ms=width, start_epoch_ms=_STRIP_START.of(query), end_epoch_ms=_STRIP_END.of(query))


def file_query(query: Query) -> SearchQuery:
    """What is known of a file: records with its path, newest first unless oldest first is asked for."""
    paths = _PATHS.of(query)
    if not paths:
        raise Invalid("filePath is missing: part of a path", field="filePath")
    if _IS_FOLDER.of(query):
        paths = tuple(path if path.endswith("/") else f"{path}/" for path in paths)
    order = params.ORDER.of(query)
    return SearchQuery(
        kinds=(RecordKind.OBSERVATION, RecordKind.SUMMARY),
        files=paths,
        project=params.PROJECT.of(query),
        platform_source=params.PLATFORM.of(query),
        since_epoch_ms=params.SINCE.of(query),
        until_epoch_ms=params.UNTIL.of(query),
        order=Order.DATE_DESC if order is Order.RELEVANCE else order,
        limit=params.LIMIT.of(query),
        offset=params.OFFSET.of(query),
    )


def _kinds(values: tuple[str, ...], name: str) -> tuple[RecordKind, ...]:
    for value in values:
        if value.lower() not in _CATEGORIES:
            raise Invalid(f"{name} must be observation, summary or prompt, not {value[:40]!r}", field=name)
    return tuple(_CATEGORIES[value.lower()] for value in values)
