"""Pure: what an agent did with a tool, told apart by what it does to the world."""

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from worker.observer import commands, outcomes
from worker.observer.commands import Command, Purpose
from worker.observer.events import Event, words
from worker.observer.events import field as text_of
from worker.observer.outcomes import Outcome
from worker.observer.wording import one_line

_MOST_PATHS = 200
_MOST_CODE = 200_000
_MOST_SYMBOLS = 12


class Deed(enum.Enum):
    """What was done."""

    READ = "read"
    SEARCH = "search"
    EDIT = "edit"
    RUN = "run"
    FETCH = "fetch"
    DELEGATE = "delegate"
    PLAN = "plan"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Act:
    """paths: as the agent named them. detail: what was searched, fetched, delegated or planned, or the tool's name.

    created: the file is new. symbols: names that an edit defines anew.
    """

    event: Event
    deed: Deed
    detail: str = ""
    paths: tuple[str, ...] = ()
    outcome: Outcome = Outcome()
    command: Command | None = None
    created: bool = False
    symbols: tuple[str, ...] = field(default=())


_READS = frozenset(("read", "notebookread", "read_file", "view", "readfile", "read_many_files", "open_file"))
_SEARCHES = frozenset(
    ("grep", "glob", "ls", "search_files", "list_directory", "find", "codebase_search", "list_dir", "toolsearch")
)
_EDITS = frozenset(
    (
        "edit",
        "multiedit",
        "write",
        "notebookedit",
        "write_file",
        "apply_patch",
        "str_replace",
        "replace",
        "edit_file",
        "create_file",
    )
)
_SHELLS = frozenset(
    ("bash", "shell", "run_shell_command", "exec_command", "local_shell", "powershell", "terminal", "run_terminal_cmd")
)
_FETCHES = frozenset(("webfetch", "websearch", "web_fetch", "web_search", "google_web_search", "fetch"))
_DELEGATES = frozenset(("task", "agent", "spawn_agent"))
_PLANS = frozenset(("exitplanmode", "exit_plan_mode"))
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete|Move to)(?: File)?: ([^\n]{1,1000})$", re.MULTILINE)
_DEFINED = re.compile(
    r"^[ \t]{0,40}(?:export |default |public |private |protected |static |abstract |final "
    r"|pub(?:\([a-z]{1,10}\))? |async )*"
    r"(?:def|class|function|fn|func|struct|enum|trait|interface|type|module"
    r"|const(?= \w+ ?= ?(?:async ?)?(?:\(|function)))"
    r"[ \t]+(?:\([^)\n]{0,80}\)[ \t]*)?(\w{2,60})",
    re.MULTILINE,
)


def act(event: Event) -> Act:
    """What an event is."""
    name = event.tool.lower()
    own = name.rsplit("__", 1)[-1] if name.startswith("mcp__") else name
    if own in _SHELLS:
        return _run(event)
    outcome = outcomes.of_other(event.answer)
    if own in _EDITS:
        return _edit(event, outcome)
    if own in _READS:
        return Act(event, Deed.READ, paths=tuple(_paths(event.given)), outcome=outcome)
    if own in _SEARCHES:
        return Act(event, Deed.SEARCH, _sought(event.given), outcome=outcome)
    if own in _FETCHES:
        return Act(event, Deed.FETCH, one_line(text_of(event.given, "url", "query", "prompt"), 200), outcome=outcome)
    if own in _DELEGATES:
        return Act(event, Deed.DELEGATE, one_line(text_of(event.given, "description", "prompt"), 120), outcome=outcome)
    if own in _PLANS:
        return Act(
            event, Deed.PLAN, text_of(event.given, "plan")[:4_000] or words(event.answer)[:4_000], outcome=outcome
        )
    return Act(event, Deed.OTHER, one_line(event.tool, 80), outcome=outcome)


def failed(event: Event) -> bool:
    """Whether the use of a tool failed."""
    own = event.tool.lower().rsplit("__", 1)[-1]
    return _run(event).outcome.failed if own in _SHELLS else outcomes.marked_failed(event.answer)


