"""Projects that are one for people: merged, and named anew."""

from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import body, respond
from worker.api.endpoint import Endpoint
from worker.api.services import Services
from worker.contract import calls
from worker.contract.clean import cleaned
from worker.contract.curation import Alias, Aliases, Merge, Merged
from worker.contract.errors import Conflict, Invalid, NotFound
from worker.store import aliases

_MOST_CHARS = 512


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def merge(request: Request) -> Response:
        asked = await body(request, Merge)
        source, target = _name(asked.project, "project"), _name(asked.into, "into")
        counts = await services.store.write(lambda connection: aliases.merge(connection, source, target))
        return respond(Merged(observations=counts[0], summaries=counts[1]))

    async def alias(request: Request) -> Response:
        asked = await body(request, Alias)
        name, project = _name(asked.alias, "alias"), _name(asked.project, "project")
        await services.store.write(lambda connection: aliases.put(connection, name, project))
        await services.store.read_aliases()
        return await listed(request)

    async def listed(request: Request) -> Response:
        return respond(Aliases(aliases=await services.store.read(aliases.every)))

    return [
        Endpoint(
            method="POST", path=calls.PROJECTS_MERGE, run=merge, answers=(Merged,), body=Merge, errors=(NotFound,),
            writes=True, summary="What is filed under a project is found under another too.",
        ),
        Endpoint(
            method="POST", path=calls.PROJECTS_ALIASES, run=alias, answers=(Aliases,), body=Alias, errors=(Conflict,),
            writes=True, summary="What comes from a project is filed under another; its own name ends that.",
        ),
        Endpoint(
            method="GET", path=calls.PROJECTS_ALIASES, run=listed, answers=(Aliases,),
            summary="The projects that are filed under others.",
        ),
    ]  # fmt: skip


def _name(text: str, field: str) -> str:
    name = cleaned(text).strip()
    if not name or len(name) > _MOST_CHARS:
        raise Invalid(f"{field} must be the name of a project", field=field)
    return name
