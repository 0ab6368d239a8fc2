"""Nothing is written while nobody presses a key, wherever the focus is; of the surveys ``test_surveys_terminal``."""

from tests.tui.terminal import Terminal
from tests.tui.test_terminal import running

IDLE_S = 0.7
"""A cursor that blinks would do so within it."""
ESCAPE = "\x1b"
WALK = (
    ("search box", "/cache", "❯ cache", ESCAPE + ESCAPE),
    ("preview", "\t", "to the list", "\t\t"),
    ("timeline with its lanes", "i", "timeline around", "i"),
    ("record", "\r", "PgDn page", "q"),
    ("filters", "f", "F drop last", "q"),
    ("basket", " b", "copy call", "q"),
    ("palette", ":", "do it", ESCAPE),
    ("guide and its box", "?/", "to the keys", ESCAPE + "q"),
)
"""Where, the keys there, what shows that they have led there, the keys back."""


def test_silent_wherever_the_focus_is() -> None:
    with running(rows=500) as terminal:
        for where, there, known, back in WALK:
            _press(terminal, there)
            terminal.until(lambda text, known=known: known in text)  # type: ignore[misc]
            terminal.read(quiet_s=0.2)
            assert terminal.read(quiet_s=IDLE_S) == b"", where
            _press(terminal, back)
            terminal.until(lambda text: "q quit" in text and " records" in text)


def _press(terminal: Terminal, keys: str) -> None:
    """One after the other, as a person does: an escape and a letter in one piece would be another key."""
    for key in keys:
        terminal.send(key)
        terminal.read(quiet_s=0.12 if key == ESCAPE else 0.02)
