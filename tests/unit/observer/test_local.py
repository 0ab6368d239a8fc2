"""What is made of an agent's work without any model."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.observer.events import Event
from worker.observer.local import Turn, observations
from worker.store.drafts import Draft

CWD = "/work/shop"
RED = """=================================== FAILURES ===================================
E       AssertionError: expected 401, got 200
=========================== short test summary info ============================
FAILED tests/test_session.py::test_token_expiry - AssertionError: expected 401, got 200
========================= 1 failed, 13 passed in 0.31s ========================="""
BARE = "E       AssertionError: assert 3 == 4\nFAILED tests/test_a.py::test_sum - assert 3 == 4\n1 failed in 0.1s"
GREEN = "============================== 14 passed in 0.30s =============================="

Use = tuple[str, object, object]


def edit(path: str, after: str = "b", before: str = "a") -> Use:
    return "Edit", {"file_path": f"{CWD}/{path}", "old_string": before, "new_string": after}, {"filePath": path}


def write(path: str, content: str = "x", kind: str = "create") -> Use:
    return "Write", {"file_path": f"{CWD}/{path}", "content": content}, {"type": kind, "filePath": path}


def read(path: str) -> Use:
    return "Read", {"file_path": f"{CWD}/{path}"}, {"type": "text", "file": {"content": "…"}}


def run(command: str, printed: object = "") -> Use:
    return "Bash", {"command": command}, {"stdout": printed} if isinstance(printed, str) else printed


def made(*uses: Use, prompt: str | Sequence[str] = "", said: str = "") -> tuple[Draft, ...]:
    events = [
        Event(tool=name, given=given_, answer=answer, cwd=CWD, tool_use_id=f"t{at}", tokens=10)
        for at, (name, given_, answer) in enumerate(uses)
    ]
    prompts = (prompt,) if isinstance(prompt, str) else tuple(prompt)
    return observations(events, Turn(prompts, said))


def one(*uses: Use, prompt: str | Sequence[str] = "", said: str = "") -> Draft:
    (draft,) = made(*uses, prompt=prompt, said=said)
    return draft


def test_a_test_that_failed_and_passes_again_is_a_bugfix_that_says_what_it_was() -> None:
    draft = one(
        run("pytest -q tests/test_session.py 2>&1 | tail -20", RED), read("api/session.py"),
        edit("api/session.py", "def is_expired(now):\n    return now"), run("pytest -q", GREEN),
        prompt="Please fix the failing test_token_expiry. It broke yesterday.",
    )  # fmt: skip
    assert draft.type == "bugfix"
    assert draft.title == ("Fix the failing test_token_expiry in api/session.py: AssertionError: expected 401, got 200")
    assert draft.subtitle == "1 file changed, pytest: 1 failed, 13 passed → 14 passed"
    assert draft.facts[0] == (
        "pytest failed (test_token_expiry): AssertionError: expected 401, got 200 — gone after changing api/session.py"
    )
    assert "Changed api/session.py (1 edit, defines is_expired)" in draft.facts
    assert "`pytest -q`: ok, 14 passed" in draft.facts
    assert draft.concepts == ("problem-solution", "what-changed")
    assert (draft.files_read, draft.files_modified) == ((), (f"{CWD}/api/session.py",))
    assert (draft.tokens, draft.tool_use_ids) == (40, ("t0", "t1", "t2", "t3"))


def test_without_a_word_of_what_it_is_for_the_work_itself_tells() -> None:
    for prompt in ("continue", "", "yes, go ahead", "继续"):
        draft = one(run("pytest", RED), edit("api/session.py"), run("pytest", GREEN), prompt=prompt)
        assert (draft.type, draft.title) == (
            "bugfix", "Fix test_token_expiry in api/session.py: AssertionError: expected 401, got 200",
        )  # fmt: skip


def test_the_last_prompt_that_says_something_counts() -> None:
    draft = one(edit("a.py"), prompt=["continue", "ok", "Add a retry to the client", "Fix the login"])
    assert (draft.type, draft.title) == ("feature", "Add a retry to the client in a.py")


@pytest.mark.parametrize(
    ("prompt", "uses", "kind"),
    [
        ("Add dark mode", [write("ui/theme.ts"), edit("ui/app.ts")], "feature"),
        ("", [write("ui/theme.ts")], "feature"),
        ("Rename Foo to Bar everywhere", [edit("a.py")], "refactor"),
        ("Bump the version", [edit("a.py")], "change"),
        ("Add a section on installing", [edit("README.md")], "change"),
        ("Add tests for the parser", [write("tests/test_parser.py")], "change"),
        ("Fix the crash on start", [edit("a.py")], "bugfix"),
        ("Why does it crash on start?", [edit("a.py")], "bugfix"),
        ("", [edit("a.py")], "change"),
        ("修复登录页面的崩溃问题", [edit("a.py")], "bugfix"),
        ("ログイン画面を追加してください", [edit("a.py")], "feature"),
        ("로그인 오류를 고쳐줘", [edit("a.py")], "bugfix"),
        ("How does the cache work?", [read("a.py"), read("b.py")], "discovery"),
        ("Should we use redis?", [("ExitPlanMode", {"plan": "# Use Postgres"}, {})], "decision"),
        ("", [run("pip install httpx", "Successfully installed")], "change"),
        ("", [run("git push origin main", "ok")], "change"),
        ("Write a parser first, tests later", [run("pytest", RED), edit("a.py"), run("pytest", GREEN)], "feature"),
    ],
)
def test_the_kind_of_work(prompt: str, uses: list[Use], kind: str) -> None:
    assert one(*uses, prompt=prompt).type == kind


@pytest.mark.parametrize(
    ("prompt", "uses"),
    [
        ("Run the tests", [run("make test", "60 passed in 2.0s")]),
        (
            "Does it still pass?",
            [run("npm test", "Tests:       5 passed, 5 total"), run("ruff check .", "All checks passed!")],
        ),
        ("continue", [read("a.py")]),
        ("continue", [run("ls"), run("git status")]),
        ("continue", [("TodoWrite", {"todos": []}, {})]),
        ("Fix it all", [("Edit", {"file_path": "/a.py"}, "Error: String to replace not found")]),
        ("", []),
    ],
)
def test_what_says_nothing_makes_nothing(prompt: str, uses: list[Use]) -> None:
    """R166."""
    assert made(*uses, prompt=prompt) == ()


def test_reading_makes_one_discovery_at_most() -> None:
    draft = one(
        *(read(f"api/f{at}.py") for at in range(9)), run("rg expiry", "x"), prompt="How does token refresh work?"
    )
    assert draft.title == "How does token refresh work: see api/f0.py, api/f1.py and 7 more"
    assert (draft.type, draft.concepts, len(draft.files_read), draft.files_modified) == (
        "discovery",
        ("how-it-works",),
        9,
        (),
    )


def test_what_a_command_found_out_is_told() -> None:
    draft = one(run("sqlite3 app.db 'select count(*) from users'", "42\n"), prompt="How many users are there?")
    assert draft.title == "How many users are there: 42"
    assert draft.facts == ("`sqlite3 app.db 'select count(*) from users'` → 42",)


def test_each_commit_is_an_observation() -> None:
    first, second = made(
        edit("a.py"), run("pytest", GREEN), run('git commit -am "Add dark mode"', "[main 3f2a1bc] Add dark mode\n 2 f"),
        edit("README.md"), run("git commit -am 'Tell of it'", "[main 99aa1bc] Tell of it"), run("git push", ""),
        prompt="add dark mode and commit",
    )  # fmt: skip
    assert (first.title, first.facts[0], first.type) == ("Add dark mode", "Commit 3f2a1bc: Add dark mode", "feature")
    assert (second.title, second.files_modified, second.type) == ("Tell of it", (f"{CWD}/README.md",), "change")
    assert first.tokens + second.tokens == 60


@pytest.mark.parametrize(
    "command",
    ['git add -A && git commit -m "Handle skew"', "git commit -q -m 'Handle skew'",
     "git commit -m \"$(cat <<'EOF'\nHandle skew\n\nMore.\nEOF\n)\""],
)  # fmt: skip
def test_a_quiet_commit_is_told_by_its_own_words(command: str) -> None:
    assert one(edit("a.py"), run(command, "")).facts[0] == "Commit: Handle skew"


def test_what_still_fails_is_told() -> None:
    said = "test a::b ... FAILED\ntest result: FAILED. 1 passed; 1 failed;"
    draft = one(edit("a.py"), run("cargo test", {"stdout": said, "exit_code": 101}), prompt="Rename Foo to Bar")
    assert draft.title == "Rename Foo to Bar in a.py: cargo test still fails"
    assert "cargo test failed (b) — still so" in draft.facts and "gotcha" in draft.concepts
    alone = one(run("npm run build", {"stdout": "src/a.ts(3,5): error TS2322: Type 'string'", "exit_code": 2}))
    assert (alone.type, alone.title) == ("discovery", "Npm build fails (error TS2322: Type 'string')")


def test_what_went_away_without_an_edit_is_told() -> None:
    draft = one(
        run("python app.py", "Error: Exit code 1\nModuleNotFoundError: No module named 'httpx'"),
        run("pip install httpx", "Successfully installed httpx"), run("python app.py", "serving"),
        prompt="why does the import fail?",
    )  # fmt: skip
    assert draft.facts[0] == (
        "python app.py failed: ModuleNotFoundError: No module named 'httpx' — gone after `pip install httpx`"
    )
    assert draft.concepts == ("problem-solution", "gotcha")


def test_a_patch_proves_what_it_changes() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** Add File: src/b.rs\n+fn b() {}\n*** End Patch"
    uses: list[Use] = [
        ("apply_patch", {"input": patch}, {}),
        ("apply_patch", patch, "ok"),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{patch}\nEOF"]}, {}),
    ]
    for use in uses:
        assert one(use).files_modified == ("src/a.rs", "src/b.rs")


def test_words_of_other_programs_are_no_failure() -> None:
    assert made(run("cat log.txt", "Error: nope\nTraceback"), run("rg Error", "Error: x\nError: y")) == ()
    assert made(run("grep x y", {"stdout": "", "exit_code": 1})) == ()


def test_the_same_work_gives_the_same_words() -> None:
    uses = (run("pytest", RED), edit("a.py"), edit("b.py"), run("pytest", GREEN))
    assert made(*uses, prompt="Fix it now") == made(*uses, prompt="Fix it now")


@pytest.mark.parametrize(
    ("prompt", "uses", "kind", "title"),
    [
        ("I get this:\n```\nTraceback\nKeyError: 'user'\n```", [edit("views.py")],
         "change", "I get this in views.py: KeyError: 'user'"),
        ("1. rename the package\n2. bump it", [edit(f"pkg/m{at}.py") for at in range(8)],
         "refactor", "Rename the package in pkg (8 files)"),
        ("/init", [write("CLAUDE.md")], "change", "Add CLAUDE.md"),
        ("deploy it", [run("kubectl rollout restart deploy/shop", "restarted")], "change", "Deploy it: restarted"),
        ("fix lint", [run("ruff check .", "Exit code 1\na.py:1:1: F401 `os` unused"), edit("a.py"),
                      run("ruff check .")],
         "bugfix", "Fix lint in a.py: a.py:1:1: F401 `os` unused"),
        ("how to limit rates?", [("WebFetch", {"url": "https://slowapi.example/x"}, "…")],
         "discovery", "How to limit rates: see slowapi.example"),
        ("Den Fehler im Korb beheben", [edit("cart.py")], "bugfix", "Den Fehler im Korb beheben in cart.py"),
    ],
)  # fmt: skip
def test_titles_say_what_happened(prompt: str, uses: list[Use], kind: str, title: str) -> None:
    draft = one(*uses, prompt=prompt)
    assert (draft.type, draft.title) == (kind, title)


@pytest.mark.parametrize(
    ("prompt", "uses", "said", "title"),
    [
        ("how does the retry of webhooks work?", [read("queue.py"), read("hook.py")],
         "It is queued; `billing/queue.py` tries 8 times.\n\nMore.",
         "How does the retry of webhooks work: It is queued; billing/queue.py tries 8 times"),
        ("Investigate the leak in the worker", [edit("report.py")], "Found it: the PDF cache grew without bound. Done.",
         "The PDF cache grew without bound"),
        ("Why is it slow?", [read("a.py"), read("b.py")], "a/b.py is read at each start because its mark is lost.",
         "a/b.py is read at each start because its mark is lost"),
        ("CI is red since today, look into it", [edit("pyproject.toml")],
         "Fixed. CI failed because moneyed was not declared in `pyproject.toml`. I added it.",
         "CI failed because moneyed was not declared in pyproject.toml"),
        ("the totals are off by a cent, can you find out why and fix it?", [edit("money.py")], "All tests pass now.",
         "The totals are off by a cent in money.py"),
        (["yes do that too", "Fix the cents"], [edit("a.py"), run("git commit -qam 'Export whole cents'")],
         "Done: pushed.", "Export whole cents"),
        (["yes please", "Fix the cents"], [edit("a.py")], "Done: the export writes whole cents.",
         "The export writes whole cents"),
        ("Find the leak", [edit("a.py")], "The leak was a cache. It is bounded now.",
         "Find the leak: The leak was a cache"),
        ("Fix the sum", [edit("a.py")], "Found it: it was rounded twice, so it grew.",
         "Fix the sum in a.py: it was rounded twice, so it grew"),
        ("Fix the sum", [run("pytest", BARE), edit("a.py"), run("pytest", GREEN)], "",
         "Fix the sum in a.py: test_sum failed"),
        ("Add a page", [run("tsc", "a.ts(1,2): error TS2322: Type"), edit("a.ts"), run("tsc", "")], "",
         "Add a page in a.ts"),
        ("Add dark mode", [edit("a.ts")], "Dark mode is there now.", "Add dark mode in a.ts"),
        ("Fix the login", [edit("a.py")], "", "Fix the login in a.py"),
    ],
)  # fmt: skip
def test_what_the_agent_found_out_is_told(prompt: str | list[str], uses: list[Use], said: str, title: str) -> None:
    draft = one(*uses, prompt=prompt, said=said)
    assert draft.title == title
    assert ("In the end: " in (draft.narrative or "")) == bool(said)


def test_what_was_asked_stands_below_a_title_that_does_not_say_it() -> None:
    said = "The leak was the PDF cache: it grew without bound."
    draft = one(edit("a.py"), prompt="Investigate the memory leak", said=said)
    assert (draft.title, draft.subtitle) == (
        "The leak was the PDF cache: it grew without bound", "Investigate the memory leak: 1 file changed",
    )  # fmt: skip
    assert one(edit("a.py"), prompt="Fix the memory leak").subtitle == "1 file changed"


def test_of_several_commits_none_is_told_by_the_last_words() -> None:
    first, second = made(
        edit("a.py"), run("git commit -qam 'One'"), edit("b.py"), run("git commit -qam 'Two'"),
        prompt="Fix both", said="It broke because of a typo.",
    )  # fmt: skip
    assert (first.title, second.title) == ("One", "Two")
    assert "typo" not in (first.narrative or "") and "typo" in (second.narrative or "")


def test_a_decision_that_is_written_down_is_one() -> None:
    assert one(write("docs/7.md"), prompt="Which database should we use for the log?").type == "decision"


def test_facts_tell_what_is_of_use() -> None:
    draft = one(
        run("ls src", "App.tsx\nmain.tsx"), run("cat package.json", "{\n"), run("wc -l a.py", "12 a.py"),
        run("pytest -q", RED), edit("a.py"), run("pytest -q tests", GREEN), run("pytest -q x", RED),
        prompt="Add a thing",
    )  # fmt: skip
    assert draft.facts[2:] == ("Changed a.py (1 edit)", "`pytest -q tests`: ok, 14 passed", "`wc -l a.py` → 12 a.py")
    vitest = one(edit("a.ts"), run("npm test", " Test Files  1 passed (1)\n      Tests  3 passed (3)"), prompt="Add b")
    assert vitest.subtitle == "1 file changed, tests: 3 passed"


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "command",
                    "file_path",
                    "edits",
                    "new_string",
                    "stdout",
                    "exit_code",
                    "content",
                    "plan",
                    "paths",
                    "type",
                ]
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
TOOLS = st.sampled_from(
    [
        "Bash",
        "Edit",
        "MultiEdit",
        "Write",
        "Read",
        "Grep",
        "Task",
        "WebFetch",
        "ExitPlanMode",
        "apply_patch",
        "shell",
        "mcp__a__b",
        "",
    ]
)


@given(st.lists(st.tuples(TOOLS, JSON, JSON), max_size=6), st.text(max_size=60))
def test_any_json_gives_something_that_can_be_stored(uses: list[Use], prompt: str) -> None:
    """R131."""
    for draft in made(*uses, prompt=prompt):
        assert draft.title.strip() and len(draft.title) <= 120 and "\n" not in draft.title
        json.dumps([draft.facts, draft.concepts, draft.files_read, draft.files_modified])


PIECES = [
    "x", "FAILED a passed ", "error: ", "E   AssertionError ", "1 passed ", "\n", "Error: a\n", "git commit -m ",
    "def a",
    "*** Update File: ", "<", "(", "cd a && ", "'", " in 1s failed", "passed failed errors\n",
    "No such file or directory",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_eight_megabytes_take_no_longer_than_little(piece: str) -> None:
    """What grew with the square of the length would not end."""
    big = piece * (8_000_000 // len(piece))
    wrote: Use = ("Write", {"file_path": "a.py", "content": big}, big)
    made(run(f"pytest {big}", big), wrote, ("apply_patch", big, big), prompt=big)
