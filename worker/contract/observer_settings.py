"""Pure: what the settings say of the observer and of the model that it asks.

Source: contract/settings.md, and hooks.md, part 5, for tiers; the keys about pauses, batches and budgets are our own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from worker.contract.errors import Invalid

CREDENTIALS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
)
"""What `.env` in the data directory may hold."""
DAY_TOKENS = 2_000_000
"""What a model may take a day where nothing is said: a busy day of one person, and no runaway."""
_CLAUDE = "claude-haiku-4-5-20251001"
_CLAUDES = ("haiku", "sonnet", "opus")
"""Names that Claude's own programs take for a model, and nobody else does."""
_ALIAS = "$TIER:"
_TIERS = {"fast": "haiku", "smart": "sonnet", "simple": "haiku", "summary": ""}
_PROVIDERS = ("local", "claude", "anthropic", "gemini", "openrouter")


@dataclass(frozen=True, slots=True)
class Asking:
    """Which model is asked, where and how. base_url: empty for the provider's own. timeout_s: for one answer.

    simple_model, summary_model: for questions about nothing but looking around, and for summaries; empty for ``model``.
    paced: keep to what the provider gives away a minute.

    command: of the provider `claude`; config_dir: its profile. credentials: what that program gets to see.
    """

    provider: str = "local"
    model: str = ""
    simple_model: str = ""
    summary_model: str = ""
    paced: bool = False
    base_url: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    auth_token: str = field(default="", repr=False)
    command: str = ""
    config_dir: str = ""
    timeout_s: float = 30.0
    site_url: str = ""
    app_name: str = "claude-mem"
    credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Observing:
    """How the observer works. parallel: sessions at a time.

    A session's events are taken when it was quiet for ``pause_ms`` or a turn has ended, and at the latest when there
    are ``events`` of them or ``bytes``. day_tokens, session_tokens: what may be spent, 0 without end.
    """

    asking: Asking = Asking()
    parallel: int = 2
    pause_ms: int = 60_000
    events: int = 200
    bytes: int = 4 * 2**20
    day_tokens: int = 0
    session_tokens: int = 0


def read(value: Callable[[str, str], str], credentials: Mapping[str, str]) -> Observing:
    """What the settings say.

    value: of a name without `CLAUDE_MEM_`, with its default. credentials: of `.env`, else of the environment.
    The local rules cost nothing and see more the more of a turn they see, so by default they wait longer than a model
    is let, and take more.
    Errors: ``Invalid`` naming the key.
    """
    provider = value("PROVIDER", "local")
    if provider not in _PROVIDERS:
        told = f"CLAUDE_MEM_PROVIDER must be one of {', '.join(_PROVIDERS)}, not {provider[:40]!r}"
        raise Invalid(told, field="CLAUDE_MEM_PROVIDER")
    usual = Observing() if provider == "local" else Observing(pause_ms=5_000, events=20, bytes=48 * 1024)

    def number(name: str, default: int, low: int, high: int) -> int:
        text = value(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) <= 12) or not low <= int(text) <= high:
            key = f"CLAUDE_MEM_{name}"
            raise Invalid(f"{key} must be a whole number from {low} to {high}, not {text[:40]!r}", field=key)
        return int(text)

    return Observing(
        asking=_asking(provider, value, credentials, number("LLM_TIMEOUT_MS", 30_000, 500, 600_000) / 1000),
        parallel=number("MAX_CONCURRENT_AGENTS", usual.parallel, 1, 64),
        pause_ms=number("OBSERVER_PAUSE_MS", usual.pause_ms, 0, 600_000),
        events=number("OBSERVER_BATCH_EVENTS", usual.events, 1, 1_000),
        bytes=number("OBSERVER_BATCH_BYTES", usual.bytes, 1_000, 64 * 2**20),
        day_tokens=number("BUDGET_DAY_TOKENS", DAY_TOKENS, 0, 10**11),
        session_tokens=number("BUDGET_SESSION_TOKENS", 0, 0, 10**11),
    )


