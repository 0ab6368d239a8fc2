"""Pure: how a key is written, wherever a person reads of it."""


def written(key: str) -> str:
    """A key as a person reads it: `/`, `PgDn`, `Ctrl+F`."""
    if key in _SHOWN or "+" not in key:
        return _SHOWN.get(key, key)
    *held, last = key.split("+")
    return "+".join([*(name.capitalize() for name in held), _SHOWN.get(last, last.upper())])


_SHOWN = {
    "enter": "Enter", "escape": "Esc", "backspace": "Backspace", "tab": "Tab", "shift+tab": "Shift+Tab",
    "slash": "/", "question_mark": "?", "comma": ",", "full_stop": ".", "up": "Up", "down": "Down",
    "left": "Left", "right": "Right", "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End",
    "space": "Space", "f1": "F1", "left_square_bracket": "[", "right_square_bracket": "]", "plus": "+",
    "equals_sign": "=", "colon": ":", "less_than_sign": "<", "greater_than_sign": ">", "minus": "-",
    "dollar_sign": "$", "exclamation_mark": "!",
}  # fmt: skip
