"""The names of the list's columns."""

from typing import ClassVar

from tui.widgets.paint import Line, components


class ListHead(Line):
    """One line above the list."""

    PREFIX = "list-head"
    COMPONENT_CLASSES: ClassVar[set[str]] = components("list-head", "head")
