"""Nothing is written while nobody presses a key, wherever the focus is; of the surveys ``test_surveys_terminal``."""

from tests.tui.terminal import Terminal
from tests.tui.test_terminal import running

IDLE_S = 0.7
"""A cursor that blinks would do so within it."""
ESCAPE = "\x1b[27u"
"""As the kitty protocol has it: what follows in the same piece is a key of its own."""
LIST = "q quit"
WALK = (
    ("search box", {"/cache": "❯ cache"}, {ESCAPE + ESCAPE: LIST}),
    ("preview", {"\t": "to the list"}, {"\t\t": LIST}),
    ("timeline with its lanes", {"i": "timeline around"}, {"i": LIST}),
    ("record", {"\r": "PgDn page"}, {"q": LIST}),
    ("filters", {"f": "F drop last"}, {"q": LIST}),
    ("basket", {" b": "copy call"}, {"q": LIST}),
    ("palette", {":": "do it"}, {ESCAPE: LIST}),
    ("guide and its box", {"?": "Esc close", "\r": "q close"}, {"q": LIST}),
)
"""Where, the keys there and the keys back, with what shows that each has led on."""


def test_silent_wherever_the_focus_is() -> None:
    with running(rows=500) as terminal:
        for where, there, back in WALK:
            _go(terminal, there)
            terminal.settled()
            assert terminal.during(IDLE_S) == b"", where
            _go(terminal, back)


def _go(terminal: Terminal, way: dict[str, str]) -> None:
    for keys, known in way.items():
        terminal.send(keys)
        terminal.until(lambda text, known=known: known in text)  # type: ignore[misc]
