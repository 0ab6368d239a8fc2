"""A person's own keys: what a file may say, and what then is in force."""

from pathlib import Path

import pytest

from tui.keymap import file, places
from tui.keymap.chosen import SETS, Chosen, chosen, first, in_force, keyed, led, shown
from tui.keymap.table import KEYMAP, named
from tui.state.keys import written

SCORE, SCOPE = named("score").keys[0], named("scope").keys[0]


def test_the_tables_themselves_have_no_clash() -> None:
    assert chosen({}) == Chosen()


@pytest.mark.parametrize("name", [*SETS])
def test_a_set_can_be_had_whole(name: str) -> None:
    found = chosen({"set": name})
    assert found.notes == ()
    assert {action: found.keys[action] for action in SETS[name]} == dict(SETS[name])
    assert set(found.keys) == set(SETS[name])


def test_tmux_safe_needs_no_key_that_tmux_keeps_or_is_late_with() -> None:
    keys = chosen({"set": "tmux-safe"}).keys
    for action in KEYMAP:
        mine = keys.get(action.name, action.keys)
        risky = {key for key in mine if key.startswith(("f1", "ctrl+b")) or key in ("escape", "pageup", "pagedown")}
        assert set(mine) - risky, action.name


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ("n", ("n",)),
        (["n", "Down"], ("n", "down")),
        ("/", ("slash",)),
        ("?", ("question_mark",)),
        ("-", ("minus",)),
        ("#", ("number_sign",)),
        ("Esc", ("escape",)),
        ("Ctrl+N", ("ctrl+n",)),
        ("pgdn", ("pagedown",)),
        ("alt+enter", ("alt+enter",)),
        ("é", ("é",)),
    ],
)
def test_keys_as_a_person_writes_them(given: object, keys: tuple[str, ...]) -> None:
    assert chosen({"score": given}).keys["score"] == keys


@pytest.mark.parametrize(
    ("wanted", "note"),
    [
        ({"donw": "n"}, "there is no action 'donw'; is it down?"),
        ({"down": 7}, "down must be a key or a list of keys"),
        ({"down": []}, "down must be a key or a list of keys"),
        ({"down": "ctrl+"}, "down: 'ctrl+' is no key"),
        ({"down": "hyper+x"}, "down: 'hyper+x' is no key"),
        ({"down": {"a": 1}}, "down must be a key or a list of keys"),
        ({"set": "emacs"}, "there is no set 'emacs'; there are vim, tmux-safe"),
        ({"set": 3}, "there is no set 3; there are vim, tmux-safe"),
        ({"jump": "x"}, "jump has a key for each number, which cannot be changed"),
        ({"down": "z", "up": "z"}, "z is down already, and so is not up"),
        ({"leave_box": "x"}, "leave_box: x is typed in the box, and does nothing else there"),
    ],
)
def test_what_cannot_be_had_is_told(wanted: dict[str, object], note: str) -> None:
    assert note in chosen(wanted).notes


def test_what_was_asked_for_goes_before_the_tables() -> None:
    """And whoever is left without a key is told of."""
    found = chosen({"score": [SCOPE]})
    assert found.keys["score"] == (SCOPE,)
    assert found.keys["scope"] == ()
    assert found.notes == (f"scope has no key left, since {SCOPE} is score",)
    assert first(named("scope"), found.keys) == ""


def test_a_pressed_key_leads_to_one_of_the_tables() -> None:
    ways = led(chosen({"down": ["n", "down"], "mark": "x"}).keys, places.LIST)
    assert ways["n"] == "j"
    assert ways["down"] == "j"
    assert ways["j"] is None
    assert (ways["x"], ways["space"]) == ("space", None)
    assert "k" not in ways
    assert led({}, places.LIST) == {}


def test_a_key_that_moves_to_another_action_leads_there() -> None:
    ways = led(chosen({"score": SCOPE, "scope": SCORE}).keys, places.LIST)
    assert (ways[SCOPE], ways[SCORE]) == (SCORE, SCOPE)


def test_shown_as_they_are_in_force() -> None:
    keys = chosen({"page_down": ["ctrl+f", "Space"], "score": SCOPE}).keys
    assert shown(named("page_down"), keys) == "Ctrl+F Space"
    assert shown(named("up"), keys) == named("up").shown
    pairs = [("/", "search"), (SCORE, "score"), (SCOPE, "project")]
    assert in_force(pairs, places.LIST, keys) == [("/", "search"), (SCOPE, "score")]
    assert in_force(pairs, places.LIST, {}) == pairs


@pytest.mark.parametrize(
    ("key", "text"),
    [("slash", "/"), ("ctrl+f", "Ctrl+F"), ("shift+tab", "Shift+Tab"), ("j", "j"), ("alt+up", "Alt+Up")],
)
def test_written(key: str, text: str) -> None:
    assert written(key) == text


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (b"down = \n", "it is no TOML"),
        (b"\xff\xfe", "it cannot be read"),
        (b'set = "vim"\ndown = "zz"\n', "down: 'zz' is no key"),
    ],
)
def test_a_file_that_is_wrong_is_told_of(tmp_path: Path, text: bytes, note: str) -> None:
    (tmp_path / file.NAME).write_bytes(text)
    found = file.load(tmp_path / file.NAME)
    assert len(found.notes) == 1 and note in found.notes[0]


def test_no_file_is_no_news(tmp_path: Path) -> None:
    assert file.load(tmp_path / file.NAME) == Chosen()
    assert file.load(tmp_path / "none" / file.NAME) == Chosen()
    (tmp_path / file.NAME).mkdir()
    assert "it cannot be read" in file.load(tmp_path / file.NAME).notes[0]


def test_a_sentence_names_the_keys_in_force() -> None:
    said = "{search} searches, {guide} shows all keys, {nothing} and {1} stay"
    assert keyed(said, {}) == "/ searches, ? shows all keys, {nothing} and {1} stay"
    own = chosen({"search": "s", "guide": "ctrl+h"}).keys
    assert keyed(said, own) == "s searches, Ctrl+H shows all keys, {nothing} and {1} stay"
