"""Questions about the memory as a whole."""

from tui.gateway.line import Line
from tui.state import facts
from tui.state.facts import Fact
from tui.state.model import Counts
from worker.contract import calls
from worker.contract.errors import MemError


class Memory:
    """Of one worker."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def counted(self) -> Fact:
        """What the memory holds."""
        try:
            stats = await self._line.send(calls.stats())
        except MemError as error:
            return facts.Said(error.message)
        held = stats.database
        return facts.Counted(Counts(held.observations, held.summaries, held.prompts), await self.projects())

    async def projects(self) -> tuple[str, ...]:
        """Names of projects, most recently used first; none when nobody answers."""
        try:
            return (await self._line.send(calls.projects())).projects
        except MemError:
            return ()
