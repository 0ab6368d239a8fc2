"""The user's own ``claude`` command line: one question, no tools, in an empty folder of ours.

It runs with `CLAUDE_MEM_INTERNAL=1`, so that hooks keep silent about it, and in a process group of its own, which is
ended as a whole when its time is over or whoever asked no longer waits.
"""

import shutil
from pathlib import Path

from worker.contract.observer_settings import Asking
from worker.contract.settings import observer_environment
from worker.llm import telling, wire
from worker.llm.program import printed_object, run
from worker.llm.provider import Completion, Failure, Prompt, Provider, ProviderFailed, model_for

FOLDER = "observer-sessions"
_SLOWER = 4
"""It starts a whole program for each question, so it gets as many times the time of a call over HTTP."""
_QUIET = ("--tools", "", "--strict-mcp-config", "--setting-sources", "", "--no-session-persistence")
"""No tools, no MCP servers, no settings and hooks of the user, nothing kept of the session."""
_PLAIN = (
    "--disallowedTools",
    "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,Glob,Grep,LS,WebFetch,WebSearch,Task,Agent,TodoWrite,Skill",
)
"""The same for one of last year, as far as it goes."""


class Claude:
    """The client."""

    def __init__(self, asking: Asking, data_dir: Path) -> None:
        self._asking = asking
        self._command = Path(asking.command or "claude").expanduser()
        self._folder = data_dir / FOLDER
        self._plain = False
        self._timeout_s = asking.timeout_s * _SLOWER

    async def complete(self, prompt: Prompt) -> Completion:
        """The answer. Errors: ``ProviderFailed``."""
        model = model_for(self._asking, prompt)
        code, out, err = await self._run(prompt, model, plain=self._plain)
        if code != 0 and not self._plain and _UNKNOWN_OPTION in err.decode("utf-8", "replace"):
            self._plain = True  # one of last year: it does not know how to be so quiet
            code, out, err = await self._run(prompt, model, plain=True)
        return self._read(model, code, out, err)

    async def close(self) -> None:
        """Nothing stays open between two questions."""

    async def _run(self, prompt: Prompt, model: str, *, plain: bool) -> tuple[int, bytes, bytes]:
        program = shutil.which(self._command)
        if program is None:
            raise _failed(model, Failure.AUTH, "was not found; CLAUDE_CODE_PATH tells where it is")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        options = ["-p", "--output-format", "json", "--max-turns", "1", "--model", model]
        options += ["--system-prompt", prompt.system] if not plain else []
        asked = prompt.user if not plain else f"{prompt.system}\n\n{prompt.user}"
        words = (program, *options, *(_PLAIN if plain else _QUIET))
        try:
            ran = await run(
                words, asked, folder=self._folder, environ=observer_environment(self._asking), timeout_s=self._timeout_s
            )
        except TimeoutError as error:
            raise _failed(model, Failure.TRANSIENT, f"did not answer within {self._timeout_s:g} s") from error
        except OSError as error:
            raise _failed(model, Failure.AUTH, f"cannot be started ({error.strerror or error})") from error
        return ran.code, ran.out, ran.err

    def _read(self, model: str, code: int, out: bytes, err: bytes) -> Completion:
        answer = printed_object(out)
        said = wire.text(wire.at(answer, "result"))
        usage = wire.at(answer, "usage")
        names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        tokens = wire.count(*(wire.at(usage, name) for name in names))
        if answer is None or code != 0 or wire.at(answer, "is_error") is True:
            complaint = said or (out + b"\n" + err).decode("utf-8", "replace")
            kind = telling.of_words(complaint) or Failure.TRANSIENT
            raise _failed(model, kind, f"ended with {code}: {telling.sentence(kind)}", tokens)
        used = wire.at(answer, "modelUsage")
        model = next(iter(used)) if isinstance(used, dict) and len(used) == 1 else model
        return Completion(said, tokens, model)


_UNKNOWN_OPTION = "unknown option"


def _failed(model: str, kind: Failure, told: str, tokens: int = 0) -> ProviderFailed:
    return ProviderFailed(kind, f"claude {told}", tokens=tokens, model=model)


def open_provider(asking: Asking, data_dir: Path) -> Provider:
    """The provider."""
    return Claude(asking, data_dir)
