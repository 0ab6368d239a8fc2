"""Questions about the memory as a whole: what it costs, its sessions, how it is, what the next session is given."""

from collections.abc import Callable

from tui.gateway.line import Line
from tui.state import costs, health, next_start, session_tree
from tui.state.costs import Costing
from tui.state.facts import Fact
from tui.state.health import Deed
from worker.contract import calls, context
from worker.contract.calls import Call
from worker.contract.context import ContextWished
from worker.contract.costs import CostQuery
from worker.contract.errors import MemError, NotFound
from worker.contract.sessions import SessionQuery

_LOG_LINES = 200
_SESSIONS = 60


class Surveys:
    """Of one worker."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def costs(self, costing: Costing, since_epoch_ms: int | None, until_epoch_ms: int | None = None) -> Fact:
        """What the part that is looked at costs, in one call."""
        query = CostQuery(
            project=costing.part.project,
            session=costing.part.session.session if costing.part.session is not None else None,
            since_epoch_ms=since_epoch_ms,
            until_epoch_ms=until_epoch_ms,
            sessions=_SESSIONS,
        )
        try:
            return costs.Answered(costing.seq, await self._line.send(calls.costs(query)))
        except MemError as error:
            return costs.AskFailed(costing.seq, error.message)

    async def projects(self, seq: int) -> Fact:
        """The projects, as the trunk of the tree of sessions."""
        try:
            return session_tree.ProjectsRead(seq, (await self._line.send(calls.projects())).projects)
        except MemError as error:
            return session_tree.ReadFailed(seq, error.message)

    async def sessions(self, seq: int, project: str, number: int, as_of_ms: int | None = None) -> Fact:
        """A page of a project's sessions, as they were at a moment."""
        query = SessionQuery(
            project=project,
            as_of_epoch_ms=as_of_ms,
            limit=session_tree.PAGE,
            offset=number * session_tree.PAGE,
        )
        try:
            page = await self._line.send(calls.sessions(query))
        except MemError as error:
            return session_tree.PageFailed(seq, project, error.message)
        return session_tree.PageRead(seq, project, number, page.sessions, page.total)

    async def session(self, project: str, row_id: int, as_of_ms: int | None = None) -> tuple[Fact, str]:
        """What a session holds, or held; and a word where that is not all of it, or cannot be told."""
        try:
            held = await self._line.send(calls.session(row_id, as_of_epoch_ms=as_of_ms))
        except MemError as error:
            return session_tree.RecordsFailed(project, row_id), f"what it holds is not told: {error.message}"
        less = len(held.entries) < held.total
        said = f"its first {len(held.entries):,} of {held.total:,} records; {{visit}} shows all" if less else ""
        return session_tree.RecordsRead(project, row_id, held.entries), said

    async def overview(self, seq: int, now_ms: Callable[[], int]) -> Fact:
        """How everything is."""
        try:
            found = await self._line.send(calls.overview())
        except MemError as error:
            return health.LookFailed(seq, error.message)
        return health.Looked(seq, found, now_ms())

    async def log(self, seq: int) -> Fact:
        """The end of the log."""
        try:
            logs = await self._line.send(calls.logs(_LOG_LINES))
        except MemError as error:
            return health.LogRead(seq, failed=error.message)
        return health.LogRead(seq, tuple(logs.logs.split("\n")) if logs.logs else ())

    async def mended(self, deed: Deed) -> str:
        """Do something to the index by meaning; what came of it, in a word."""
        if deed is Deed.REPAIR:
            return await self._repaired()
        call = calls.index_pause() if deed is Deed.PAUSE else calls.index_resume()
        try:
            status = await self._line.send(call)
        except MemError as error:
            return f"not done: {error.message}"
        return f"the index by meaning is {status.state.replace('_', ' ')}"

    async def _repaired(self) -> str:
        try:
            faults = await self._line.send(calls.index_repair())
        except MemError as error:
            return f"not mended: {error.message}"
        wrong = faults.missing + faults.orphans + faults.stale
        if not wrong:
            waiting = f"; {faults.waiting:,} wait to be embedded" if faults.waiting else ""
            return f"nothing was wrong in {faults.checked:,} records{waiting}"
        found = f"{faults.missing:,} missing, {faults.stale:,} of an older text, {faults.orphans:,} of no record"
        return f"{found}: being mended"

    async def plan(self, seq: int, project: str) -> Fact:
        """What a project's next session is given."""
        try:
            return next_start.Planned(seq, await self._line.send(context.plan(project)))
        except NotFound as error:
            return next_start.PlanFailed(seq, error.message, silent=True)
        except MemError as error:
            return next_start.PlanFailed(seq, error.message)

    async def wished(self, call: Call[ContextWished]) -> tuple[Fact | None, str]:
        """Pin or mute; and, where that cannot be done, why."""
        try:
            return next_start.Wished(await self._line.send(call)), ""
        except NotFound:
            return None, "this worker keeps no such wish"
        except MemError as error:
            return None, error.message
