"""`claude-mem hook AGENT EVENT`: an agent's JSON on standard input → the worker or the spool → one JSON line.

It never breaks an agent (R123): exit code 0 whatever happens, one line of JSON with nothing in it but what the agent
knows (R129), and an end within a bound, whether or not the pipe is closed (R127) and a worker answers. What is told is
clean before it leaves this process. Standard error is silent unless an event was lost (R109).

Light (R133): it knows the standard library alone, and the network not at all beyond the worker's address (R135).
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence

from worker.cli.harness import event as events
from worker.cli.harness import file_notes, private_turn, stdin, table, timing
from worker.cli.harness.bounds import MOST_CHARS, bounded, cut
from worker.cli.harness.event import Input, Reply
from worker.cli.harness.telling import Lost, Worker, note_trouble
from worker.contract.clean import cleaned
from worker.contract.exclusion import excluded, skipped
from worker.contract.hook_settings import HookSettings, environment
from worker.contract.plain_http import Refused, query
from worker.contract.privacy import NAMES, is_protocol_only
from worker.contract.project_name import is_left_out, project_of
from worker.contract.transcript_end import last_said

_USAGE = "usage: claude-mem hook AGENT EVENT\n\nCalled by the agent, which `claude-mem install` tells to."
_HASTY = (events.PROMPT, events.FILE, events.END)
"""While these run a person waits, or the agent is leaving: they get half of the time."""
_MEDIA_PROMPT = "[media prompt]"
_ALL_PRIVATE = "<private></private>"
"""What a prompt of which nothing is left is sent as: the worker keeps nothing of it, nor of what is done for it."""
_FEWEST_SEMANTIC_BYTES = 20


def main(argv: Sequence[str]) -> int:
    """Run `hook AGENT EVENT`; ends the process with 0."""
    if len(argv) < 3 or argv[1].startswith("-"):
        print(_USAGE)
        return 0
    os.umask(0o077)  # all that a hook writes is in the data directory, which it may have to make with what is above
    answer(argv[1], argv[2])
    os._exit(0)  # to take the interpreter down in order takes 4 ms, a tenth of the whole


def answer(platform: str, event: str) -> None:
    """Answer an event on standard output."""
    began_s, moment_ns = time.monotonic(), time.time_ns()
    line = b"{}"
    try:
        line = json.dumps(_answered(platform, event, began_s, moment_ns)).encode()
    except BaseException as error:  # noqa: BLE001  an agent is never broken, not even by an interrupt
        _tell_of(error, event, moment_ns)
    left = line + b"\n"
    try:
        while left:
            left = left[os.write(1, left) :]
    except OSError:
        return  # nobody listens


def _tell_of(error: BaseException, event: str, moment_ns: int) -> None:
    """An event was lost. Of an error that was not thought of, its kind is told and not its words."""
    reason = str(error) if isinstance(error, Lost) else f"a fault of the hook ({type(error).__name__})"
    with contextlib.suppress(OSError):  # nobody listens there either
        print(f"claude-mem: this {event} event is not remembered: {reason}", file=sys.stderr, flush=True)
    note_trouble(HookSettings(environment()).data_dir, event, reason, moment_ns // 1_000_000)


def _answered(platform: str, event: str, began_s: float, moment_ns: int) -> dict[str, object]:
    settings = HookSettings(environment())
    adapter = table.adapter(platform)
    if adapter is None or event not in events.EVENTS:
        return {}
    deadline_s = began_s + settings.timeout_s * (0.5 if event in _HASTY else 1.0)
    given = stdin.read_object(0, deadline_s)
    if settings.internal:
        return {}
    if not settings.data_dir:
        raise Lost("this user has no home folder, and CLAUDE_MEM_DATA_DIR is not set to an absolute path")
    said = adapter.read(given, project_dir=settings.project_dir, process_cwd=_process_cwd())
    one = _Event(settings, said, adapter.SOURCE, deadline_s, moment_ns)
    try:
        reply = one.reply_to(event)
    finally:
        timing.note(
            settings.data_dir, event, one.outcome, began_s=began_s, deadline_s=deadline_s, moment_ns=moment_ns
        )  # fmt: skip
    answer: dict[str, object] = adapter.reply(event, reply)
    return answer


class _Event:
    """One event of one session."""

    def __init__(self, settings: HookSettings, said: Input, source: str, deadline_s: float, moment_ns: int) -> None:
        self._settings, self._said, self._source, self._moment_ns = settings, said, source, moment_ns
        self._worker = Worker(settings, deadline_s)

    @property
    def outcome(self) -> str:
        """What became of it: `sent`, `spooled` or `nothing`."""
        return self._worker.outcome

    def reply_to(self, event: str) -> Reply:
        """What the agent is told. Errors: ``Lost``."""
        if event == events.CONTEXT:
            return Reply(speaks=True) if self._is_to_be_left_alone() else self._context()
        if self._said.session_id and not self._is_to_be_left_alone():
            if event == events.PROMPT:
                return self._prompt()
            if event == events.TOOL:
                self._tool()
            elif event == events.FILE:
                return self._file()
            elif event == events.TURN:
                self._turn()
            elif event == events.END:
                self._tell("/api/sessions/session-end", {"reason": self._said.reason or None})
        return Reply()

    def _is_to_be_left_alone(self) -> bool:
        """Whether nothing may be kept of this folder or given to it: it is excluded or marked, or our own (R176)."""
        cwd, where = self._said.cwd, self._settings
        if not cwd:
            return True
        if _is_within(cwd, where.data_dir) or is_left_out(cwd, opt_in=where.opt_in):
            return True
        return bool(where.excluded) and excluded(where.excluded, cwd, home=where.home, names=self._projects())

    def _projects(self) -> tuple[str, ...]:
        """The project's names, the one it is filed under last; none for a folder that is no project."""
        found = project_of(self._said.cwd)
        return () if found is None else tuple(reversed(found.names))

    def _context(self) -> Reply:
        """What earlier sessions found out. Without a worker, or one that is not ready, nothing (R148)."""
        projects = self._projects()
        if not projects or self._settings.broken:
            return Reply(speaks=True)
        asked = [("projects", _as_list(projects)), ("platformSource", self._source)]
        asked += [("contentSessionId", self._said.session_id)] if self._said.session_id else []
        target = query("/api/context/inject", asked)
        try:
            text = self._worker.await_text(target).strip()
            shown = (
                self._worker.ask_text("GET", f"{target}&colors=true") if text and self._settings.show_context else ""
            )
        except (OSError, Refused):
            text = shown = ""
        self._worker.renew()  # afterwards, so that it is asked as long as it is there
        return Reply(text, shown.strip(), speaks=True)

    def _prompt(self) -> Reply:
        prompt = self._said.prompt
        if is_protocol_only(prompt):
            return Reply()
        text = str(cleaned(cut(prompt, MOST_CHARS, _OPENINGS))).strip() if prompt.strip() else _MEDIA_PROMPT
        with contextlib.suppress(OSError):  # then nothing can be kept of what follows either, and the worker knows
            private_turn.note(self._settings.data_dir, self._said.session_id, private=not text)
        projects = self._projects()
        project = {"project": projects[-1]} if projects else {}
        begun = self._tell("/api/sessions/init", {"prompt": text or _ALL_PRIVATE, **project})
        limit = self._settings.semantic_limit
        private = not text or begun.get("reason") in ("private", "internal_protocol", "project_excluded")
        if not (limit and begun and projects) or private or len(text.encode(errors="replace")) < _FEWEST_SEMANTIC_BYTES:
            return Reply()
        asked = {
            "q": text,
            "project": projects[-1],
            "limit": str(limit),
            "platformSource": self._source,
            "contentSessionId": self._said.session_id,
        }
        try:
            found = self._worker.ask("POST", "/api/context/semantic", asked).get("context")
        except (OSError, Refused):
            return Reply()
        return Reply(found.strip() if isinstance(found, str) else "")

    def _tool(self) -> None:
        said, where = self._said, self._settings
        if not said.tool_name or skipped(where.skip_tools, said.tool_name) or self._is_private():
            return
        if said.agent_id and where.skip_agents:
            return
        payload = {
            "tool_name": cleaned(said.tool_name),
            "tool_input": cleaned(bounded(said.tool_input, NAMES)),
            "tool_response": cleaned(bounded(said.tool_response, NAMES)),
            "tool_use_id": said.tool_use_id or None,
            "agentId": cleaned(said.agent_id) or None,
            "agentType": cleaned(said.agent_type) or None,
        }
        self._tell("/api/sessions/observations", payload)

    def _file(self) -> Reply:
        said, where = self._said, self._settings
        files = file_notes.worth_reading(said.files, said.cwd) if not (said.agent_id or where.broken) else {}
        if not files:
            return Reply()
        told, texts, projects = file_notes.Told(where.data_dir, said.session_id), [], self._projects()
        for path, changed_s in files.items():
            asked = [("path", path), ("path", os.path.relpath(path, said.cwd)), ("limit", str(file_notes.ASKED))]
            asked += [("projects", _as_list(projects))] if projects else []
            try:
                found = self._worker.ask("GET", query("/api/observations/by-file", asked))
                given = found.get("observations")
                rows = [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []
                if (best := file_notes.chosen(rows, path, changed_s)) and told.is_news(path, best):
                    texts.append(file_notes.told(best, path, said.cwd))
                    told.remember(path, best)
            except (OSError, Refused):
                break
        return Reply("\n---\n".join(texts))

    def _turn(self) -> None:
        said = self._said
        if said.agent_id or self._is_private():
            return
        text, model = (said.last_message, "") if said.last_message else last_said(said.transcript)
        kept = str(cleaned(cut(text, MOST_CHARS, _OPENINGS))).strip()
        if kept:
            self._tell("/api/sessions/summarize", {"last_assistant_message": kept, "observedModel": model or None})

    def _is_private(self) -> bool:
        return private_turn.is_private(self._settings.data_dir, self._said.session_id)

    def _tell(self, path: str, payload: dict[str, object]) -> dict[str, object]:
        body = {
            "contentSessionId": self._said.session_id,
            "platformSource": self._source,
            "cwd": self._said.cwd,
            "event_id": os.urandom(16).hex(),
            "occurred_at_epoch_ms": self._moment_ns // 1_000_000,
            **payload,
        }
        sent = {key: value for key, value in body.items() if value is not None}
        return self._worker.tell(path, sent, moment_ns=self._moment_ns)


_OPENINGS = tuple(f"<{tag}" for tag in NAMES)


def _as_list(names: Sequence[str]) -> str:
    """As the worker reads them; a name may have a comma in it."""
    return json.dumps(names) if any("," in name for name in names) else ",".join(names)


def _process_cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # it was deleted


def _is_within(path: str, folder: str) -> bool:
    inner, outer = os.path.realpath(path), os.path.realpath(folder)
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")
