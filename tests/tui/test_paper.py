"""Where lines of a page break depends on the page and the terminal, not on what was on it before."""

from tests.tui.memory import MINUTE_MS, NOW_MS, observation
from tests.tui.stage import Stage

WORDS = " ".join(f"word{number}" for number in range(60))


async def test_a_record_breaks_alike_whatever_was_shown_before_it() -> None:
    """A long one has a scroll bar, a short one has none."""
    short = observation(2, "Short", at=NOW_MS - MINUTE_MS, narrative=WORDS)
    long = observation(1, "Long", at=NOW_MS, narrative="\n".join(["line"] * 90))
    async with Stage([short, long], size=(120, 36)) as stage:
        await stage.press("j")
        await stage.until(lambda: stage.state.shown is not None and "word59" in stage.text)
        await stage.settled()
        after_long = stage.screen
        await stage.pilot.resize_terminal(121, 36)
        await stage.settled()
        await stage.pilot.resize_terminal(120, 36)
        await stage.settled()
        assert stage.screen == after_long
        await stage.press("k", "j")
        await stage.until(lambda: "word59" in stage.text)
        await stage.settled()
        assert stage.screen == after_long
