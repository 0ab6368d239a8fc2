"""A session of the user's own ``claude`` command line that has read a corpus: begun once, resumed for each question.

It gets no tools, no MCP servers, and none of the user's settings and hooks. An older program that does not know one of
the options is asked again without it, but never without those that keep tools away.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from worker.contract.errors import Busy, Conflict, MemError, TimedOut, Unavailable
from worker.contract.observer_settings import Asking
from worker.contract.settings import observer_environment
from worker.contract.tokens import estimate_tokens
from worker.corpus.render import DISALLOWED
from worker.llm import telling, wire
from worker.llm.claude import FOLDER
from worker.llm.program import Ran, printed_object, run
from worker.llm.provider import Failure

_SLOWER = 4
"""It starts a whole program for each question, so it gets as many times the time of a call over HTTP."""
_READS_SLOWER = 10
"""And still longer to read a corpus."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_UNKNOWN = re.compile(r"unknown option '?(--[\w-]+)")
_DISPENSABLE = ("--tools", "--setting-sources", "--system-prompt")
_COUNTED = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_AGAIN_S = {Failure.QUOTA: 60.0, Failure.TRANSIENT: 5.0, Failure.BAD_ANSWER: 5.0}


@dataclass(frozen=True, slots=True)
class Said:
    """What the model answered, and by which session it can be asked on."""

    text: str
    session_id: str


Paid = Callable[[str, int], None]
"""Told what an answer cost, also one of no use: the model, and tokens."""


class Expired(Exception):
    """The session that was to be resumed is no longer known to the program."""


class Model:
    """The command line as it is set up now."""

    def __init__(self, asking: Asking, data_dir: Path) -> None:
        self._asking, self._folder = asking, data_dir / FOLDER
        self._dropped: set[str] = set()

    @property
    def name(self) -> str:
        """Of the model."""
        return self._asking.model

    async def begin(self, rules: str, told: str, paid: Paid) -> Said:
        """A new session that has read ``told``. Errors: as those of ``resume``, but ``Expired``."""
        ran = await self._run(rules, told, None, self._asking.timeout_s * _READS_SLOWER)
        answer = printed_object(ran.out)
        self._tell(answer, (rules, told), paid)
        said = self._read(ran, answer)
        if not said.session_id:
            raise Unavailable("claude names no session, so it cannot be asked on", retry_after_s=5)
        return said

    async def resume(self, session_id: str, rules: str, question: str, paid: Paid) -> Said:
        """The answer of a session.

        Errors: ``Expired``; ``Conflict`` when the program is missing, not logged in or full, ``Busy`` when its quota is
        used up, ``TimedOut``, ``Unavailable``.
        """
        if not _ID.fullmatch(session_id):
            raise Expired
        ran = await self._run(rules, question, session_id, self._asking.timeout_s * _SLOWER)
        answer = printed_object(ran.out)
        if not _is_success(answer) and _is_unknown(session_id, _complaint(ran, answer)):
            raise Expired
        self._tell(answer, (rules, question), paid)
        said = self._read(ran, answer)
        if not said.text.strip():
            raise Unavailable("claude answered nothing", retry_after_s=5)
        return Said(said.text, said.session_id or session_id)

    async def _run(self, rules: str, told: str, session_id: str | None, timeout_s: float) -> Ran:
        program = shutil.which(self._asking.command or "claude")
        if program is None:
            raise Conflict(
                "the claude command line was not found; CLAUDE_CODE_PATH tells where it is, and with "
                "CLAUDE_MEM_PROVIDER=local corpora answer without a model"
            )
        while True:
            words = [program, *self._options(rules), *(("--resume", session_id) if session_id else ())]
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                environ = observer_environment(self._asking)
                ran = await run(words, told, folder=self._folder, environ=environ, timeout_s=timeout_s)
            except TimeoutError as error:
                raise TimedOut(f"claude did not answer within {timeout_s:g} s (CLAUDE_MEM_LLM_TIMEOUT_MS)") from error
            except OSError as error:
                raise Conflict(f"the claude command line cannot be started ({error.strerror or error})") from error
            unknown = _UNKNOWN.search(ran.err.decode("utf-8", "replace")) if ran.code else None
            if unknown is None:
                return ran
            if unknown[1] not in _DISPENSABLE or unknown[1] in self._dropped:
                raise Conflict(f"this claude command line does not know {unknown[1]}; update it (`claude update`)")
            self._dropped.add(unknown[1])

    def _tell(self, answer: dict[str, object] | None, asked: tuple[str, ...], paid: Paid) -> None:
        """What it cost: as the program counts, else, of an answer, an estimate."""
        if answer is None:
            return
        usage, used = wire.at(answer, "usage"), wire.at(answer, "modelUsage")
        tokens = wire.count(*(wire.at(usage, name) for name in _COUNTED))
        if not tokens and _is_success(answer):
            tokens = sum(map(estimate_tokens, (*asked, wire.text(answer.get("result")))))
        if tokens:
            paid(next(iter(used)) if isinstance(used, dict) and len(used) == 1 else self.name, tokens)

    def _options(self, rules: str) -> list[str]:
        options = {
            "--output-format": "json",
            "--max-turns": "1",
            "--model": self._asking.model,
            "--system-prompt": rules,
            "--setting-sources": "",
            "--tools": "",
            "--disallowedTools": ",".join(DISALLOWED),
        }
        kept = [word for name, value in options.items() if name not in self._dropped for word in (name, value)]
        return ["-p", "--strict-mcp-config", *kept]

    def _read(self, ran: Ran, answer: dict[str, object] | None) -> Said:
        """The answer, also of a program that broke down after it had given it."""
        if answer is None or not _is_success(answer):
            raise _failed(ran, telling.of_words(_complaint(ran, answer)) or Failure.TRANSIENT)
        session_id = wire.text(wire.at(answer, "session_id"))
        return Said(wire.text(wire.at(answer, "result")), session_id if _ID.fullmatch(session_id) else "")


def _is_success(answer: dict[str, object] | None) -> bool:
    return answer is not None and isinstance(answer.get("result"), str) and answer.get("is_error") is not True


def _complaint(ran: Ran, answer: dict[str, object] | None) -> str:
    """What the program itself says of its failure, and not what a model wrote in an answer."""
    parts = [ran.err.decode("utf-8", "replace")]
    if answer is None:
        parts.append(ran.out.decode("utf-8", "replace"))
    else:
        errors = answer.get("errors")
        parts += [wire.text(answer.get("result")), *(map(str, errors) if isinstance(errors, list) else ())]
    return "\n".join(part for part in parts if part)


def _is_unknown(session_id: str, complaint: str) -> bool:
    """Whether the program says that it has no such session: in its own sentence, with just this id."""
    named = re.escape(session_id)
    return bool(
        re.search(rf"No conversation found with session ID:?\s*[\"']?{named}(?![\w-])", complaint)
        or re.search(rf"--resume requires a valid session.{{0,200}}{named}(?![\w-])", complaint, re.DOTALL)
    )


def _failed(ran: Ran, kind: Failure) -> MemError:
    """Never in the program's own words: they may quote what it was asked."""
    told = f"claude ended with {ran.code}: {telling.sentence(kind)}"
    match kind:
        case Failure.AUTH:
            return Conflict(f"{told}; run `claude` once and log in")
        case Failure.TOO_LONG:
            return Conflict(f"{told}; reprime the corpus, which forgets earlier questions, or build a smaller one")
        case Failure.QUOTA:
            return Busy(told, retry_after_s=_AGAIN_S[kind])
        case _:
            return Unavailable(told, retry_after_s=_AGAIN_S[kind])
