"""Copies: the keys of records, a call that reads them, their text."""

from collections.abc import Sequence

from tui.cells.clean import safe
from tui.cells.plain import whole
from tui.clipboard import Clipboard
from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.state import basket, facts
from worker.contract.records import Record
from worker.contract.search import Entry


class Copying:
    """Copies and says how that went; a newer copy ends an older one."""

    def __init__(self, desk: Desk, asking: Asking, clipboard: Clipboard) -> None:
        self._desk = desk
        self._asking = asking
        self._clipboard = clipboard

    def ids(self, entries: Sequence[Entry]) -> None:
        """Their keys."""
        self._desk.background("copy", self._put, basket.ids(entries), _counted(len(entries), "id"))

    def call(self, entries: Sequence[Entry]) -> None:
        """A ready call that reads them."""
        text, left_out = basket.read_call(entries)
        if left_out == len(entries):
            self._desk.say("get_observations reads observations alone, and there is none in the basket")
            return
        less = f" (without {_counted(left_out, 'session or prompt', 'sessions and prompts')})" if left_out else ""
        self._desk.background(
            "copy", self._put, text, f"a call for {_counted(len(entries) - left_out, 'record')}{less}"
        )

    def text(self, entries: Sequence[Entry]) -> None:
        """All of their text."""
        self._desk.background("copy", self._texts, tuple(entries))

    def plain(self, text: str, what: str) -> None:
        """A text that is there already. what: it is, for the word about it."""
        self._desk.background("copy", self._put, safe(text) + "\n", what)

    async def _texts(self, entries: tuple[Entry, ...]) -> None:
        read: list[Record] = []
        failed = ""
        for entry in entries:
            fact = await self._asking.gateway.records.opened(entry.key, entry)
            match fact:
                case facts.Opened(record=record):
                    read.append(record)
                case facts.OpenFailed(reason=reason):
                    failed = reason
        if not read:
            self._desk.say(f"nothing copied: {failed}")
            return
        less = f", {len(entries) - len(read)} could not be read" if len(read) < len(entries) else ""
        text = safe("\n\n".join(whole(record) for record in read)) + "\n"
        await self._put(text, f"{_counted(len(read), 'record')}{less}")

    async def _put(self, text: str, what: str) -> None:
        copied = await self._clipboard.copy(text)
        self._desk.say(f"{what} copied {copied.said}")


def _counted(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"
