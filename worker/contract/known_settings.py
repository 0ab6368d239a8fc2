"""Pure: every setting with its default, in the file's order; what values they take; which are secret.

Source: contract/settings.md, section 8. A key that we do not read ourselves is the original's on the same file.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from worker.contract.context_settings import LEAST_BUDGET, MOST_BUDGET
from worker.contract.errors import Invalid
from worker.contract.observer_settings import DAY_TOKENS

DEFAULTS: dict[str, str] = {
    "CLAUDE_MEM_MODEL": "claude-haiku-4-5-20251001",
    "CLAUDE_MEM_CONTEXT_OBSERVATIONS": "50",
    "CLAUDE_MEM_WORKER_PORT": "",
    "CLAUDE_MEM_WORKER_HOST": "127.0.0.1",
    "CLAUDE_MEM_API_TIMEOUT_MS": "30000",
    "CLAUDE_MEM_SKIP_TOOLS": "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion",
    "CLAUDE_MEM_PROVIDER": "local",
    "CLAUDE_MEM_CLAUDE_AUTH_METHOD": "subscription",
    "CLAUDE_MEM_GEMINI_API_KEY": "",
    "CLAUDE_MEM_GEMINI_MODEL": "gemini-flash-latest",
    "CLAUDE_MEM_GEMINI_RATE_LIMITING_ENABLED": "true",
    "CLAUDE_MEM_OPENROUTER_API_KEY": "",
    "CLAUDE_MEM_OPENROUTER_MODEL": "xiaomi/mimo-v2-flash:free",
    "CLAUDE_MEM_OPENROUTER_BASE_URL": "",
    "CLAUDE_MEM_OPENROUTER_SITE_URL": "",
    "CLAUDE_MEM_OPENROUTER_APP_NAME": "claude-mem",
    "CLAUDE_MEM_DATA_DIR": "",
    "CLAUDE_MEM_LOG_LEVEL": "INFO",
    "CLAUDE_MEM_PYTHON_VERSION": "3.13",
    "CLAUDE_CODE_PATH": "",
    "CLAUDE_MEM_CLAUDE_CONFIG_DIR": "",
    "CLAUDE_MEM_MODE": "code",
    "CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS": "false",
    "CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS": "false",
    "CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_AMOUNT": "false",
    "CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_PERCENT": "true",
    "CLAUDE_MEM_CONTEXT_OBSERVATION_TYPES": "",
    "CLAUDE_MEM_CONTEXT_OBSERVATION_CONCEPTS": "",
    "CLAUDE_MEM_CONTEXT_FULL_COUNT": "5",
    "CLAUDE_MEM_CONTEXT_FULL_FIELD": "narrative",
    "CLAUDE_MEM_CONTEXT_SESSION_COUNT": "3",
    "CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY": "true",
    "CLAUDE_MEM_CONTEXT_SHOW_LAST_MESSAGE": "false",
    "CLAUDE_MEM_CONTEXT_SHOW_TERMINAL_OUTPUT": "true",
    "CLAUDE_MEM_WELCOME_HINT_ENABLED": "true",
    "CLAUDE_MEM_FOLDER_CLAUDEMD_ENABLED": "false",
    "CLAUDE_MEM_FOLDER_USE_LOCAL_MD": "false",
    "CLAUDE_MEM_TRANSCRIPTS_ENABLED": "true",
    "CLAUDE_MEM_TRANSCRIPTS_CONFIG_PATH": "",
    "CLAUDE_MEM_CODEX_TRANSCRIPT_INGESTION": "false",
    "CLAUDE_MEM_MAX_CONCURRENT_AGENTS": "2",
    "CLAUDE_MEM_OBSERVER_MAX_CONVERSATION_CHARS": "400000",
    "CLAUDE_MEM_HOOK_FAIL_LOUD_THRESHOLD": "3",
    "CLAUDE_MEM_EXCLUDED_PROJECTS": "",
    "CLAUDE_MEM_FOLDER_MD_EXCLUDE": "[]",
    "CLAUDE_MEM_FOLDER_MD_SKELETON_DENYLIST": "[]",
    "CLAUDE_MEM_SEMANTIC_INJECT": "false",
    "CLAUDE_MEM_SEMANTIC_INJECT_LIMIT": "5",
    "CLAUDE_MEM_TIER_ROUTING_ENABLED": "true",
    "CLAUDE_MEM_TIER_SIMPLE_MODEL": "haiku",
    "CLAUDE_MEM_TIER_SUMMARY_MODEL": "",
    "CLAUDE_MEM_TIER_FAST_MODEL": "haiku",
    "CLAUDE_MEM_TIER_SMART_MODEL": "sonnet",
    "CLAUDE_MEM_CHROMA_ENABLED": "true",
    "CLAUDE_MEM_CHROMA_MODE": "local",
    "CLAUDE_MEM_CHROMA_HOST": "127.0.0.1",
    "CLAUDE_MEM_CHROMA_PORT": "8000",
    "CLAUDE_MEM_CHROMA_SSL": "false",
    "CLAUDE_MEM_CHROMA_API_KEY": "",
    "CLAUDE_MEM_CHROMA_TENANT": "default_tenant",
    "CLAUDE_MEM_CHROMA_DATABASE": "default_database",
    "CLAUDE_MEM_CHROMA_PREWARM_TIMEOUT_MS": "120000",
    "CLAUDE_MEM_CHROMA_MAX_PENDING_MUTATIONS": "5000",
    "CLAUDE_MEM_CLOUD_SYNC_TOKEN": "",
    "CLAUDE_MEM_CLOUD_SYNC_USER_ID": "",
    "CLAUDE_MEM_CLOUD_SYNC_HUB_URL": "",
    "CLAUDE_MEM_CLOUD_SYNC_DEVICE_ID": "",
    "CLAUDE_MEM_CLOUD_SYNC_DEVICE_NAME": "",
    "CLAUDE_MEM_CLOUD_SYNC_WS": "true",
    "CLAUDE_MEM_CLOUD_SYNC_CONTENT_BATCH_SIZE": "40",
    "CLAUDE_MEM_CLOUD_SYNC_REQUEST_TIMEOUT_MS": "90000",
    "CLAUDE_MEM_LLM_TIMEOUT_MS": "30000",
    "CLAUDE_MEM_TV_TOKEN": "",
    "CLAUDE_MEM_PRO_TRIAL_EMAIL": "",
    "CLAUDE_MEM_PRO_TRIAL_AT": "",
    "CLAUDE_MEM_PRO_TRIAL_STATE": "",
    "CLAUDE_MEM_PRO_TRIAL_ENDS_AT": "",
    "CLAUDE_MEM_PRO_PLAN": "",
    "CLAUDE_MEM_PRO_FALLBACK_AT": "",
    "CLAUDE_MEM_PRO_MEMORY_KEY": "",
    "CLAUDE_MEM_PRO_MEMORY_BASE_URL": "",
    "CLAUDE_MEM_PRO_MEMORY_MODEL": "",
    "CLAUDE_MEM_TELEGRAM_ENABLED": "true",
    "CLAUDE_MEM_TELEGRAM_BOT_TOKEN": "",
    "CLAUDE_MEM_TELEGRAM_CHAT_ID": "",
    "CLAUDE_MEM_TELEGRAM_WRAPUPS_ENABLED": "true",
    "CLAUDE_MEM_TELEGRAM_OBSERVATION_ALERTS_ENABLED": "false",
    "CLAUDE_MEM_TELEGRAM_WRAPUP_ROUTES": "{}",
    "CLAUDE_MEM_TELEGRAM_TRIGGER_TYPES": "security_alert,sensitive",
    "CLAUDE_MEM_TELEGRAM_TRIGGER_CONCEPTS": "",
    "CLAUDE_MEM_GROK_BOT_AWARENESS_ENABLED": "true",
    "CLAUDE_MEM_GROK_BOT_AWARENESS_AGENT_IDS": (
        "521e962d-2ec3-4488-bfbc-54d5209ce118,95601360-61f7-4fd9-bb3a-2c976b2b85c0"
    ),
    "CLAUDE_MEM_GROK_BOT_AWARENESS_TRIGGER_TYPES": "decision,bugfix,security_alert,sensitive",
    "CLAUDE_MEM_GROK_BOT_AWARENESS_TRIGGER_CONCEPTS": "",
    "CLAUDE_MEM_GROK_BOT_INJECT_ENABLED": "true",
    "CLAUDE_MEM_GROK_BOT_INJECT_AGENT_IDS": "*",
    "CLAUDE_MEM_GROK_BOT_INJECT_TIER": "episode",
    "CLAUDE_MEM_GROK_BOT_INJECT_WINDOW": "80",
    "CLAUDE_MEM_GROK_BOT_INJECT_FALLBACK": "house",
    "CLAUDE_MEM_GROK_BOT_INJECT_PLATFORM_SOURCE": "",
    "CLAUDE_MEM_GROK_BOT_INJECT_PROJECTS_BY_AGENT": "",
    "CLAUDE_MEM_GROK_BOT_INJECT_MAX_LINE_CHARS": "160",
    "CLAUDE_MEM_GROK_BOT_INJECT_DEBOUNCE_MS": "1500",
    "CLAUDE_MEM_CCS_ALIGN_ENABLED": "true",
    "CLAUDE_MEM_CCS_ALIGN_VIEWER_IDS": "ccs-align",
    "CLAUDE_MEM_CCS_ALIGN_TRIGGER_TYPES": "decision,bugfix,security_alert,sensitive",
    "CLAUDE_MEM_CCS_ALIGN_PATCH_SHADOWS": "false",
    "CLAUDE_MEM_QUEUE_ENGINE": "sqlite",
    "CLAUDE_MEM_REDIS_URL": "",
    "CLAUDE_MEM_REDIS_HOST": "127.0.0.1",
    "CLAUDE_MEM_REDIS_PORT": "6379",
    "CLAUDE_MEM_REDIS_MODE": "external",
    "CLAUDE_MEM_QUEUE_REDIS_PREFIX": "",
    "CLAUDE_MEM_AUTH_MODE": "api-key",
    "CLAUDE_MEM_RUNTIME": "worker",
    "CLAUDE_MEM_SERVER_URL": "",
    "CLAUDE_MEM_SERVER_API_KEY": "",
    "CLAUDE_MEM_SERVER_PROJECT_ID": "",
    "CLAUDE_MEM_SERVER_BETA_URL": "",
    "CLAUDE_MEM_SERVER_BETA_API_KEY": "",
    "CLAUDE_MEM_SERVER_BETA_PROJECT_ID": "",
    # Of our own, unknown to the original.
    "CLAUDE_MEM_API_TOKEN": "",
    "CLAUDE_MEM_API_READ_TOKEN": "",
    "CLAUDE_MEM_EMBEDDING_MODEL": "minilm",
    "CLAUDE_MEM_EMBEDDING_URL": "",
    "CLAUDE_MEM_EMBEDDING_REMOTE_MODEL": "",
    "CLAUDE_MEM_EMBEDDING_API_KEY": "",
    "CLAUDE_MEM_RECENCY_DAYS": "90",
    "CLAUDE_MEM_HOOK_TIMEOUT_MS": "2000",
    "CLAUDE_MEM_GEMINI_BASE_URL": "",
    "CLAUDE_MEM_OBSERVER_PAUSE_MS": "",
    "CLAUDE_MEM_OBSERVER_BATCH_EVENTS": "",
    "CLAUDE_MEM_OBSERVER_BATCH_BYTES": "",
    "CLAUDE_MEM_BUDGET_DAY_TOKENS": str(DAY_TOKENS),
    "CLAUDE_MEM_BUDGET_SESSION_TOKENS": "0",
    "CLAUDE_MEM_BASKET_BUDGET": "8000",
    "CLAUDE_MEM_OPT_IN": "false",
    "CLAUDE_MEM_SKIP_SUBAGENTS": "false",
    "CLAUDE_MEM_CONTEXT_BUDGET": "3000",
    "CLAUDE_MEM_SEMANTIC_INJECT_BUDGET": "1000",
}
"""Empty where the default depends on the machine; see ``settings_file``."""

RESTART = frozenset(
    f"CLAUDE_MEM_{name}"
    for name in (
        "WORKER_PORT", "WORKER_HOST", "DATA_DIR", "LOG_LEVEL", "API_TOKEN", "API_READ_TOKEN", "EMBEDDING_MODEL",
        "EMBEDDING_URL", "EMBEDDING_REMOTE_MODEL", "EMBEDDING_API_KEY", "RECENCY_DAYS", "CHROMA_ENABLED", "CHROMA_MODE",
        "CHROMA_HOST", "CHROMA_PORT", "CHROMA_SSL", "CHROMA_API_KEY", "CHROMA_TENANT", "CHROMA_DATABASE",
    )
)  # fmt: skip
"""Keys that a running worker has read and does not read again."""

_MOST_CHARS = 10_000
_SECRET = re.compile(r"(?i)(key|token|secret|password)$")
_IN_URL = re.compile(r"(?<=://)([^/@:]*):[^/@]+@")
_MASK = "****"


class _Rule(NamedTuple):
    told: str
    fits: Callable[[str], bool]


def _among(*words: str) -> _Rule:
    return _Rule(f"one of {', '.join(words)}", lambda text: text in words)


def _between(low: int, high: int) -> _Rule:
    return _Rule(
        f"a whole number from {low} to {high}",
        lambda text: text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high,
    )


def _like(pattern: str, told: str) -> _Rule:
    return _Rule(told, lambda text: re.fullmatch(pattern, text) is not None)


_TRUTH = _among("true", "false")
_NUMBER = _Rule("a whole number", lambda text: text.isascii() and text.isdigit() and len(text) < 10)
_URL = _like(r"|https?://[^\s/]+\S*", "a URL that begins with http:// or https://, or empty")
_RULES = {
    "CLAUDE_MEM_PROVIDER": _among("local", "claude", "anthropic", "gemini", "openrouter"),
    "CLAUDE_MEM_CLAUDE_AUTH_METHOD": _among("subscription", "api-key", "gateway", "cli"),
    "CLAUDE_MEM_GEMINI_MODEL": _among(
        "gemini-flash-latest", "gemini-flash-lite-latest", "gemini-3.5-flash", "gemini-3.1-flash-lite",
        "gemini-3-flash-preview",
    ),
    "CLAUDE_MEM_CONTEXT_OBSERVATIONS": _between(1, 200),
    "CLAUDE_MEM_CONTEXT_FULL_COUNT": _between(0, 20),
    "CLAUDE_MEM_CONTEXT_SESSION_COUNT": _between(1, 50),
    "CLAUDE_MEM_CONTEXT_BUDGET": _between(LEAST_BUDGET, MOST_BUDGET),
    "CLAUDE_MEM_SEMANTIC_INJECT_LIMIT": _between(1, 20),
    "CLAUDE_MEM_SEMANTIC_INJECT_BUDGET": _between(LEAST_BUDGET, MOST_BUDGET),
    "CLAUDE_MEM_CONTEXT_FULL_FIELD": _among("narrative", "facts"),
    "CLAUDE_MEM_WORKER_PORT": _between(1024, 65535),
    "CLAUDE_MEM_WORKER_HOST": _like(
        r"localhost|::1?|(\d{1,3}\.){3}\d{1,3}", "127.0.0.1, 0.0.0.0, ::1, ::, localhost or an IPv4 address"
    ),
    "CLAUDE_MEM_LOG_LEVEL": _among("DEBUG", "INFO", "WARN", "ERROR", "SILENT"),
    "CLAUDE_MEM_PYTHON_VERSION": _like(r"3\.\d{1,2}", "a version such as 3.13"),
    "CLAUDE_MEM_API_TIMEOUT_MS": _between(500, 300_000),
    "CLAUDE_MEM_OPENROUTER_SITE_URL": _URL,
    "CLAUDE_MEM_OPENROUTER_BASE_URL": _URL,
    "CLAUDE_MEM_GEMINI_BASE_URL": _URL,
    "CLAUDE_MEM_LLM_TIMEOUT_MS": _between(500, 600_000),
    "CLAUDE_MEM_MAX_CONCURRENT_AGENTS": _between(1, 64),
    "CLAUDE_MEM_OBSERVER_PAUSE_MS": _like(r"|\d{1,5}|[1-5]\d{5}|600000", "a whole number from 0 to 600000, or empty"),
    "CLAUDE_MEM_OBSERVER_BATCH_EVENTS": _like(r"|[1-9]\d{0,2}|1000", "a whole number from 1 to 1000, or empty"),
    "CLAUDE_MEM_OBSERVER_BATCH_BYTES": _like(r"|[1-9]\d{3,6}", "a whole number from 1000 to 9999999, or empty"),
    "CLAUDE_MEM_EMBEDDING_MODEL": _among("minilm", "chroma-default", "e5", "http", "hash", "none"),
    "CLAUDE_MEM_EMBEDDING_URL": _URL,
    "CLAUDE_MEM_CHROMA_MODE": _among("local", "remote"),
    "CLAUDE_MEM_CHROMA_PORT": _between(1, 65535),
    "CLAUDE_MEM_RECENCY_DAYS": _between(0, 36500),
    "CLAUDE_MEM_BASKET_BUDGET": _between(1_000, 200_000),
    "CLAUDE_MEM_HOOK_TIMEOUT_MS": _between(100, 30_000),
    "CLAUDE_MEM_CLOUD_SYNC_CONTENT_BATCH_SIZE": _between(1, 500),
    "CLAUDE_MEM_CLOUD_SYNC_REQUEST_TIMEOUT_MS": _between(5000, 180_000),
}  # fmt: skip


def checked(key: str, value: object) -> str:
    """The text to store for a known key. Errors: ``Invalid`` naming the key and what it takes."""
    if not isinstance(value, str | int):
        raise Invalid(f"{key} must be a text", field=key)
    text = (str(value).lower() if isinstance(value, bool) else str(value)).strip()
    if len(text) > _MOST_CHARS or any(ord(char) < 32 for char in text):
        raise Invalid(f"{key} must be a text of one line, at most {_MOST_CHARS} characters", field=key)
    rule = _rule(key)
    if rule is not None and not rule.fits(text):
        raise Invalid(f"{key} must be {rule.told}, not {text[:40]!r}", field=key)
    return text


def _rule(key: str) -> _Rule | None:
    default = DEFAULTS[key]
    usual = _TRUTH if default in ("true", "false") else _NUMBER if default.isdigit() else None
    return _RULES.get(key, usual)


def may_be_blank(key: str) -> bool:
    """Whether an empty text is a value of its own, as for a list of tools to skip, and not the lack of one."""
    rule = _rule(key)
    return rule is None or rule.fits("")


def masked(key: str, value: object) -> object:
    """A value as it may be shown: of a secret `****` and its last four characters, of a URL no password."""
    match value:
        case str():
            if not _SECRET.search(key):
                return _IN_URL.sub(rf"\1:{_MASK}@", value)
            return value and _MASK + (value[-4:] if len(value) >= 12 else "")
        case dict():
            return {name: masked(str(name), item) for name, item in value.items()}
        case list():
            return [masked(key, item) for item in value]
        case _:
            return value


def looks_masked(key: str, value: object) -> bool:
    """Whether a value can only be one that was shown."""
    return isinstance(value, str) and _SECRET.search(key) is not None and value.startswith(_MASK)
