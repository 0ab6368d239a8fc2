"""The app under the prompt: records are chosen in it, for whoever started it."""

from tui import messages
from tui.app import MemoryApp
from tui.screens.drawn import DrawnScreen
from tui.screens.pick import PickScreen
from worker.contract.records import RecordKey

_LEFT = 130


class PickApp(MemoryApp):
    """picked: the keys chosen, in the order they were marked; none where it was left without."""

    picked: tuple[RecordKey, ...] = ()

    def get_default_screen(self) -> DrawnScreen:
        """Box and list, and nothing more."""
        return PickScreen(self.look, self.state)

    def on_wanted(self, message: messages.Wanted) -> None:
        """An action of the few there are."""
        message.prevent_default()  # Textual would hand it to the other app's handler as well
        match message.action:
            case "choose":
                self._choose()
            case "leave":
                self.exit(return_code=_LEFT)
            case _:
                super().on_wanted(message)

    def _choose(self) -> None:
        chosen = self.state.basket.entries or ((self.state.entry,) if self.state.entry is not None else ())
        if not chosen:
            self.say("there is nothing to choose; Esc leaves")
            return
        self.picked = tuple(entry.key for entry in chosen)
        self.exit()

    def action_help_quit(self) -> None:
        """Ctrl+C."""
        self.exit(return_code=_LEFT)

    async def action_quit(self) -> None:
        """Ctrl+Q."""
        self.exit(return_code=_LEFT)
