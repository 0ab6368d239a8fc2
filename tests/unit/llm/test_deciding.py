"""What failures mean, how long to wait, what may be spent, and what the settings say of it."""

from pathlib import Path

import pytest

from worker.contract.errors import Invalid
from worker.contract.observer_settings import dotenv
from worker.contract.settings import observer_environment, observing
from worker.llm import budget, pausing, telling
from worker.llm.budget import Budget, Spending
from worker.llm.provider import Failure


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Not logged in · Please run /login", Failure.AUTH),
        ("Invalid API key", Failure.AUTH),
        ("Credit balance is too low", Failure.AUTH),
        ("Prompt is too long", Failure.TOO_LONG),
        ("This model's maximum context length is 8192 tokens", Failure.TOO_LONG),
        ("You've hit your limit · resets 3pm", Failure.QUOTA),
        ("RESOURCE_EXHAUSTED", Failure.QUOTA),
        ("API Error: 529 overloaded_error", Failure.TRANSIENT),
        ("I have nothing to add.", None),
        ("", None),
    ],
)
def test_words_that_are_complaints(said: str, kind: Failure | None) -> None:
    assert telling.of_words(said) is kind


@pytest.mark.parametrize("kind", list(Failure))
def test_pauses_grow_and_end(kind: Failure) -> None:
    waits = [pausing.pause_s(kind, failures) for failures in range(1, 60)]
    assert waits == sorted(waits) and waits[0] > 0 and waits[-1] <= 3600
    assert pausing.pause_s(kind, 3, 42.0) == 42.0
    assert pausing.pause_s(kind, 1, 0.0) == 1.0
    assert pausing.pause_s(kind, 1, 10.0**9) == 86_400


@pytest.mark.parametrize(("limit", "spent", "over"), [(0, 10**9, False), (100, 99, False), (100, 100, True)])
def test_budgets(limit: int, spent: int, over: bool) -> None:
    assert budget.day_is_over(Budget(day_tokens=limit), Spending(day_tokens=spent)) is over
    assert budget.session_is_over(Budget(session_tokens=limit), Spending(session_tokens=spent)) is over


def test_nothing_set_is_local_and_has_more_patience(tmp_path: Path) -> None:
    found = observing(tmp_path, {})
    assert (found.asking.provider, found.pause_ms, found.events, found.day_tokens) == ("local", 60_000, 200, 2_000_000)
    named = observing(tmp_path, {"CLAUDE_MEM_PROVIDER": "claude"})
    assert (named.pause_ms, named.events, named.bytes) == (5_000, 20, 49_152)


