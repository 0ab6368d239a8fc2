"""Corpora: chosen records as a knowledge base that can be asked."""

from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from worker.api import giving, params, recalling
from worker.api.codec import Query, body, no_date, respond, text_list, whole_number
from worker.api.endpoint import Endpoint
from worker.api.params import Choice
from worker.api.services import Services
from worker.contract import calls, settings
from worker.contract.clean import cleaned
from worker.contract.context_settings import MEASURED_MODELS
from worker.contract.corpus import (
    MOST_LIMIT,
    CorpusAnswer,
    CorpusDeleted,
    CorpusFilter,
    CorpusInfo,
    CorpusList,
    CorpusOrder,
    CorpusQuestion,
    Primed,
    checked_name,
)
from worker.contract.errors import Busy, Conflict, Invalid, NotFound, TimedOut, Unavailable
from worker.contract.present import Text, text
from worker.contract.records import RecordKey, RecordKind
from worker.contract.when import parse_range
from worker.corpus.build import search_of
from worker.corpus.desk import Desk, Memory
from worker.corpus.session import Model
from worker.llm.registry import LOCAL

_AS = Choice(("format",), "text for an agent, or json", {"text": "text", "json": "json"}, "text")
_MOST_VALUES = 100
_LONGEST_CHARS = 5_000
_LONGEST_QUESTION_CHARS = 20_000
_OF_A_MODEL = (Conflict, Busy, TimedOut, Unavailable)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    desk = Desk(
        services.data_dir,
        lambda: Memory(services.store, services.engine),
        lambda: _model(services),
        services.now_ms,
        lambda: giving.settings(services).embedding_model in MEASURED_MODELS,
    )
    services.corpora = desk

    async def build(request: Request) -> Response:
        order = await body(request, CorpusOrder)
        name, asked = checked_name(order.name), _filter(order)
        question = search_of(asked, *_span(services, asked))
        description = _text(order.description, "description") or ""
        return respond(await desk.build(name, description, asked, question))

    async def listed(request: Request) -> Response:
        found = await desk.all()
        if _AS.of(Query(request)) == "json":
            return respond(CorpusList(corpora=found))
        return respond(text(msgspec.json.format(msgspec.json.encode(found), indent=2).decode()))

    async def show(request: Request) -> Response:
        return respond(await desk.info(_name(request)))

    async def delete(request: Request) -> Response:
        await desk.delete(_name(request))
        return respond(CorpusDeleted(success=True))

    async def rebuild(request: Request) -> Response:
        return respond(await desk.rebuild(_name(request), partial(_span, services)))

    async def prime(request: Request) -> Response:
        return respond(await desk.prime(_name(request)))

    async def reprime(request: Request) -> Response:
        return respond(await desk.prime(_name(request), anew=True))

    async def query(request: Request) -> Response:
        given = (await body(request, CorpusQuestion)).question.strip()
        if len(given) > _LONGEST_QUESTION_CHARS:
            raise Invalid(f"question must be at most {_LONGEST_QUESTION_CHARS:,} characters", field="question")
        question = cleaned(given).strip()
        if not question:
            raise Invalid("question must not be blank", field="question")
        answer = await desk.ask(_name(request), question)
        keys = [RecordKey(RecordKind.OBSERVATION, record_id) for record_id in answer.cited]
        recalling.listed(services, request, keys)
        return respond(answer)

    return [
        Endpoint(
            method="POST", path=calls.CORPORA, run=build, answers=(CorpusInfo,), body=CorpusOrder, writes=True,
            summary="Build a corpus from what a search finds; one of the same name is replaced.", errors=(Conflict,),
        ),
        Endpoint(
            method="GET", path=calls.CORPORA, run=listed, answers=(Text, CorpusList), params=(_AS,),
            summary="All corpora, by name.",
        ),
        Endpoint(
            method="GET", path=calls.CORPUS, run=show, answers=(CorpusInfo,), errors=(Invalid, NotFound),
            summary="A corpus without its records, and whether any of them were deleted since.",
        ),
        Endpoint(
            method="DELETE", path=calls.CORPUS, run=delete, answers=(CorpusDeleted,), errors=(Invalid, NotFound),
            summary="Take a corpus away; its records stay in memory.", writes=True,
        ),
        Endpoint(
            method="POST", path=calls.CORPUS_REBUILD, run=rebuild, answers=(CorpusInfo,), writes=True,
            errors=(Invalid, NotFound, Conflict), summary="Build it anew from its own filter; then it is not primed.",
        ),
        Endpoint(
            method="POST", path=calls.CORPUS_PRIME, run=prime, answers=(Primed,), writes=True,
            errors=(Invalid, NotFound, *_OF_A_MODEL),
            summary="Have the user's `claude` read it, so that it can be asked; with the provider `local` not needed.",
        ),
        Endpoint(
            method="POST", path=calls.CORPUS_REPRIME, run=reprime, answers=(Primed,), writes=True,
            errors=(Invalid, NotFound, *_OF_A_MODEL), summary="The same in a new session, which knows no questions.",
        ),
        Endpoint(
            method="POST", path=calls.CORPUS_QUERY, run=query, answers=(CorpusAnswer,), body=CorpusQuestion,
            params=(params.WHO,), writes=True, errors=(NotFound, *_OF_A_MODEL),
            summary="Ask a corpus; without a model, the records that fit the question best.",
        ),
    ]  # fmt: skip


