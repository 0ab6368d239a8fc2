"""Finds tcss/; the order of the sheets."""

from pathlib import Path, PurePath

_HERE = Path(__file__).parent
_FIRST = (
    "screens/pick", "screens/workspace", "widgets/banner", "widgets/empty_note", "widgets/header_line",
    "widgets/histogram", "widgets/lane_view", "widgets/list_head", "widgets/record_view", "widgets/result_list",
    "widgets/search_bar", "widgets/status_line",
)  # fmt: skip


_TERMINALS = ("ascii", "few-colours", "terminal-colours")


def folder(here: Path = _HERE) -> Path:
    """The folder of the sheets: beside this module in a wheel, one level up in a checkout."""
    beside = here / "tcss"
    return beside if beside.is_dir() else here.parent / "tcss"


def sheets() -> list[PurePath]:
    """Every sheet: of the first paint, of the screens that are opened from there, of some terminals. Later ones win."""
    return [*first(), *later(), *(for_terminal(name) for name in _TERMINALS)]


def first() -> list[PurePath]:
    """Theme, frame, and what the first paint shows.

    Before it each rule costs twice: it is parsed, and every one of some 700 parts of the screen is asked whether it is
    meant. Without those of the other screens the first paint takes a tenth less.
    """
    root = folder()
    return [root / "theme.tcss", root / "app.tcss", *(root / f"{name}.tcss" for name in _FIRST)]


def for_terminal(name: str) -> PurePath:
    """What is otherwise in a terminal of few colours, of its own, or without more than ASCII; read where it is so."""
    return folder() / "terminals" / f"{name.replace('-', '_')}.tcss"


def later() -> list[Path]:
    """The others by name, read when the first of their screens is opened."""
    root = folder()
    known = {root / f"{name}.tcss" for name in _FIRST}
    return [
        path for kind in ("screens", "widgets") for path in sorted(root.glob(f"{kind}/*.tcss")) if path not in known
    ]
