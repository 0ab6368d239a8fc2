"""The memory: what the worker says of it, or a look at its file while none runs."""

from typing import assert_never

from worker.cli.checks.finding import FAIL, OK, WARN, Case, Finding
from worker.contract.index import IndexState

_MOST_CHARS = 300
_START = "`claude-mem worker start`"
_LOGS = "`claude-mem worker logs` tells more"


def database(case: Case) -> Finding:
    """Whether the file is sound."""
    return _told(case, "database", FAIL, "copy the file; `sqlite3 claude-mem.db .recover` saves what it can")


def index(case: Case) -> Finding:
    """Whether every record can be found."""
    return _told(case, "index", WARN, "let the worker run: it indexes what is missing")


def fulltext(case: Case) -> Finding:
    """Whether SQLite has its full-text search."""
    return _told(case, "fulltext", WARN, "use a Python whose SQLite has FTS5; until then search is slow")


def meaning(case: Case) -> Finding:
    """Whether records can be found by meaning too. That it is switched off was somebody's choice."""
    if not case.settings.chroma.enabled or case.settings.embedding.model in ("", "none"):
        return Finding("meaning", OK, "switched off: searches go by words")
    status = case.meaning
    if status is None:
        return Finding("meaning", WARN, "nothing could be learned about it: no worker tells", _START)
    what, state = f"{status.embedded:,} of {status.records:,} records can be found by meaning", status.state
    match state:
        case IndexState.READY if not status.failed and not status.chroma.startswith(("ready", "opening")):
            away = f"{what}, compared one by one: Chroma is away ({_sentence(status.chroma)})"
            return Finding("meaning", WARN, away, _LOGS)
        case IndexState.READY if not status.failed:
            return Finding("meaning", OK, what)
        case IndexState.READY | IndexState.CATCHING_UP:
            waiting = f"{what}, {status.pending:,} wait"
            if status.failed:
                why = f", {status.failed:,} of them failed: {_sentence(status.reason)}"
                return Finding("meaning", WARN, waiting + why, _LOGS)
            return Finding(
                "meaning", WARN, waiting, "let the worker run; `claude-mem index status` tells how far it is"
            )
        case IndexState.STARTING:
            return Finding("meaning", WARN, "being opened; until then searches go by words", "look again in a moment")
        case IndexState.PAUSED:
            return Finding("meaning", WARN, f"paused; {what}", "`claude-mem index resume` goes on")
        case IndexState.FAILED:
            return Finding("meaning", WARN, f"cannot be used: {_sentence(status.reason)}", _LOGS)
        case IndexState.OFF:
            why = "the worker has it switched off, the settings do not"
            return Finding("meaning", WARN, why, "`claude-mem worker restart`")
        case _:
            assert_never(state)


def _sentence(reason: str) -> str:
    return " ".join(reason.split())[:_MOST_CHARS] or "no reason is told"


def settings(case: Case) -> Finding:
    """Whether the file of settings can be read; that it could be, the way here shows."""
    return _told(case, "settings", FAIL, "mend the file, or move it away")


def _told(case: Case, name: str, bad: str, advice: str) -> Finding:
    report = case.reports.get(name)
    if report is None:
        return Finding(name, WARN, "nothing could be learned about it", _LOGS)
    return Finding(name, OK if report.ok else bad, report.message, "" if report.ok else advice)
