"""Agent → its adapter's module, imported on use."""

import importlib
from types import ModuleType

_ADAPTERS = {"claude-code": "worker.cli.harness.claude_code"}


def adapter(platform: str) -> ModuleType | None:
    """The module of an agent, with ``SOURCE``, ``read`` and ``reply``; None for one that we do not know."""
    name = _ADAPTERS.get(platform)
    return None if name is None else importlib.import_module(name)
