"""Pure: what kind of thing happened, and a title that says what."""

import posixpath
import re
from dataclasses import dataclass

from worker.observer.story import Change, Story, Trouble
from worker.observer.subject import Subject
from worker.observer.wording import listed, one_line, plural, upper_first

_MOST = 120
_SAME = 30
_TELLING = 32
_REFERS = re.compile(r"(?i)(?:it|its|this|that|these|those|they|there|i|we|you|he|she|both|yes|no)\b")
_BARE = ("AssertionError: assert ", "assert ")
"""How a failure begins that says what was compared, but not what it means."""
_PLAIN = (
    ".md",
    ".rst",
    ".txt",
    ".json",
    ".yaml",
    ".yml",
    ".toml",
    ".ini",
    ".cfg",
    ".lock",
    ".env",
    ".gitignore",
    ".csv",
    ".svg",
)


@dataclass(frozen=True, slots=True)
class Found:
    """What an agent said that it found out; empty if nobody knows. is_reason: why something was or is so."""

    text: str = ""
    is_reason: bool = False


def kind_of(story: Story, subject: Subject) -> str:
    """The type of an observation about a story."""
    intents = [name for name in subject.intents if name != "discovery"]
    if not story.changes and not story.commits:
        if story.plans or (intents[:1] == ["decision"] and not subject.question):
            return "decision"
        deeds = story.installs or story.steps or (intents[:1] == ["change"] and not subject.question and story.runs)
        return "change" if deeds else "discovery"
    if story.changes and all(is_plain(change.path) for change in story.changes.values()):
        if intents[:1] == ["decision"]:
            return "decision"
        return "bugfix" if intents[:1] == ["bugfix"] and story.solved else "change"
    wanted = next((name for name in intents if name != "decision"), "")
    if wanted == "feature" and story.changes and all(is_test(change.path) for change in story.changes.values()):
        return "change"
    if wanted:
        return wanted
    if any(trouble.changed for trouble in story.solved):
        return "bugfix"
    return (
        "feature" if any(change.created and not is_test(change.path) for change in story.changes.values()) else "change"
    )


def title_of(story: Story, subject: Subject, found: Found, *, alone: bool) -> str:
    """What happened, in a line. alone: it is all of the turn; of several, each goes by its own commit."""
    main = main_change(story)
    if story.commits and (subject.borrowed or not alone):
        return one_line(upper_first(story.commits[-1].subject), _MOST)
    if main is None:
        return one_line(_looked(story, subject, found), _MOST)
    place = "" if main.shown.rsplit("/", 1)[-1].lower() in subject.text.lower() else f" in {_place(story, main)}"
    if subject.text and found.text and (found.is_reason or subject.question or subject.borrowed):
        return _told(subject, found, "" if subject.question else place)
    cause = _cause(story, mended=not subject.text or kind_of(story, subject) == "bugfix") or subject.error
    if subject.text:
        said = f"{subject.text}: done{place}" if subject.question and place else f"{subject.text}{place}"
        return one_line(f"{said}: {cause}" if cause and cause.lower() not in said.lower() else said, _MOST)
    if story.commits:
        return one_line(upper_first(story.commits[-1].subject), _MOST)
    return one_line(_of_itself(story, main, cause), _MOST)


def subtitle_of(story: Story) -> str:
    """What it came to, in a line."""
    parts = []
    if story.changes:
        parts.append(f"{plural(len(story.changes), 'file')} changed")
    parts += [_went(trouble) for trouble in story.solved[-2:]]
    parts += [f"{trouble.command.program} still fails" for trouble in list(story.open.values())[-2:]]
    if not story.solved and not story.open:
        tests = [came.tests for _, came in story.runs.values() if came.tests]
        parts += [f"tests: {tests[-1].told}"] if tests and tests[-1].told else []
    parts += [f"commit {commit.sha}".strip() for commit in story.commits[-1:]]
    if not parts:
        looked = ((story.read, "file"), (story.fetched, "page"))
        parts = [f"{plural(len(of), noun)} read" for of, noun in looked if of]
        parts += [f"{len(story.searches)} searched for"] if story.searches else []
    return one_line(", ".join(parts), 160)


def main_change(story: Story) -> Change | None:
    """The file that the story is most about: of code rather than tests or prose, the one with most edits."""
    changes = list(story.changes.values())
    return max(changes, key=lambda change: (_weight(change.path), change.edits), default=None)


def _place(story: Story, main: Change) -> str:
    """Where it was: one file if most was done there, else the folder that holds them all."""
    changes = story.changes.values()
    if len(changes) < 4 or 2 * main.edits > sum(change.edits for change in changes):
        return main.shown
    folder = posixpath.commonpath([change.shown for change in changes if not change.shown.startswith("/")] or ["/"])
    return f"{folder} ({len(changes)} files)" if folder not in ("", "/") else f"{len(changes)} files"


