"""In the sessions: what is in a row is shown, or looked up in the workspace."""

from collections.abc import Mapping

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.surveying import Surveying
from tui.deeds.table import Deed
from tui.state.chips import Chip
from tui.state.session_tree import EntryNode, Opened, ProjectNode, SessionNode
from worker.contract.sessions import SessionLine


class Unfolding:
    """Opens and shuts; goes from a row to its records."""

    def __init__(self, desk: Desk, asking: Asking, surveying: Surveying) -> None:
        self._desk = desk
        self._asking = asking
        self._surveying = surveying

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {"unfold": self.unfold, "fold": self.fold, "visit": self.visit}

    def unfold(self) -> None:
        """Show what is in it; what is shown is shut again."""
        match self._desk.state.sessions.node:
            case ProjectNode(open=open_now):
                self._desk.tell(Opened(not open_now))
            case SessionNode(_, _, None):
                self._desk.say("this session is still on its way")
            case SessionNode(project, _, line, open_now) if line is not None:
                self._desk.tell(Opened(not open_now))
                if not open_now:
                    self._desk.background(f"session {line.id}", self._records, project, line.id)
            case EntryNode():
                self._desk.say("a record holds nothing more; {visit} shows it in the workspace")
            case None:
                self._desk.say("there is nothing to unfold")

    def fold(self) -> None:
        """Shut it; what is not open goes to what it is in."""
        self._desk.tell(Opened(False))

    def visit(self) -> None:
        """Its records, in the workspace."""
        match self._desk.state.sessions.node:
            case ProjectNode(project):
                self._surveying.seek("", project)
            case SessionNode(project, _, line) if line is not None:
                self._surveying.seek(_session(line), project)
            case EntryNode(project, session, entry) if entry is not None:
                self._surveying.seek(_session(session), project, entry)
            case _:
                self._desk.say("nothing to go to here")

    async def _records(self, project: str, row_id: int) -> None:
        fact, said = await self._asking.gateway.surveys.session(project, row_id, self._desk.state.ask.as_of_ms)
        self._desk.tell(fact)
        if said:
            self._desk.say(said)


def _session(line: SessionLine) -> str:
    return str(Chip("session", line.memory_session_id or line.content_session_id))
