"""Pure: what a command came to, read from what it printed: exit code, tests, errors, commits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from worker.observer import events
from worker.observer.wording import one_line

_MOST_LINES = 4_000
_LINE = 600
_MOST_ERRORS = 5
_ERROR_CHARS = 160


@dataclass(frozen=True, slots=True)
class Counted:
    """How many passed and failed; names of those that failed."""

    passed: int = 0
    failed: int = 0
    names: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """`1 failed, 13 passed`."""
        parts = ((self.failed, "failed"), (self.passed, "passed"))
        return ", ".join(f"{count} {word}" for count, word in parts if count)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that was made. sha: short, empty where nobody printed it."""

    sha: str
    subject: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """failed: as far as can be seen. errors: first lines, the most telling first."""

    failed: bool = False
    exit_code: int | None = None
    tests: Counted | None = None
    errors: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    first_line: str = ""


_EXIT = re.compile(
    r"(?i)\b(?:exit(?:ed)?(?: with)?(?: code| status)?|return(?:ed)? code|returncode)[ :=]{1,3}(\d{1,3})\b"
)
_COUNTS = re.compile(r"(\d{1,7}) (passed|passing|failed|failing|failures?|errors?|examples?)\b")
_COUNTS_AFTER = re.compile(
    r"(?i)\b(tests run|passed|failed|failures|errors|pass|fail)\b ?[:=] ?(\d{1,7})|^# (pass|fail) (\d{1,7})"
)
_SUMMARY = re.compile(
    r"(?i)^=+ .*(?:passed|failed|errors?)\b|\b(?:passed|failed|errors?)\b.* in [\d.]+ ?m?s|^\s*Tests:? +|^test result: "
    r"|^\s*\d+ (?:passing|failing)\b|^\d+ examples?, |^Tests run: |^(?:OK|FAILED) \(|^# (?:pass|fail) \d"
    r"|^(?:Failed|Passed)! +- "
)
_RAN = re.compile(r"^Ran (\d{1,7}) tests? in ")
_FAILED_TEST = re.compile(
    r"^FAILED (?!\()(\S+)|^--- FAIL: (\S+)|^test (\S+) \.\.\. FAILED|^\s*● (.{1,120})"
    r"|^(?:FAIL|ERROR): (\w+) \(|^ *(?:✗|✕|×) (.{1,120})"
    r"|^not ok \d+ -? ?(.{1,120})"
)
_ERRORS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^E\s{2,}(\w*(?:Error|Exception|Exit|Warning|assert)\b.*)",
        r"^((?:[\w.]{1,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit)(?:: .*)?)$",
        r"^\s*(?:Uncaught )?([A-Z]\w{0,60}(?:Error|Exception): .+)",
        r"(\berror(?: TS\d+|\[E\d+\]): .*)",
        r"^(.{1,200}: (?:fatal )?error: .*)",
        r"^(\S{1,200}:\d{1,7}:\d{1,5}: [A-Z]{1,6}\d{1,5} .*)",
        r"^(?:npm )?(?:ERR!|error) (?:code )?(.+)",
        r"^((?:fatal|error|panic|FATAL|ERROR|Error|make): .+)",
        r"^(.*(?:command not found|No such file or directory|Permission denied|Segmentation fault"
        r"|Connection refused).*)",
        r"^(?:E\s{2,})(.+)",
    )
)
_COMMITTED = re.compile(r"^\[(?:[^\]\n]{1,200}) ([0-9a-f]{7,40})\] (.+)$")
_MESSAGE = re.compile(
    r"""\bgit\b[^\n;|&]{0,200}?\bcommit\b[^\n;|&]{0,300}?(?:-[a-zA-Z]{0,6}m|--message)[ =]?"""
    r"""(?:"([^"\n]{1,300})|'([^'\n]{1,300}))"""
)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n\s*([^\n]{1,300})")
_SIGNS = (
    "error", "exception", "fail", "fatal", "panic", "exit", "return", "not ok", "not found", "no such", "denied",
    "refused", "fault", '"success":false', '"success": false', '"interrupted":true', '"interrupted": true', '"code"',
    '"status"', "✗", "✕", "×", "\\u27", "\\u00d7",
)  # fmt: skip
"""What stands in the JSON text of an answer that says that something failed; in many others, too."""
_CODES = ("exit_code", "exitCode", "exitcode", "returncode", "return_code", "code", "status")
_COUNT_OF = {
    "passed": 0,
    "passing": 0,
    "pass": 0,
    "failed": 1,
    "failing": 1,
    "failure": 1,
    "failures": 1,
    "fail": 1,
    "error": 1,
    "errors": 1,
}


