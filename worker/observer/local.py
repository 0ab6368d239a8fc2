"""Pure: observations made by rules alone, without any model; deterministic, and total on whatever tools gave.

A turn's events become one observation for each commit, or one in all; of other agents apart from the main one. What
tells nothing (tests that pass, a file looked at in passing) makes none, and folds into what stands beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from worker.observer import acts, story, titles, wrapup
from worker.observer.acts import Act
from worker.observer.commands import Command, Purpose
from worker.observer.events import Event
from worker.observer.story import Story, Trouble
from worker.observer.subject import Subject, best
from worker.observer.wording import listed, one_line, plural
from worker.store.drafts import Draft

_UNMARKED = re.compile(r"(?m)^\s*#{1,6}\s+|(?<!\*)\*{1,3}(?!\*)|`{1,3}")
_COUNTING = frozenset(("gh", "wc", "du", "df", "jq", "ps", "stat", "file", "which"))
"""Commands that only look, and whose first line is what was looked for."""
_MOST_DRAFTS = 5
_MOST_FACTS = 14
_SAME = 24
_MOST_FILES = 40
_COMMAND_CHARS = 120


@dataclass(frozen=True, slots=True)
class Turn:
    """What events are read with. prompts: of the session, the latest first. said: the agent's last words of it."""

    prompts: tuple[str, ...] = ()
    said: str = ""


def observations(events: Sequence[Event], turn: Turn) -> tuple[Draft, ...]:
    """What one agent's events of one turn tell.

    tokens: an estimate of what the agent read in its tools' answers, for that is what it cost to find out.
    """
    subject = best(turn.prompts)
    stories = [story.tell(part) for part in _parts([acts.act(event) for event in events])]
    telling = [each for each in stories if _tells(each, subject)]
    alone = len(telling) == 1
    # What an agent says in the end is about all of its turn.
    return tuple(_draft(each, subject, turn.said if each is telling[-1] else "", alone=alone) for each in telling)


def _parts(done: Sequence[Act]) -> list[list[Act]]:
    """Stretches that end with a commit each; what changes nothing after the last one belongs to it."""
    parts: list[list[Act]] = [[]]
    for act in done:
        parts[-1].append(act)
        if act.outcome.commits and len(parts) < _MOST_DRAFTS:
            parts.append([])
    last = parts.pop()
    if last and parts and not any(act.deed is acts.Deed.EDIT or act.outcome.commits for act in last):
        parts[-1] += last
    elif last:
        parts.append(last)
    return parts


def _tells(told: Story, subject: Subject) -> bool:
    """Whether a story is worth an observation (R166)."""
    if told.changes or told.commits or told.plans or told.solved or told.open or told.installs or told.steps:
        return True
    looked = len(told.read) + len(told.searches) + len(told.fetched) + len(told.delegated)
    if looked:
        return bool(subject.text) or looked > 1
    return bool(subject.text) and (subject.question or _does(told)) and bool(_answers(told))


def _does(told: Story) -> bool:
    """Whether a command did something that is neither a look nor a check."""
    return any(command.purpose is Purpose.RUN and not came.failed for command, came in told.runs.values())


def _draft(told: Story, subject: Subject, said: str, *, alone: bool) -> Draft:
    kind = titles.kind_of(told, subject)
    found, is_reason = wrapup.finding(said) if alone else ("", False)
    title = titles.title_of(told, subject, titles.Found(found, is_reason), alone=alone)
    facts = _facts(told)
    return Draft(
        type=kind,
        title=title,
        subtitle=_subtitle(titles.subtitle_of(told), subject, title) or None,
        narrative=_narrative(told, subject, wrapup.opening(said)),
        facts=tuple(dict.fromkeys(facts))[:_MOST_FACTS],
        concepts=_concepts(told, kind),
        files_read=tuple(path for path in told.read if path not in told.changes)[:_MOST_FILES],
        files_modified=tuple(told.changes)[:_MOST_FILES],
        tokens=told.tokens,
        tool_use_ids=tuple(act.event.tool_use_id for act in told.acts if act.event.tool_use_id),
        trifle=not (told.changes or told.commits or told.plans or told.solved),
    )


def _subtitle(came_to: str, subject: Subject, title: str) -> str:
    """What it came to; after what was asked, where the title does not say that."""
    says = subject.text[:_SAME].lower() in title.lower()
    return came_to if says else ": ".join(filter(None, (subject.text, came_to)))


