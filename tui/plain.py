"""The app as lines: a question, an answer, one record a line; for screen readers, dumb terminals and pipes.

The same state, facts and questions as on the screen; nothing is drawn, nothing moves, nothing comes unasked.
"""

import asyncio
import codecs
import contextlib
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TextIO

from tui.cells import lines as told
from tui.cells.clean import safe
from tui.cells.look import Look, full
from tui.deeds import telling
from tui.gateway.front import Gateway
from tui.state import facts, spans
from tui.state.basket import Marked, ids
from tui.state.model import Link, View, ViewState
from tui.state.needs import NeedList, need_track
from tui.state.reasons import why_not
from tui.state.store import Store
from worker.contract.search import Entry

ROWS = 10
_QUESTION = re.compile(r"k\s+(?P<number>\d{1,9})\s+(?P<text>\S.*)")
_DEED = re.compile(r"(?P<name>[a-z]|\?)?\s*(?P<number>\d{1,9})?")
PROMPT = "> "


class Plain:
    """Reads a line, answers it, until there is none.

    ask: whether a prompt is shown before each line, which in a pipe nobody wants.
    """

    def __init__(self, gateway: Gateway, state: ViewState, look: Look, out: TextIO, *, ask: bool) -> None:
        self._gateway = gateway
        self._store = Store(state)
        self._look = look
        self._out = out
        self._ask = ask
        self._shown: tuple[Entry, ...] = ()
        self._next = 0
        self._known = (Link.STARTING, 0)
        self._following: asyncio.Task[None] | None = None

    @property
    def _state(self) -> ViewState:
        return self._store.state

    async def run(self, source: int) -> int:
        """The exit code, once the lines are over or somebody quits; 1 when there was nobody to ask.

        source: number of the file that the lines are in.
        """
        code = await self._begin()
        if code == 0:
            async for line in self._lines(source):
                if not await self._answered(line.strip()):
                    break
        if self._following is not None:
            self._following.cancel()
        await self._gateway.close()
        return code

    async def _begin(self) -> int:
        fact = await self._gateway.start()
        self._store.tell(fact)
        if isinstance(fact, facts.Failed):
            self._say(told.trouble(self._state))
            return 1
        self._store.tell(await self._gateway.memory.counted())
        self._say(told.greeting(self._state))
        if self._state.ask.text:
            await self._search()
        self._following = asyncio.create_task(self._follow())
        return 0

    async def _follow(self) -> None:
        async for fact in self._gateway.follow():
            if isinstance(fact, facts.News | facts.StreamOpen | facts.StreamLost):
                self._store.tell(fact)

    async def _lines(self, source: int) -> AsyncIterator[str]:
        """The lines as they are typed. Read on a thread that nobody waits for at the end."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[str | None] = asyncio.Queue()

        def put(line: str | None) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
                loop.call_soon_threadsafe(queue.put_nowait, line)

        threading.Thread(target=_read, args=(source, put), name="lines", daemon=True).start()
        while True:
            if self._ask:
                self._out.write(PROMPT)
                self._out.flush()
            line = await queue.get()
            if line is None:
                return
            yield line

    async def _answered(self, line: str) -> bool:
        """Do what a line asks for; whether there is to be another."""
        match = _DEED.fullmatch(line)
        if not line:
            return True
        if (question := _QUESTION.fullmatch(line)) is not None:
            await self._consult(int(question["number"]), question["text"])
            return True
        if match is None or line.startswith("/"):
            self._store.tell(self._typed(line.removeprefix("/").strip()))
            await self._search()
            return True
        name, number = match["name"] or "o", match["number"]
        if name == "q" and number is None:
            return False
        await self._done(name, int(number) if number is not None else None)
        return True

    async def _done(self, name: str, number: int | None) -> None:
        match name:
            case "n":
                await self._more()
            case "o" | "t" | "m":
                entry = self._entry(number)
                if entry is None:
                    self._say([f"There is no number {number or 1} in the last list."])
                else:
                    await self._one(name, entry)
            case "b":
                self._say(told.basket(self._state.basket))
            case "a":
                self._store.tell(facts.Typed("", final=True))
                await self._search()
            case "s":
                await self._scope(number)
            case "r":
                self._store.tell(facts.Refreshed(top=True))
                await self._search()
            case "c" | "l" | "p" | "w":
                self._say(await telling.told(name, self._gateway.surveys, self._state, self._look, self._entry(None)))
            case "k":
                await self._consult(number, "")
            case "h" | "?":
                self._say(told.HELP)
            case _:
                self._say([f"{name} means nothing here; h tells what does. To search for it, type /{name}."])

    def _typed(self, text: str) -> facts.Typed:
        return facts.Typed(text, final=True, as_of_ms=spans.as_of(text, self._look.now_ms(), self._look.zone))

    async def _consult(self, number: int | None, question: str) -> None:
        """The corpora; one of them; what it answers."""
        if question and self._state.guarded:
            self._say([f"ask: {why_not(self._state, 'ask_corpus')}."])
            return
        if question:
            self._say(["Asking; a model may take minutes."])
        self._say(await telling.consulted(self._gateway.corpora, number, question, self._look))

    async def _one(self, name: str, entry: Entry) -> None:
        match name:
            case "m":
                self._store.tell(Marked(entry))
                marked = self._state.basket.has(entry.key)
                self._say([f"{'Marked' if marked else 'No longer marked'}: {ids([entry])}."])
            case "t":
                await self._timeline(entry)
            case _:
                await self._open(entry)

    async def _scope(self, number: int | None) -> None:
        """Only the project of a record in the list; all again without a number."""
        entry = self._entry(number) if number is not None else None
        if number is not None and entry is None:
            self._say([f"There is no number {number} in the last list."])
            return
        self._store.tell(facts.Scoped(entry.project if entry is not None else None))
        await self._search()

    async def _search(self) -> None:
        state = self._state
        fact = await self._gateway.lists.listed(NeedList(state.seq, state.ask, None, None, typed=False))
        self._store.tell(fact)
        if isinstance(fact, facts.ListFailed):
            self._say([f"Search failed: {safe(fact.reason)}"])
            return
        self._next = 0
        self._shown = ()
        if self._state.ask.as_of_ms is not None:
            self._say([f"AS OF {full(self._look, self._state.ask.as_of_ms)}: nothing later is shown or counted."])
        self._say(told.headline(self._state, self._look))
        if self._state.rows.total:
            await self._more()

    async def _more(self) -> None:
        """The next rows of the list."""
        state = self._state
        last = min(self._next + ROWS, state.rows.total)
        if self._next >= last or state.view is View.TIMELINE:
            self._say(["That is all."])
            return
        for number in state.rows.missing(self._next, last - 1):
            self._store.tell(await self._gateway.lists.paged(state.seq, state.ask, number))
        first, self._next = self._next, last
        found = [entry for row in range(first, last) if (entry := self._state.rows.at(row)) is not None]
        if not found:
            self._next = first
            self._say(["These could not be read; n tries again."])
            return
        self._show(found, more=last < self._state.rows.total)

    async def _timeline(self, entry: Entry) -> None:
        fact = await self._gateway.records.tracked(need_track(entry.key, entry.key, self._state.ask), ROWS // 2)
        if isinstance(fact, facts.TrackFailed):
            self._say([f"No timeline: {safe(fact.reason)}"])
            return
        if isinstance(fact, facts.Tracked):
            self._shown, self._next = (), self._state.rows.total
            self._say([f"Timeline around {entry.key}, oldest first."])
            self._show(list(fact.timeline.entries), more=False, here=entry)

    async def _open(self, entry: Entry) -> None:
        fact = await self._gateway.records.opened(entry.key, entry)
        match fact:
            case facts.Opened(record=record):
                self._say(told.record(record))
            case facts.OpenFailed(reason=reason):
                self._say([safe(reason)])

    def _show(self, found: list[Entry], *, more: bool, here: Entry | None = None) -> None:
        first = len(self._shown) + 1
        self._shown += tuple(found)
        said = list(told.rows(found, first, self._state.basket, self._look, here))
        self._say([*said, "n for more."] if more else said)

    def _entry(self, number: int | None) -> Entry | None:
        return self._shown[(number or 1) - 1] if 0 < (number or 1) <= len(self._shown) else None

    def _say(self, said: Sequence[str]) -> None:
        """Print lines, and before them what came meanwhile and is worth a word."""
        before, self._known = self._known, (self._state.link, self._state.fresh)
        for line in (*told.meanwhile(before, self._state), *said):
            self._out.write(line + "\n")
        self._out.flush()


def _read(source: int, put: Callable[[str | None], None]) -> None:
    """Hand on the lines of a file, then None. By its number: a file object's lock would be held at the very end."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    rest = ""
    with contextlib.suppress(OSError):  # a terminal that is no more
        while chunk := os.read(source, 65536):
            *lines, rest = (rest + decode(chunk)).split("\n")
            for line in lines:
                put(line)
    if rest:
        put(rest)
    put(None)
