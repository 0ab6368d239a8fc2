"""In the next start: pins and mutes, the text, copies of it."""

from collections.abc import Mapping

from tui.deeds.asking import Asking
from tui.deeds.copying import Copying
from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.screens.next_start import NextStartScreen
from tui.state import next_start
from tui.state.reasons import why_not
from worker.contract import context
from worker.contract.calls import Call
from worker.contract.context import ContextRow, ContextWished


class Preparing:
    """What a person wishes for the next session."""

    def __init__(self, desk: Desk, asking: Asking, copying: Copying) -> None:
        self._desk = desk
        self._asking = asking
        self._copying = copying

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "pin": self.pin, "mute": self.mute, "raw": self.raw, "changes": self.changes, "copy_start": self.copy,
        }  # fmt: skip

    def pin(self) -> None:
        """Always, or no longer."""
        if (row := self._row("pin")) is not None:
            said = f"{row.key} is no longer pinned" if row.pinned else f"{row.key} is given to every session"
            self._desk.background("wish", self._wish, context.pin(row.key, on=not row.pinned), said)

    def mute(self) -> None:
        """Never, or again."""
        if (row := self._row("mute")) is not None:
            said = f"{row.key} may be given again" if row.muted else f"{row.key} is given to no session"
            self._desk.background("wish", self._wish, context.mute(row.key, on=not row.muted), said)

    def raw(self) -> None:
        """The text, or the rows."""
        self._or_why("raw", next_start.RawShown())

    def changes(self) -> None:
        """What differs, or everything."""
        self._or_why("changes", next_start.ChangesShown())

    def copy(self) -> None:
        """The text."""
        plan = self._desk.state.next_start.plan
        if reason := why_not(self._desk.state, "copy_start"):
            self._desk.say(reason)
        elif plan is not None:
            self._copying.plain(plan.text, "the text of the next start")

    def _or_why(self, action: str, fact: next_start.RawShown | next_start.ChangesShown) -> None:
        if reason := why_not(self._desk.state, action):
            self._desk.say(reason)
        else:
            self._desk.tell(fact)

    def _row(self, action: str) -> ContextRow | None:
        screen = self._desk.screen
        if reason := why_not(self._desk.state, action):
            self._desk.say(reason)
        elif isinstance(screen, NextStartScreen) and screen.page.chosen is not None:
            return screen.page.chosen
        else:
            self._desk.say("no record under the cursor; in the text, {raw} shows the rows")
        return None

    async def _wish(self, call: Call[ContextWished], said: str) -> None:
        fact, failed = await self._asking.gateway.surveys.wished(call)
        if fact is not None:
            self._desk.tell(fact)
        self._desk.say(failed or said)