def of_command(answer: object, *, checks: bool, views: bool) -> Outcome:
    """What the answer of a shell says.

    checks: the command tests, builds or lints, so that errors in its words are its own. views: it shows what it was
    asked to, errors of others included.
    """
    text = events.words(answer)
    code = _exit_code(answer, text)
    tests = _tests(text) if checks else None
    errors = () if views and not code else tuple(_errors(text))
    failed = bool(code) or marked_failed(answer) or bool(tests and tests.failed)
    # A pipe into `tail` hides the exit code of a check, and its last words do not.
    if not failed and code is None and checks and errors and not (tests and tests.passed):
        failed = True
    return Outcome(
        failed=failed,
        exit_code=code,
        tests=tests,
        errors=errors[:_MOST_ERRORS] if failed else (),
        commits=tuple(_commits(text)),
        first_line=one_line(next((line for line in text[:2_000].splitlines() if line.strip()), ""), _ERROR_CHARS),
    )


def of_other(answer: object) -> Outcome:
    """What the answer of any other tool says."""
    failed = marked_failed(answer)
    text = events.words(answer)[:2_000]
    first = one_line(next((line for line in text.splitlines() if line.strip()), ""), _ERROR_CHARS)
    return Outcome(failed=failed, errors=(first,) if failed and first else (), first_line=first)


def error_in(text: str) -> str:
    """The most telling error that a text quotes; empty if it quotes none."""
    return next(_errors(text), "")


def named_commit(command: str) -> Commit | None:
    """The commit that a command is to make, by its own words."""
    head = command[:2_000]
    found = _MESSAGE.search(head)
    if found:
        message = found.group(1) or found.group(2) or ""
        if not message.startswith("$("):
            return Commit("", one_line(message, _ERROR_CHARS))
    if "git" in head and "commit" in head and (quoted := _HEREDOC.search(head)):
        return Commit("", one_line(quoted.group(2), _ERROR_CHARS))
    return None


def may_have_failed(text: str) -> bool:
    """Whether an answer, as JSON text, is worth reading for a failure."""
    low = text.lower()
    return any(sign in low for sign in _SIGNS)


def marked_failed(answer: object) -> bool:
    """Whether an answer says of itself that it is a failure."""
    if isinstance(answer, dict):
        if answer.get("is_error") is True or answer.get("isError") is True or answer.get("interrupted") is True:
            return True
        return answer.get("success") is False or bool(answer.get("error"))
    if isinstance(answer, str):
        return answer.lstrip()[:40].lower().startswith(("error:", "error ", "<tool_use_error>", "exit code "))
    return False


def _exit_code(answer: object, text: str) -> int | None:
    if isinstance(answer, dict):
        for name in _CODES:
            value = answer.get(name)
            if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 6:
                value = int(value)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    found = _EXIT.search(text[:200]) or _EXIT.search(text[-200:])
    return int(found.group(1)) if found else None


def _lines(text: str) -> Iterator[str]:
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        lines = lines[: _MOST_LINES // 2] + lines[-_MOST_LINES // 2 :]
    return (line[:_LINE] for line in lines)


def _tests(text: str) -> Counted | None:
    passed = failed = ran = 0
    seen = False
    names: list[str] = []
    for line in _lines(text):
        named = _FAILED_TEST.match(line)
        if named and len(names) < 20:
            names.append(one_line(next(filter(None, named.groups()), ""), 100))
        if total := _RAN.match(line):
            seen, ran = True, ran + int(total.group(1))
        elif _SUMMARY.search(line):
            good, bad = _counted(line)
            if good or bad:
                seen = True
                # cargo and go print a line for each part; pytest and jest one for all.
                passed, failed = passed + good, failed + bad
    if not seen and not names:
        return None
    failed = max(failed, len(set(names)))
    return Counted(max(passed, ran - failed), failed, tuple(dict.fromkeys(names)))


def _counted(line: str) -> tuple[int, int]:
    counts = [0, 0]
    total = 0
    for number, word in _COUNTS.findall(line):
        if word.startswith("example"):
            total = int(number)
        else:
            counts[_COUNT_OF[word]] += int(number)
    if not any(counts):
        for word, number, tap, tapped in _COUNTS_AFTER.findall(line):
            name = (word or tap).lower()
            if name == "tests run":
                total = int(number)
            else:
                counts[_COUNT_OF[name]] += int(number or tapped)
    if total:
        counts[0] = max(total - counts[1], 0)
    return counts[0], counts[1]


def _errors(text: str) -> Iterator[str]:
    """First lines of errors, each once, those of the more telling kinds first."""
    by_kind: list[list[str]] = [[] for _ in _ERRORS]
    for line in _lines(text):
        for at, pattern in enumerate(_ERRORS):
            found = pattern.search(line)
            if found:
                if len(by_kind[at]) < _MOST_ERRORS:
                    by_kind[at].append(one_line(found.group(1), _ERROR_CHARS))
                break
    yield from dict.fromkeys(error for kind in by_kind for error in kind)


def _commits(text: str) -> Iterator[Commit]:
    for line in _lines(text):
        found = _COMMITTED.match(line)
        if found:
            yield Commit(found.group(1)[:10], one_line(found.group(2), _ERROR_CHARS))
