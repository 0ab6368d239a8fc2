"""Pure: what was spent and what may be, as a decision."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens that may be spent in a day and in a session; 0 is without end."""

    day_tokens: int = 0
    session_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens spent today, and in a session so far."""

    day_tokens: int = 0
    session_tokens: int = 0


def day_is_over(budget: Budget, spent: Spending) -> bool:
    """Whether nothing more may be asked today."""
    return 0 < budget.day_tokens <= spent.day_tokens


def session_is_over(budget: Budget, spent: Spending) -> bool:
    """Whether nothing more may be asked for this session."""
    return 0 < budget.session_tokens <= spent.session_tokens