def test_keys_come_from_settings_then_dotenv_then_environment(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# keys\nexport GEMINI_API_KEY='g-1'\nANTHROPIC_API_KEY=a-1 # mine\nOTHER=x\n")
    gemini = {"CLAUDE_MEM_PROVIDER": "gemini"}
    assert observing(tmp_path, gemini).asking.api_key == "g-1"
    assert observing(tmp_path, gemini | {"CLAUDE_MEM_GEMINI_API_KEY": "g-2"}).asking.api_key == "g-2"
    found = observing(tmp_path, {"CLAUDE_MEM_PROVIDER": "anthropic", "ANTHROPIC_AUTH_TOKEN": "t-1"}).asking
    assert (found.api_key, found.auth_token) == ("a-1", "t-1")
    assert "a-1" not in repr(found)
    claude = observing(tmp_path, {"CLAUDE_MEM_PROVIDER": "claude", "CLAUDE_CODE_PATH": "/x/claude"}).asking
    assert claude.command == "/x/claude" and ("ANTHROPIC_API_KEY", "a-1") in claude.credentials
    assert "a-1" not in repr(claude)


@pytest.mark.parametrize(
    ("settings", "models"),
    [
        ("PROVIDER=claude", ("claude-haiku-4-5-20251001", "haiku", "")),
        ("PROVIDER=anthropic MODEL=opus TIER_SUMMARY_MODEL=sonnet", ("opus", "haiku", "sonnet")),
        ("PROVIDER=claude TIER_ROUTING_ENABLED=false TIER_SUMMARY_MODEL=sonnet", ("claude-haiku-4-5-20251001", "", "")),
        ("PROVIDER=claude MODEL=$TIER:smart", ("sonnet", "haiku", "")),
        ("PROVIDER=claude MODEL=$TIER:fast TIER_FAST_MODEL=claude-x", ("claude-x", "haiku", "")),
        ("PROVIDER=claude MODEL=$TIER:summary", ("claude-haiku-4-5-20251001", "haiku", "")),
        # A gateway that serves somebody else's model knows no haiku, nor do these providers.
        ("PROVIDER=claude MODEL=qwen", ("qwen", "", "")),
        ("PROVIDER=claude MODEL=qwen TIER_SIMPLE_MODEL=qwen-mini", ("qwen", "qwen-mini", "")),
        ("PROVIDER=gemini TIER_SUMMARY_MODEL=gemini-3.5-flash", ("gemini-flash-latest", "", "gemini-3.5-flash")),
        ("PROVIDER=openrouter OPENROUTER_MODEL=a/b TIER_SIMPLE_MODEL=a/c TIER_SUMMARY_MODEL=opus", ("a/b", "a/c", "")),
        ("PROVIDER=local TIER_SUMMARY_MODEL=x", ("", "", "")),
    ],
)
def test_which_model_gets_which_questions(tmp_path: Path, settings: str, models: tuple[str, str, str]) -> None:
    found = observing(
        tmp_path, {f"CLAUDE_MEM_{one.partition('=')[0]}": one.partition("=")[2] for one in settings.split()}
    )
    assert (found.asking.model, found.asking.simple_model, found.asking.summary_model) == models


def test_a_tier_that_nobody_knows_is_told(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="fast, smart, simple, summary"):
        observing(tmp_path, {"CLAUDE_MEM_PROVIDER": "claude", "CLAUDE_MEM_MODEL": "$TIER:best"})


def test_gemini_keeps_to_its_pace_unless_told(tmp_path: Path) -> None:
    gemini = {"CLAUDE_MEM_PROVIDER": "gemini"}
    assert observing(tmp_path, gemini).asking.paced
    assert not observing(tmp_path, gemini | {"CLAUDE_MEM_GEMINI_RATE_LIMITING_ENABLED": "false"}).asking.paced


@pytest.mark.parametrize(
    ("name", "value"),
    [("PROVIDER", "openai"), ("OBSERVER_PAUSE_MS", "-1"), ("OBSERVER_BATCH_EVENTS", "0"), ("BUDGET_DAY_TOKENS", "1e9"),
     ("LLM_TIMEOUT_MS", "1"), ("MAX_CONCURRENT_AGENTS", "0")],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(Invalid) as caught:
        observing(tmp_path, {f"CLAUDE_MEM_{name}": value})
    assert caught.value.field == f"CLAUDE_MEM_{name}"


def test_a_key_that_cannot_be_sent_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as caught:
        observing(tmp_path, {"CLAUDE_MEM_PROVIDER": "gemini", "CLAUDE_MEM_GEMINI_API_KEY": "sk-é"})
    assert "sk-" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A=1\nB = 2 ", {"A": "1", "B": "2"}),
        ('A="x # y"', {"A": "x # y"}),
        ("nonsense\n=1\na b=2\n", {}),
        ("A=", {"A": ""}),
    ],
)
def test_dotenv(text: str, found: dict[str, str]) -> None:
    assert dotenv(text) == found


def test_what_the_observer_starts_observes_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    environ = observer_environment(observing(tmp_path, {"CLAUDE_MEM_PROVIDER": "claude"}).asking)
    assert environ["CLAUDE_MEM_INTERNAL"] == "1" and "CLAUDE_CODE_ENTRYPOINT" not in environ and "PATH" in environ
