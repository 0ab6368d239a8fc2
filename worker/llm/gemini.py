"""Google's Gemini: ``generateContent``."""

from pathlib import Path
from urllib.parse import quote

from worker.contract.errors import Invalid
from worker.contract.observer_settings import Asking
from worker.llm import wire
from worker.llm.provider import Completion, Failure, Prompt, Provider, ProviderFailed
from worker.llm.wire import Wire

_BASE = "https://generativelanguage.googleapis.com"
_KEY = "CLAUDE_MEM_GEMINI_API_KEY"


class Gemini:
    """The client."""

    def __init__(self, asking: Asking) -> None:
        if not asking.api_key:
            raise Invalid(f"the provider gemini needs {_KEY}, or GEMINI_API_KEY in .env", field=_KEY)
        self._model = asking.model
        headers = {"x-goog-api-key": asking.api_key}  # not in the address, which logs and errors show
        self._wire = Wire(
            asking.base_url or _BASE, headers, timeout_s=asking.timeout_s, setting="CLAUDE_MEM_GEMINI_BASE_URL"
        )

    async def complete(self, prompt: Prompt) -> Completion:
        """The answer. Errors: ``ProviderFailed``."""
        answer = await self._wire.post(
            f"/v1beta/models/{quote(self._model, safe='')}:generateContent",
            {
                "systemInstruction": {"parts": [{"text": prompt.system}]},
                "contents": [{"role": "user", "parts": [{"text": prompt.user}]}],
                "generationConfig": {"temperature": 0.3, "maxOutputTokens": wire.MOST_OUTPUT_TOKENS},
            },
        )
        tokens = wire.count(wire.at(answer, "usageMetadata", "totalTokenCount"))
        if wire.at(answer, "promptFeedback", "blockReason"):
            raise ProviderFailed(Failure.BAD_ANSWER, "gemini refuses the question", tokens=tokens, model=self._model)
        said = wire.joined(wire.at(answer, "candidates", 0, "content", "parts"))
        return Completion(said, tokens, wire.text(wire.at(answer, "modelVersion")) or self._model)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._wire.close()


def open_provider(asking: Asking, data_dir: Path) -> Provider:
    """The provider. Errors: ``Invalid``."""
    return Gemini(asking)
