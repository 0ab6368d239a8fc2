"""Providers by their names, each imported when it is first asked for."""

import importlib
from pathlib import Path
from typing import Protocol, cast

from worker.contract.errors import Invalid
from worker.contract.observer_settings import Asking
from worker.llm.provider import Provider

LOCAL = "local"
"""No model at all: the observer has rules of its own for it."""
_MODULES = {name: f"worker.llm.{name}" for name in ("claude", "anthropic", "gemini", "openrouter")}


class _Module(Protocol):
    def open_provider(self, asking: Asking, data_dir: Path) -> Provider: ...


def open_provider(asking: Asking, data_dir: Path) -> Provider | None:
    """The provider that the settings name, None for ``local``. Errors: ``Invalid`` naming the setting at fault."""
    if asking.provider == LOCAL:
        return None
    if asking.provider not in _MODULES:
        names = ", ".join((LOCAL, *_MODULES))
        raise Invalid(f"CLAUDE_MEM_PROVIDER must be one of {names}", field="CLAUDE_MEM_PROVIDER")
    module = cast(_Module, importlib.import_module(_MODULES[asking.provider]))
    return module.open_provider(asking, data_dir)
