"""Every screen before a memory of hostile texts: in three sizes, in colour, without any, and in ASCII."""

import os
from collections.abc import Sequence

import msgspec
import pytest

from tests.tui.memory import observation, prompt, summary
from tests.tui.stage import Stage
from tests.tui.surveys import plan
from tests.tui.test_settings import VALUES
from tests.tui.test_snapshots import FOLDER, SIZES
from tui.cells.fit import width
from tui.cells.glyphs import ASCII, UNICODE
from worker.contract.records import Record

HOSTILE = "[/ [b]身份验证[/b] 👩‍💻🇩🇪 \x1b[2J\x1b]0;owned\x07\u202eevil\x9b31m"
STEERING = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), "\u202e"}
ASCII_OR_STORED = {*map(chr, range(128)), *HOSTILE, *str(VALUES)}
LONG = f"{HOSTILE} " + "a title that no column holds " * 8
PLACES: Sequence[tuple[str, tuple[str, ...]]] = (
    ("list", ()), ("record", ("enter",)), ("score", ("c",)), ("timeline", ("i",)), ("filters", ("f",)),
    ("basket", ("space", "b")), 
    ("costs", ("dollar_sign",)), ("sessions", ("S", "space", "j", "space")), ("next-start", ("p",)),
    ("next-start-raw", ("p", "r")), ("health", ("exclamation_mark",)), ("corpora", ("A",)), ("corpus", ("A", "enter")),
    ("corpora-line", ("A", "a")), ("guide", ("question_mark",)), ("palette", ("colon",)), ("settings", ("E",)),
    ("setting", ("E", "down", "down", "enter")), ("search", ("slash", *"title")), ("no-hits", (*"zebra",)),
)  # fmt: skip


def _memory() -> list[Record]:
    return [
        observation(
            1, HOSTILE, subtitle=LONG, narrative=LONG, facts=f'["{LONG[:20]}"]', concepts='["[red]"]', project=HOSTILE
        ),
        observation(2, LONG, type=HOSTILE, project=HOSTILE),
        summary(3, LONG, learned=LONG, project=HOSTILE),
        prompt(4, LONG, project=HOSTILE),
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", ["colour", "no-colour", "ascii"])
async def test_it_is_drawn_as_stored_and_steers_nothing(
    size: tuple[int, int], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without colours each screen says just what it says with them: both are held against the same grid."""
    if form == "no-colour":
        monkeypatch.setenv("NO_COLOR", "1")
    drawn: list[str] = []
    async with Stage(_memory(), size=size, glyphs=ASCII if form == "ascii" else UNICODE) as stage:
        told = plan(HOSTILE)
        rows = tuple(msgspec.structs.replace(row, title=LONG, reason=HOSTILE) for row in told.rows)
        stage.memory.surveyed.settings = VALUES
        stage.memory.surveyed.plan = msgspec.structs.replace(told, text=LONG, rows=rows)
        stage.memory.surveyed.shelf.put("hostile", records=2, description=HOSTILE)
        for name, keys in PLACES:
            for key in keys:
                await stage.press(key)
                await stage.settled()
            await stage.still()
            assert not STEERING & set(stage.text.replace("\n", "")), name
            assert form != "ascii" or set(stage.text) <= ASCII_OR_STORED, name
            assert all(width(line) <= size[0] for line in stage.screen), name
            drawn.append(f"=== {name}\n{stage.text}\n")
            if name == "timeline":
                await stage.press("i")
            while stage.app.screen is not stage.app.workspace:
                stage.app.take_down()
                await stage.settled()
    path = FOLDER / f"every-{'ascii' if form == 'ascii' else 'unicode'}-{size[0]}x{size[1]}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS") and form != "no-colour":
        path.write_text("".join(drawn))
    assert "".join(drawn) == path.read_text(), f"{path.name} differs; UPDATE_SNAPSHOTS=1 writes it anew"
