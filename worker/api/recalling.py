"""What a request is given back is counted, if it is given to those whom it matters to."""

from collections.abc import Iterable

from starlette.requests import Request

from worker.api.services import Services
from worker.contract.recalls import APP, CALLER, HOOK
from worker.contract.records import RecordKey
from worker.store.search_index import docid


def listed(services: Services, request: Request, keys: Iterable[RecordKey]) -> None:
    """These records stand in the answer as entries."""
    if _counts(request):
        services.tally.listed(map(docid, keys))


def read(services: Services, request: Request, keys: Iterable[RecordKey]) -> None:
    """These records are in the answer in full."""
    if _counts(request):
        services.tally.read(map(docid, keys))


def of_files(services: Services, request: Request, keys: Iterable[RecordKey]) -> None:
    """These records of a file are in the answer: a hook passes on no more than their titles."""
    (listed if request.headers.get(CALLER) == HOOK else read)(services, request, keys)


def _counts(request: Request) -> bool:
    # A browser tells where a page is from; whoever looks at one is a person.
    return request.headers.get(CALLER, "").strip().lower() != APP and "origin" not in request.headers
