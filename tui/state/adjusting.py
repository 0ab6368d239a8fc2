"""Pure: the settings as lines of groups, found by typing; what may be changed here, and what is sent for it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from worker.contract.known_settings import DEFAULTS, RESTART, looks_masked

PREFIX = "CLAUDE_MEM_"
GROUPS = (
    ("What agents are given", ("CONTEXT_", "SEMANTIC_INJECT", "WELCOME_")),
    (
        "How records are made",
        ("MODEL", "PROVIDER", "CLAUDE_AUTH", "GEMINI_", "OPENROUTER_", "LLM_", "OBSERVER_", "MAX_CONCURRENT", "SKIP_",
         "EXCLUDED_", "MODE", "TIER_"),
    ),
    ("Search by meaning", ("CHROMA_", "EMBEDDING_", "RECENCY_")),
    ("Worker and hooks", ("WORKER_", "API_", "DATA_DIR", "LOG_LEVEL", "HOOK_", "TRANSCRIPTS_", "CODEX_")),
)  # fmt: skip
"""Title and how the keys begin; the others follow, and last what is no setting of ours."""
OTHERS, UNKNOWN = "Others", "In the file, and none of ours: left alone"


class Setting(Struct, frozen=True):
    """One of them. value: as the worker shows it. secret: it is masked. known: of ours, and so may be changed."""

    key: str
    value: str
    group: str
    secret: bool = False
    known: bool = True

    @property
    def default(self) -> str:
        """What it is where nobody sets it; empty where that depends on the machine."""
        return DEFAULTS.get(self.key, "")

    @property
    def name(self) -> str:
        """The key without what all have in common."""
        return self.key.removeprefix(PREFIX)

    @property
    def restart(self) -> bool:
        """Whether a worker that runs has to be started anew for it."""
        return self.key in RESTART


def listed(values: Mapping[str, object]) -> list[Setting]:
    """All of them, group by group, in the file's order."""
    found = [
        Setting(
            key, value if isinstance(value, str) else str(value), _group(key), looks_masked(key, value), key in DEFAULTS
        )
        for key, value in values.items()
    ]
    order = [*(title for title, _ in GROUPS), OTHERS, UNKNOWN]
    return sorted(found, key=lambda setting: order.index(setting.group))


def matching(settings: Sequence[Setting], typed: str) -> list[Setting]:
    """Those that have every word typed in their key, value or group."""
    wanted = typed.lower().replace("_", " ").split()
    return [
        setting
        for setting in settings
        if all(word in f"{setting.key} {setting.value} {setting.group}".lower().replace("_", " ") for word in wanted)
    ]


def changed(setting: Setting, typed: str) -> dict[str, str]:
    """What to send; nothing where it stays as it is. A masked secret is never sent back, nor emptied by mistake."""
    text = typed.strip()
    if text == setting.value or (setting.secret and not text):
        return {}
    return {setting.key: text}


def _group(key: str) -> str:
    if key not in DEFAULTS:
        return UNKNOWN
    name = key.removeprefix(PREFIX)
    return next((title for title, starts in GROUPS if name.startswith(starts)), OTHERS)
