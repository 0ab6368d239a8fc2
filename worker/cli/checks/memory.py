"""The memory: what the worker says of it, or a look at its file while none runs."""

from worker.cli.checks.finding import FAIL, OK, WARN, Case, Finding

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


def settings(case: Case) -> Finding:
    """Whether the file of settings can be read; that it could be, the way here shows."""
    return _told(case, "settings", FAIL, "mend the file, or move it away")


def _told(case: Case, name: str, bad: str, advice: str) -> Finding:
    report = case.reports.get(name)
    if report is None:
        return Finding(name, WARN, "nothing could be learned about it", _LOGS)
    return Finding(name, OK if report.ok else bad, report.message, "" if report.ok else advice)