def _asking(
    provider: str, value: Callable[[str, str], str], credentials: Mapping[str, str], timeout_s: float
) -> Asking:
    match provider:
        case "claude" | "anthropic":
            ours = provider == "anthropic"
            model = _resolved(value("MODEL", _CLAUDE), value, default=_CLAUDE)
            simple, summary = _routed(provider, model, value)
            return Asking(
                provider=provider,
                model=model,
                simple_model=simple,
                summary_model=summary,
                base_url=credentials.get("ANTHROPIC_BASE_URL", "") if ours else "",
                api_key=_key("ANTHROPIC_API_KEY", credentials.get("ANTHROPIC_API_KEY", "")) if ours else "",
                auth_token=_key("ANTHROPIC_AUTH_TOKEN", credentials.get("ANTHROPIC_AUTH_TOKEN", "")) if ours else "",
                command=value("CLAUDE_CODE_PATH", ""),
                config_dir=value("CLAUDE_CONFIG_DIR", ""),
                timeout_s=timeout_s,
                credentials=() if ours else tuple(sorted(credentials.items())),
            )
        case "gemini":
            model = value("GEMINI_MODEL", "gemini-flash-latest")
            simple, summary = _routed(provider, model, value)
            return Asking(
                provider=provider,
                model=model,
                simple_model=simple,
                summary_model=summary,
                paced=value("GEMINI_RATE_LIMITING_ENABLED", "true").lower() == "true",
                base_url=value("GEMINI_BASE_URL", ""),
                api_key=_key(
                    "CLAUDE_MEM_GEMINI_API_KEY", value("GEMINI_API_KEY", credentials.get("GEMINI_API_KEY", ""))
                ),
                timeout_s=timeout_s,
            )
        case "openrouter":
            key = value("OPENROUTER_API_KEY", credentials.get("OPENROUTER_API_KEY", ""))
            model = value("OPENROUTER_MODEL", "xiaomi/mimo-v2-flash:free")
            simple, summary = _routed(provider, model, value)
            return Asking(
                provider=provider,
                model=model,
                simple_model=simple,
                summary_model=summary,
                base_url=value("OPENROUTER_BASE_URL", ""),
                api_key=_key("CLAUDE_MEM_OPENROUTER_API_KEY", key),
                timeout_s=timeout_s,
                site_url=value("OPENROUTER_SITE_URL", ""),
                app_name=value("OPENROUTER_APP_NAME", "claude-mem"),
            )
        case _:
            return Asking(provider=provider, timeout_s=timeout_s)


def _resolved(model: str, value: Callable[[str, str], str], *, default: str) -> str:
    """A model, of which the settings may say `$TIER:fast` or `$TIER:smart`. Errors: ``Invalid`` for another tier."""
    if not model.startswith(_ALIAS):
        return model
    tier = model.removeprefix(_ALIAS)
    if tier not in _TIERS:
        told = f"CLAUDE_MEM_MODEL must be a model, or {_ALIAS} and one of {', '.join(_TIERS)}, not {model[:40]!r}"
        raise Invalid(told, field="CLAUDE_MEM_MODEL")
    return value(f"TIER_{tier.upper()}_MODEL", _TIERS[tier]) or default


def _routed(provider: str, model: str, value: Callable[[str, str], str]) -> tuple[str, str]:
    """The models for simple questions and for summaries; empty where they go to the usual one.

    A name of Claude's is passed over where somebody else's model answers: the default of the setting is one.
    """
    if value("TIER_ROUTING_ENABLED", "true").lower() != "true":
        return "", ""
    ours = provider in ("claude", "anthropic") and (model in _CLAUDES or "claude" in model)
    simple, summary = (value(f"TIER_{tier.upper()}_MODEL", _TIERS[tier]) for tier in ("simple", "summary"))
    fit = [name if ours or not (name in _CLAUDES or name.startswith("claude-")) else "" for name in (simple, summary)]
    return fit[0], fit[1]


def dotenv(text: str) -> dict[str, str]:
    """The assignments of dotenv text: `NAME=value`, `export NAME="value"`; lines that are none are passed over."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name.isidentifier():
            continue
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        else:
            value = value.split(" #", 1)[0].rstrip()
        found[name] = value
    return found


def _key(name: str, text: str) -> str:
    """A key as it may stand in a header. Errors: ``Invalid``, naming the setting and not the key."""
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise Invalid(f"{name} must be of visible ASCII characters, without blanks", field=name)
    return text
