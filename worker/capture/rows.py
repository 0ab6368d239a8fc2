"""Pure: rows that are brought in from elsewhere, cleaned as what agents tell is."""

from typing import Any

import msgspec

from worker.contract.clean import cleaned
from worker.contract.transfer import ImportBatch

Row = dict[str, Any]

_KEYS = frozenset(("content_session_id", "memory_session_id", "content_hash", "platform_source"))
"""By these rows find each other."""


def clean_batch(batch: ImportBatch) -> tuple[ImportBatch, list[int]]:
    """The rows as they may be kept, and the places of the prompts among them: one that was all private is left out."""
    prompts = tuple(map(_clean, batch.prompts))
    kept = [at for at, before in enumerate(batch.prompts) if _says(prompts[at]) or not _says(before)]
    clean = ImportBatch(
        sessions=tuple(map(_clean, batch.sessions)),
        summaries=tuple(map(_clean, batch.summaries)),
        observations=tuple(map(_clean, batch.observations)),
        prompts=tuple(prompts[at] for at in kept),
    )
    return clean, kept


def _says(row: Row) -> bool:
    return bool(str(row.get("prompt_text") or "").strip())


def _clean(row: Row) -> Row:
    return {key: value if key in _KEYS else _value(value) for key, value in row.items()}


def _value(value: object) -> object:
    """Lists and objects may stand as JSON text: then the texts in it are cleaned, and it stays JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            held = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return cleaned(value)
        after = cleaned(held)
        return value if after == held else msgspec.json.encode(after).decode()
    return cleaned(value)
