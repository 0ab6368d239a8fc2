"""Bytes of a terminal → keys: an Escape is one, in whatever pieces it comes with what is typed after it."""

import itertools

import pytest
from textual import events
from textual.message import Message

from tui.widgets.escape import Keyboard


def _told(keyboard: Keyboard, *pieces: str) -> list[str]:
    told: list[Message] = []
    for piece in pieces:
        told += keyboard.feed(piece)
    return [
        each.key if isinstance(each, events.Key) else f"<{each.text}>" if isinstance(each, events.Paste) else "mouse"
        for each in told
    ]


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("/ab\x1bjj", "slash a b escape j j"),
        ("?\x1b:c", "question_mark escape colon c"),
        ("f\x1b\r", "f escape enter"),
        ("\x1b\x1b:", "escape escape colon"),
        ("\x1b?find", "escape question_mark f i n d"),
        ("\x1b\t", "escape tab"),
        ("\x1b1", "escape 1"),
        ("\x1bあ", "escape あ"),
        ("a\x1b[Ab\x1bOBc", "a up b down c"),
        ("\x1b\x1b[A", "escape up"),
        ("\x1b\x7f\x1bb\x1bf", "ctrl+w ctrl+left ctrl+right"),
        ("\x1b[200~x:y\x1b[201~\x1b:", "<x:y> escape colon"),
        ("\x1b[<0;3;4M\x1bq", "mouse escape q"),
    ],
)
def test_it_is_told_however_the_bytes_are_cut(typed: str, keys: str) -> None:
    whole = _told(Keyboard(), typed)
    assert " ".join(whole) == keys
    for cut in range(1, len(typed)):
        assert _told(Keyboard(), typed[:cut], typed[cut:]) == whole
    assert _told(Keyboard(), *typed) == whole


def test_one_that_was_waited_for_is_not_told_twice() -> None:
    keyboard = Keyboard()
    assert _told(keyboard, "\x1b") == []
    keyboard._timeout_time = 0.0  # the tenth of a second is over
    assert [each.key for each in keyboard.tick() if isinstance(each, events.Key)] == ["escape"]
    assert _told(keyboard, "j") == ["j"]


def test_a_long_paste_is_whole() -> None:
    text = "".join(itertools.islice(itertools.cycle("[201 words~\n"), 50_000))
    pasted = f"\x1b[200~{text}\x1b[201~\x1bj"
    pieces = [pasted[at : at + 4096] for at in range(0, len(pasted), 4096)]
    assert _told(Keyboard(), *pieces) == [f"<{text}>", "escape", "j"]
