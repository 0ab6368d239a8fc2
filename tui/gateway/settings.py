"""Questions about the settings, and changes to them."""

from collections.abc import Mapping
from typing import Any

from tui.gateway.line import Line
from worker.contract import calls
from worker.contract.errors import MemError


class KeptSettings:
    """Of one worker."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def read(self) -> dict[str, Any]:
        """All of them with their values, secrets masked. Errors: ``MemError``."""
        return await self._line.send(calls.settings())

    async def changed(self, changes: Mapping[str, str]) -> tuple[str, bool]:
        """What came of it in a word, and whether they are kept."""
        try:
            return (await self._line.send(calls.change_settings(changes))).message, True
        except MemError as error:
            return error.message, False
