"""Google's Gemini: ``generateContent``."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from worker.contract.errors import Invalid
from worker.contract.observer_settings import Asking
from worker.llm import wire
from worker.llm.pace import Pace
from worker.llm.provider import Completion, Failure, Prompt, Provider, ProviderFailed, model_for
from worker.llm.wire import Wire

_BASE = "https://generativelanguage.googleapis.com"
_KEY = "CLAUDE_MEM_GEMINI_API_KEY"
_A_MINUTE = {
    "gemini-flash-latest": 10,
    "gemini-flash-lite-latest": 15,
    "gemini-3.5-flash": 10,
    "gemini-3.1-flash-lite": 15,
    "gemini-3-flash-preview": 5,
}
"""Questions that each model takes from who does not pay, as the original has them."""
_FEWEST_A_MINUTE = 5


class Gemini:
    """The client."""

    def __init__(self, asking: Asking, pace: Callable[[int], Pace] = Pace) -> None:
        """pace: makes one, out of questions a minute."""
        if not asking.api_key:
            raise Invalid(f"the provider gemini needs {_KEY}, or GEMINI_API_KEY in .env", field=_KEY)
        self._asking = asking
        self._make_pace = pace
        self._paces: dict[str, Pace] = {}
        headers = {"x-goog-api-key": asking.api_key}  # not in the address, which logs and errors show
        self._wire = Wire(
            asking.base_url or _BASE, headers, timeout_s=asking.timeout_s, setting="CLAUDE_MEM_GEMINI_BASE_URL"
        )

    async def complete(self, prompt: Prompt) -> Completion:
        """The answer. Errors: ``ProviderFailed``."""
        model = model_for(self._asking, prompt)
        if self._asking.paced:
            await self._pace(model).turn()
        answer = await self._wire.post(
            f"/v1beta/models/{quote(model, safe='')}:generateContent",
            {
                "systemInstruction": {"parts": [{"text": prompt.system}]},
                "contents": [{"role": "user", "parts": [{"text": prompt.user}]}],
                "generationConfig": {"temperature": 0.3, "maxOutputTokens": wire.MOST_OUTPUT_TOKENS},
            },
        )
        tokens = wire.count(wire.at(answer, "usageMetadata", "totalTokenCount"))
        if wire.at(answer, "promptFeedback", "blockReason"):
            raise ProviderFailed(Failure.BAD_ANSWER, "gemini refuses the question", tokens=tokens, model=model)
        said = wire.joined(wire.at(answer, "candidates", 0, "content", "parts"))
        return Completion(said, tokens, wire.text(wire.at(answer, "modelVersion")) or model)

    def _pace(self, model: str) -> Pace:
        if model not in self._paces:
            self._paces[model] = self._make_pace(_A_MINUTE.get(model, _FEWEST_A_MINUTE))
        return self._paces[model]

    async def close(self) -> None:
        """Let go of the connections."""
        await self._wire.close()


def open_provider(asking: Asking, data_dir: Path) -> Provider:
    """The provider. Errors: ``Invalid``."""
    return Gemini(asking)
