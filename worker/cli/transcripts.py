"""`import transcripts`: past sessions of Claude Code → events → worker, as if hooks had told of them."""

import argparse
import functools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from worker.cli import agents, exits
from worker.cli.connection import chosen
from worker.cli.importers import transcripts
from worker.cli.importers.transcripts import Passed, Session
from worker.cli.printing import HelpLines, failed, note, say, say_json
from worker.cli.progress import Progress
from worker.cli.telling import Known, Link, Told
from worker.contract.capture import PromptSubmitted, ToolUsed, TurnEnded
from worker.contract.errors import Invalid, MemError
from worker.contract.exclusion import excluded, skipped
from worker.contract.hook_settings import HookSettings
from worker.contract.project_name import is_left_out, project_of
from worker.contract.settings import inherited
from worker.contract.tokens import estimate_tokens

_DAY_MS = 86_400_000
_OBSERVED_CHARS = 16_000
"""Of what went into a tool, and of what came out, a model is shown so many at most."""
_SHOWN = 12
_PROMPTS, _USES = "prompts", "tool uses"


@dataclass(slots=True)
class _Tally:
    """sessions: that told of anything. told, added, known: by kind of event. left_out: by the reason. tokens: about.

    Ends of turns are told again and taken once, so of them nobody knows which were there.
    """

    sessions: int = 0
    told: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    projects: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    passed: Passed = field(default_factory=Passed)


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which events are wanted."""

    since_epoch_ms: int
    project: str | None
    hooks: HookSettings

    def reason_against(self, event: Told) -> str | None:
        """Why an event is left out; None for one that is wanted."""
        if (event.occurred_at_epoch_ms or 0) < self.since_epoch_ms:
            return "older than --days"
        cwd = event.cwd or ""
        if self.project is not None and self.project not in (_project(cwd), Path(cwd).name):
            return "of another project"
        if cwd and excluded(self.hooks.excluded, cwd, home=self.hooks.home, names=(_project(cwd),)):
            return "of an excluded project"
        if cwd and is_left_out(cwd, opt_in=self.hooks.opt_in):
            return "of a folder of which nothing is kept"
        if cwd and Path(cwd).is_relative_to(self.hooks.data_dir):
            return "of the memory's own sessions"
        if isinstance(event, ToolUsed) and skipped(self.hooks.skip_tools, event.tool_name):
            return "of a tool that is skipped"
        if isinstance(event, ToolUsed) and event.agent_id and self.hooks.skip_agents:
            return "of a sub-agent"
        return None


def main(argv: Sequence[str]) -> int:
    """Run `transcripts [PATH]`; gives the exit code."""
    args = _parser().parse_args(argv[1:])
    tally, began = _Tally(), time.monotonic()
    try:
        where = chosen(demo=args.demo)
        path = args.path or agents.places(inherited(), scope=agents.USER, cwd=Path.cwd()).config / "projects"
        since_ms = 0 if args.days is None else int(time.time() * 1000) - args.days * _DAY_MS
        sessions = _sessions(path, since_ms)
        choice = _Choice(since_ms, args.project, HookSettings(inherited()))
        _run(sessions, choice, None if args.dry_run else Link(where), tally)
    except MemError as error:
        if tally.added:
            note(f"{tally.added.total():,} events were taken; run it again to go on")
        return failed(error)
    took_s = time.monotonic() - began
    say_json(_facts(args, path, tally, took_s)) if args.json else say(_told(args, path, tally, took_s))
    return exits.FOUND if tally.told else exits.NOTHING


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claude-mem import transcripts",
        description="Bring in past sessions of Claude Code. What is known already is passed over, so it can be run "
        "again, also after it was interrupted.",
        epilog=exits.TOLD,
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument(
        "path", type=Path, nargs="?", metavar="PATH", help="a transcript or a folder of them; by default all"
    )
    parser.add_argument("--days", type=_days, metavar="N", help="only what happened in the last N days")
    parser.add_argument("--project", metavar="P", help="only this project")
    parser.add_argument("--dry-run", action="store_true", help="only tell what there is and what it would cost")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--demo", action="store_true", help="into the demo memory")
    return parser


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6) or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number of days")
    return int(text)


def _sessions(path: Path, since_ms: int) -> list[Session]:
    try:
        found = transcripts.found(path, since_epoch_ms=since_ms)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}") from error
    if not found and not path.exists():
        raise Invalid(f"there is no {path}: give the folder of the transcripts, or one of them")
    return found


def _run(sessions: Sequence[Session], choice: _Choice, link: Link | None, tally: _Tally) -> None:
    progress = Progress("import", sum(session.size for session in sessions))
    done = 0
    seen: set[str | None] = set()
    known = functools.lru_cache(4)(link.known) if link is not None else None
    try:
        for session in sessions:
            before = tally.told.total()
            for event in _readable(session, tally):
                reason = choice.reason_against(event) or (
                    "repeated by another session" if event.event_id in seen else None
                )
                if reason is not None:
                    tally.left_out[reason] += 1
                    continue
                seen.add(event.event_id)
                _count(event, tally)
                if link is not None and known is not None:
                    _tell(event, link, known(event.content_session_id), tally)
            tally.sessions += tally.told.total() > before
            done += session.size
            progress.at(done, tally.told.total())
    finally:
        progress.end()


def _count(event: Told, tally: _Tally) -> None:
    tally.told[_kind(event)] += 1
    tally.tokens += _tokens(event)
    tally.projects[_project(event.cwd or "") or "(none)"] += 1


def _tell(event: Told, link: Link, known: Known, tally: _Tally) -> None:
    kind = _kind(event)
    if known.has(event):
        tally.known[kind] += 1
    elif (why := link.tell(event)) is not None:
        tally.left_out[why] += 1
    elif not isinstance(event, TurnEnded):
        tally.added[kind] += 1


def _readable(session: Session, tally: _Tally) -> Iterator[Told]:
    try:
        yield from transcripts.told(session, tally.passed)
    except OSError as error:
        note(f"{session.name} cannot be read on: {error.strerror or error}")
        tally.left_out["in a file that cannot be read"] += 1


def _kind(event: Told) -> str:
    match event:
        case PromptSubmitted():
            return _PROMPTS
        case ToolUsed():
            return _USES
        case TurnEnded():
            return "turns"


def _project(cwd: str) -> str:
    found = project_of(cwd) if cwd else None
    return "" if found is None else found.name


def _tokens(event: Told) -> int:
    """About what a model reads to observe an event."""
    match event:
        case PromptSubmitted():
            return estimate_tokens(event.prompt or "")
        case ToolUsed():
            return sum(estimate_tokens(str(part)[:_OBSERVED_CHARS]) for part in (event.tool_input, event.tool_response))
        case TurnEnded():
            return estimate_tokens(event.last_assistant_message or "")


def _facts(args: argparse.Namespace, path: Path, tally: _Tally, took_s: float) -> dict[str, object]:
    return {
        "path": str(path),
        "dry_run": args.dry_run,
        "sessions": tally.sessions,
        "found": dict(tally.told),
        "added": dict(tally.added),
        "known": dict(tally.known),
        "left_out": dict(tally.left_out),
        "projects": dict(tally.projects.most_common()),
        "broken_lines": tally.passed.broken,
        "other_records": dict(tally.passed.records.most_common()),
        "tokens": tally.tokens,
        "took_s": round(took_s, 3),
    }


def _told(args: argparse.Namespace, path: Path, tally: _Tally, took_s: float) -> str:
    found = ", ".join(f"{count:,} {kind}" for kind, count in tally.told.items()) or "nothing"
    lines = [f"{path}: {tally.sessions:,} sessions in {took_s:.1f} s: {found}"]
    if not args.dry_run:
        for word, counted in (("added", tally.added), ("already there", tally.known)):
            lines.append(f"  {word:<13} {', '.join(f'{counted[kind]:,} {kind}' for kind in (_PROMPTS, _USES))}")
    lines += [f"  left out      {count:,} ({reason})" for reason, count in tally.left_out.most_common(_SHOWN)]
    lines += [f"  broken lines  {tally.passed.broken:,}"] if tally.passed.broken else []
    lines += [f"  project       {name}: {count:,} events" for name, count in tally.projects.most_common(_SHOWN)]
    lines.append(
        f"  tokens        about {tally.tokens:,} to be read by a model that observes them; "
        "the provider `local` reads them for nothing"
    )
    return "\n".join(lines)
