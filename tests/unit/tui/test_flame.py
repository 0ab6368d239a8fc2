"""Parts of a whole in one line: in the cells there are, none left over."""

from hypothesis import given
from hypothesis import strategies as st

from tui.cells import fit, flame
from tui.cells.flame import Share
from tui.cells.glyphs import ASCII, UNICODE

VALUES = st.lists(st.integers(0, 10**9), max_size=30)


def _shares(values: list[int]) -> list[Share]:
    return [Share(f"部分 {number}", "3%", value) for number, value in enumerate(values)]


@given(values=VALUES, room=st.integers(3, 200), rest=st.integers(0, 10**9), more=st.integers(0, 50))
def test_parts_fill_the_line_and_each_is_as_wide_as_it_is_large(
    values: list[int], room: int, rest: int, more: int
) -> None:
    shares = _shares(values)
    made = flame.spans(shares, room, more=more, rest=rest)
    whole = sum(values) + rest
    if not whole:
        assert made == []
        return
    assert [span.start for span in made] == [0, *(span.start + span.cells for span in made)][:-1]
    assert sum(span.cells for span in made) == room
    named = [span for span in made if span.index is not None]
    assert len(made) - len(named) <= 1
    for one, other in zip(named, named[1:], strict=False):
        assert one.index is not None and other.index is not None and one.index < other.index
    for span in named:
        assert span.index is not None and abs(span.cells - values[span.index] / whole * room) <= 4


@given(values=VALUES, room=st.integers(3, 120), chosen=st.integers(0, 29))
def test_a_line_takes_just_its_room_and_marks_what_is_chosen(values: list[int], room: int, chosen: int) -> None:
    shares = _shares(values)
    made = flame.spans(shares, room)
    for glyphs in (UNICODE, ASCII):
        pieces = flame.line(made, shares, room, glyphs, chosen)
        assert sum(fit.width(text) for _, text in pieces) == room
        shown = any(span.index == chosen for span in made)
        assert any(role == "chosen" and text.startswith(glyphs.cursor) for role, text in pieces) is shown


def test_neighbours_are_told_apart_without_a_colour() -> None:
    shares = _shares([40, 30, 30])
    for glyphs in (UNICODE, ASCII):
        text = "".join(text for _, text in flame.line(flame.spans(shares, 60), shares, 60, glyphs, None))
        edge = "│" if glyphs is UNICODE else "|"
        textures = [set(part) & {*glyphs.bars, glyphs.spent, glyphs.full, glyphs.unspent} for part in text.split(edge)]
        first, second, third = textures[1:]
        assert first and second and third and not first & second and not second & third


def test_parts_that_are_not_told_of_are_called_others_and_those_told_of_counted() -> None:
    shares = _shares([10])
    told = flame.spans(shares, 60, more=12, rest=30)
    assert "12 more" in "".join(text for _, text in flame.line(told, shares, 60, UNICODE, None))
    untold = flame.spans(shares, 60, rest=30)
    assert "others" in "".join(text for _, text in flame.line(untold, shares, 60, UNICODE, None))
