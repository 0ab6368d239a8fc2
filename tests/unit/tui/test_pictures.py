"""The README's pictures: small, and nothing in them is fetched from elsewhere."""

import re

import pytest

from tests.tui.pictures import FOLDER, small

PICTURES = sorted(FOLDER.glob("*.svg"))


def test_there_are_three() -> None:
    assert [picture.stem for picture in PICTURES] == ["costs", "lanes", "workspace"]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_a_picture_is_small_and_stands_alone(picture: object) -> None:
    text = (FOLDER / f"{getattr(picture, 'name', '')}").read_text("utf-8")
    assert len(text.encode()) < 60_000
    assert set(re.findall(r"https?://[^\"' )]+", text)) == {"http://www.w3.org/2000/svg"}  # its name, not a place
    assert "@font-face" not in text and "url(#" in text and not re.search(r"url\((?!#)", text)


def test_wide_characters_take_two_cells() -> None:
    made = small('<text class="terminal-12-r1" textLength="24.4" x="0">导出</text>')
    assert made == '<text class="t-r1" textLength="48.8" x="0">导出</text>'
