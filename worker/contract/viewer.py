"""Rows as the lists show them: fewer columns than the database has, under the original viewer's names."""

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class ObservationItem(msgspec.Struct, frozen=True, kw_only=True):
    """An observation in a list. Files are JSON text, each cut after `/<last part of the project>/`."""

    id: int
    memory_session_id: str
    project: str
    merged_into_project: str | None
    platform_source: str | None
    type: str
    title: str | None
    subtitle: str | None
    narrative: str | None
    text: str | None
    facts: str | None
    concepts: str | None
    files_read: str | None
    files_modified: str | None
    prompt_number: int | None
    created_at: str
    created_at_epoch: int


class SummaryItem(msgspec.Struct, frozen=True, kw_only=True):
    """A summary in a list. session_id: the agent's own id of the session."""

    id: int
    session_id: str
    platform_source: str | None
    request: str | None
    investigated: str | None
    learned: str | None
    completed: str | None
    next_steps: str | None
    project: str
    created_at: str
    created_at_epoch: int


class PromptItem(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt in a list."""

    id: int
    content_session_id: str
    project: str | None
    platform_source: str | None
    prompt_number: int
    prompt_text: str
    created_at: str
    created_at_epoch: int


class Page(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """One page of a list, newest first."""

    items: tuple[T, ...]
    hasMore: bool
    offset: int
    limit: int
