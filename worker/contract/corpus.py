"""Corpora: chosen records as a knowledge base that can be asked. Requests, answers, and the parts of the file."""

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from worker.contract.errors import Invalid

USUAL_LIMIT = 500
MOST_LIMIT = 10_000
LONGEST_NAME = 100
_NAME = re.compile(r"[a-zA-Z0-9._-]+")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_RULE = "a corpus name is made of letters (a-z), digits, `.`, `_` and `-`"

CorpusName = Annotated[
    str, Meta(extra_json_schema={"pattern": "^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,60}$", "examples": ["auth-refactor"]})
]
Values = list[str] | str | None
"""`["bugfix", "decision"]`, `"bugfix,decision"`, `'["bugfix","decision"]'`."""
Limit = (
    Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": MOST_LIMIT})]
    | Annotated[str, Meta(extra_json_schema={"pattern": "^[1-9][0-9]{0,3}$"})]
)
Date = (
    Annotated[int, Meta(extra_json_schema={"minimum": 10**11, "maximum": 10**13})]
    | Annotated[str, Meta(extra_json_schema={"format": "date", "examples": ["2026-03-10", "3d", "yesterday"]})]
    | None
)


class CorpusOrder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /api/corpus``: what a corpus is to hold. All filters must hold; without any, the newest records.

    query: as typed into a search. Dates by either of their names; they are inclusive, and one that is told from now
    (`30d`) is read anew by each rebuild. limit: by default 500.
    """

    name: CorpusName
    description: str | None = None
    project: str | None = None
    types: Values = None
    concepts: Values = None
    files: Values = None
    query: str | None = None
    date_start: Date = None
    date_end: Date = None
    dateStart: Date = None
    dateEnd: Date = None
    limit: Limit | None = None


class CorpusFilter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked for; only the keys that were given stand in the file."""

    project: str | None = None
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    query: str | None = None
    date_start: str | None = None
    date_end: str | None = None
    limit: int | None = None


class DateRange(msgspec.Struct, frozen=True, kw_only=True):
    """ISO moments of the oldest and the newest record; when it was built, if there is none."""

    earliest: str
    latest: str


class CorpusStats(msgspec.Struct, frozen=True, kw_only=True):
    """token_estimate: of the corpus as a model reads it."""

    observation_count: int
    token_estimate: int
    date_range: DateRange
    type_breakdown: dict[str, int] = {}


class CorpusInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A corpus without its records.

    session_id: of the model's session that has read it; None until it is primed. stale: records of it were deleted
    since it was built, ``missing`` of them; they are not told any more, and a rebuild settles it.
    notes: what a person should know of how it was built.
    """

    version: int
    name: str
    description: str
    created_at: str
    updated_at: str
    filter: CorpusFilter
    stats: CorpusStats
    system_prompt: str
    session_id: str | None
    stale: bool = False
    missing: int = 0
    notes: tuple[str, ...] = ()


class CorpusLine(msgspec.Struct, frozen=True, kw_only=True):
    """A corpus in the list. updated_at: when it was built."""

    name: str
    description: str
    stats: CorpusStats
    session_id: str | None
    stale: bool = False
    missing: int = 0
    updated_at: str = ""


class CorpusList(msgspec.Struct, frozen=True, kw_only=True):
    """All corpora, by name."""

    corpora: tuple[CorpusLine, ...]


class CorpusQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /api/corpus/:name/query``."""

    question: str


class Primed(msgspec.Struct, frozen=True, kw_only=True):
    """session_id: of the model's session that has read the corpus; None where no model is used, as ``notes`` tell."""

    session_id: str | None
    name: str
    notes: tuple[str, ...] = ()


class CorpusAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """model: the one that answered; None if the answer is made of the best matching records themselves.

    cited: ids of the observations that the answer names. stale: as of ``CorpusInfo``.
    """

    answer: str
    session_id: str | None
    model: str | None = None
    cited: tuple[int, ...] = ()
    stale: bool = False
    notes: tuple[str, ...] = ()


class CorpusDeleted(msgspec.Struct, frozen=True, kw_only=True):
    """The file is gone; the records stay where they are."""

    success: bool


def checked_name(name: str) -> str:
    """The name of a corpus, which is that of a file on every system and cannot leave its folder.

    Errors: ``Invalid`` with the field ``name``.
    """
    if not _NAME.fullmatch(name):
        raise Invalid(f"{_RULE}, not {_shown(name)}", field="name")
    if len(name) > LONGEST_NAME:
        raise Invalid(f"{_RULE}, at most {LONGEST_NAME} of them, not {len(name)}", field="name")
    if not name.strip("."):
        raise Invalid(f"{_RULE}, and not of points alone", field="name")
    if _DEVICE.fullmatch(name):
        raise Invalid(f"{name} is a device on some systems; give the corpus another name", field="name")
    return name


def is_name(text: str) -> bool:
    """Whether a corpus can have this name."""
    try:
        checked_name(text)
    except Invalid:
        return False
    return True


def _shown(name: str) -> str:
    return ascii(name if len(name) <= 40 else name[:39] + "…")
