"""Corpora of a worker, in plain Python: built from the entries, asked, forgotten."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from worker.contract import calls
from worker.contract.corpus import (
    CorpusAnswer,
    CorpusDeleted,
    CorpusFilter,
    CorpusInfo,
    CorpusLine,
    CorpusList,
    CorpusOrder,
    CorpusQuestion,
    CorpusStats,
    DateRange,
    Primed,
)
from worker.contract.errors import Conflict, MemError, NotFound
from worker.contract.search import Entry
from worker.contract.when import iso_utc

Params = dict[str, str]
_PATH = re.compile(r"/api/corpus/([^/]+)(?:/(\w+))?")


class Shelf:
    """local: answers without a model. failure: raised by the next deed. reply: what is answered, citing ``cited``."""

    def __init__(self, entries: Callable[[], Sequence[Entry]], now_ms: int) -> None:
        self._entries = entries
        self._now_ms = now_ms
        self.held: dict[str, CorpusInfo] = {}
        self.orders: list[CorpusOrder] = []
        self.local = False
        self.failure: MemError | None = None
        self.reply = "It was a race."
        self.cited: tuple[int, ...] = ()

    def put(self, name: str, *, records: int = 0, days: int = 0, **over: object) -> CorpusInfo:
        """A corpus of the first so many entries, built so many days ago."""
        entries = self._entries()[:records]
        times = sorted(entry.created_at_epoch for entry in entries) or [self._now_ms]
        built = iso_utc(self._now_ms - days * 86_400_000)
        known: dict[str, object] = {
            "version": 1, "name": name, "description": "", "created_at": built, "updated_at": built,
            "filter": CorpusFilter(query="session", project="farm-api"), "system_prompt": "", "session_id": None,
            "stats": CorpusStats(
                observation_count=len(entries), token_estimate=sum(entry.read_tokens for entry in entries),
                date_range=DateRange(earliest=iso_utc(times[0]), latest=iso_utc(times[-1])),
                type_breakdown=dict(Counter(entry.type for entry in entries)),
            ),
        }  # fmt: skip
        self.held[name] = CorpusInfo(**{**known, **over})  # type: ignore[arg-type]
        return self.held[name]

    def answer(self, path: str, params: Params) -> object:
        """What the worker says; None where it is about something else. Errors: as the worker's."""
        if path == calls.CORPORA:
            return self._build(params["body"]) if "body" in params else CorpusList(corpora=tuple(self._lines()))
        found = _PATH.fullmatch(path)
        if found is None:
            return None
        name, deed = found[1], found[2]
        if name not in self.held:
            raise NotFound(f'Corpus "{name}" not found; there is none yet. Check the name or build a new one')
        if self.failure is not None and (deed or "method" in params):
            failure, self.failure = self.failure, None
            raise failure
        return self._done(name, deed, params)

    def _done(self, name: str, deed: str | None, params: Params) -> object:
        match deed:
            case "prime" | "reprime":
                session = None if self.local else f"m-{deed}"
                self.held[name] = msgspec.structs.replace(self.held[name], session_id=session)
                notes = ("no model is used (CLAUDE_MEM_PROVIDER is local)",) if self.local else ()
                return Primed(session_id=session, name=name, notes=notes)
            case "query":
                return self._answered(name, msgspec.json.decode(params["body"], type=CorpusQuestion).question)
            case "rebuild":
                return self.put(name, records=len(self._entries()), filter=self.held[name].filter)
        if "method" in params:
            del self.held[name]
            return CorpusDeleted(success=True)
        return self.held[name]

    def _answered(self, name: str, question: str) -> CorpusAnswer:
        if self.local:
            told = f"No model was used (CLAUDE_MEM_PROVIDER is local): {question}\n\n{self.reply}"
            return CorpusAnswer(answer=told, session_id=None, cited=self.cited, notes=("no model was used",))
        if self.held[name].session_id is None:
            raise Conflict(f'Corpus "{name}" has no session — call prime first')
        return CorpusAnswer(answer=self.reply, session_id="m", model="claude-haiku", cited=self.cited)

    def _build(self, body: str) -> CorpusInfo:
        order = msgspec.json.decode(body, type=CorpusOrder)
        self.orders.append(order)
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        return self.put(order.name, records=40, filter=CorpusFilter(query=order.query, project=order.project))

    def _lines(self) -> list[CorpusLine]:
        return [
            CorpusLine(
                name=one.name, description=one.description, stats=one.stats, session_id=one.session_id,
                stale=one.stale, missing=one.missing, updated_at=one.updated_at,
            )
            for one in sorted(self.held.values(), key=lambda one: one.name)
        ]  # fmt: skip