def _model(services: Services) -> Model | None:
    """By the settings of this moment. Whatever provider writes observations, corpora are read by ``claude``."""
    if settings.observing(services.data_dir, services.environ).asking.provider == LOCAL:
        return None
    environ = {**services.environ, "CLAUDE_MEM_PROVIDER": "claude"}
    return Model(settings.observing(services.data_dir, environ).asking, services.data_dir)


def _span(services: Services, asked: CorpusFilter) -> tuple[int | None, int | None]:
    """The moments that the dates mean now. Errors: ``Invalid``."""
    since, until = _moment(services, asked.date_start, "date_start"), _moment(services, asked.date_end, "date_end")
    first, last = since and since[0], until and until[1]
    if first is not None and last is not None and first > last:
        raise Invalid("date_start is after date_end: nothing can be found between them", field="date_start")
    return first, last


def _moment(services: Services, value: str | None, name: str) -> tuple[int, int] | None:
    if not value:
        return None
    if found := parse_range(value, services.zone, now_epoch_ms=services.now_ms()):
        return found
    raise no_date(value, name)


def _name(request: Request) -> str:
    """The corpus in the path, without blanks around it."""
    return checked_name(str(request.path_params["name"]).strip())


def _filter(order: CorpusOrder) -> CorpusFilter:
    """What was given, each in its one form."""
    return CorpusFilter(
        project=_text(order.project, "project"),
        types=_values(order.types, "types"),
        concepts=_values(order.concepts, "concepts"),
        files=_values(order.files, "files"),
        query=_text(order.query, "query"),
        date_start=_date(order, "date_start", "dateStart"),
        date_end=_date(order, "date_end", "dateEnd"),
        limit=None if order.limit is None else whole_number(order.limit, "limit", low=1, high=MOST_LIMIT),
    )


def _values(given: list[str] | str | None, name: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(value.strip() for value in text_list(given or (), name, most=_MOST_VALUES)))
    return tuple(kept for value in found if (kept := _text(value, name)))


def _text(given: str | None, name: str) -> str | None:
    """The text, None if it is blank. Errors: ``Invalid`` for one that is longer than anybody means."""
    found = (given or "").encode("utf-8", "replace").decode().strip()
    if len(found) > _LONGEST_CHARS:
        raise Invalid(f"{name} must be at most {_LONGEST_CHARS:,} characters", field=name)
    return cleaned(found).strip() or None


def _date(order: CorpusOrder, *names: str) -> str | None:
    """A date given under either of its names."""
    given = {str(value).strip(): name for name in names if (value := getattr(order, name)) not in (None, "")}
    if len(given) > 1:
        raise Invalid(f"{names[0]} is given twice, also as {names[1]}, with another date", field=names[1])
    return next(iter(given), None) or None
