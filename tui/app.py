"""Frame and wiring: intents → gateway, facts → store, states → screens."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from msgspec.structs import replace
from textual import constants, events
from textual.theme import Theme
from textual.widget import AwaitMount
from textual.worker import Worker, WorkerState

from tui import hangup, messages, styles
from tui import kept as kept_file
from tui.cells.glyphs import ASCII
from tui.cells.look import Look
from tui.deeds.keeping import Keeping
from tui.deeds.table import Deed
from tui.keymap import places, table
from tui.keymap.chosen import Chosen, led
from tui.screens import themes
from tui.screens.drawn import DrawnScreen
from tui.screens.workspace import Workspace
from tui.state import facts, spans, wishes
from tui.state.basket import Basket
from tui.state.facts import Fact
from tui.state.model import Ask, ViewState
from tui.state.reasons import CHANGING, why_not
from tui.state.saved import begun
from tui.state.store import Store
from tui.widgets.paint import Acts
from tui.widgets.thrift import ThriftyApp
from tui.widgets.turns import Turns, Typed
from worker.contract.query import parse
from worker.contract.settings import Settings

if TYPE_CHECKING:
    from tui.deeds.asking import Asking
    from tui.deeds.crew import Crew
    from tui.deeds.whole import Whole
    from tui.gateway.front import Gateway

P = ParamSpec("P")
_ENDS = (signal.SIGTERM, signal.SIGHUP)
_INPUT = 0
_SENT_S = 0.01
"""A thread writes what is painted: it gets this long before there is other work."""


class MemoryApp(ThriftyApp):
    """The terminal app. kept: the file of what outlives it. environ: of its terminal, for the clipboard.

    guarded: whatever would change a memory is refused. keys: of a person's own. open_gateway: makes the gateway of a
    memory; nothing is asked of it before the first paint. painted: called after that.
    """

    TITLE = "claude-mem"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        settings: Settings,
        look: Look,
        *,
        project: str | None = None,
        text: str = "",
        kept: Path | None = None,
        restore: bool = True,
        environ: Mapping[str, str] | None = None,
        guarded: bool = False,
        program: str = "claude-mem",
        keys: Chosen | None = None,
        open_gateway: "Callable[[Settings], Gateway] | None" = None,
        painted: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(css_path=[*styles.first()])
        self._settings = settings
        self.look = look
        self._environ = environ or {}
        self._open_gateway = open_gateway
        self._crew: Crew | None = None
        self._whole: Whole | None = None
        self._deeds: dict[str, Deed] = {}
        self._curtain = ExitStack()
        self._painted = painted
        self._wanted_theme = ""
        self.faults: list[BaseException] = []
        self.turns = Turns(self)
        budget = settings.basket_budget_tokens
        place = settings.url if settings.remote else str(settings.database)
        state = ViewState(
            place=place,
            program=program,
            demo=settings.demo,
            remote=settings.remote,
            guarded=guarded,
            keys=keys.keys if keys is not None else {},
            key_notes=keys.notes if keys is not None else (),
            home=project,
            basket=Basket(budget_tokens=budget, usual_tokens=budget),
            ask=Ask(text=text, project=project),
        )
        if kept is not None and restore:
            saved = kept_file.load(kept)
            state, self._wanted_theme = begun(state, saved), saved.theme
        state = replace(state, ask=replace(state.ask, as_of_ms=self._as_of(state.ask.text)))
        self.keeping = Keeping(self, kept, lambda: self.theme)
        self.store = Store(state)
        self.workspace = Workspace(look, state)
        for theme in themes.THEMES:
            self.register_theme(theme)
        if constants.DEFAULT_THEME == "textual-dark":  # none was chosen by TEXTUAL_THEME
            known = self._wanted_theme in self.available_themes
            # Without its watchers, which would have all sheets read a second time.
            self.set_reactive(MemoryApp.theme, self._wanted_theme if known else themes.DARK.name)
            self.stylesheet.set_variables(self.get_css_variables())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own variables, for themes that are not ours."""
        return themes.missing(self.current_theme)

    @property
    def state(self) -> ViewState:
        """What is shown."""
        return self.store.state

    @property
    def columns(self) -> int:
        """Cells of a line of the screen."""
        return self.size.width

    def _write(self, sequence: str) -> None:
        """Hand a sequence to the terminal. Textual itself can only send a copy, and only one that is not wrapped."""
        if self._driver is not None:
            self._driver.write(sequence)

    def on_load(self) -> None:
        """Leave by the door on these signals, before the terminal is taken over: it is given back as it was."""
        loop = asyncio.get_running_loop()
        for number in _ENDS:
            loop.add_signal_handler(number, self._end, number)
        # Known before anything is styled: each class more that comes after that styles all once more.
        few = self.no_color or self.console.color_system in (None, "standard")
        known = {"few-colours": few, "ascii": self.look.glyphs is ASCII, "terminal-colours": self.current_theme.ansi}
        for name in (name for name, so in known.items() if so):
            self.stylesheet.read(styles.for_terminal(name))
        self.update_classes({f"-{name}": so for name, so in known.items()}, update=False)
        self._curtain.enter_context(self.batch_update())

    def _end(self, number: signal.Signals) -> None:
        """The exit code is the one a shell gives to who dies of the signal; a second signal does kill."""
        self._free_signals()
        self.exit(return_code=128 + number)

    def _hung_up(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # it ends already
            loop.call_soon_threadsafe(self._end, signal.SIGHUP)

    def _free_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _ENDS:
            loop.remove_signal_handler(number)

    def on_mount(self) -> None:
        """Get ready to paint."""
        self.theme_changed_signal.subscribe(self, self._wear_terminal_colours)
        self.animation_level = "none"  # a wheel that scrolls smoothly paints ten screens for one
        self.store.subscribe(self._changed)
        self.call_next(AwaitMount(self.screen, [self.screen]))  # what is typed by now waits for somebody to have it
        if not self.is_headless:
            hangup.watch(_INPUT, partial(self._hung_up, asyncio.get_running_loop()))
        if self.state.key_notes:
            more = (
                f" (and {len(self.state.key_notes) - 1} more; {{guide}} lists them)"
                if len(self.state.key_notes) > 1
                else ""
            )
            self.say(f"keymap.toml: {self.state.key_notes[0]}{more}")

    def on_ready(self) -> None:
        """Paint, now that each widget knows how large it is; whoever has work to do is called after that."""
        self._curtain.close()
        self.screen.refresh()
        self.call_after_refresh(self.later, _SENT_S, self._begin)

    def _begin(self) -> None:
        self.crew.linking.link_up()
        self._painted()

    def _wear_terminal_colours(self, theme: Theme) -> None:
        """What lies under the cursor is told by turning the colours round, where we do not know them."""
        sheet = styles.for_terminal("terminal-colours")
        if theme.ansi and not self.stylesheet.has_source(str(sheet)):
            self.stylesheet.read(sheet)
            self.stylesheet.reparse()
        self.set_class(theme.ansi, "-terminal-colours")

    def get_default_screen(self) -> DrawnScreen:
        """The screen below all others."""
        return self.workspace

    async def on_unmount(self) -> None:
        """Leave nothing open."""
        self._free_signals()
        self.keeping.close()
        if self._crew is not None:
            await self._crew.asking.gateway.close()

    async def on_event(self, event: events.Event) -> None:
        """What is typed is handed on in its turn."""
        if not isinstance(event, Typed) or event.is_forwarded:
            await super().on_event(event)
        elif self.turns.has(event):
            target, meant = self.turns.target, self._meant(event)
            if meant is None:
                self.post_message(messages.Wanted("unknown", self.place))
            else:
                await super().on_event(meant)
            self.turns.gone(meant or event, target)

    def _meant(self, typed: Typed) -> Typed | None:
        """A key of a person's own is turned into the one of the tables before anybody sees it; None: it has none."""
        if not isinstance(typed, events.Key) or not self.state.keys:
            return typed
        there = led(self.state.keys, self.place).get(typed.key, typed.key)
        if there is None or there == typed.key:
            return None if there is None else typed
        return events.Key(there, there if len(there) == 1 else None)

    def tell(self, fact: Fact) -> None:
        """Something became known."""
        self.store.tell(fact)

    def say(self, text: str) -> None:
        """A word in the bottom line, until the next key."""
        self.tell(facts.Said(text))

    @property
    def crew(self) -> "Crew":
        """Who does what. A key that comes before they are called calls them."""
        if self._crew is None:
            from tui.deeds.crew import Crew  # 40 ms, for the first paint

            self._crew = Crew(self, self._settings, self._environ, self._write, self._open_gateway)
            self._deeds |= self._crew.deeds
        return self._crew

    @property
    def asking(self) -> "Asking":
        """Who asks the worker."""
        return self.crew.asking

    @property
    def whole(self) -> "Whole":
        """The screens about the memory as a whole, and what is done on them."""
        if self._whole is None:
            from tui.deeds.whole import Whole  # 25 ms, for the first paint

            self._whole = Whole(self, self.crew.asking, self.crew.linking, self.crew.copying)
        return self._whole

    def _deed(self, action: str) -> Deed:
        if action not in self.crew.deeds:
            self._deeds |= self.whole.deeds()
        return self._deeds[action]

    # State → screens and questions

    def _changed(self, before: ViewState, state: ViewState) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, DrawnScreen):
                screen.show(state)
        if self._crew is not None:
            self._crew.changed(before, state)
        if self._whole is not None:
            self._whole.changed(before, state)
        if state.demo is self._settings.demo:
            self.keeping.changed(state)

    def background(self, group: str, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
        """Work in the background, instead of what was going on in the group.

        The call is made by the worker: made here, it would be left over when another comes before it has begun.
        """
        self.run_worker(partial(work, *args, **kwargs), group=group, exclusive=True, exit_on_error=False)

    def stop(self, *groups: str) -> None:
        """End the work of these groups."""
        for group in groups:
            self.workers.cancel_group(self, group)

    def busy(self, group: str) -> bool:
        """Whether work of the group is going on."""
        return any(worker.group == group and worker.is_running for worker in self.workers)

    def later(self, pause_s: float, act: Callable[[], None]) -> Callable[[], None]:
        """Act after a pause, unless what is given back is called before."""
        return self.set_timer(pause_s, act).stop

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of our own is said, not hidden, and what was typed stays."""
        error = event.worker.error
        if event.state is WorkerState.ERROR and error is not None:
            self.faults.append(error)
            self.log.error(f"{event.worker.group}: {error!r}")
            reason = f"internal fault: {error!r}"
            if event.worker.group == "list" and (self.state.waiting or self.state.merging):
                self.tell(facts.ListFailed(self.state.seq, reason))
            self.say(reason)

    # Intents

    def on_typed(self, message: messages.Typed) -> None:
        """Another text in the box, or the one it is left with: what cannot be read in that is worth a word now."""
        if not message.left:
            self.tell(facts.Typed(message.text, as_of_ms=self._as_of(message.text)))
        elif self._passed_over(message.text):
            self.tell(facts.Typed(message.text, final=True, as_of_ms=self._as_of(message.text)))
        if message.full:
            self.say("the search box is full; what is typed or pasted beyond it is left out")

    def _passed_over(self, text: str) -> bool:
        """Whether the text ends in a filter that is only left alone while it may still be typed."""
        now, zone = self.look.now_ms(), self.look.zone
        said, typed = (parse(text, now_epoch_ms=now, zone=zone, typing=typing) for typing in (False, True))
        return said.notes != typed.notes

    def _as_of(self, text: str) -> int | None:
        return spans.as_of(text, self.look.now_ms(), self.look.zone)

    def on_moved(self, message: messages.Moved) -> None:
        """The list's cursor."""
        self.tell(facts.Moved(message.by, message.to))

    def on_viewed(self, message: messages.Viewed) -> None:
        """Other rows on the screen."""
        self.tell(facts.Viewed(message.first, message.last))

    def on_known(self, message: messages.Known) -> None:
        """What a person did in a widget."""
        self.tell(message.fact)

    def on_told(self, message: messages.Told) -> None:
        """A word about what a widget did."""
        self.say(message.text)

    def on_wanted(self, message: messages.Wanted) -> None:
        """An action of the keymap."""
        self.say("")
        if self.state.guarded and message.action in CHANGING:
            self.say(f"{table.named(message.action).label}: {why_not(self.state, message.action)}")
            return
        whole = isinstance(self.screen, DrawnScreen) and self.screen.WHOLE_RECORD
        fact = wishes.fulfilled(self.state, message.action, whole_record=whole)
        if fact is not None:
            self.tell(fact)
        else:
            self._deed(message.action)()

    # What deeds use of the app

    @property
    def place(self) -> str:
        """Where in the keymap the focus is."""
        return str(getattr(self.screen.focused, "PLACE", places.LIST))

    def put_up(self, screen: DrawnScreen) -> None:
        """A screen on top of the others."""
        self.push_screen(screen)

    def take_down(self) -> None:
        """Back to the screen below."""
        self.pop_screen()

    def do(self, action: str) -> None:
        """Do an action as if its key had been pressed where the focus is, once that is settled."""
        self.turns.owe()
        self.call_after_refresh(self._do, action)

    def _do(self, action: str) -> None:
        if isinstance(self.screen.focused, Acts):
            self.screen.focused.action_act(action)
        self.turns.settle()

    def themes(self) -> Mapping[str, bool]:
        """The themes by name, each with whether it is the one that is worn."""
        return {name: name == self.theme for name in self.available_themes}

    def wear(self, theme: str | None) -> None:
        """Other colours; None: dark ones where they are light, and the other way round."""
        self.theme = theme or (themes.LIGHT.name if self.current_theme.dark else themes.DARK.name)
        self.keeping.changed(self.state)

    def leave(self) -> None:
        """End the app."""
        self.exit()

    def action_help_quit(self) -> None:
        """Ctrl+C, which quits elsewhere."""
        self.say("{quit} quits from the list; Ctrl+Q from anywhere")
