"""Anthropic's own API: ``POST /v1/messages``."""

from pathlib import Path

from worker.contract.errors import Invalid
from worker.contract.observer_settings import Asking
from worker.llm import wire
from worker.llm.provider import Completion, Prompt, Provider, model_for
from worker.llm.wire import Wire

_BASE = "https://api.anthropic.com"
_ALIASES = {"haiku": "claude-haiku-4-5", "sonnet": "claude-sonnet-4-5", "opus": "claude-opus-4-5"}
"""What the agent's command line takes for a model, and the API does not."""


class Anthropic:
    """The client."""

    def __init__(self, asking: Asking) -> None:
        headers = {"anthropic-version": "2023-06-01"}
        if asking.api_key:
            headers["x-api-key"] = asking.api_key
        elif asking.auth_token:
            headers["authorization"] = f"Bearer {asking.auth_token}"
        else:
            raise Invalid("the provider anthropic needs ANTHROPIC_API_KEY in .env", field="ANTHROPIC_API_KEY")
        self._asking = asking
        self._wire = Wire(asking.base_url or _BASE, headers, timeout_s=asking.timeout_s, setting="ANTHROPIC_BASE_URL")

    async def complete(self, prompt: Prompt) -> Completion:
        """The answer. Errors: ``ProviderFailed``."""
        named = model_for(self._asking, prompt)
        model = _ALIASES.get(named, named)
        answer = await self._wire.post(
            "/v1/messages",
            {
                "model": model,
                "max_tokens": wire.MOST_OUTPUT_TOKENS,
                "temperature": 0.3,
                "system": prompt.system,
                "messages": [{"role": "user", "content": prompt.user}],
            },
        )
        tokens = wire.count(
            *(wire.at(answer, "usage", name) for name in ("input_tokens", "output_tokens")),
            *(wire.at(answer, "usage", f"cache_{name}_input_tokens") for name in ("creation", "read")),
        )
        said = wire.joined(wire.at(answer, "content"))
        return Completion(said, tokens, wire.text(wire.at(answer, "model")) or model)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._wire.close()


def open_provider(asking: Asking, data_dir: Path) -> Provider:
    """The provider. Errors: ``Invalid``."""
    return Anthropic(asking)
