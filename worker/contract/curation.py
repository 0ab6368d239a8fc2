"""What a person changes on purpose."""

from typing import Any

import msgspec


class Save(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/memory/save``. text: not blank. title: by default the first 60 characters of the text."""

    text: str
    title: str | None = None
    project: str | None = None
    metadata: dict[str, Any] | None = None


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """The observation that holds it; saving the same twice gives the same id."""

    success: bool
    id: int
    title: str
    project: str
    message: str


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/projects/merge``: what is filed under ``project`` is found under ``into`` too."""

    project: str
    into: str


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """How many records are found under another project now; doing it again finds none."""

    observations: int
    summaries: int


class Alias(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /api/projects/aliases``: what comes from ``alias`` is filed under ``project``; its own name ends that."""

    alias: str
    project: str


class Aliases(msgspec.Struct, frozen=True, kw_only=True):
    """``/api/projects/aliases``: alias → project."""

    aliases: dict[str, str]


class Deleted(msgspec.Struct, frozen=True, kw_only=True):
    """It is gone, a record from lists, search and timeline alike. entity_rev: of the cloud's copy; there is none.

    kind: of a record as everywhere; `tool_use`, or `session` where it is the texts of a session's own row.
    """

    success: bool
    id: str
    kind: str
    entity_rev: str | None = None