def _concepts(told: Story, kind: str) -> tuple[str, ...]:
    found = {
        "problem-solution": bool(told.solved),
        "what-changed": bool(told.changes or told.commits),
        "gotcha": bool(told.open) or any(not trouble.changed for trouble in told.solved),
        "trade-off": kind == "decision",
        "how-it-works": kind == "discovery",
    }
    return tuple(name for name, holds in found.items() if holds)


def _facts(told: Story) -> list[str]:
    facts = [f"Commit {commit.sha}: {commit.subject}".replace(" :", ":") for commit in told.commits]
    facts += [f"{_trouble(trouble)} — gone {trouble.way}".rstrip() for trouble in told.solved]
    facts += [f"{_trouble(trouble)} — still so" for trouble in told.open.values()]
    for change in told.changes.values():
        verb = "Created" if change.created else "Changed"
        defined = f", defines {listed(change.symbols, 5)}" if change.symbols else ""
        facts.append(f"{verb} {change.shown} ({plural(change.edits, 'edit')}{defined})")
    answers = {line: said for line, said in _answers(told).items() if _is_news(told.runs[line][0], said)}
    troubled = {trouble.command.program for trouble in (*told.solved, *told.open.values())}
    for line, (command, came) in told.runs.items():
        if command.purpose is Purpose.VIEW or came.commits or line in answers:
            continue
        if came.failed and command.program in troubled:
            continue
        facts.append(f"`{one_line(line, _COMMAND_CHARS)}`: {_came(came.exit_code, came.failed, came.tests)}")
    facts += [f"`{one_line(line, _COMMAND_CHARS)}` → {said}" for line, said in answers.items()]
    facts += [f"Looked at {where}" for where in told.fetched[:3]]
    facts += [f"Agent “{what}”: {said}" if said else f"Agent “{what}”" for what, said in told.delegated[:3]]
    if told.searches and not told.changes:
        facts.append(f"Searched for {listed(list(dict.fromkeys(told.searches)), 4)}")
    return facts


def _answers(told: Story) -> dict[str, str]:
    """What commands that only look, or run something, printed first."""
    found = {
        line: came.first_line
        for line, (command, came) in told.runs.items()
        if command.purpose in (Purpose.VIEW, Purpose.RUN) and came.first_line and not came.failed
    }
    return dict(list(found.items())[:3])


def _is_news(command: Command, said: str) -> bool:
    """Whether the first line of what was printed says something by itself."""
    shows = command.purpose is Purpose.VIEW and command.program.partition(" ")[0] not in _COUNTING
    return not shows and sum(map(str.isalnum, said)) > 1


def _trouble(trouble: Trouble) -> str:
    failed = listed(trouble.names, 3)
    said = f"{trouble.command.program} failed" + (f" ({failed})" if failed else "")
    return f"{said}: {trouble.told.rstrip('.')}" if trouble.told else said


def _came(code: int | None, failed: bool, tests: object) -> str:
    told = getattr(tests, "told", "")
    word = f"exit {code}" if failed and code else "failed" if failed else "ok"
    return f"{word}, {told}" if told else word


def _narrative(told: Story, subject: Subject, opening: str) -> str:
    said = [f"Asked: {subject.text.rstrip('.')}."] if subject.text else []
    said += [f"In the end: {opening}"] if opening else []
    said += [f"{_trouble(trouble)}. It passed {trouble.way}.".replace(" .", ".") for trouble in told.solved]
    if told.changes:
        changes = [_change(change.shown, change.edits, change.symbols) for change in told.changes.values()]
        said.append(f"Changed {listed(changes, 6)}.")
    elif told.read:
        said.append(f"Read {listed(list(told.read.values()), 6)}.")
    if told.installs or told.steps:
        said.append(f"Ran {listed([f'`{line[:_COMMAND_CHARS]}`' for line in told.installs + told.steps], 4)}.")
    said += [f"Planned: {one_line(_UNMARKED.sub('', plan), 800)}" for plan in told.plans[-1:]]
    said += [f"{_trouble(trouble)}. It still fails." for trouble in told.open.values()]
    said += [f"Committed {commit.sha} “{commit.subject}”.".replace("  ", " ") for commit in told.commits]
    return " ".join(said)


def _change(shown: str, edits: int, symbols: Sequence[str]) -> str:
    return f"{shown} ({listed(symbols, 4)})" if symbols else f"{shown} ({plural(edits, 'edit')})"
