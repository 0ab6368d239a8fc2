"""The house themes: dark slate with a warm light, the same by day, one of strong contrasts, and one without colours.

For the sixteen colours of the terminal itself there are Textual's `ansi-dark` and `ansi-light`.
"""

from textual.color import Color
from textual.theme import Theme

DARK = Theme(
    name="claude-mem-dark",
    primary="#d98e6a",
    secondary="#8ea3b8",
    accent="#e0a37f",
    foreground="#d5d3cd",
    background="#16181c",
    surface="#22262d",
    panel="#2a2e36",
    success="#93b38a",
    warning="#d9b56c",
    error="#d98080",
    dark=True,
    variables={
        "quiet": "#878d98",
        "faint": "#5c626d",
        "cursor-line": "#2b2f38",
        "input-cursor-background": "#e0a37f",
        "input-cursor-foreground": "#16181c",
        "input-selection-background": "#4a4038",
        "scrollbar": "#343942",
        "scrollbar-hover": "#434955",
        "scrollbar-active": "#d98e6a",
        "scrollbar-background": "#16181c",
        "scrollbar-background-hover": "#16181c",
        "scrollbar-background-active": "#16181c",
    },
)
LIGHT = Theme(
    name="claude-mem-light",
    primary="#a8532b",
    secondary="#49637c",
    accent="#9c4a22",
    foreground="#2d2b28",
    background="#faf8f4",
    surface="#f2efe8",
    panel="#ddd8cd",
    success="#3f6b3a",
    warning="#7d5c10",
    error="#a33a3a",
    dark=False,
    variables={
        "quiet": "#6f6a61",
        "faint": "#a09a8e",
        "cursor-line": "#e9e3d6",
        "input-cursor-background": "#9c4a22",
        "input-cursor-foreground": "#faf8f4",
        "input-selection-background": "#ecd9c6",
        "scrollbar": "#d3cdc0",
        "scrollbar-hover": "#bdb6a7",
        "scrollbar-active": "#a8532b",
        "scrollbar-background": "#faf8f4",
        "scrollbar-background-hover": "#faf8f4",
        "scrollbar-background-active": "#faf8f4",
    },
)
CONTRAST = Theme(
    name="claude-mem-contrast",
    primary="#ffb000",
    secondary="#7fd4ff",
    accent="#ffd75f",
    foreground="#ffffff",
    background="#000000",
    surface="#1c1c1c",
    panel="#6c6c6c",
    success="#87ff87",
    warning="#ffd75f",
    error="#ff8787",
    dark=True,
    variables={
        "quiet": "#d0d0d0",
        "faint": "#a8a8a8",
        "cursor-line": "#303060",
        "input-cursor-background": "#ffd75f",
        "input-cursor-foreground": "#000000",
        "input-selection-background": "#5f5f00",
        "scrollbar": "#8a8a8a",
        "scrollbar-hover": "#bcbcbc",
        "scrollbar-active": "#ffd75f",
        "scrollbar-background": "#000000",
        "scrollbar-background-hover": "#000000",
        "scrollbar-background-active": "#000000",
    },
)
"""Every text at least seven to one against what is behind it."""
MONO = Theme(
    name="claude-mem-mono",
    primary="#e4e4e4",
    secondary="#c6c6c6",
    accent="#ffffff",
    foreground="#d0d0d0",
    background="#121212",
    surface="#1e1e1e",
    panel="#3a3a3a",
    success="#e4e4e4",
    warning="#ffffff",
    error="#ffffff",
    dark=True,
    variables={
        "quiet": "#9e9e9e",
        "faint": "#767676",
        "cursor-line": "#303030",
        "input-cursor-background": "#ffffff",
        "input-cursor-foreground": "#121212",
        "input-selection-background": "#4e4e4e",
        "scrollbar": "#4e4e4e",
        "scrollbar-hover": "#767676",
        "scrollbar-active": "#d0d0d0",
        "scrollbar-background": "#121212",
        "scrollbar-background-hover": "#121212",
        "scrollbar-background-active": "#121212",
    },
)
"""Greys alone: what is said is said by letters, weight and place."""
THEMES = (DARK, LIGHT, CONTRAST, MONO)


def missing(theme: Theme) -> dict[str, str]:
    """Our own variables for a theme that is not ours: made from its colours, or the terminal's own."""
    if theme.ansi:
        return {"quiet": "ansi_default", "faint": "ansi_bright_black", "cursor-line": "ansi_default"}
    made = theme.to_color_system().generate()
    ground, text = Color.parse(made["background"]), Color.parse(made["foreground"])
    shades = {"quiet": 0.65, "faint": 0.45, "cursor-line": 0.16}
    return {name: ground.blend(text, part).hex for name, part in shades.items()}
