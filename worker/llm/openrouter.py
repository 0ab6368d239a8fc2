"""Any server that speaks OpenAI's ``<base>/chat/completions``: OpenRouter, Ollama, LM Studio, vLLM."""

from pathlib import Path

from worker.contract.errors import Invalid
from worker.contract.observer_settings import Asking
from worker.llm import telling, wire
from worker.llm.provider import Completion, Failure, Prompt, Provider, ProviderFailed, model_for
from worker.llm.wire import Wire

_BASE = "https://openrouter.ai/api/v1"
_KEY = "CLAUDE_MEM_OPENROUTER_API_KEY"
_PATH = "/chat/completions"


class OpenRouter:
    """The client. A server of one's own, named by a base URL, may want no key."""

    def __init__(self, asking: Asking) -> None:
        if not (asking.api_key or asking.base_url):
            raise Invalid(f"the provider openrouter needs {_KEY}, or OPENROUTER_API_KEY in .env", field=_KEY)
        headers = {"x-title": asking.app_name} if asking.app_name.isascii() and asking.app_name else {}
        if asking.api_key:
            headers["authorization"] = f"Bearer {asking.api_key}"
        if asking.site_url:
            headers["http-referer"] = asking.site_url
        self._asking = asking
        base = (asking.base_url or _BASE).rstrip("/").removesuffix(_PATH)
        self._wire = Wire(base, headers, timeout_s=asking.timeout_s, setting="CLAUDE_MEM_OPENROUTER_BASE_URL")

    async def complete(self, prompt: Prompt) -> Completion:
        """The answer. Errors: ``ProviderFailed``."""
        model = model_for(self._asking, prompt)
        answer = await self._wire.post(
            _PATH,
            {
                "model": model,
                "messages": [
                    {"role": "system", "content": prompt.system},
                    {"role": "user", "content": prompt.user},
                ],
                "temperature": 0.3,
                "max_tokens": wire.MOST_OUTPUT_TOKENS,
                "stream": False,
            },
        )
        _raise_of(answer, model)
        usage = wire.at(answer, "usage")
        parts = (wire.at(usage, "prompt_tokens"), wire.at(usage, "completion_tokens"))
        tokens = wire.count(wire.at(usage, "total_tokens")) or wire.count(*parts)
        content = wire.at(answer, "choices", 0, "message", "content")
        said = wire.text(content) or wire.joined(content)
        return Completion(said, tokens, wire.text(wire.at(answer, "model")) or model)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._wire.close()


def _raise_of(answer: dict[str, object], model: str) -> None:
    """OpenRouter tells what its own provider failed with in an answer of status 200."""
    error = answer.get("error")
    if not error:
        return
    code, words = wire.at(error, "code"), wire.text(wire.at(error, "message")) or wire.text(error)
    kind = telling.of_status(code, words) if isinstance(code, int) else telling.of_words(words)
    kind = kind or Failure.TRANSIENT
    raise ProviderFailed(kind, f"openrouter: {telling.sentence(kind)}", model=model)


def open_provider(asking: Asking, data_dir: Path) -> Provider:
    """The provider. Errors: ``Invalid``."""
    return OpenRouter(asking)
