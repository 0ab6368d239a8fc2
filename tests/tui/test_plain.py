"""The app as lines: in a pipe, on a dumb terminal, and what is said."""

import datetime as dt
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S, free_port
from tests.tui.fake_worker import FakeWorker
from tests.tui.memory import NOW_MS, Memory, farm, many, observation
from tests.tui.surveys import plan
from tests.tui.terminal import ROOT, Terminal
from tests.tui.test_terminal import _environ
from tui.cells import lines
from tui.cells.glyphs import ASCII
from tui.cells.look import Look
from tui.state.basket import Basket
from tui.state.model import Link, ViewState
from worker.contract.search import Entry

LOOK = Look(ASCII, lambda: NOW_MS, dt.UTC)


def _said(home: Path, memory: Memory, *typed: str, flags: tuple[str, ...] = ()) -> list[str]:
    """What is written for these lines."""
    with FakeWorker(memory) as worker:
        done = subprocess.run(
            [sys.executable, "-m", "tui", "--plain", *flags], cwd=ROOT,
            env=_environ(str(home), worker.port) | {"TERM": "dumb"},
            input="".join(line + "\n" for line in typed), capture_output=True, encoding="utf-8", timeout=PATIENCE_S,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    return done.stdout.splitlines()


def test_search_open_timeline_more(tmp_path: Path) -> None:
    said = _said(
        tmp_path, Memory(many(25), data_dir=str(tmp_path)), "number", "n", "12", "t 12", "n", "q", "never read"
    )
    assert said[1] == "25 observations, 0 sessions, 0 prompts."
    hits = [line for line in said if line[:1].isdigit() and ". " in line]
    assert hits[0].startswith("1. bugfix 25, Wed 25 Nov 15:04, farm-api, ")
    assert hits[0].endswith(" tokens: Finding number 25 about the session store")
    assert [line.split(".")[0] for line in hits[:20]] == [str(number) for number in range(1, 21)]
    assert said.count("n for more.") == 2
    assert "#14 Finding number 14 about the index" in said
    assert "About this: Finding number 14 about the index." in said
    assert "Timeline around 14, oldest first." in said
    assert [line for line in hits[20:] if "this one" in line] == [
        line for line in hits[20:] if line.endswith("Finding number 14 about the index")
    ]
    assert said[-1] == "That is all."


def test_marks_scope_and_what_means_nothing(tmp_path: Path) -> None:
    memory = Memory(list(farm()), data_dir=str(tmp_path))
    said = _said(tmp_path, memory, "b", "a", "m 1", "b", "m 1", "s 1", "s", "x", "99", "h")
    assert "Nothing is marked; m 3 marks the third." in said
    assert any(line.startswith("Marked: ") for line in said)
    assert any("1 marked, " in line and "budget 8,000" in line for line in said)
    assert any(line.startswith("No longer marked: ") for line in said)
    counts = [line for line in said if " records, newest first, " in line]
    assert len(counts) == 3 and "all projects" in counts[0] and "all projects" not in counts[1]
    assert "There is no number 99 in the last list." in said
    assert any(line.startswith("x means nothing here") for line in said)
    assert said[-1].startswith("h: this help")


def test_nothing_found_is_said_and_hostile_text_is_harmless(tmp_path: Path) -> None:
    memory = Memory([observation(1, "red \x1b[31mtitle\n2. forged line \u202e")], data_dir=str(tmp_path))
    said = _said(tmp_path, memory, "zzz", "a")
    assert "No hits for zzz" in said
    assert "2. forged line" not in [line[:14] for line in said]
    assert any(line.endswith("tokens: red title 2. forged line") for line in said)


def test_corpora_are_listed_told_and_asked(tmp_path: Path) -> None:
    memory = Memory(many(30), data_dir=str(tmp_path))
    memory.surveyed.shelf.put("auth", records=12, session_id="m", description="Of \x1b[2Jlogins")
    memory.surveyed.shelf.put("bills", records=3, stale=True, missing=1)
    memory.surveyed.shelf.reply = "Because of #4.\n\x1b[31mRed\x07."
    said = _said(tmp_path, memory, "k", "k 1", "k 1 why is it so?", "k 2 why?", "k 7", "q")
    assert "2 corpora. k 1 tells of the first, k 1 and a question asks it." in said
    assert any(line.startswith("1. auth, 12 records, ") and ", primed, built " in line for line in said)
    assert any(line.startswith("2. bills, 3 records, ") and "not primed, stale" in line for line in said)
    assert "Of logins" in said
    at = said.index("Answered by claude-haiku.")
    assert said[at + 1 : at + 3] == ["Because of #4.", "Red."]
    assert any(line.startswith("Not answered: ") and "call prime first" in line for line in said)
    assert said[-1] == "There is no corpus 7; k lists them."


def test_read_only_asks_no_corpus(tmp_path: Path) -> None:
    memory = Memory(many(3), data_dir=str(tmp_path))
    memory.surveyed.shelf.put("auth", records=2, session_id="m")
    said = _said(tmp_path, memory, "k 1 why?", "q", flags=("--read-only",))
    assert said[-1] == "ask: started with --read-only."
    assert not any(path.endswith("/query") for path, _ in memory.asked)


def test_the_past_is_said_to_be_past(tmp_path: Path) -> None:
    said = _said(tmp_path, Memory(farm(), str(tmp_path)), "at:2026-11-23T12:04", "session")
    assert "AS OF Mon 23 Nov 12:04: nothing later is shown or counted." in said
    assert sum(line.startswith("AS OF ") for line in said) == 1


def test_nobody_to_ask(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tui", "--plain", "--url", f"127.0.0.1:{free_port()}"], cwd=ROOT,
        env=_environ(str(tmp_path), free_port()), input="a\n", capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("The worker does not answer: nobody answers at http://127.0.0.1:")


@contextmanager
def _dumb(home: Path) -> Iterator[Terminal]:
    with FakeWorker(Memory(many(30), data_dir=str(home))) as worker:
        environ = _environ(str(home), worker.port) | {"TERM": "dumb"}
        with Terminal(["-m", "tui", "--plain"], environ, size=(100, 40), beside=worker) as terminal:
            terminal.until(lambda text: text.rstrip().endswith("\n>"))
            yield terminal


def test_on_a_dumb_terminal_nothing_steers_it(tmp_path: Path) -> None:
    with _dumb(tmp_path) as terminal:
        terminal.settled()
        assert terminal.during(1.0) == b""
        terminal.send("number 30\n")
        terminal.until(lambda text: "1. bugfix 30" in text and text.rstrip().endswith("\n>"))
        assert b"\x1b" not in terminal.written
        terminal.send("q\n")
        assert terminal.left() == 0


def test_an_interrupt_ends_it(tmp_path: Path) -> None:
    with _dumb(tmp_path) as terminal:
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.left() == 130


@pytest.mark.parametrize(
    ("before", "state", "said"),
    [
        ((Link.LIVE, 0), ViewState(link=Link.LIVE), []),
        ((Link.LIVE, 1), ViewState(link=Link.LIVE, fresh=3), ["3 new since this list was read; r reads it anew."]),
        (
            (Link.LIVE, 0),
            ViewState(link=Link.LOST, trouble="it is gone"),
            ["Connection lost: it is gone. Trying again by itself."],
        ),
        ((Link.LOST, 0), ViewState(link=Link.LOST, trouble="it is gone"), []),
        ((Link.LOST, 0), ViewState(link=Link.LIVE), ["Connected again."]),
    ],
)
def test_what_happened_meanwhile(before: tuple[Link, int], state: ViewState, said: list[str]) -> None:
    assert lines.meanwhile(before, state) == said


def test_a_row_says_everything_once() -> None:
    def entry(**over: object) -> Entry:
        known = {
            "kind": "observation", "id": 7, "type": "security_alert", "title": "A\nB", "project": "",
            "read_tokens": 1234, "created_at_epoch": NOW_MS,
        }  # fmt: skip
        return Entry(**{**known, **over})  # type: ignore[arg-type]

    (row,) = lines.rows([entry()], 4, Basket(), LOOK)
    assert row == "4. security alert 7, Wed 25 Nov 15:04, 1,234 tokens: A B"


def test_the_memory_as_a_whole(tmp_path: Path) -> None:
    memory = Memory(farm(), data_dir=str(tmp_path))
    memory.surveyed.plan = plan("farm-api")
    said = _said(tmp_path, memory, "a", "c", "l", "p", "w", "q")
    assert any(line.startswith("Costs of all projects: 123 records") for line in said)
    assert any(line.startswith("Project farm-api: ") and "tokens of work" in line for line in said)
    assert any(line.startswith("Learned: What was learned of it") for line in said)
    assert "The next session of farm-api is given 4 records, 2,310 of 3,000 tokens; 16 are not given." in said
    assert "pinned, decision 4817, 60 tokens, pinned: Choose rotating refresh tokens" in said
    assert "disk, to look at: database 12 MB, vectors 31 MB, 315 MB free" in said
    assert said[said.index("disk, to look at: database 12 MB, vectors 31 MB, 315 MB free") + 1].startswith("Advice: ")


def test_what_a_worker_does_not_tell_is_said(tmp_path: Path) -> None:
    memory = Memory([], data_dir=str(tmp_path))
    said = _said(tmp_path, memory, "p", "s 3", "c", "q")
    assert any(line.startswith("It is not clear whose session") for line in said)
    assert any(line.startswith("Costs of all projects: 0 records") for line in said)
