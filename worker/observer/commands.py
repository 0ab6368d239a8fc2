"""Pure: what a line for the shell is for, and what to call it."""

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

_MOST = 4_000


class Purpose(enum.IntEnum):
    """What a command is for; the highest of a line is that of the line."""

    VIEW = 0
    RUN = 1
    INSTALL = 2
    GIT = 3
    CHECK = 4
    TEST = 5


@dataclass(frozen=True, slots=True)
class Command:
    """line: as it was given, on one line. program: what it is called, `pytest` or `npm test`."""

    line: str
    program: str
    purpose: Purpose


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TESTS = _set(
    "pytest py.test tox nox jest vitest mocha ava rspec phpunit ctest unittest nosetests pester playwright cypress "
    "nextest"
)
_CHECKS = _set(
    "mypy pyright ruff flake8 pylint black isort eslint tsc prettier biome make cmake ninja gcc g++ clang javac mvn "
    "gradle gradlew webpack shellcheck lint-imports rustc clippy golangci-lint stylelint swiftlint rubocop"
)
_VIEWS = _set(
    "cat less more head tail ls find fd grep rg ag wc tree pwd echo printf which type file stat du df sed awk cut sort "
    "uniq diff cd true false sleep date env export set source . jq ps test [ read bat man"
)
_INSTALLS = _set("apt apt-get brew dnf yum pacman apk gem bundle")
_RUNNERS = _set("npm yarn pnpm bun deno go cargo dotnet swift mix zig flutter bazel just rake mvn gradle gradlew make")
_WRAPPERS = _set("sudo time nice env nohup xargs npx bunx pnpx command exec stdbuf timeout uvx ionice")
_INSTALL_WORDS = _set("add install i ci sync get remove uninstall update upgrade")
_CHECK_WORDS = re.compile(r"(?:build|lint|check|typecheck|type-check|clippy|vet|fmt|format|compile|validate|verify)")
_TEST_WORDS = re.compile(r"(?:test|tests|t|spec|check)(?:[:\-].*)?|test.*|nextest")
_GIT = _set("commit merge rebase push tag revert cherry-pick am reset checkout switch stash clone pull")
_INTO = re.compile(r"^cd \S+ ?(?:&&|;) ?")
_ASSIGNED = re.compile(r"\w+=\S*")
_OPTION = re.compile(r"-\S*|\d+[smh]?")


def read(line: str) -> Command:
    """What a line is for."""
    text = line[:_MOST]
    shown = _INTO.sub("", " ".join(text.split("<<", 1)[0].split())) or " ".join(text.split())
    best = Command(shown, "", Purpose.VIEW)
    for part in _parts(text):
        words = _unwrapped(part.split())
        if not words:
            continue
        program, purpose = _named(words)
        if not best.program or purpose > best.purpose:
            best = Command(shown, program, purpose)
    return best


def _parts(text: str) -> Iterator[str]:
    """The commands of a line, split where the shell would; what follows a here-document's mark is no command."""
    begin, quote, at = 0, "", 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif text.startswith("<<", at):
            break
        elif char in ";|&\n":
            yield text[begin:at]
            begin = at + 1
        at += 1
    yield text[begin:at]


def _unwrapped(words: list[str]) -> list[str]:
    """The words from the program on: without assignments, `sudo`, `timeout 60`, `python -m`, `uv run`."""
    while words:
        first = _base(words[0])
        if _ASSIGNED.fullmatch(words[0]) or words[0] in "(){}!":
            words = words[1:]
        elif first in _WRAPPERS:
            words = words[1:]
            while words and _OPTION.fullmatch(words[0]):
                words = words[1:]
        elif first.startswith(("python", "pypy")) and "-m" in words[1:4]:
            words = words[words.index("-m") + 1 :]
        elif first in ("uv", "poetry", "pipenv", "pdm", "hatch", "rye") and words[1:2] == ["run"]:
            words = words[2:]
        else:
            return [first, *words[1:]]
    return []


def _base(word: str) -> str:
    return word.strip("'\"").rsplit("/", 1)[-1]


def _named(words: list[str]) -> tuple[str, Purpose]:
    program = words[0]
    rest = [word for word in words[1:] if not word.startswith("-")]
    verb = rest[0] if rest else ""
    if program == "git":
        return f"git {verb}".strip(), Purpose.GIT if verb in _GIT else Purpose.VIEW
    if program == "gh":
        return " ".join(["gh", *rest[:2]]), Purpose.GIT if "create" in rest[:2] else Purpose.VIEW
    if program in _TESTS:
        return program, Purpose.TEST
    if program in ("pip", "pip3", "uv", "poetry", "pipenv", "pdm") or program in _INSTALLS:
        adds = any(word in _INSTALL_WORDS for word in rest[:2])
        return f"{program} {verb}".strip(), Purpose.INSTALL if adds else Purpose.RUN
    if program in _RUNNERS:
        return _run_by(program, rest)
    if program in _CHECKS:
        return program, Purpose.CHECK
    if program in _VIEWS:
        return program, Purpose.VIEW
    return " ".join(filter(None, (program, _base(verb)[:40]))), Purpose.RUN


def _run_by(program: str, rest: list[str]) -> tuple[str, Purpose]:
    words = rest[1:] if rest[:1] == ["run"] and program not in ("cargo", "go", "dotnet", "bazel") else rest
    verb = words[0] if words else ""
    named = f"{program} {verb}".strip()
    if verb and _TEST_WORDS.fullmatch(verb) and not (program in ("cargo", "deno") and verb == "check"):
        return named, Purpose.TEST
    if verb in _INSTALL_WORDS:
        return named, Purpose.INSTALL
    if program in _CHECKS or _CHECK_WORDS.search(verb):
        return named, Purpose.CHECK
    return named, Purpose.RUN
