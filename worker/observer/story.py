"""Pure: what happened in a stretch of an agent's work: files, runs, failures and how they went away."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from worker.observer.acts import Act, Deed
from worker.observer.commands import Command, Purpose
from worker.observer.outcomes import Commit, Counted, Outcome
from worker.observer.wording import listed, short_path


@dataclass(slots=True)
class Change:
    """What was done to a file. path: as the agent named it."""

    path: str
    shown: str
    edits: int = 0
    created: bool = False
    symbols: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Trouble:
    """A command that failed. mended: what was done before it passed: files changed, commands run.

    passed: what it came to in the end, None while it fails. told: what it said when it failed first.
    """

    command: Command
    told: str
    tests: Counted | None
    changed: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    passed: Outcome | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The tests that failed, without the files that they are in."""
        return tuple(name.rsplit("::", 1)[-1] for name in self.tests.names) if self.tests else ()

    @property
    def way(self) -> str:
        """How it went away, for a sentence; empty if nothing tells."""
        done = listed(list(dict.fromkeys(self.changed)))
        if done:
            return f"after changing {done}"
        return f"after `{self.ran[-1]}`" if self.ran else ""


@dataclass(slots=True)
class Story:
    """All of it, each list in the order of what happened. runs: the last outcome of each line, by that line."""

    acts: Sequence[Act]
    changes: dict[str, Change] = field(default_factory=dict)
    read: dict[str, str] = field(default_factory=dict)
    searches: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    delegated: list[tuple[str, str]] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)
    runs: dict[str, tuple[Command, Outcome]] = field(default_factory=dict)
    solved: list[Trouble] = field(default_factory=list)
    open: dict[str, Trouble] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """What the agent read in it."""
        return sum(act.event.tokens for act in self.acts)

    @property
    def installs(self) -> list[str]:
        """Lines that installed something, and did so."""
        return self._lines(Purpose.INSTALL)

    @property
    def steps(self) -> list[str]:
        """Lines that changed what git keeps, beside commits."""
        return [line for line in self._lines(Purpose.GIT) if self.runs[line][0].program != "git commit"]

    def _lines(self, purpose: Purpose) -> list[str]:
        return [line for line, (run, came) in self.runs.items() if run.purpose is purpose and not came.failed]


def tell(acts: Sequence[Act]) -> Story:
    """The story of acts in their order."""
    story = Story(acts)
    for act in acts:
        match act.deed:
            case Deed.EDIT if not act.outcome.failed:
                _edited(story, act)
            case Deed.READ if not act.outcome.failed:
                story.read |= {path: short_path(path, act.event.cwd) for path in act.paths}
            case Deed.SEARCH if act.detail:
                story.searches.append(act.detail)
            case Deed.FETCH if act.detail and not act.outcome.failed:
                story.fetched.append(act.detail)
            case Deed.DELEGATE if act.detail:
                story.delegated.append((act.detail, act.outcome.first_line))
            case Deed.PLAN if act.detail:
                story.plans.append(act.detail)
            case Deed.RUN:
                _ran(story, act)
            case Deed.OTHER if act.detail and not act.outcome.failed:
                story.others.append(act.detail)
    return story


def _edited(story: Story, act: Act) -> None:
    for path in act.paths:
        change = story.changes.setdefault(path, Change(path, short_path(path, act.event.cwd)))
        change.edits += 1
        change.created = change.created or act.created
        change.symbols += [name for name in act.symbols if name not in change.symbols]
        for trouble in story.open.values():
            trouble.changed.append(change.shown)


def _ran(story: Story, act: Act) -> None:
    command, outcome = act.command, act.outcome
    if command is None or not command.line:
        return
    story.runs[command.line] = (command, outcome)
    story.commits += outcome.commits
    program = command.program
    if not outcome.failed:
        trouble = story.open.pop(program, None)
        if trouble is not None:
            trouble.passed = outcome
            story.solved.append(trouble)
        if command.purpose is not Purpose.VIEW:
            for other in story.open.values():
                other.ran.append(command.line[:80])
    elif command.purpose is not Purpose.VIEW and program not in story.open:
        told = outcome.errors[0] if outcome.errors else ""
        story.open[program] = Trouble(command, told, outcome.tests)
    elif program in story.open and not story.open[program].told and outcome.errors:
        story.open[program].told = outcome.errors[0]
