"""Pure: which model the settings name for which kind of question (source: contract/settings.md, hooks.md part 5)."""

from collections.abc import Callable

from worker.contract.errors import Invalid

_CLAUDES = ("haiku", "sonnet", "opus")
"""Names that Claude's own programs take for a model, and nobody else does."""
_ALIAS = "$TIER:"
_TIERS = {"fast": "haiku", "smart": "sonnet", "simple": "haiku", "summary": ""}

Value = Callable[[str, str], str]
"""Of a setting without `CLAUDE_MEM_`, with its default."""


def resolved(model: str, value: Value, *, default: str) -> str:
    """A model, of which the settings may say `$TIER:fast` or `$TIER:smart`. Errors: ``Invalid`` for another tier."""
    if not model.startswith(_ALIAS):
        return model
    tier = model.removeprefix(_ALIAS)
    if tier not in _TIERS:
        told = f"CLAUDE_MEM_MODEL must be a model, or {_ALIAS} and one of {', '.join(_TIERS)}, not {model[:40]!r}"
        raise Invalid(told, field="CLAUDE_MEM_MODEL")
    return value(f"TIER_{tier.upper()}_MODEL", _TIERS[tier]) or default


def routed(provider: str, model: str, value: Value) -> tuple[str, str]:
    """The models for simple questions and for summaries; empty where they go to the usual one.

    A name of Claude's is passed over where somebody else's model answers: the default of the setting is one.
    """
    if value("TIER_ROUTING_ENABLED", "true").lower() != "true":
        return "", ""
    ours = provider in ("claude", "anthropic") and (model in _CLAUDES or "claude" in model)
    simple, summary = (value(f"TIER_{tier.upper()}_MODEL", _TIERS[tier]) for tier in ("simple", "summary"))
    fit = [name if ours or not (name in _CLAUDES or name.startswith("claude-")) else "" for name in (simple, summary)]
    return fit[0], fit[1]