def is_test(path: str) -> bool:
    """Whether a file holds tests."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return name.startswith("test_") or "_test." in name or ".test." in name or ".spec." in name or name == "conftest.py"


def is_plain(path: str) -> bool:
    """Whether a file holds prose or settings."""
    return path.lower().endswith(_PLAIN)


def _weight(path: str) -> int:
    return 0 if is_plain(path) else 1 if is_test(path) else 2


def _cause(story: Story, *, mended: bool) -> str:
    """What was wrong, as the failure that went away tells it, if it was to be mended; else what is still wrong."""
    for trouble in reversed(story.solved) if mended else ():
        if trouble.changed:
            if trouble.names and trouble.told.startswith(_BARE):
                return f"{listed(trouble.names, 2)} failed"
            return trouble.told or f"{trouble.command.program} passes again"
    still = next(iter(story.open.values()), None)
    return f"{still.command.program} still fails" if still is not None else ""


def _of_itself(story: Story, main: Change, cause: str) -> str:
    """A title where nobody said what it was for."""
    for trouble in reversed(story.solved):
        if trouble.changed:
            what = listed(trouble.names, 2) or trouble.told or trouble.command.program
            said = f"Fix {what} in {main.shown}"
            return f"{said}: {trouble.told}" if trouble.told and trouble.told != what else said
    more = f" and {plural(len(story.changes) - 1, 'more file')}" if len(story.changes) > 1 else ""
    verb = "Add" if main.created else "Change"
    defined = f": {listed(main.symbols)}" if main.symbols else f": {cause}" if cause else ""
    return f"{verb} {main.shown}{more}{defined}"


def _told(subject: Subject, found: Found, place: str = "") -> str:
    """What came of what was asked; after that, and where, if it does not stand by itself.

    In a list the prompt and the summary of the turn begin with what was asked already.
    """
    stands = len(found.text) >= _TELLING and not _REFERS.match(found.text)
    if stands or subject.borrowed or found.text.lower().startswith(subject.text.lower()[:_SAME]):
        return one_line(upper_first(found.text), _MOST)
    asked = f"{subject.text}{place}"
    asked = asked if len(asked) <= _MOST // 2 else one_line(subject.text, _MOST // 2)
    return one_line(f"{asked}: {found.text}", _MOST)


def _looked(story: Story, subject: Subject, found: Found) -> str:
    if story.commits:
        return upper_first(story.commits[-1].subject)
    if subject.text and found.text and not story.plans and (found.is_reason or subject.question):
        return _told(subject, found)
    if story.plans:
        heading = next((line.strip("#*- ") for line in story.plans[-1].splitlines() if line.strip("#*- ")), "")
        return f"Plan: {subject.text or heading}" if heading or subject.text else "Plan"
    still = next(iter(story.open.values()), None)
    if still is not None:
        said = f"{still.command.program} fails" + (f": {listed(still.names, 2)}" if still.names else "")
        said += f" ({still.told})" if still.told else ""
        return f"{subject.text}: {said}" if subject.text else upper_first(said)
    if story.solved:
        trouble = story.solved[-1]
        said = f"{trouble.told or trouble.command.program + ' failed'}: gone {trouble.way}".strip()
        return f"{subject.text}: {said}" if subject.text else upper_first(said)
    if story.installs or story.steps:
        done = (story.installs + story.steps)[-1]
        return f"{subject.text}: `{done}`" if subject.text else f"Run `{done}`"
    looked = listed(list(story.read.values()), 2)
    if subject.text:
        looked = looked or listed(_sites(story), 2)
        seen = f"see {looked}" if looked else _answer(story)
        return (
            f"{subject.text}: {seen}"
            if seen and (not looked or looked.lower() not in subject.text.lower())
            else subject.text
        )
    return f"Read {looked}" if looked else f"Look for {listed(story.searches + story.fetched, 2)}"


def _sites(story: Story) -> list[str]:
    """The names of sites that were read."""
    urls = [where.split("://", 1)[1].split("/", 1)[0] for where in story.fetched if "://" in where]
    return list(dict.fromkeys(urls))


def _answer(story: Story) -> str:
    """What a command printed that was run to find something out."""
    lines = [came.first_line for _, came in story.runs.values() if came.first_line and not came.failed]
    return lines[-1] if lines else ""


def _went(trouble: Trouble) -> str:
    before = trouble.tests.told if trouble.tests and trouble.tests.told else "failed"
    after = (
        trouble.passed.tests.told if trouble.passed and trouble.passed.tests and trouble.passed.tests.told else "passes"
    )
    return f"{trouble.command.program}: {before} → {after}"