def proven(event: Event) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that an event's own input proves to be read, and to be modified."""
    done = act(event)
    if done.outcome.failed:
        return (), ()
    return (
        (done.paths, ()) if done.deed is Deed.READ else ((), done.paths if done.deed in (Deed.EDIT, Deed.RUN) else ())
    )


def _run(event: Event) -> Act:
    line = _line(event.given)
    command = commands.read(line)
    outcome = outcomes.of_command(
        event.answer, checks=command.purpose >= Purpose.CHECK, views=command.purpose is Purpose.VIEW
    )
    if command.program == "git commit" and not outcome.failed and not outcome.commits:
        made = outcomes.named_commit(line)
        if made:
            outcome = Outcome(exit_code=outcome.exit_code, commits=(made,), first_line=outcome.first_line)
    patched = tuple(path for _, path in _patched(line)) if not outcome.failed else ()
    return Act(event, Deed.EDIT if patched else Deed.RUN, paths=patched, outcome=outcome, command=command)


def _line(given: object) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, list):
        return " ".join(item for item in given if isinstance(item, str))
    if isinstance(given, dict):
        command = given.get("command", given.get("cmd", given.get("script", "")))
        if isinstance(command, list):
            texts = [item for item in command if isinstance(item, str)]
            return texts[-1] if len(texts) == 3 and texts[1] in ("-c", "-lc") else " ".join(texts)
        return command if isinstance(command, str) else ""
    return ""


def _edit(event: Event, outcome: Outcome) -> Act:
    given = event.given
    patch = given if isinstance(given, str) else text_of(given, "input", "patch")
    patched = _patched(patch)
    paths = tuple(dict.fromkeys(path for _, path in patched)) or tuple(_paths(given))
    created = text_of(event.answer, "type") == "create" or (bool(patched) and all(how == "Add" for how, _ in patched))
    if outcome.failed:
        return Act(event, Deed.EDIT, paths=paths, outcome=outcome)
    before, after = _texts(given)
    known = set(_names(before))
    symbols = tuple(dict.fromkeys(name for name in _names(after) if name not in known))[:_MOST_SYMBOLS]
    return Act(event, Deed.EDIT, paths=paths, outcome=outcome, created=created, symbols=symbols)


def _texts(given: object) -> tuple[str, str]:
    """What an edit replaces, and by what."""
    if isinstance(given, str):
        return "", given[:_MOST_CODE]
    edits = given.get("edits") if isinstance(given, dict) else None
    parts = [given, *(edits[:_MOST_PATHS] if isinstance(edits, list) else [])]
    before = "\n".join(text_of(part, "old_string", "old_str") for part in parts)
    after = "\n".join(text_of(part, "new_string", "new_str", "content", "new_source", "file_text") for part in parts)
    return before[:_MOST_CODE], after[:_MOST_CODE]


def _names(code: str) -> Iterator[str]:
    return (found.group(1) for found in _DEFINED.finditer(code))


def _patched(text: str) -> list[tuple[str, str]]:
    if "*** " not in text[:_MOST_CODE]:
        return []
    return [(how, path.strip()) for how, path in _PATCHED.findall(text[:_MOST_CODE])][:_MOST_PATHS]


def _paths(given: object) -> Iterator[str]:
    if not isinstance(given, dict):
        return
    for name in ("file_path", "notebook_path", "path", "filePath", "absolute_path", "filename", "target_file"):
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            yield value[:2_000]
            return
    for name in ("paths", "filePaths", "file_paths"):
        value = given.get(name)
        if isinstance(value, list):
            yield from (item[:2_000] for item in value[:_MOST_PATHS] if isinstance(item, str) and item.strip())


def _sought(given: object) -> str:
    pattern = one_line(text_of(given, "pattern", "query", "path"), 80)
    place = text_of(given, "path", "glob")
    return pattern if not place or place == pattern else f"{pattern} in {one_line(place, 80)}"
