"""One edge a test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.edge import Edge, served


@pytest.fixture
async def edge(tmp_path: Path) -> AsyncIterator[Edge]:
    async with served(tmp_path / "memory") as edge:
        yield edge
