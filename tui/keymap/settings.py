"""Pure: The settings: found by typing, changed one by one."""

from tui.keymap.action import Action
from tui.keymap.places import LIST, PREVIEW, SETTINGS_BOX

ACTIONS = (
    Action("settings", ("E",), (LIST, PREVIEW), "settings", "all settings, their values, and to change one"),
    Action("change_setting", ("enter",), (SETTINGS_BOX,), "change", "in the settings: change it; then keep the value"),
    Action("next_setting", ("down",), (SETTINGS_BOX,), "down", "the next setting"),
    Action("last_setting", ("up",), (SETTINGS_BOX,), "up", "the one before"),
    Action("page_of_settings", ("pagedown",), (SETTINGS_BOX,), "page", "a screenful of settings on"),
    Action("page_before", ("pageup",), (SETTINGS_BOX,), "page back", "a screenful of settings back"),
    Action("leave_settings", ("escape", "tab"), (SETTINGS_BOX,), "close", "in the settings: leave it; close them"),
)  # fmt: skip
