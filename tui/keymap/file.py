"""The file with a person's own keys, beside the memory."""

from pathlib import Path

from tui.keymap.chosen import Chosen, chosen

NAME = "keymap.toml"
_MOST_BYTES = 65536


def load(file: Path) -> Chosen:
    """The keys it asks for; none where there is no such file. What is wrong with it is in the notes."""
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Chosen()
    except (OSError, UnicodeError) as error:
        return Chosen(notes=(f"it cannot be read: {getattr(error, 'strerror', None) or error}",))
    import tomllib  # 3 ms, for who has no such file

    try:
        return chosen(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return Chosen(notes=(f"it is no TOML: {error}",))
