"""`tail`: what is remembered, a line each, as it comes."""

import argparse
import random
import time
from collections.abc import Sequence

from worker.cli import exits
from worker.cli.connection import chosen, client
from worker.cli.printing import HelpLines, failed, note, plain, say_json_line
from worker.contract import calls, project_name, remote, when
from worker.contract.errors import Busy, MemError, TimedOut, Unavailable, Unreachable
from worker.contract.events import StreamEvent
from worker.contract.quick import QuickClient
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Entry, Order, SearchQuery

_FIRST = 10
_MOST_MISSED = 100
_LONGEST_PAUSE_S = 10.0
_KINDS = {"observation": RecordKind.OBSERVATION, "summary": RecordKind.SUMMARY, "prompt": RecordKind.PROMPT}
_STATE = {"connected", "initial_load", "processing_status", "index_status", "resync"}
"""Events of the worker itself, which no record is behind."""


def main(argv: Sequence[str]) -> int:
    """Run the command; gives the exit code. It ends with Ctrl+C."""
    parser = argparse.ArgumentParser(
        prog="claude-mem tail",
        description="Follow what is remembered: a line for each record as it comes. Ctrl+C ends it.",
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument("--project", metavar="P", help="only this project")
    parser.add_argument("-n", "--lines", type=_lines, metavar="N", help=f"begin with the last N records ({_FIRST})")
    parser.add_argument("--json", action="store_true", help="the worker's events, one JSON object a line, none before")
    parser.add_argument("--demo", action="store_true", help="follow the demo memory")
    remote.add_flags(parser)
    given = parser.parse_args(argv[1:])
    if given.json and given.lines is not None:
        parser.error("argument -n: is not for --json, whose lines are events")
    first = 0 if given.json else _FIRST if given.lines is None else given.lines
    try:
        worker = client(remote.chosen(given, chosen(demo=given.demo)))
        _Tail(worker, given.project, as_json=given.json).follow(first)
    except MemError as error:
        return failed(error)
    return exits.FOUND


class _Tail:
    """Prints what one worker tells, and comes back to it when the line breaks."""

    def __init__(self, worker: QuickClient, project: str | None, *, as_json: bool) -> None:
        self._worker = worker
        self._project = project
        self._names: tuple[str, ...] = ()
        self._as_json = as_json
        self._printed: dict[RecordKey, int] = {}
        self._since_ms = time.time_ns() // 1_000_000

    def follow(self, first: int) -> None:
        """For ever. first: so many of the last records before. Errors: such as coming back does not mend."""
        after: int | None = None
        attempt, lost = 0, False
        while True:
            try:
                for event in self._worker.events(after=after):
                    if event.type == "connected":
                        if lost:
                            note("connected again")
                        # Asked once the stream is open, so that nothing falls between the two.
                        self._begin(first)
                        if lost and not self._as_json:
                            self._make_up()
                        attempt, lost, first = 0, False, 0
                    after = event.id if event.id is not None else after
                    self._take(event)
                reason = "the worker closed the connection"
            except (Unreachable, TimedOut, Unavailable, Busy) as error:
                reason = error.message
            if not lost:
                note(f"{reason}; trying again until it is back")
            lost = True
            time.sleep(min(_LONGEST_PAUSE_S, 0.5 * 2 ** min(attempt, 6)) * (1 - random.random() / 2))
            attempt += 1

    def _begin(self, count: int) -> None:
        if count:
            query = SearchQuery(project=self._project, order=Order.DATE_DESC, limit=count)
            for hit in reversed(self._worker.send(calls.search(query)).hits):
                self._print(hit)

    def _take(self, event: StreamEvent) -> None:
        if event.type == "resync" and not self._as_json:
            self._make_up()
            return
        project = _project(event)
        if event.type in ("connected", "initial_load") or not self._is_wanted(project):
            return
        if self._as_json:
            say_json_line(event)
        elif event.type not in _STATE:
            self._tell(event)

    def _is_wanted(self, project: str | None) -> bool:
        if self._project is None:
            return True
        if not self._names:  # what comes is filed under one of the names that it goes by
            known = self._worker.send(calls.aliases()).aliases
            self._names = project_name.together(known, self._project)
        return project is not None and project_name.is_one_of(project, self._names)

    def _make_up(self) -> None:
        """Events were lost, or may be: the records themselves tell what came meanwhile."""
        query = SearchQuery(
            project=self._project, order=Order.DATE_DESC, since_epoch_ms=self._since_ms, limit=_MOST_MISSED
        )
        page = self._worker.send(calls.search(query))
        if page.total > _MOST_MISSED:
            note(f"{page.total - _MOST_MISSED:,} older ones came meanwhile and are left out")
        for hit in reversed(page.hits):
            self._print(hit)

    def _tell(self, event: StreamEvent) -> None:
        if event.type == "record_deleted":
            key = RecordKey(RecordKind(event.kind or RecordKind.OBSERVATION), event.record_id or 0)
            _line(_moment(time.time_ns() // 1_000_000), f"#{key}", "deleted")
            return
        verb, _, kind = event.type.partition("_")
        row = event.observation or event.summary or event.prompt
        if row is None or kind not in _KINDS:
            return
        key = RecordKey(_KINDS[kind], int(row.get("id") or 0))
        if verb == "new" and key in self._printed:
            return
        named = {"summary": "session", "prompt": "prompt"}.get(kind) or str(row.get("type") or "")
        title = row.get("title") or row.get("request") or row.get("prompt_text") or row.get("narrative") or ""
        changed = "changed: " if verb == "changed" else ""
        self._say(
            key, int(row.get("created_at_epoch") or 0), named, str(row.get("project") or ""), changed + str(title)
        )

    def _print(self, entry: Entry) -> None:
        if entry.key not in self._printed:
            self._say(entry.key, entry.created_at_epoch, entry.type, entry.project, entry.title)

    def _say(self, key: RecordKey, epoch_ms: int, kind: str, project: str, title: str) -> None:
        self._printed[key] = epoch_ms
        if len(self._printed) > 10 * _MOST_MISSED:
            del self._printed[next(iter(self._printed))]
        self._since_ms = max(epoch_ms, self._since_ms) if epoch_ms else self._since_ms
        _line(_moment(epoch_ms), f"#{key}", kind, project, title)


def _line(*words: str) -> None:
    print("  ".join(" ".join(plain(word).split()) for word in words if word), flush=True)


def _moment(epoch_ms: int) -> str:
    return when.at_ms(epoch_ms).strftime("%Y-%m-%d %H:%M")


def _project(event: StreamEvent) -> str | None:
    row = event.observation or event.summary or event.prompt
    return str(row.get("project")) if row is not None else event.project


def _lines(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:9]) <= 100):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 100, not {text!r}")
    return int(text)
