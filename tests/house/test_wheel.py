"""The wheel holds what the programs look for beside their code."""

import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def files(folder: str, pattern: str) -> set[Path]:
    return {file.relative_to(ROOT) for file in (ROOT / folder).rglob(pattern)}


def test_sheets_lie_beside_the_terminal_app(names: list[str]) -> None:
    sheets = {f"tui/{file.as_posix()}" for file in files("tcss", "*.tcss")}
    assert sheets and sheets <= set(names)


def test_demo_memory_lies_beside_its_loader(names: list[str]) -> None:
    demo = {file.as_posix() for file in files("worker/demo", "*.json")}
    assert demo and demo <= set(names)


def test_viewer_lies_in_the_worker(names: list[str]) -> None:
    assert "worker/viewer/index.html" in names


def test_all_modules_and_nothing_else_of_the_repository(names: list[str]) -> None:
    modules = {file.as_posix() for folder in ("worker", "tui", "mcp_bridge") for file in files(folder, "*.py")}
    assert modules <= set(names)
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.startswith("claude_mem-")} == {"worker", "tui", "mcp_bridge"}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
