"""The tools for corpora. What they change is made of memory and can be made again; memory itself is only read."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from mcp_bridge.tools.arguments import Arguments
from mcp_bridge.tools.tool import Question, Sender, Tool, as_it_is, as_json, text, whole
from worker.contract import calls
from worker.contract.calls import Call
from worker.contract.corpus import USUAL_LIMIT, CorpusOrder
from worker.contract.errors import Conflict, Invalid
from worker.contract.present import Text

T = TypeVar("T")


def _build(given: Arguments) -> Question:
    given.bounds("dateStart", "dateEnd")  # told here by the names that the agent knows
    limit = given.number("limit", 0, low=1) if given.text("limit") else None
    order = CorpusOrder(
        name=_needed(given, "name")[0],
        description=given.text("description") or None,
        project=given.text("project") or None,
        types=list(given.texts("types")) or None,
        concepts=list(given.texts("concepts")) or None,
        files=list(given.texts("files")) or None,
        query=given.text("query") or None,
        date_start=given.text("dateStart") or None,
        date_end=given.text("dateEnd") or None,
        limit=limit,
    )
    return _settled(calls.build_corpus(order))


def _list(given: Arguments) -> Question:
    return as_it_is(calls.corpora_text())


def _named(call: Callable[[str], Call[T]], given: Arguments) -> Question:
    return _settled(call(*_needed(given, "name")))


def _query(given: Arguments) -> Question:
    return _settled(calls.query_corpus(*_needed(given, "name", "question")))


def _needed(given: Arguments, *names: str) -> list[str]:
    """The values of parameters that must be given. Errors: ``Invalid`` naming all that are not."""
    values = [given.text(name).strip() for name in names]
    if lacking := [name for name, value in zip(names, values, strict=True) if not value]:
        raise Invalid(f"{' and '.join(lacking)} {'are' if len(lacking) > 1 else 'is'} required", field=lacking[0])
    return values


def _settled(call: Call[T]) -> Question:
    """As JSON. A conflict is one of this corpus, and says what to do about it; memory itself is well."""
    ask = as_json(call)

    async def question(sender: Sender) -> Text:
        try:
            return await ask(sender)
        except Conflict as error:
            raise Invalid(error.message, field=error.field) from error

    return question


_NAME = text("Corpus name")

TOOLS = (
    Tool(
        "build_corpus",
        "Build a corpus: chosen observations as a knowledge base to question. Replaces one of that name.",
        _build,
        {
            "name": text("Letters, digits, . _ -"),
            "description": text("What it is for"),
            "project": text("Project"),
            "types": text("As obs_type"),
            "concepts": text("Comma list"),
            "files": text("Comma list"),
            "query": text("As in search"),
            "dateStart": text("From"),
            "dateEnd": text("To"),
            "limit": whole("Observations at most", USUAL_LIMIT),
        },
        required=("name",),
        aliases={"date_start": "dateStart", "date_end": "dateEnd", "type": "types", "obs_type": "types"}
        | {"concept": "concepts", "file": "files"},
        reads=False,
        destroys=True,
    ),
    Tool("list_corpora", "Corpora with sizes, and whether they are primed or stale.", _list),
    Tool(
        "prime_corpus",
        "Have a model read a corpus, before query_corpus. Costs its tokens.",
        partial(_named, calls.prime_corpus),
        {"name": _NAME},
        required=("name",),
        reads=False,
        repeats=False,
        outside=True,
    ),
    Tool(
        "query_corpus",
        "Ask a corpus; the answer cites observation ids.",
        _query,
        {"name": _NAME, "question": text("The question")},
        required=("name", "question"),
        repeats=False,
        outside=True,
    ),
    Tool(
        "rebuild_corpus",
        "Build it anew from its filter; then prime it again.",
        partial(_named, calls.rebuild_corpus),
        {"name": _NAME},
        required=("name",),
        reads=False,
    ),
    Tool(
        "reprime_corpus",
        "Prime anew: forgets earlier questions.",
        partial(_named, calls.reprime_corpus),
        {"name": _NAME},
        required=("name",),
        reads=False,
        repeats=False,
        outside=True,
    ),
)
