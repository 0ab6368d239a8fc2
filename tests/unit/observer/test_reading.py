"""What commands are for and came to, what prompts are about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.observer import commands, outcomes
from worker.observer.commands import Purpose
from worker.observer.outcomes import Commit, Counted
from worker.observer.subject import subject


@pytest.mark.parametrize(
    ("line", "program", "purpose"),
    [
        ("pytest -q tests", "pytest", Purpose.TEST),
        ("cd /x && .venv/bin/python -m pytest -q 2>&1 | tail -5", "pytest", Purpose.TEST),
        ("timeout 60 nice -n 5 uv run pytest", "pytest", Purpose.TEST),
        ("CI=1 npm run test:unit -- --watch=false", "npm test:unit", Purpose.TEST),
        ("npx vitest run", "vitest", Purpose.TEST),
        ("cargo test --all", "cargo test", Purpose.TEST),
        ("cargo check", "cargo check", Purpose.CHECK),
        ("go vet ./... && go test ./...", "go test", Purpose.TEST),
        ("make", "make", Purpose.CHECK),
        ("make check", "make check", Purpose.TEST),
        ("npm run build", "npm build", Purpose.CHECK),
        ("sudo apt-get install -y jq", "apt-get install", Purpose.INSTALL),
        ("pip install httpx", "pip install", Purpose.INSTALL),
        ("uv sync", "uv sync", Purpose.INSTALL),
        ("npm ci", "npm ci", Purpose.INSTALL),
        ("git add -A && git commit -m 'a; b && c'", "git commit", Purpose.GIT),
        ("git status", "git status", Purpose.VIEW),
        ("cat a | grep b", "cat", Purpose.VIEW),
        ("python app.py --port 1", "python app.py", Purpose.RUN),
        ("./run.sh", "run.sh", Purpose.RUN),
        ("cat <<'EOF' > x\npytest\nEOF", "cat", Purpose.VIEW),
        ("", "", Purpose.VIEW),
        ("FOO=1", "", Purpose.VIEW),
    ],
)
def test_what_a_command_is_for(line: str, program: str, purpose: Purpose) -> None:
    found = commands.read(line)
    assert (found.program, found.purpose) == (program, purpose)


@given(st.text(max_size=200))
def test_any_line_is_read(line: str) -> None:
    assert isinstance(commands.read(line).purpose, Purpose)


@pytest.mark.parametrize(
    ("said", "tests"),
    [
        ("====== 3 passed in 0.1s ======", Counted(3, 0)),
        ("3 passed, 1 skipped in 0.12s", Counted(3, 0)),
        ("=== 2 failed, 13 passed, 1 error in 9.31s ===", Counted(13, 3)),
        ("FAILED a.py::test_b - x\n1 failed in 0.1s", Counted(0, 1, ("a.py::test_b",))),
        ("Tests:       1 failed, 2 passed, 3 total", Counted(2, 1)),
        (" Tests  1 failed | 5 passed (6)", Counted(5, 1)),
        ("--- FAIL: TestX (0.00s)\nFAIL", Counted(0, 1, ("TestX",))),
        ("test result: FAILED. 1 passed; 2 failed; 0 ignored", Counted(1, 2)),
        ("test result: ok. 1 passed; 0 failed\ntest result: ok. 4 passed; 0 failed", Counted(5, 0)),
        ("FAIL: test_a (x.Y)\nRan 5 tests in 0.1s\n\nFAILED (failures=1, errors=2)", Counted(2, 3, ("test_a",))),
        ("Ran 5 tests in 0.1s\n\nOK", Counted(5, 0)),
        ("  5 passing (2s)\n  1 failing", Counted(5, 1)),
        ("5 examples, 1 failure", Counted(4, 1)),
        ("Tests run: 5, Failures: 1, Errors: 1, Skipped: 0", Counted(3, 2)),
        ("not ok 2 - parses\n# pass 5\n# fail 1", Counted(5, 1, ("parses",))),
        ("all good", None),
        ("I passed the exam", None),
    ],
)
def test_tests_are_counted(said: str, tests: Counted | None) -> None:
    assert outcomes.of_command(said, checks=True, views=False).tests == tests


@pytest.mark.parametrize(
    ("answer", "failed", "code"),
    [
        ({"stdout": "x", "exit_code": 2}, True, 2),
        ({"stdout": "x", "exitCode": "0"}, False, 0),
        ("Exit code 127\nfoo: command not found", True, 127),
        ("Error: Exit code 1\nno", True, 1),
        ({"stdout": "", "stderr": "", "interrupted": True}, True, None),
        ({"is_error": True, "content": "no"}, True, None),
        ("<tool_use_error>no</tool_use_error>", True, None),
        ("ok", False, None),
        (None, False, None),
        ({"code": True}, False, None),
        ([{"type": "text", "text": "ok"}], False, None),
    ],
)
def test_what_failed(answer: object, failed: bool, code: int | None) -> None:
    outcome = outcomes.of_command(answer, checks=False, views=False)
    assert (outcome.failed, outcome.exit_code) == (failed, code)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("Traceback (most recent call last):\n  File x\nValueError: bad", "ValueError: bad"),
        ("E       KeyError: 'a'\nValueError: other", "KeyError: 'a'"),
        ("src/a.ts(1,2): error TS2322: no", "error TS2322: no"),
        ("error[E0308]: mismatched types", "error[E0308]: mismatched types"),
        ("a.c:1:2: error: expected ';'", "a.c:1:2: error: expected ';'"),
        ("npm ERR! missing script: x", "missing script: x"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("bash: foo: command not found", "bash: foo: command not found"),
        ("TypeError: x is not a function\n    at y", "TypeError: x is not a function"),
    ],
)
def test_the_first_line_of_an_error(said: str, error: str) -> None:
    assert outcomes.of_command({"stdout": said, "exit_code": 1}, checks=False, views=False).errors[0] == error


def test_commits_are_read_from_what_git_prints() -> None:
    said = "[main 3f2a1bc] Add it\n 1 file changed\n[feature/x (root-commit) 0123456789ab] Begin"
    found = outcomes.of_command(said, checks=False, views=False).commits
    assert found == (Commit("3f2a1bc", "Add it"), Commit("0123456789", "Begin"))


@pytest.mark.parametrize(
    ("prompt", "text", "question"),
    [
        ("Please fix the login. It broke.", "Fix the login", False),
        ("ok, now can you add a retry to net/client.py?", "Add a retry to net/client.py", False),
        ("Hi! I'd like you to rename Foo", "Rename Foo", False),
        ("why does it fail?", "Why does it fail", True),
        ("```\nTraceback\n```\nfix this", "Fix this", False),
        ("> quoted\n\nanswer me", "Answer me", False),
        ("add dark mode and commit it", "Add dark mode", False),
        ("修复登录页面的崩溃问题。谢谢", "修复登录页面的崩溃问题", False),
        ("为什么缓存会失效？", "为什么缓存会失效", True),
        ("Yes.", "", False),
        ("commit and push", "", False),
        ("続けて", "", False),
        ("", "", False),
        ("x" * 5000, "X" + "x" * 82 + "…", False),
    ],
)
def test_what_a_prompt_is_about(prompt: str, text: str, question: bool) -> None:
    found = subject(prompt)
    assert (found.text, found.question) == (text, question)


@given(st.text(max_size=300))
def test_any_prompt_has_a_short_subject(prompt: str) -> None:
    text = subject(prompt).text
    assert len(text) <= 84 and "\n" not in text
