"""Tells the worker of an event, and keeps the event where the worker finds it later when it cannot be told now."""

import json
import os
import socket
import sys
import time
from collections.abc import Mapping

from worker.cli.harness.recorded import is_recorded
from worker.contract import spool
from worker.contract.hook_settings import HookSettings
from worker.contract.memory_mark import mark
from worker.contract.plain_http import Refused, Stranger, exchange
from worker.contract.version import __version__, is_older

CALLER = "hook"
"""As in ``contract.recalls``, which is too heavy for a hook."""
STARTING = 503
_HEALTH = "/api/health"
_VERSION = "/api/version"
_OPENING = '{"content":'
"""How a worker answers that is still opening its memory: in another form than a text."""
_START_PAUSE_S = 10.0
_LOOK_S = 0.2
_POLL_S = 0.05
_MOST_REASON_CHARS = 300


class Lost(Exception):
    """The event could neither be told nor kept; the message says why."""


class Worker:
    """The worker as a hook sees it. deadline_s: on the clock of ``time.monotonic``.

    outcome: whether it answered (`sent`), something was kept for it (`spooled`), or neither (`nothing`).
    """

    def __init__(self, settings: HookSettings, deadline_s: float) -> None:
        self._settings, self._deadline_s = settings, deadline_s
        self._is_known = False
        self.outcome = "nothing"

    def tell(self, path: str, body: Mapping[str, object], *, moment_ns: int) -> dict[str, object]:
        """The worker's answer; {} when the event was kept for later. Errors: ``Lost``.

        An event is told at once only when none waits in the spool, so that it does not overtake what does.
        """
        where = self._settings
        if where.broken:
            self._keep(path, body, moment_ns)
            return {}
        if not spool.is_empty(where.data_dir):
            self._keep(path, body, moment_ns)
            if not self._is_there():
                self.start()
            return {}
        try:
            return self.ask("POST", path, body)
        except Refused:
            self._keep(path, body, moment_ns)
        except OSError as error:
            self._keep(path, body, moment_ns)
            if isinstance(error, ConnectionRefusedError):
                self.start()
        return {}

    def ask(self, method: str, target: str, body: Mapping[str, object] | None = None) -> dict[str, object]:
        """A JSON answer. Errors: ``OSError``, ``Refused``."""
        try:
            answer = json.loads(self.ask_text(method, target, body))
        except ValueError as error:
            raise ConnectionError("the answer is no JSON") from error
        return answer if isinstance(answer, dict) else {}

    def ask_text(self, method: str, target: str, body: Mapping[str, object] | None = None) -> str:
        """Any answer. Errors: as ``ask``."""
        where, memory = self._settings, self._memory()
        if memory and not self._is_known:
            self._get_to_know(memory)
        content = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        answer = exchange(
            where.host, where.port, method, target, content,
            token=where.token, caller=CALLER, deadline_s=self._deadline_s, memory=memory,
        )  # fmt: skip
        self.outcome = "sent"
        return answer.decode("utf-8", "replace")

    def _get_to_know(self, memory: str) -> None:
        """Nobody on this machine is told anything but our worker, which is known by its pid file.

        Where that tells nothing, as of a worker in a container, it is asked first who it is. Errors: as ``ask``.
        """
        where = self._settings
        if not is_recorded(where.data_dir, where.port):
            exchange(
                where.host, where.port, "GET", _HEALTH, None,
                token="", caller=CALLER, deadline_s=self._deadline_s, memory=memory,
            )  # fmt: skip
        self._is_known = True

    def await_text(self, target: str) -> str:
        """The same from a worker that may have to be started, as long as there is time. Errors: as ``ask``."""
        started = False
        while True:
            try:
                text = self.ask_text("GET", target)
                if not text.startswith(_OPENING):
                    return text
            except ConnectionRefusedError:
                if not started and not self.start():
                    raise
                started = True
            except Refused as refused:
                if refused.status != STARTING:
                    raise
            if time.monotonic() + _POLL_S > self._deadline_s:
                raise TimeoutError("the worker is still starting")
            time.sleep(_POLL_S)

    def renew(self) -> None:
        """Have one of an older version replaced, without waiting for that."""
        where = self._settings
        if not self._is_of_this_machine():
            return
        try:
            older = is_older(str(self.ask("GET", _VERSION).get("version")), __version__)
        except Stranger:
            # Of before there were marks, perhaps, or the original's: whoever starts one finds out.
            older = is_recorded(where.data_dir, where.port)
        except (OSError, Refused):
            return
        if older:
            self.start()

    def start(self) -> bool:
        """Have a worker started, without waiting for it; whether one is being started. One hook of many does it."""
        where = self._settings
        if not self._is_of_this_machine():
            return False  # a worker of another machine is not ours to start
        stamp = os.path.join(where.data_dir, "state", "hook-start")
        try:
            os.makedirs(os.path.dirname(stamp), mode=0o700, exist_ok=True)
            if _is_young(stamp):
                return True
            with open(stamp, "wb"):
                os.utime(stamp)
            import subprocess  # 3 ms, and only where no worker answers

            # -P: the folder we are called from may hold a package named `worker` of its own.
            subprocess.Popen(
                (sys.executable, "-P", "-m", "worker.cli.main", "worker", "start"),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True, cwd="/",
            )  # fmt: skip
        except OSError:
            return False
        return True

    def _memory(self) -> str:
        """The mark of our memory, empty for a worker of another machine, which may have it under another path."""
        return mark(self._settings.data_dir) if self._is_of_this_machine() else ""

    def _is_of_this_machine(self) -> bool:
        return self._settings.host == "::1" or self._settings.host.startswith("127.")

    def _is_there(self) -> bool:
        try:
            socket.create_connection((self._settings.host, self._settings.port), timeout=_LOOK_S).close()
        except OSError:
            return False
        return True

    def _keep(self, path: str, body: Mapping[str, object], moment_ns: int) -> None:
        tag = str(body.get("event_id", ""))[:12]
        try:
            spool.put(self._settings.data_dir, path, body, moment_ns=moment_ns, tag=tag)
            self.outcome = "spooled"
        except spool.Full as full:
            raise Lost(str(full)) from full
        except OSError as error:
            raise Lost(f"{self._settings.data_dir} cannot be written to ({error.strerror or error})") from error


def note_trouble(data_dir: str, event: str, reason: str, epoch_ms: int) -> None:
    """Leave word of the last thing that went wrong, for `claude-mem doctor`; nothing of the event itself."""
    if not data_dir:
        return
    content = json.dumps({"event": event, "reason": reason[:_MOST_REASON_CHARS], "epoch_ms": epoch_ms}).encode()
    try:
        os.makedirs(os.path.join(data_dir, "state"), mode=0o700, exist_ok=True)
        file = os.path.join(data_dir, "state", "hook-trouble.json")
        handle = os.open(file, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
    except OSError:
        return


def _is_young(file: str) -> bool:
    try:
        return -1.0 <= time.time() - os.stat(file).st_mtime < _START_PAUSE_S
    except OSError:
        return False
