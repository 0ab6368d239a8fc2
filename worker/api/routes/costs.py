"""What memory costs and gives back."""

from starlette.requests import Request
from starlette.responses import Response

from worker.api import params
from worker.api.codec import Query, respond
from worker.api.endpoint import Endpoint
from worker.api.params import Number
from worker.api.services import Services
from worker.contract import calls
from worker.contract.costs import CostQuery, Costs
from worker.search import costs

_SESSIONS = Number(("sessions",), "sessions at most, those that cost most", default=20, high=100)
_DAYS = Number(("days",), "days at most, the latest that have records", default=90, low=1, high=400)


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def answer(request: Request) -> Response:
        query = Query(request)
        asked = CostQuery(
            project=params.PROJECT.of(query),
            session=params.SESSION.of(query),
            platform_source=params.PLATFORM.of(query),
            since_epoch_ms=params.SINCE.of(query),
            until_epoch_ms=params.UNTIL.of(query),
            sessions=_SESSIONS.of(query),
            days=_DAYS.of(query),
        )
        now = services.now_ms()
        return respond(
            await services.store.read(lambda connection: costs.answer(connection, asked, now, services.zone))
        )

    return [
        Endpoint(
            method="GET", path=calls.COSTS, run=answer, answers=(Costs,),
            params=(params.PROJECT, params.SESSION, params.PLATFORM, params.SINCE, params.UNTIL, _SESSIONS, _DAYS),
            summary="Tokens spent and read back, in all, by project, type, day and session, and what never came back.",
        ),
    ]  # fmt: skip
