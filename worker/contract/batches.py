"""Rows by id: the bodies of the batch endpoints, and the rows that are no records."""

from typing import Annotated

import msgspec
from msgspec import Meta

from worker.contract.records import Observation, Whole

_LISTED = "[1-9][0-9]{0,17}(, ?[1-9][0-9]{0,17})*"
Number = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 2**63 - 1})]
Digits = Annotated[str, Meta(extra_json_schema={"pattern": f"^#?{_LISTED}$"})]
Ids = (
    list[Number | Whole | Digits]
    | Number
    | Whole
    | Annotated[str, Meta(extra_json_schema={"pattern": rf"^({_LISTED}|\[{_LISTED}\])$"})]
)
"""`[5, "#6", "7,8"]`, `5`, `"5,6"`, `"[5,6]"`. The bounds are told in the schema and looked at where ids are read."""
Count = (
    Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 2**31})]
    | Whole
    | Annotated[str, Meta(extra_json_schema={"pattern": "^[1-9][0-9]{0,8}$"})]
)


class ObservationBatch(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/observations/batch``. orderBy: date_desc (default) or date_asc. lean: without empty columns."""

    ids: Ids
    orderBy: Annotated[str, Meta(extra_json_schema={"enum": ["date_desc", "date_asc"]})] | None = None
    limit: Count | None = None
    project: str | None = None
    platformSource: str | None = None
    platform_source: str | None = None
    lean: bool = False


class SessionBatch(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/sdk-sessions/batch``. memorySessionIds: as a list, as JSON text or as comma text."""

    memorySessionIds: list[str] | str


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session. Epochs in milliseconds UTC."""

    id: int
    content_session_id: str
    memory_session_id: str | None
    project: str
    platform_source: str
    user_prompt: str | None
    custom_title: str | None
    started_at: str
    started_at_epoch: int
    completed_at: str | None
    completed_at_epoch: int | None
    status: str


class FileObservations(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/observations/by-file``: newest first."""

    observations: tuple[Observation, ...]
    count: int
