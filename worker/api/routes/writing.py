"""Memories saved on purpose."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import body, respond
from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls
from worker.contract.clean import cleaned
from worker.contract.curation import Save, Saved
from worker.contract.errors import Invalid
from worker.store.manual import keep

_PROJECT = "claude-mem"
_TITLE_CHARS = 60


class StrictSave(Save, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key that is not known is refused, as in the original."""


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def save(request: Request) -> Response:
        given = msgspec.to_builtins(await body(request, StrictSave))
        asked = msgspec.convert(cleaned(given), StrictSave)
        said = asked.text.strip()
        if not said:
            raise Invalid("text must not be blank", field="text")
        metadata = asked.metadata or {}
        named = asked.project or _text(metadata, "project") or _PROJECT
        project = services.store.aliases.get(named, named)
        title = (asked.title or "").strip() or (said if len(said) <= _TITLE_CHARS else said[:_TITLE_CHARS] + "...")
        memory = msgspec.structs.replace(Save(text=said), title=title, project=project, metadata=asked.metadata)
        platform, now = _text(metadata, "platformSource"), services.now_ms()
        kept = await services.store.write(lambda connection: keep(connection, memory, platform, now))
        message = f"Memory saved as observation #{kept}"
        return respond(Saved(success=True, id=kept, title=title, project=project, message=message))

    return [
        Endpoint(
            method="POST",
            path=calls.SAVE,
            run=save,
            summary="Keep something worth remembering; the same twice is one record.",
            answers=(Saved,),
            body=StrictSave,
            writes=True,
        )
    ]


def _text(metadata: dict[str, object], key: str) -> str | None:
    value = metadata.get(key)
    return value.strip() or None if isinstance(value, str) else None
