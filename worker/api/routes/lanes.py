"""Sessions side by side over time, for a timeline."""

from starlette.requests import Request
from starlette.responses import Response

from worker.api import params
from worker.api.codec import Query, respond
from worker.api.endpoint import Endpoint
from worker.api.params import Choice, Flag, Moment, Number
from worker.api.services import Services
from worker.contract import calls
from worker.contract.errors import Invalid
from worker.contract.lanes import MOST_BUCKETS, LaneQuery, Lanes, SessionBegin
from worker.contract.search import BUCKET_WIDTHS_MS
from worker.search import lanes

_AROUND = Moment(("around",), "the moment in the middle", required=True)
_BUCKET_MS = Choice(
    ("bucketMs",),
    "width of a bucket: 5 or 15 minutes, 1 or 6 hours, 1, 7 or 28 days",
    {str(width): width for width in BUCKET_WIDTHS_MS},
    BUCKET_WIDTHS_MS[1],
)
_BUCKETS = Number(("buckets",), "buckets at most", default=120, low=4, high=MOST_BUCKETS)
_LANES = Number(("lanes",), "sessions at most", default=12, low=1, high=50)
_LATER = Flag(("later",), "the next one; without it, the one before")


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    def asked(query: Query) -> LaneQuery:
        moment = _AROUND.of(query)
        if moment is None:
            raise Invalid("around is missing: a moment", field="around")
        return LaneQuery(
            around_epoch_ms=moment,
            bucket_ms=_BUCKET_MS.of(query) or BUCKET_WIDTHS_MS[1],
            buckets=_BUCKETS.of(query),
            lanes=_LANES.of(query),
            project=params.PROJECT.of(query),
            session=params.SESSION.of(query),
            platform_source=params.PLATFORM.of(query),
            until_epoch_ms=params.UNTIL.of(query),
        )

    async def around(request: Request) -> Response:
        wanted = asked(Query(request))
        return respond(await services.store.read(lambda connection: lanes.around(connection, wanted, services.zone)))

    async def following(request: Request) -> Response:
        query = Query(request)
        wanted, later = asked(query), _LATER.of(query)
        return respond(await services.store.read(lambda connection: lanes.begin(connection, wanted, later=later)))

    scope = (_AROUND, params.PROJECT, params.SESSION, params.PLATFORM, params.UNTIL)
    return [
        Endpoint(
            method="GET", path=calls.LANES, run=around, answers=(Lanes,),
            params=(*scope, _BUCKET_MS, _BUCKETS, _LANES),
            summary="The sessions around a moment side by side, bucket by bucket.",
        ),
        Endpoint(
            method="GET", path=calls.LANES_NEXT, run=following, answers=(SessionBegin,), params=(*scope, _LATER),
            summary="Where the session after a moment begins, or the one before it.",
        ),
    ]  # fmt: skip
