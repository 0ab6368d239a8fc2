"""What the palette offers: the keys of a place, projects, themes."""

from collections.abc import Callable, Mapping, Sequence

from tui.deeds.asking import Asking
from tui.deeds.desk import Desk
from tui.deeds.table import Deed
from tui.keymap import table
from tui.keymap.chosen import keyed, shown
from tui.screens.palette import PaletteScreen
from tui.screens.survey import SurveyScreen
from tui.screens.workspace import Workspace
from tui.state import facts, scopes
from tui.state.model import ViewState
from tui.state.palette import Item, places
from tui.state.reasons import why_not
from tui.state.sought import Sought

_SCOPES = {"project": "this project", "worktrees": "worktrees too", "session": "this session"}
_NOT_LISTED = {"down", "up", "page_down", "page_up", "top", "bottom", "palette", "leave_box", "clear", "jump"}
"""Moves are not looked for by name."""


def of_place(place: str, state: ViewState) -> list[Item]:
    """What the keys of a place do."""
    return [
        Item(
            "key",
            action.name,
            action.label,
            action.help,
            shown(action, state.keys),
            keyed(why_not(state, action.name), state.keys),
        )
        for action in table.at(place)
        if action.name not in _NOT_LISTED
    ]


def scopes_of(state: ViewState) -> list[Item]:
    """What the list can be of without a name being typed; all projects are offered with the projects."""
    now = scopes.here(state.ask)
    return [
        Item(
            "session" if scope.session else "scope",
            scope.session or scope.project or "",
            _SCOPES[scopes.kind(scope)],
            scopes.told(scope),
            reason="shown now" if scope == now else "",
        )
        for scope in scopes.ring(state)
        if scope != scopes.Scope()
    ]


def searches(state: ViewState) -> list[Item]:
    """The searches that are kept."""
    return [
        Item("search", str(number), text, f"in {project}" if project is not None else "in all projects")
        for number, (text, project) in enumerate(state.searches)
    ]


def themes(worn: Mapping[str, bool]) -> list[Item]:
    """The themes; the one that is worn says so."""
    return [Item("theme", name, name, "colours", reason="shown now" if worn[name] else "") for name in sorted(worn)]


class Commanding:
    """Opens the palette, moves in it, does what was chosen."""

    def __init__(self, desk: Desk, asking: Asking) -> None:
        self._desk = desk
        self._asking = asking

    def deeds(self) -> Mapping[str, Deed]:
        """Action → what it does."""
        return {
            "palette": self.palette, "next_item": self.next_item, "last_item": self.last_item, "leave": self.leave,
            "choose": self.choose, "theme": self.theme,
        }  # fmt: skip

    def palette(self) -> None:
        """Everything that can be done where the focus is."""
        desk = self._desk
        if isinstance(desk.screen, PaletteScreen):
            return
        items = of_place(desk.place, desk.state)
        if isinstance(desk.screen, Workspace):
            items = searches(desk.state) + items + scopes_of(desk.state) + themes(desk.themes())
        palette = PaletteScreen(desk.look, desk.state, items)
        if isinstance(desk.screen, Workspace | SurveyScreen):
            desk.background("projects", self._projects, palette.offer)
        desk.put_up(palette)

    async def _projects(self, offer: Callable[[Sequence[Item]], None]) -> None:
        names = await self._asking.gateway.memory.projects()
        if names:
            ask = self._desk.state.ask
            offer(places(names, ask.project, everything=ask.project is None and not ask.session))

    def next_item(self) -> None:
        """One command down."""
        if isinstance(self._desk.screen, PaletteScreen):
            self._desk.screen.page.do_down()

    def last_item(self) -> None:
        """One command up."""
        if isinstance(self._desk.screen, PaletteScreen):
            self._desk.screen.page.do_up()

    def leave(self) -> None:
        """Close the palette."""
        if isinstance(self._desk.screen, PaletteScreen):
            self._desk.take_down()

    def choose(self) -> None:
        """Do the command under the cursor."""
        screen = self._desk.screen
        if not isinstance(screen, PaletteScreen) or (item := screen.chosen) is None:
            return
        if item.reason:
            self._desk.say(f"{item.label}: {item.reason}")
            return
        self._desk.take_down()
        match item.kind:
            case "session":
                self._desk.tell(facts.Scoped(None, item.name))
            case "project" | "scope":
                self._desk.tell(facts.Scoped(item.name or None))
            case "search":
                text, project = self._desk.state.searches[int(item.name)]
                self._desk.workspace.search.box.value = text
                self._desk.tell(Sought(text, project))
            case "theme":
                self._desk.wear(item.name)
            case _:
                self._desk.do(item.name)

    def theme(self) -> None:
        """Dark or light."""
        self._desk.wear(None)
