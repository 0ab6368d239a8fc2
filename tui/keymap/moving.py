"""Pure: Get about: box, lists, pages."""

from tui.keymap.action import Action
from tui.keymap.places import BOX, LIST, PAGES, PREVIEW

ACTIONS = (
    Action("search", ("slash",), (LIST, PREVIEW), "search", "go to the search box"),
    Action("leave_box", ("down", "enter"), (BOX,), "to the hits", "from the search box to the hits"),
    Action("clear", ("escape",), (BOX,), "clear", "empty the search box, then leave it"),
    Action("down", ("j", "down"), PAGES, "down", "one down"),
    Action("up", ("k", "up"), PAGES, "up", "one up"),
    Action("page_down", ("pagedown", "J"), PAGES, "page", "a screenful down"),
    Action("page_up", ("pageup", "K"), PAGES, "page", "a screenful up"),
    Action("top", ("g", "home"), PAGES, "top", "to the top; brings in what is new"),
    Action("bottom", ("G", "end"), PAGES, "bottom", "to the end"),
)
