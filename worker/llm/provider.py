"""What a model is asked and answers, whoever runs it; and how that fails."""

import enum
from dataclasses import dataclass
from typing import Protocol

from worker.contract.errors import MemError
from worker.contract.observer_settings import Asking


class Tier(enum.StrEnum):
    """What a question asks of a model. SIMPLE: about nothing but looking around."""

    USUAL = "usual"
    SIMPLE = "simple"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Prompt:
    """system: who the model is and what it is to write. user: what it is to write about."""

    system: str
    user: str
    tier: Tier = Tier.USUAL


def model_for(asking: Asking, prompt: Prompt) -> str:
    """The model that a question goes to."""
    tiered = {Tier.SIMPLE: asking.simple_model, Tier.SUMMARY: asking.summary_model}
    return tiered.get(prompt.tier, "") or asking.model


@dataclass(frozen=True, slots=True)
class Completion:
    """tokens: what was read and written for it, as the provider counts. model: the one that answered."""

    text: str
    tokens: int
    model: str


class Failure(enum.StrEnum):
    """Why there is no answer that can be used.

    TRANSIENT covers a provider that cannot be reached, is too slow or has a fault of its own. BAD_ANSWER: it answered,
    and not what it was asked for.
    """

    QUOTA = "quota"
    AUTH = "auth"
    TRANSIENT = "transient"
    TOO_LONG = "too_long"
    BAD_ANSWER = "bad_answer"


class ProviderFailed(MemError):
    """No answer that can be used. The message never repeats what the provider said: it may quote what it was asked.

    tokens: what it cost all the same.
    """

    code = "provider_failed"

    def __init__(
        self, kind: Failure, message: str, *, retry_after_s: float | None = None, tokens: int = 0, model: str = ""
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.kind = kind
        self.tokens = tokens
        self.model = model


class Provider(Protocol):
    """Open it with ``registry.open_provider``; ``close`` it. Its calls may run at the same time."""

    async def complete(self, prompt: Prompt) -> Completion:
        """The answer. Errors: ``ProviderFailed``."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...
