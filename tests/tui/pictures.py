"""The pictures of the README: `python -m tests.tui.pictures` makes them anew beside this file, from the demo memory.

The moment is fixed, since the demo's dates are told from it. Fonts are left to who looks: an SVG that is Textual's own
fetches them from elsewhere.
"""

import asyncio
import datetime as dt
import html
import re
import tempfile
from functools import partial
from pathlib import Path

from rich.cells import cell_len

from tests.processes import running_worker
from tests.tui.stage import Stage
from tui.cells.glyphs import UNICODE
from tui.cells.look import Look
from tui.gateway.front import Gateway
from tui.screens import themes
from tui.screens.workspace import Workspace
from worker.contract import calls
from worker.contract.settings import Settings
from worker.demo import load

FOLDER = Path(__file__).parent / "pictures"
NOW_MS = int(dt.datetime(2026, 11, 27, 16, 40, tzinfo=dt.UTC).timestamp() * 1000)
SIZE = (112, 30)
CELL = 12.2
"""Width of a cell in Textual's pictures."""
FONTS = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"


def small(svg: str) -> str:
    """A picture of a terminal without outside addresses, short names in it."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: Fira Code[^;]*;", f"font-family: {FONTS};", svg)
    svg = re.sub(r"font-family: arial;", "font-family: sans-serif;", svg)
    svg = re.sub(r"terminal-\d+-", "t-", svg)
    svg = re.sub(r"<text[^>]*>\n</text>", "", svg).replace("&#160;", "\N{NO-BREAK SPACE}")
    # Its lengths are of characters, not of cells: wide ones would stand one upon the other.
    svg = re.sub(r'textLength="[^"]*"([^>]*)>([^<]*)</text>', _stretched, svg)
    return re.sub(r"^\s+", "", svg, flags=re.MULTILINE)


def _stretched(found: re.Match[str]) -> str:
    cells = cell_len(html.unescape(found[2]))
    return f'textLength="{cells * CELL:.1f}"{found[1]}>{found[2]}</text>'


def _read(stage: Stage) -> bool:
    """Whether the preview shows what the cursor is on."""
    return stage.state.entry is not None and stage.state.shown_key == stage.state.entry.key


async def shoot(settings: Settings, folder: Path) -> None:
    """A search with the strip, session lanes, costs."""
    look = Look(UNICODE, lambda: NOW_MS, dt.UTC)
    for name, keys in (
        ("workspace", ["slash", *"cache", "enter", "j", "j"]),
        ("lanes", [*"jjjjjj", "i", "z"]),
        ("costs", ["dollar_sign", "right_square_bracket"]),
    ):
        async with Stage(
            size=SIZE, settings=settings, look=look, open_gateway=lambda asked: Gateway(asked, ensure=lambda _: None)
        ) as stage:
            stage.app.remove_class("-few-colours")  # told from the terminal, of which there is none
            stage.app.theme = themes.DARK.name
            for key in keys:
                await stage.press(key)
                await stage.settled()
            if isinstance(stage.app.screen, Workspace):
                await stage.until(partial(_read, stage))
            await stage.still()
            svg = small(stage.app.export_screenshot(title=f"claude-mem tui: {name}"))
            (folder / f"{name}.svg").write_text(svg, encoding="utf-8")


def main() -> None:
    """Make them."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, running_worker(Path(home) / "memory") as worker:
        worker.quick.send(calls.import_batch(load.records(NOW_MS, dt.UTC)))
        asyncio.run(shoot(Settings(worker.data_dir, worker.host, worker.port), FOLDER))


if __name__ == "__main__":
    main()
