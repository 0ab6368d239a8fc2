"""Sentences, keys and sheets."""

import pytest
from msgspec.structs import replace

from tui import styles
from tui.cells import words
from tui.cells.glyphs import ASCII, UNICODE
from tui.keymap import footer, guide, places, table
from tui.state.model import Ask, Counts, Link, Rows, View, ViewState

SHOWN = ViewState(
    link=Link.LIVE, answered=Ask("auth"), ask=Ask("auth"), rows=Rows(38), strategy="keyword", took_ms=14.2,
    counts=Counts(40, 1, 1),
)  # fmt: skip


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (SHOWN, "38 hits · words · 14 ms"),
        (replace(SHOWN, rows=Rows(1)), "1 hit · words · 14 ms"),
        (replace(SHOWN, slow=True), "searching…"),
        (replace(SHOWN, answered=Ask(), ask=Ask(), rows=Rows(12_480)), "12,480 records · newest first · 14 ms"),
        (ViewState(), ""),
    ],
)
def test_found(state: ViewState, text: str) -> None:
    assert words.found(state, UNICODE) == text


def test_degraded_is_said() -> None:
    assert words.found(replace(SHOWN, degraded="index_starting"), UNICODE) == (
        "38 hits · words only, index starting · 14 ms"
    )
    assert words.found(replace(SHOWN, degraded="index_starting", strategy="hybrid"), UNICODE) == (
        "38 hits · words + meaning, index filling · 14 ms"
    )
    assert words.found(replace(SHOWN, degraded="index_failed"), UNICODE, brief=True) == "38 hits · index failed"


def test_banner_only_for_what_lasts() -> None:
    assert words.banner(SHOWN) == ("", "")
    assert "; r does" in words.banner(replace(SHOWN, link=Link.FAILED, trouble="port taken"))[1]
    assert "port taken" in words.banner(replace(SHOWN, link=Link.FAILED, trouble="port\x1b[31m taken"))[0]
    assert "Trying again" in words.banner(replace(SHOWN, link=Link.LOST, trouble="gone"))[1]
    assert "Trying again" in words.banner(replace(SHOWN, link=Link.LIVE, file_only="port taken"))[1]
    assert "no answer" in words.banner(replace(SHOWN, failed="no answer"))[0]


def test_a_question_that_cannot_be_read_is_not_to_be_asked_again() -> None:
    misread = replace(SHOWN, failed="since: takes a date, not 'banana'", misread=True)
    assert words.banner(misread) == ("since: takes a date, not 'banana'.", "")


def test_how_a_question_was_understood_is_said_beside_the_count() -> None:
    noted = replace(SHOWN, notes=("since 2026-03-04 00:00 CET",))
    assert words.found(noted, UNICODE) == "38 hits · since 2026-03-04 00:00 CET · words · 14 ms"
    assert words.found(noted, UNICODE, roomy=False) == "38 hits · since 2026-03-04 00:00 CET"
    assert words.found(noted, UNICODE, brief=True) == "38 hits"
    complaint = "since: takes a date (2026-03-10, 3d), so this was looked for as text"
    long = replace(SHOWN, notes=(complaint,))
    assert words.found(long, UNICODE) == "38 hits · words · 14 ms"
    assert words.banner(long) == (f"{complaint}.", "")


def _note(state: ViewState) -> str:
    return "\n".join(text for _, text in words.note(state, UNICODE))


def test_every_empty_list_says_why_and_what_helps() -> None:
    nothing = replace(SHOWN, rows=Rows(0))
    assert "No hits for auth" in _note(nothing)
    narrowed = replace(nothing, answered=Ask("auth", project="web"), ask=Ask("auth", project="web"))
    assert "s  searches all projects" in _note(narrowed)
    assert "takes out" not in _note(nothing)
    filtered = replace(nothing, answered=Ask("auth project:web type:bugfx"))
    assert "F  takes out type:bugfx" in _note(filtered)
    assert "Tab F  takes out type:bugfx" in "\n".join(text for _, text in words.note(filtered, UNICODE, typing=True))
    first = ViewState(place="/memory/claude-mem.db", counts=Counts(0, 0, 0))
    assert "/memory/claude-mem.db" in _note(first)
    assert "M  opens a demo memory" in _note(first)
    assert "Starting the worker" in _note(ViewState())
    assert "r  tries again" in _note(replace(ViewState(), link=Link.FAILED))
    assert _note(SHOWN) == ""


def test_ascii_is_ascii() -> None:
    for state in (SHOWN, ViewState(), replace(SHOWN, view=View.TIMELINE)):
        said = [words.found(state, ASCII), words.link(state, ASCII)[1], *(text for _, text in words.note(state, ASCII))]
        assert all(text.isascii() for text in said)


def test_no_key_means_two_things_in_one_place() -> None:
    for place in (places.BOX, places.LIST, places.PREVIEW, places.RECORD, places.GUIDE):
        keys = [key for action in table.at(place) for key in action.keys]
        assert len(keys) == len(set(keys)), place


def test_nothing_hangs_on_ctrl_or_alt_and_nothing_on_escape_alone() -> None:
    """R232. Ctrl+Z means the same in every program, and is among the commands besides."""
    for action in table.KEYMAP:
        assert action.keys == ("ctrl+z",) or not [key for key in action.keys if key.startswith(("ctrl+", "alt+"))]
        if "escape" in action.keys and action.places != (places.BOX,):
            plain = {"tab"} if set(action.places) <= {*places.BOXES} else {"q", "backspace"}  # there letters are typed
            assert set(action.keys) & plain


def test_help_lists_every_action_once() -> None:
    listed = [name for _, rows in guide.GROUPS for names in rows for name in names]
    assert sorted(listed) == sorted(action.name for action in table.KEYMAP)


@pytest.mark.parametrize("place", [places.BOX, places.LIST, places.PREVIEW, places.RECORD, places.GUIDE])
@pytest.mark.parametrize("state", [SHOWN, ViewState(), replace(SHOWN, view=View.TIMELINE)])
def test_footer_is_short(place: str, state: ViewState) -> None:
    here = [label for label in footer.footer(place, state) if label[0] not in {"$", "S", "p", "!", "A", "E"}]
    assert 3 <= len(here) <= 8  # before the other screens, which are named where there is room


def test_sheets_are_found() -> None:
    assert [sheet.name for sheet in styles.sheets()][:2] == ["theme.tcss", "app.tcss"]
