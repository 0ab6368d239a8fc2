"""Pure: what the settings say of the session-start context.

Source: contract/settings.md and the seeds, whose defaults hold: 50 observations, 5 of them in full, 3 sessions.
"""

from collections.abc import Callable
from dataclasses import dataclass

from worker.contract.errors import Invalid

NARRATIVE, FACTS = "narrative", "facts"
MEASURED_MODELS = ("minilm", "chroma-default")
"""Embedding models of which is known how near is near enough for a prompt."""
LEAST_BUDGET, MOST_BUDGET = 200, 100_000


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """observations, sessions: at most so many rows. full_count: so many of the newest in full, by ``full_field``.

    budget: in tokens, for the whole text. types, concepts: what is given at all; empty: everything.
    last_summary: what summaries say beside their request. last_message: what the agent said last in the last session.
    welcome: a note where there is nothing yet.
    semantic: whether prompts are answered with what fits them, at most ``semantic_limit`` records and
    ``semantic_budget`` tokens; ``embedding_model`` says how near they are.
    """

    observations: int = 50
    full_count: int = 5
    full_field: str = NARRATIVE
    sessions: int = 3
    budget: int = 3_000
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    show_read: bool = False
    show_work: bool = False
    show_savings: bool = False
    show_percent: bool = True
    last_summary: bool = True
    last_message: bool = False
    welcome: bool = True
    semantic: bool = False
    semantic_limit: int = 5
    semantic_budget: int = 1_000
    embedding_model: str = MEASURED_MODELS[0]

    @property
    def tells_costs(self) -> bool:
        """Whether the line of figures is there."""
        return self.show_read or self.show_work or self.show_savings or self.show_percent


def read(value: Callable[[str, str], str]) -> ContextSettings:
    """What the settings say. value: of a name without `CLAUDE_MEM_`, with its default. Errors: ``Invalid``."""

    def number(name: str, default: int, low: int, high: int) -> int:
        text = value(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) <= 9) or not low <= int(text) <= high:
            raise Invalid(
                f"CLAUDE_MEM_{name} must be a whole number from {low} to {high}, not {text[:40]!r}",
                field=f"CLAUDE_MEM_{name}",
            )
        return int(text)

    def flag(name: str, default: bool) -> bool:
        text = value(name, str(default)).lower()
        if text not in ("true", "false"):
            raise Invalid(f"CLAUDE_MEM_{name} must be true or false, not {text[:40]!r}", field=f"CLAUDE_MEM_{name}")
        return text == "true"

    def names(name: str) -> tuple[str, ...]:
        return tuple(part for word in value(name, "").split(",") if (part := word.strip().lower()))

    # A field that is not known is passed over as the original does, which takes anything but `facts` for narrative.
    field = FACTS if value("CONTEXT_FULL_FIELD", NARRATIVE).lower() == FACTS else NARRATIVE
    return ContextSettings(
        observations=number("CONTEXT_OBSERVATIONS", 50, 0, 10_000),
        full_count=number("CONTEXT_FULL_COUNT", 5, 0, 1_000),
        full_field=field,
        sessions=number("CONTEXT_SESSION_COUNT", 3, 0, 1_000),
        budget=number("CONTEXT_BUDGET", 3_000, LEAST_BUDGET, MOST_BUDGET),
        types=names("CONTEXT_OBSERVATION_TYPES"),
        concepts=names("CONTEXT_OBSERVATION_CONCEPTS"),
        show_read=flag("CONTEXT_SHOW_READ_TOKENS", False),
        show_work=flag("CONTEXT_SHOW_WORK_TOKENS", False),
        show_savings=flag("CONTEXT_SHOW_SAVINGS_AMOUNT", False),
        show_percent=flag("CONTEXT_SHOW_SAVINGS_PERCENT", True),
        last_summary=flag("CONTEXT_SHOW_LAST_SUMMARY", True),
        last_message=flag("CONTEXT_SHOW_LAST_MESSAGE", False),
        welcome=flag("WELCOME_HINT_ENABLED", True),
        semantic=flag("SEMANTIC_INJECT", False),
        semantic_limit=number("SEMANTIC_INJECT_LIMIT", 5, 1, 20),
        embedding_model=value("EMBEDDING_MODEL", MEASURED_MODELS[0]),
        semantic_budget=number("SEMANTIC_INJECT_BUDGET", 1_000, LEAST_BUDGET, MOST_BUDGET),
    )
