"""The settings: read, looked through, changed one by one."""

from collections.abc import Mapping

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.screens.settings import SettingsScreen
from tui.state.adjusting import Setting, changed
from worker.contract.errors import MemError


class Adjusting:
    """What is typed for a value is checked by the worker; a value that it refuses stays in the line."""

    def __init__(self, desk: Desk, asking: Asking) -> None:
        self._desk = desk
        self._asking = asking

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "settings": self.settings, "change_setting": self.change, "leave_settings": self.leave,
            "next_setting": lambda: self._go("do_down"), "last_setting": lambda: self._go("do_up"),
            "page_of_settings": lambda: self._go("do_page_down"), "page_before": lambda: self._go("do_page_up"),
        }  # fmt: skip

    def settings(self) -> None:
        """All of them."""
        if not isinstance(self._desk.screen, SettingsScreen):
            screen = SettingsScreen(self._desk.look, self._desk.state)
            self._desk.put_up(screen)
            self._desk.background("settings", self._read, screen)

    def change(self) -> None:
        """Type a value for the one under the cursor; or keep what was typed."""
        screen = self._desk.screen
        if not isinstance(screen, SettingsScreen):
            return
        if screen.editing is not None:
            self._keep(screen, screen.editing)
        elif (setting := screen.page.chosen) is None:
            self._desk.say("no setting here to change")
        elif not setting.known:
            self._desk.say(f"{setting.name} is no setting of ours, and is left alone")
        else:
            screen.edit(setting)

    def leave(self) -> None:
        """The value stays as it is; nothing being typed, the settings are closed."""
        screen = self._desk.screen
        if not isinstance(screen, SettingsScreen):
            return
        if screen.editing is not None:
            screen.done()
        else:
            self._desk.take_down()

    def _go(self, way: str) -> None:
        screen = self._desk.screen
        if isinstance(screen, SettingsScreen) and screen.editing is None:
            getattr(screen.page, way)()

    def _keep(self, screen: SettingsScreen, setting: Setting) -> None:
        changes = changed(setting, screen.box.value)
        if changes:
            self._desk.background("settings", self._send, screen, changes)
        else:
            screen.done()
            self._desk.say(f"{setting.name} is left as it is")

    async def _send(self, screen: SettingsScreen, changes: Mapping[str, str]) -> None:
        said, kept = await self._asking.gateway.kept.changed(changes)
        if not kept:
            screen.refuse(said)
            return
        screen.done()
        self._desk.say(said)
        await self._read(screen)

    async def _read(self, screen: SettingsScreen) -> None:
        try:
            screen.offer(await self._asking.gateway.kept.read())
        except MemError as error:
            screen.fail(error.message)
