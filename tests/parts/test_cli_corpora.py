"""`claude-mem corpus …` as a process, with a real worker; a stand-in for `claude` where a model is asked."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import DAY, NOON, make_batch, observation_row
from tests.fake_claude import FakeClaude, install
from tests.mcp.fake_worker import environment
from tests.parts.test_cli import run
from tests.processes import running_worker
from worker.contract import calls

Env = dict[str, str]


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> FakeClaude:
    return install(tmp_path_factory.mktemp("claude") / "bin")


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory, claude: FakeClaude) -> Iterator[Env]:
    folder = tmp_path_factory.mktemp("home")
    settings = {"CLAUDE_CODE_PATH": claude.path}
    with running_worker(folder / "memory", environ=settings) as worker:
        rows = [
            observation_row("Expired \x1b[31mtoken accepted", narrative="The skew was compared in seconds."),
            observation_row("Keep the cart in Redis", type="decision", created_at_epoch=NOON + DAY),
        ]
        worker.quick.send(calls.import_batch(make_batch(rows)))
        yield environment(folder) | {"CLAUDE_MEM_WORKER_PORT": str(worker.port)}


def provider(env: Env, name: str) -> None:
    Path(env["CLAUDE_MEM_DATA_DIR"], "settings.json").write_text(json.dumps({"CLAUDE_MEM_PROVIDER": name}))


def test_from_the_first_corpus_to_its_end(env: Env) -> None:
    provider(env, "local")
    none = run(env, "corpus", "list")
    assert (none.returncode, none.stderr) == (1, "")
    assert none.stdout.startswith("no corpora yet")
    built = run(env, "corpus", "build", "auth", "token", "--type", "bugfix,decision", "skew", "--description", "Why")
    assert built.returncode == 0, built.stderr
    assert built.stdout.startswith(
        "corpus auth\n  description  Why\n  filter       types: bugfix|decision, query: token"
    )
    assert "  records      1, 2026-03-04 to 2026-03-04\n" in built.stdout
    assert run(env, "corpus", "show", "auth").stdout == built.stdout
    assert run(env, "corpus", "list").stdout.startswith("auth  1 records, ~")
    answer = run(env, "corpus", "query", "auth", "how", "was", "skew", "compared?")
    assert answer.returncode == 0
    assert "#1 2026-03-04 [bugfix] Expired token accepted" in answer.stdout
    assert "\x1b" not in answer.stdout
    nothing = run(env, "corpus", "query", "auth", "zebra")
    assert (nothing.returncode, nothing.stderr) == (1, "")
    assert "no model is used" in run(env, "corpus", "prime", "auth").stdout
    assert json.loads(run(env, "corpus", "rebuild", "auth", "--json").stdout)["stats"]["observation_count"] == 1
    assert run(env, "corpus", "delete", "auth").stdout == "corpus auth is deleted\n"
    missing = run(env, "corpus", "delete", "auth")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert 'Corpus "auth" not found' in missing.stderr


def test_with_a_model(env: Env, claude: FakeClaude) -> None:
    provider(env, "claude")
    assert run(env, "corpus", "build", "all", "--since", "2026-03-01").returncode == 0
    early = run(env, "corpus", "query", "all", "What skew?")
    assert early.returncode == 3 and "call prime first" in early.stderr
    assert run(env, "corpus", "prime", "all").stdout == "corpus all is primed\n"
    assert "  primed       yes\n" in run(env, "corpus", "show", "all").stdout
    answer = run(env, "corpus", "query", "all", "What skew?")
    assert answer.stdout == "Sixty seconds of skew are allowed (#1). Question 1.\n"
    assert json.loads(run(env, "corpus", "reprime", "all", "--json").stdout)["session_id"] in claude.sessions
    claude.mood(complains="Claude AI usage limit reached")
    busy = run(env, "corpus", "query", "all", "What skew?")
    assert busy.returncode == 3 and "its quota is used up" in busy.stderr


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["corpus"], "ACTION"),
        (["corpus", "frob"], "invalid choice"),
        (["corpus", "show"], "NAME"),
        (["corpus", "query", "auth"], "QUESTION"),
        (["corpus", "query", "auth", " "], "must not be blank"),
        (["corpus", "build", "a", "--since", "soon"], "must be a date"),
        (["corpus", "build", "a", "--limit", "0"], "whole number from 1"),
        (["corpus", "build", "../x"], "corpus name"),
        (["corpus", "build", "记忆"], "corpus name"),
        (["corpus", "show", "../x"], "corpus name"),
        (["corpus", "show", ".."], "points alone"),
        (["corpus", "build", "a", "--since", "2026-03-05", "--until", "2026-03-04"], "date_start is after date_end"),
    ],
)
def test_bad_usage_is_2_and_says_why(env: Env, words: list[str], part: str) -> None:
    done = run(env, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert part in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["corpus", "--help"], ["corpus", "build", "--help"]])
def test_help(env: Env, words: list[str]) -> None:
    done = run(env, *words)
    assert done.returncode == 0
    assert done.stdout.startswith("usage: claude-mem corpus")
