"""Look at the app: `python -m tests.tui.shot FOLDER` writes an SVG of each screen and size."""

import asyncio
import sys
from pathlib import Path

from tests.tui.stage import Stage
from tests.tui.surveys import plan


async def shoot(folder: Path) -> None:
    """Every screen, in three sizes."""
    for size in ((120, 36), (80, 24), (50, 20)):
        name = f"{size[0]}x{size[1]}"
        async with Stage(size=size) as stage:
            (folder / f"{name}-list.svg").write_text(stage.app.export_screenshot())
            await stage.press("slash", *"auth")
            await stage.settled()
            (folder / f"{name}-search.svg").write_text(stage.app.export_screenshot())
            await stage.press("escape", "enter", "i")
            await stage.settled()
            (folder / f"{name}-timeline.svg").write_text(stage.app.export_screenshot())
            await stage.press("i", "enter")
            await stage.settled()
            (folder / f"{name}-record.svg").write_text(stage.app.export_screenshot())
            await stage.press("q", "question_mark")
            await stage.settled()
            (folder / f"{name}-guide.svg").write_text(stage.app.export_screenshot())
        async with Stage(size=size) as stage:
            stage.memory.surveyed.plan = plan("farm-api")
            for key, screen in (
                ("dollar_sign", "costs"),
                ("S", "sessions"),
                ("p", "next"),
                ("exclamation_mark", "health"),
            ):
                await stage.press(key)
                await stage.settled()
                (folder / f"{name}-{screen}.svg").write_text(stage.app.export_screenshot())
        async with Stage(records=[], size=size) as stage:
            (folder / f"{name}-first.svg").write_text(stage.app.export_screenshot())


if __name__ == "__main__":
    asyncio.run(shoot(Path(sys.argv[1])))
