"""What is brought in from elsewhere and taken out: rows of the four tables."""

from functools import partial

from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from worker.api.codec import LAST_ID, Query, body, respond
from worker.api.endpoint import Endpoint
from worker.api.params import PROJECT, SINCE, UNTIL, Choice, Flag, Number
from worker.api.services import Services
from worker.capture.cleaning import Underway
from worker.capture.rows import Piece, pieces
from worker.contract import calls
from worker.contract.copies import Copies
from worker.contract.errors import Invalid
from worker.contract.transfer import (
    BEFORE_ALL,
    ExportPage,
    ExportQuery,
    ImportBatch,
    ImportResult,
    ImportStats,
    Mended,
    RowKind,
)
from worker.store import exports, foreseen, imports
from worker.store.tables import Connection, Store

_KINDS = {kind.value: kind for kind in RowKind}
_KIND = Choice(("kind",), "rows of which table", _KINDS, RowKind.SESSION, required=True)
_AFTER = Number(("after",), "rows after this id", default=BEFORE_ALL, low=BEFORE_ALL, high=LAST_ID)
_UPTO = Number(("upto",), "rows up to and with this id", default=LAST_ID, low=BEFORE_ALL, high=LAST_ID)
_ROWS = Number(("limit",), "rows at most; fewer come where they are long", default=500, low=1, high=1000)
_DRY_RUN = Flag(("dryRun",), "only tell what would be new")
_MEND = Flag(("mend",), "values that cannot be stored are replaced and told, where they would be an error")


def routes(services: Services) -> list[Endpoint]:
    """The routes of this topic."""

    async def import_batch(request: Request) -> Response:
        query = Query(request)
        mended: list[Mended] | None = [] if _MEND.of(query) else None
        given = await body(request, ImportBatch)
        copies = Copies()
        for kind in RowKind:
            for row in getattr(given, kind.plural):
                copies.mark(kind, row)
        underway = services.cleaning.begin(pieces(given))
        work = _count if _DRY_RUN.of(query) else _write
        try:
            stats = await work(services.store, underway, mended)
        finally:
            underway.give_up()
        private = len(given.prompts) - stats.promptsImported - stats.promptsSkipped
        stats = structs.replace(stats, promptsSkipped=stats.promptsSkipped + private)
        return respond(ImportResult(success=True, stats=stats, mended=tuple(mended or ())))

    async def export(request: Request) -> Response:
        query = Query(request)
        if query.text("kind") is None:
            raise Invalid(f"kind must be one of {', '.join(_KINDS)}", field="kind")
        asked = ExportQuery(
            kind=_KIND.of(query),
            after=_AFTER.of(query),
            upto=_UPTO.of(query),
            limit=_ROWS.of(query),
            project=PROJECT.of(query),
            since_epoch_ms=SINCE.of(query),
            until_epoch_ms=UNTIL.of(query),
        )
        return respond(await services.store.read(lambda connection: exports.page(connection, asked)))

    return [
        Endpoint(
            method="POST",
            path=calls.IMPORT,
            run=import_batch,
            summary="Bring rows in: all of them or, on an error, none; those that are there already are passed over.",
            answers=(ImportResult,),
            params=(_DRY_RUN, _MEND),
            body=ImportBatch,
            writes=True,
        ),
        Endpoint(
            method="GET",
            path=calls.EXPORT,
            run=export,
            summary="Take rows out: a page of a table in the order of ids, as an import takes it.",
            answers=(ExportPage,),
            params=(_KIND, _AFTER, _UPTO, _ROWS, PROJECT, SINCE, UNTIL),
        ),
    ]


async def _write(store: Store, underway: Underway, mended: list[Mended] | None) -> ImportStats:
    await underway.nearly()
    works = ((partial(_rows, done.piece, mended), foreseen.line(done.lines)) for done in underway)
    return imports.stats(await store.write_each(works))


async def _count(store: Store, underway: Underway, mended: list[Mended] | None) -> ImportStats:
    def work(connection: Connection) -> ImportStats:
        with imports.undone(connection):
            return imports.stats([_rows(done.piece, mended, connection) for done in underway])

    await underway.all()
    return await store.write(work)


def _rows(piece: Piece, mended: list[Mended] | None, connection: Connection) -> tuple[RowKind, int, int]:
    new = imports.import_rows(connection, piece.kind, piece.rows, piece.places, mended=mended)
    return piece.kind, new, len(piece.rows)
