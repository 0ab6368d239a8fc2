"""Colours: those of our themes stand out from what is behind them; with the terminal's own, or none, all is legible."""

import itertools
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tests.tui.stage import Stage
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import running
from tui.screens.palette import PaletteScreen
from tui.screens.themes import CONTRAST, DARK, LIGHT, MONO, THEMES, missing
from tui.widgets.header_line import HeaderLine


def _colour(theme: Theme, name: str) -> Color:
    text = getattr(theme, name, None) or theme.variables[name]
    return Color.parse(str(text))


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: str(theme.name))
def test_texts_stand_out_from_every_background(theme: Theme) -> None:
    """4.5 to one for what is read, 3 to one for what is quiet; 7 to one for both in the one of strong contrasts."""
    texts = dict.fromkeys(("foreground", "accent", "success", "warning", "error", "secondary"), 4.5) | {"quiet": 3.0}
    for (name, least), behind in itertools.product(texts.items(), ("background", "cursor-line")):
        wanted = (
            7.0 if theme is CONTRAST and behind == "background" else min(least, 3.0 if behind != "background" else 9)
        )
        assert _contrast(_colour(theme, name), _colour(theme, behind)) >= wanted, (name, behind)


def _contrast(one: Color, other: Color) -> float:
    """As WCAG has it, from 1 to 21."""

    def light(colour: Color) -> float:
        parts = [part / 255 for part in colour.rgb]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((light(one), light(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", ["nord", "gruvbox", "textual-light", "dracula"])
def test_in_a_theme_of_others_quiet_text_stands_out_under_the_cursor(name: str) -> None:
    made = missing(BUILTIN_THEMES[name])
    assert _contrast(Color.parse(made["quiet"]), Color.parse(made["cursor-line"])) >= 2.5


def test_mono_has_no_colour() -> None:
    for name in ("primary", "secondary", "accent", "foreground", "background", "surface", "panel", "error"):
        red, green, blue = _colour(MONO, name).rgb
        assert red == green == blue


async def test_all_are_in_the_palette_and_can_be_worn() -> None:
    async with Stage(size=(120, 36)) as stage:
        for theme in (*THEMES, "ansi-dark"):
            name = theme if isinstance(theme, str) else theme.name
            await stage.press("colon", *name)
            await stage.settled()
            assert f"theme {name}" in stage.text
            await stage.press("enter")
            await stage.settled()
            assert stage.app.theme == name
            if isinstance(stage.app.screen, PaletteScreen):
                await stage.press("escape")  # what is worn already cannot be put on
        await stage.press("T")
        assert stage.app.theme in (DARK.name, LIGHT.name)


async def test_where_the_terminals_own_colours_are_worn_the_cursor_is_turned_round() -> None:
    """Its sheet is read when the first such theme is."""

    def turned() -> bool:
        return bool(stage.app.workspace.hits.get_component_rich_style("result-list--cursor", partial=True).reverse)

    async with Stage() as stage:
        for theme, wanted in (("ansi-light", True), (DARK.name, False), ("ansi-dark", True)):
            stage.app.wear(theme)
            await stage.until(lambda wanted=wanted: turned() is wanted, within_s=20)  # type: ignore[misc]


@pytest.mark.parametrize(("term", "theme"), [
    ("xterm-256color", "ansi-light"), ("tmux-256color", "ansi-dark"), ("screen", "claude-mem-mono"),
    ("linux", "ansi-dark"), ("linux", "claude-mem-mono"),
])  # fmt: skip
def test_legible_wherever_without_colours_too(term: str, theme: str) -> None:
    """R230."""
    for more in ({}, {"NO_COLOR": "1"}):
        with running(rows=30, term={"TERM": term, "TEXTUAL_THEME": theme, **more}) as terminal:
            assert "30 records" in terminal.text
            assert "▌ " in terminal.text
            _is_legible(terminal)
            terminal.send("/cache")
            terminal.until(lambda text: "hits" in text)
            _is_legible(terminal)


def _is_legible(terminal: Terminal) -> None:
    """Nothing in the colour of what is behind it; both being the terminal's own is well."""
    for number, line in enumerate(terminal.text.splitlines()):
        if line.strip():
            assert all(fg != bg or fg == "default" for fg, bg in terminal.reversed_or_coloured(number)), line


@pytest.mark.parametrize("name", [DARK.name, LIGHT.name])
async def test_the_colours_at_the_start_are_those_of_the_theme(tmp_path: Path, name: str) -> None:
    """What is painted first, before anybody chose a theme."""
    kept = tmp_path / "tui.json"
    kept.write_text(f'{{"theme":"{name}"}}')
    async with Stage(kept=kept) as stage:
        stage.app.remove_class("-few-colours")
        style = stage.app.workspace.query_one(HeaderLine).get_component_rich_style("header-line--name", partial=True)
        assert stage.app.theme == name
        assert style.color is not None and style.color.triplet is not None
        expected = Color.parse(stage.app.get_css_variables()["accent"])
        assert tuple(style.color.triplet) == expected.rgb
