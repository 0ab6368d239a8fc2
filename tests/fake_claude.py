"""A stand-in for the user's `claude` program, which keeps its sessions in a folder and behaves as the real one.

Seen of the real one: `-p` reads the question from standard input; `--output-format json` prints one object with
`result`, `session_id`, `is_error`; an unknown session is told on standard error, with exit code 1; options that it does
not know are errors of the command line. Each call is written down in `calls.jsonl` beside the program.
"""

import json
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = """#!{python} -S
import fcntl, json, os, sys, time, uuid
from pathlib import Path

home = Path({home!r})
mood = json.loads((home / "mood.json").read_text())
words, told = sys.argv[1:], sys.stdin.read()
options, bare = {{}}, []
while words:
    word = words.pop(0)
    if word in ("-p", "--strict-mcp-config", "--no-session-persistence"):
        bare.append(word)
    elif word in mood.get("unknown", []):
        sys.exit("error: unknown option '" + word + "'")
    else:
        options[word] = words.pop(0)
with open(home / "calls.jsonl", "a") as calls:
    fcntl.flock(calls, fcntl.LOCK_EX)
    seen = {{name: value for name, value in os.environ.items() if name.startswith("CLAUDE")}}
    call = {{"options": options, "bare": bare, "told": told, "cwd": os.getcwd(), "environ": seen}}
    calls.write(json.dumps(call) + "\\n")
busy = home / "busy"
try:
    os.close(os.open(busy, os.O_CREAT | os.O_EXCL))
except FileExistsError:
    (home / "overlapped").touch()
time.sleep(mood.get("takes_s", 0))
busy.unlink(missing_ok=True)
if mood.get("hangs"):
    if os.fork() == 0:
        (home / "child").write_text(str(os.getpid()))
    time.sleep(600)
if mood.get("crashes"):
    os.kill(os.getpid(), 9)
if mood.get("says"):
    print(json.dumps(mood["says"]))
    sys.exit(mood.get("code", 1))
if mood.get("complains"):
    sys.exit(mood["complains"])
asked = options.get("--resume")
sessions = home / "sessions"
if asked and not (sessions / asked).exists():
    if mood.get("as_json"):
        errors = ["No conversation found with session ID: " + asked]
        print(json.dumps({{"type": "result", "subtype": "error_during_execution", "is_error": True, "errors": errors}}))
        sys.exit(1)
    sys.exit("No conversation found with session ID: " + asked)
known = (sessions / asked).read_text() if asked else ""
session = str(uuid.uuid4()) if mood.get("forks") or not asked else asked
if not mood.get("forgets"):
    (sessions / session).write_text(known + told + "\\n")
heard = (known + told).count("Question:")
result = mood.get("answers") or f"Sixty seconds of skew are allowed (#1). Question {{heard}}."
answer = {{"type": "result", "subtype": "success", "is_error": False, "result": result, "session_id": session}}
print(json.dumps(answer | {{"usage": {{"input_tokens": 12, "output_tokens": 3}}}}))
if mood.get("crashes_after"):
    sys.stdout.flush()
    os.kill(os.getpid(), 9)
"""


@dataclass
class FakeClaude:
    """The program. path: to put into CLAUDE_CODE_PATH."""

    home: Path

    @property
    def path(self) -> str:
        return str(self.home / "claude")

    def mood(self, **mood: Any) -> None:
        """How it behaves from now on."""
        (self.home / "mood.json").write_text(json.dumps(mood))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What it was started with, in order."""
        file = self.home / "calls.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def sessions(self) -> dict[str, str]:
        """All that each session heard."""
        return {file.name: file.read_text() for file in (self.home / "sessions").iterdir()}

    def forget(self) -> None:
        """All sessions have expired."""
        for file in (self.home / "sessions").iterdir():
            file.unlink()

    @property
    def overlapped(self) -> bool:
        """Whether two of it ever ran at once."""
        return (self.home / "overlapped").exists()

    def is_left(self) -> bool:
        """Whether the child of one that hung still runs."""
        pid = int((self.home / "child").read_text())
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False


def install(folder: Path) -> FakeClaude:
    """Write the program."""
    (folder / "sessions").mkdir(parents=True)
    made = FakeClaude(folder)
    made.mood()
    program = Path(made.path)
    program.write_text(PROGRAM.format(python=sys.executable, home=str(folder)))
    os.chmod(program, program.stat().st_mode | stat.S_IXUSR)
    return made
