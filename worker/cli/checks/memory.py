"""The memory: what the worker says of it, or a look at its file while none runs."""

from worker.cli.checks.finding import FAIL, OK, WARN, Case, Finding
from worker.contract import advice


def database(case: Case) -> Finding:
    """Whether the file is sound, and the worker can write to it."""
    for trouble in case.health.dependencies.get("statuses", ()) if case.health else ():
        return Finding("database", WARN, trouble["message"], advice.LOGS)
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
        return Finding("meaning", WARN, "nothing could be learned about it: no worker tells", case.way_to_a_worker)
    told = advice.meaning(status)
    return Finding("meaning", told.state, told.message, told.advice)


def settings(case: Case) -> Finding:
    """Whether the file of settings can be read; that it could be, the way here shows."""
    return _told(case, "settings", FAIL, "mend the file, or move it away")


def _told(case: Case, name: str, bad: str, advised: str) -> Finding:
    report = case.reports.get(name)
    if report is None:
        return Finding(name, WARN, "nothing could be learned about it", advice.LOGS)
    return Finding(name, OK if report.ok else bad, report.message, "" if report.ok else advised)
