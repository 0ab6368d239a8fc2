"""Frame and wiring: intents → gateway, facts → store, states → screens."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import ParamSpec

from textual import constants
from textual.app import App
from textual.worker import Worker, WorkerState

from tui import kept as kept_file
from tui import keymap, messages, styles
from tui.cells.glyphs import ASCII
from tui.cells.look import Look
from tui.clipboard import Clipboard
from tui.deeds import commanding
from tui.deeds.asking import Asking
from tui.deeds.commanding import Commanding
from tui.deeds.copying import Copying
from tui.deeds.keeping import Keeping
from tui.gateway import Gateway
from tui.screens import themes
from tui.screens.basket import BasketScreen
from tui.screens.drawn import DrawnScreen
from tui.screens.filters import FilterScreen
from tui.screens.guide import GuideScreen
from tui.screens.palette import PaletteScreen
from tui.screens.record import RecordScreen
from tui.screens.score import ScoreScreen
from tui.screens.workspace import Workspace
from tui.state import chips, facts, reading, wishes
from tui.state.basket import Marked, SpanBegun
from tui.state.facts import Fact
from tui.state.filters import ChoosingBegun
from tui.state.model import Ask, Link, View, ViewState
from tui.state.needs import NeedRecord, NeedTrack
from tui.state.saved import begun
from tui.state.store import Store
from tui.widgets.paint import Acts
from worker.contract.query import parse
from worker.contract.search import Entry
from worker.contract.settings import Settings

P = ParamSpec("P")
_FLUSH_S = 0.25
_ENDS = (signal.SIGTERM, signal.SIGHUP)


class MemoryApp(App[None]):
    """The terminal app. kept: the file of what outlives it. environ: of its terminal, for the clipboard.

    open_gateway: makes the gateway of a memory; nothing is asked of it before the first paint.
    """

    TITLE = "claude-mem"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        settings: Settings,
        look: Look,
        *,
        project: str | None = None,
        kept: Path | None = None,
        restore: bool = True,
        environ: Mapping[str, str] | None = None,
        open_gateway: Callable[[Settings], Gateway] = Gateway,
    ) -> None:
        super().__init__(css_path=[*styles.sheets()])
        self._settings = settings
        self._look = look
        self._open_gateway = open_gateway
        self.asking = Asking(self, open_gateway(settings))
        self.commanding = Commanding(self, self.asking)
        self.copying = Copying(self, self.asking, Clipboard(environ or {}, self._write))
        self._wanted_theme = ""
        self._news = 0
        self._queued: int | None = None
        self._flush_waits = False
        self.faults: list[BaseException] = []
        state = ViewState(place=str(settings.database), demo=settings.demo, home=project, ask=Ask(project=project))
        if kept is not None and restore:
            saved = kept_file.load(kept)
            state, self._wanted_theme = begun(state, saved), saved.theme
        self.keeping = Keeping(self, kept, lambda: self.theme)
        self.store = Store(state)
        self.workspace = Workspace(look, state)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own variables, for themes that are not ours."""
        return {"quiet": "#8b9099", "faint": "#6b7079", "cursor-line": "#8b9099 25%"}

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

    @property
    def _gateway(self) -> Gateway:
        return self.asking.gateway

    def on_load(self) -> None:
        """Leave by the door on these signals, before the terminal is taken over: it is given back as it was."""
        loop = asyncio.get_running_loop()
        for number in _ENDS:
            loop.add_signal_handler(number, self._end, number)

    def _end(self, number: signal.Signals) -> None:
        """The exit code is the one a shell gives to who dies of the signal; a second signal does kill."""
        self._free_signals()
        self.exit(return_code=128 + number)

    def _free_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _ENDS:
            loop.remove_signal_handler(number)

    def on_mount(self) -> None:
        """Paint first; look for the worker after that."""
        for theme in themes.THEMES:
            self.register_theme(theme)
        if constants.DEFAULT_THEME == "textual-dark":  # none was chosen by TEXTUAL_THEME
            known = self._wanted_theme in self.available_themes
            self.theme = self._wanted_theme if known else themes.DARK.name
        if self.no_color or self.console.color_system in (None, "standard"):
            self.add_class("-few-colours")
        if self._look.glyphs is ASCII:
            self.add_class("-ascii")
        self.animation_level = "none"  # a wheel that scrolls smoothly paints ten screens for one
        self.store.subscribe(self._changed)
        self.push_screen(self.workspace)
        self.call_after_refresh(self._link_up)

    async def on_unmount(self) -> None:
        """Leave nothing open."""
        self._free_signals()
        self.keeping.close()
        await self._gateway.close()

    def tell(self, fact: Fact) -> None:
        """Something became known."""
        self.store.tell(fact)

    def say(self, text: str) -> None:
        """A word in the bottom line, until the next key."""
        self.tell(facts.Said(text))

    # State → screens and questions

    def _changed(self, before: ViewState, state: ViewState) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, DrawnScreen):
                screen.show(state)
        self.asking.changed(before, state)
        if state.demo is self._settings.demo:
            self.keeping.changed(state)

    def background(self, group: str, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
        """Work in the background, instead of what was going on in the group.

        The call is made by the worker: made here, it would be left over when another comes before it has begun.
        """
        self.run_worker(partial(work, *args, **kwargs), group=group, exclusive=True, exit_on_error=False)

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

    # Questions to the gateway

    def _link_up(self) -> None:
        self.background("link", self._link)

    async def _link(self) -> None:
        self.tell(facts.Starting())
        fact = await self._gateway.start()
        if isinstance(fact, facts.Connected) and self.state.awaited is not None:
            self.tell(await self._gateway.found(self.state.awaited))
        self.tell(fact)
        if isinstance(fact, facts.Failed):
            return
        self.asking.refill()
        self.tell(await self._gateway.counted())
        async for fact in self._gateway.follow():
            self._heard(fact)

    def _heard(self, fact: Fact) -> None:
        if not isinstance(fact, facts.News):
            self.tell(fact)
            return
        self._news += fact.count
        self._queued = fact.queued if fact.queued is not None else self._queued
        if not self._flush_waits:
            self._flush_waits = True
            self.set_timer(_FLUSH_S, self._pass_news_on)

    def _pass_news_on(self) -> None:
        self._flush_waits = False
        news, self._news = self._news, 0
        first = self.state.empty_memory and news > 0
        self.tell(facts.News(news, self._queued))
        if first:
            self._refresh()

    # Intents

    def on_typed(self, message: messages.Typed) -> None:
        """Another text in the box, or the one it is left with: what cannot be read in that is worth a word now."""
        if not message.left:
            self.tell(facts.Typed(message.text))
        elif self._passed_over(message.text):
            self.tell(facts.Typed(message.text, final=True))
        if message.full:
            self.say("the search box is full; what is typed or pasted beyond it is left out")

    def _passed_over(self, text: str) -> bool:
        """Whether the text ends in a filter that is only left alone while it may still be typed."""
        now, zone = self._look.now_ms(), self._look.zone
        said, typed = (parse(text, now_epoch_ms=now, zone=zone, typing=typing) for typing in (False, True))
        return said.notes != typed.notes

    def on_moved(self, message: messages.Moved) -> None:
        """The list's cursor."""
        self.tell(facts.Moved(message.by, message.to))

    def on_viewed(self, message: messages.Viewed) -> None:
        """Other rows on the screen."""
        self.tell(facts.Viewed(message.first, message.last))

    def on_told(self, message: messages.Told) -> None:
        """A word about what a widget did."""
        self.say(message.text)

    def on_wanted(self, message: messages.Wanted) -> None:
        """An action of the keymap."""
        self.say("")
        fact = wishes.fulfilled(self.state, message.action, whole_record=isinstance(self.screen, RecordScreen))
        if fact is not None:
            self.tell(fact)
        else:
            getattr(self, f"_want_{message.action}")()

    def _want_hush(self) -> None:
        """Nothing but that the last word is over."""

    def _want_unknown(self) -> None:
        self.say("that key means nothing here; / searches, ? shows all keys")

    def _want_clear(self) -> None:
        self.workspace.hits.focus()

    def _want_open(self) -> None:
        if not isinstance(self.screen, Workspace):
            return  # typed ahead of the screen that is open by now
        entry = self.state.entry
        if entry is None:
            self.say("nothing to open here")
            return
        if self.state.shown_key != entry.key:
            self.asking.open_now(NeedRecord(entry, ()))
        self.push_screen(RecordScreen(self._look, self.state))
        self.tell(reading.Begun())

    def _want_swap(self) -> None:
        if self.state.view is View.TIMELINE:
            self.background("track", self._leave_timeline)
        elif self.state.entry is None:
            self.say("no record here to show the timeline around")
        else:
            key = self.state.entry.key
            self.asking.track(NeedTrack(key, key, self.state.ask.project))

    async def _leave_timeline(self) -> None:
        state, entry = self.state, self.state.entry
        if entry is None:
            self.tell(facts.ListChosen(None, None))
            return
        row = state.rows.find(entry.key)
        row = row if row is not None else await self._gateway.row_of(state.ask, entry)
        self.tell(facts.ListChosen(row, entry))
        if row is None:
            self.say(f"{entry.key} is not among the hits; the cursor is where it was")

    def _want_refresh(self) -> None:
        self._refresh()

    def _refresh(self) -> None:
        if self.state.link in (Link.FAILED, Link.LOST):
            self._link_up()
            return
        if self.state.link is Link.STARTING:
            self.say("the worker is being started; one moment")
            return
        self._gateway.forget()
        self.tell(facts.Refreshed())
        self.asking.count()

    def _want_demo(self) -> None:
        if self._settings.demo:
            self.say("started with --demo; start without it for your own memory")
        elif self.state.demo:
            self.background("switch", self._switch, self._settings)
        elif self.state.empty_memory:
            self.background("switch", self._switch, self._settings.for_demo())
        else:
            self.say("your memory is not empty; `claude-mem tui --demo` opens the demo beside it")

    async def _switch(self, settings: Settings) -> None:
        for group in ("link", "list", "pages", "preview", "track", "count"):
            self.workers.cancel_group(self, group)
        await self._gateway.close()
        self.asking.gateway = self._open_gateway(settings)
        self.tell(facts.Switched(str(settings.database), settings.demo))
        self.workspace.search.box.value = ""
        self.workspace.hits.focus()
        self._link_up()

    def _want_theme(self) -> None:
        self.theme = themes.LIGHT.name if self.current_theme.dark else themes.DARK.name
        self.keeping.changed(self.state)

    def _want_guide(self) -> None:
        if not isinstance(self.screen, GuideScreen):
            self.push_screen(GuideScreen(self._look.glyphs, self.state))

    def _want_filters(self) -> None:
        if self.state.empty_memory:
            self.say("there is nothing to filter yet")
        elif not isinstance(self.screen, FilterScreen):
            self.push_screen(FilterScreen(self._look, self.state))
            self.tell(ChoosingBegun(True))

    def _want_take(self) -> None:
        if isinstance(self.screen, FilterScreen) and (chip := self.screen.page.chip) is not None:
            self._retype(chips.toggled(self.state.ask.text, chip))

    def _want_unfilter(self) -> None:
        text = chips.shortened(self.state.ask.text)
        if text == self.state.ask.text:
            self.say("there is no filter in the query; f shows which there are")
        else:
            self._retype(text)

    def _retype(self, text: str) -> None:
        """Another text in the box, by a key: the same as typing it."""
        self.workspace.search.box.value = text
        self.tell(facts.Typed(text, final=True))

    def _want_palette(self) -> None:
        place = getattr(self.screen.focused, "PLACE", keymap.LIST)
        if isinstance(self.screen, PaletteScreen):
            return
        items = commanding.of_place(str(place), self.state)
        if isinstance(self.screen, Workspace):
            items += commanding.themes(self.available_themes, self.theme)
        palette = PaletteScreen(self._look, self.state, items)
        if isinstance(self.screen, Workspace):
            self.commanding.projects(palette.offer)
        self.push_screen(palette)

    def _want_next_item(self) -> None:
        if isinstance(self.screen, PaletteScreen):
            self.screen.page.do_down()

    def _want_last_item(self) -> None:
        if isinstance(self.screen, PaletteScreen):
            self.screen.page.do_up()

    def _want_leave(self) -> None:
        if isinstance(self.screen, PaletteScreen):
            self.pop_screen()

    def _want_choose(self) -> None:
        if not isinstance(self.screen, PaletteScreen) or (item := self.screen.chosen) is None:
            return
        if item.reason:
            self.say(f"{item.label}: {item.reason}")
            return
        self.pop_screen()
        match item.kind:
            case "project":
                self.tell(facts.Scoped(item.name or None))
            case "theme":
                self.theme = item.name
                self.keeping.changed(self.state)
            case _:
                self.call_after_refresh(self._act, item.name)

    def _act(self, name: str) -> None:
        """Do an action as if its key had been pressed where the focus is."""
        if keymap.named(name).at_once:
            self.workspace.action_at_once(name)
        elif isinstance(self.screen.focused, Acts):
            self.screen.focused.action_act(name)

    def _want_basket(self) -> None:
        if not isinstance(self.screen, BasketScreen):
            self.push_screen(BasketScreen(self._look, self.state))

    def _want_drop(self) -> None:
        if isinstance(self.screen, BasketScreen) and (entry := self.screen.page.entry) is not None:
            self.tell(Marked(entry))

    def _want_call(self) -> None:
        if self.state.basket.entries:
            self.copying.call(self.state.basket.entries)
        else:
            self.say("the basket is empty")

    def _want_copy_ids(self) -> None:
        if chosen := self._chosen():
            self.copying.ids(chosen)
        else:
            self.say("nothing to copy here")

    def _want_copy_text(self) -> None:
        if chosen := self._chosen():
            self.copying.text(chosen)
        else:
            self.say("nothing to copy here")

    def _chosen(self) -> tuple[Entry, ...]:
        """What a copy is of: the record on the whole screen, else all that is marked, else the one at the cursor."""
        here = (self.state.subject,) if self.state.subject is not None else ()
        if isinstance(self.screen, RecordScreen):
            return here
        return self.state.basket.entries or (() if isinstance(self.screen, BasketScreen) else here)

    def _want_score(self) -> None:
        if self.state.entry is None:
            self.say("no record here to show the score of")
        elif not isinstance(self.screen, ScoreScreen):
            self.push_screen(ScoreScreen(self._look, self.state))

    def _want_back(self) -> None:
        if isinstance(self.screen, Workspace):
            self.workspace.hits.focus()
        else:
            self._close()

    def _close(self) -> None:
        """Back to the screen below."""
        if isinstance(self.screen, FilterScreen):
            self.tell(ChoosingBegun(False))
        elif isinstance(self.screen, RecordScreen):
            self.tell(reading.Ended())
        self.pop_screen()

    def _want_undo(self) -> None:
        if self.state.basket.span_from is not None:
            self.tell(SpanBegun(None))
        elif self.state.view is View.TIMELINE:
            self._want_swap()
        else:
            self.say("q quits")

    def _want_quit(self) -> None:
        if not isinstance(self.screen, Workspace):
            self._close()  # typed ahead, and meant for the screen that is open by now
        elif self.state.view is View.TIMELINE:
            self._want_swap()
        else:
            self.exit()

    def action_help_quit(self) -> None:
        """Ctrl+C, which quits elsewhere."""
        self.say("q quits from the list; Ctrl+Q from anywhere")
