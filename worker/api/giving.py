"""What sessions are given: by which settings, and remembered once it is given."""

import logging
import re
from collections.abc import Sequence
from pathlib import Path

from worker.api.services import Services
from worker.contract import context_settings, settings_file
from worker.contract.clean import cleaned
from worker.contract.context_settings import ContextSettings
from worker.contract.errors import Invalid, MemError
from worker.contract.transcript_end import last_said
from worker.store import given
from worker.store.database import CLOSING_BUSY_MS
from worker.store.tables import Connection

_SESSION = re.compile(r"[\w-]{1,128}")
_log = logging.getLogger("worker.api")


def settings(services: Services) -> ContextSettings:
    """As they are now. What cannot be read is said in the log, and its default holds: a session is to start."""
    try:
        stored = settings_file.shown(services.data_dir, services.environ)
    except MemError as error:
        _log.warning("the settings of the context are passed over: %s", error.message)
        stored = {}
    wrong: set[str] = set()

    def value(name: str, default: str) -> str:
        key = f"CLAUDE_MEM_{name}"
        return default if key in wrong else str(stored.get(key) or default)

    while True:
        try:
            return context_settings.read(value)
        except Invalid as error:
            if error.field is None or error.field in wrong:
                raise
            _log.warning("a setting of the context is passed over: %s", error.message)
            wrong.add(error.field)


def last_message(services: Services, content_session_id: str) -> str:
    """What the agent said last in a session, by Claude Code's transcript; empty where there is none. Reads a file."""
    if not _SESSION.fullmatch(content_session_id):
        return ""
    stored = settings_file.shown(services.data_dir, services.environ)
    chosen = stored.get("CLAUDE_MEM_CLAUDE_CONFIG_DIR") or services.environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(str(chosen)).expanduser() if chosen else Path.home() / ".claude"
    found = sorted((folder / "projects").glob(f"*/{content_session_id}.jsonl"))
    return cleaned(last_said(str(found[-1]))[0]) if found else ""


async def note(services: Services, scopes: Sequence[str], numbers: Sequence[int]) -> None:
    """Remember what was given. A session has started by then; that it is not remembered harms nobody.

    scopes: as in ``store.given``; a project has been given just this, a session this too.
    """
    now = services.now_ms()

    def write(connection: Connection) -> None:
        for scope in scopes:
            given.note(connection, scope, numbers, now, instead=scope.startswith("project:"))

    try:
        await services.store.write(write, busy_ms=CLOSING_BUSY_MS)
    except MemError as error:
        _log.warning("what a session was given is not remembered: %s", error.message)
