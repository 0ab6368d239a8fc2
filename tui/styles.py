"""Finds tcss/; the order of the sheets."""

from pathlib import Path, PurePath

_HERE = Path(__file__).parent


def folder(here: Path = _HERE) -> Path:
    """The folder of the sheets: beside this module in a wheel, one level up in a checkout."""
    beside = here / "tcss"
    return beside if beside.is_dir() else here.parent / "tcss"


def sheets() -> list[PurePath]:
    """Every sheet: theme, frame, then screens and widgets by name. Later ones win."""
    root = folder()
    return [
        root / "theme.tcss",
        root / "app.tcss",
        *sorted(root.glob("screens/*.tcss")),
        *sorted(root.glob("widgets/*.tcss")),
    ]
