"""What the app loads before its first paint, seen in real processes."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "absent"),
    [("tui.__main__", {"textual", "rich", "httpx", "asyncio"}), ("tui.app", {"httpx", "pydantic", "starlette"})],
)
def test_nothing_heavy_before_it_is_needed(module: str, absent: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert not absent & set(done.stdout.split())
