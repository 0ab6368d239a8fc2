"""A sheet for each screen and widget of its own look; its outer selector is the class, and no sheet is left over."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest
from textual.screen import Screen
from textual.widget import Widget

import tui.screens
import tui.widgets
from tui import styles
from tui.screens import pick, workspace

_NO_LOOK = {"drawn", "one_sheet", "paint", "paper", "survey", "themes", "thrift", "escape", "turns"}


def _classes(package: str, module: str) -> set[str]:
    found = importlib.import_module(f"{package}.{module}")
    members = inspect.getmembers(found, inspect.isclass)
    return {name for name, kind in members if issubclass(kind, Widget | Screen) and kind.__module__ == found.__name__}


def _modules(package: object) -> list[str]:
    return [module.name for module in pkgutil.iter_modules(package.__path__)]  # type: ignore[attr-defined]


def _sheets(folder: str) -> dict[str, str]:
    return {path.stem: Path(path).read_text() for path in styles.sheets() if path.parent.name == folder}


def test_every_screen_and_widget_has_its_sheet_and_no_sheet_is_left_over() -> None:
    for package, folder in ((tui.screens, "screens"), (tui.widgets, "widgets")):
        assert set(_modules(package)) - _NO_LOOK == set(_sheets(folder)), folder


def test_outer_selectors_are_classes_of_the_module() -> None:
    for package, folder in ((tui.screens, "screens"), (tui.widgets, "widgets")):
        for stem, sheet in _sheets(folder).items():
            outer = {line.split()[0] for line in sheet.splitlines() if re.match(r"[A-Za-z.]", line)}
            assert outer <= _classes(package.__name__, stem), stem


@pytest.mark.parametrize("module", [workspace, pick])
def test_what_is_painted_first_has_its_sheets_by_then(module: ModuleType) -> None:
    """The others are read with the first screen that is opened on top."""
    shown = {
        kind.__module__.rpartition(".")[2]
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Widget) and kind.__module__.startswith("tui.widgets.")
    }
    at_first = {path.stem for path in styles.first()}
    assert shown | {module.__name__.rpartition(".")[2]} <= at_first
    assert not at_first & {path.stem for path in styles.later()}
