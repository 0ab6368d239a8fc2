"""Rows from elsewhere are cleaned and stay what they were."""

import json
from typing import Any

from tests.factories import make_batch, observation_row, prompt_row, session_row, summary_row
from worker.capture.rows import Piece, clean, pieces, prepared
from worker.contract.transfer import RowKind
from worker.store import analysis


def piece(kind: RowKind, *rows: dict[str, Any]) -> Piece:
    return Piece(kind, rows, tuple(range(len(rows))))


def test_lists_in_json_text_stay_lists() -> None:
    row = {
        "facts": '["a <private>x", "b"]', "concepts": '["plain",  "c"]', "narrative": "[see <private>x</private>]",
        "metadata": '{"password": "hunter2"}', "memory_session_id": "<private>m", "created_at_epoch": 5, "title": None,
        "text": '["broken',
    }  # fmt: skip
    (kept,) = clean(piece(RowKind.OBSERVATION, row)).piece.rows
    assert json.loads(kept["facts"]) == ["a", "b"]
    assert kept == row | {"facts": '["a","b"]', "narrative": "[see ]", "metadata": '{"password":"****"}'}


def test_prompts_of_which_all_was_private_are_left_out_and_empty_ones_are_not() -> None:
    rows = ({"prompt_text": text, "prompt_number": 1} for text in ("<private>x</private>", "a <private>x", "", None))
    kept = clean(piece(RowKind.PROMPT, *rows)).piece
    assert [row["prompt_text"] for row in kept.rows] == ["a", "", None]
    assert kept.places == (1, 2, 3)


def test_pieces_are_all_of_a_batch_and_each_row_knows_its_place() -> None:
    batch = make_batch(
        [observation_row(str(at), narrative="long " * (100_000 if at == 5 else 1)) for at in range(730)],
        sessions=[session_row(str(at)) for at in range(3)],
        summaries=[],
        prompts=[prompt_row(str(at)) for at in range(201)],
    )
    cut = list(pieces(batch))
    assert [each.kind for each in cut] == sorted(
        (each.kind for each in cut), key=[RowKind.SESSION, RowKind.OBSERVATION, RowKind.SUMMARY, RowKind.PROMPT].index
    )
    for kind in RowKind:
        of_kind = [each for each in cut if each.kind is kind]
        assert tuple(row for each in of_kind for row in each.rows) == getattr(batch, kind.plural)
        assert [at for each in of_kind for at in each.places] == list(range(len(getattr(batch, kind.plural))))
    assert len(cut) > 8 and all(0 < len(each.rows) <= 250 for each in cut)
    assert any(each.places[-1] == 5 for each in cut)  # what is long ends a piece
    assert list(pieces(make_batch(sessions=[]))) == []


def test_the_words_of_what_was_cleaned_come_along() -> None:
    row = observation_row(
        "getUserById 用户", narrative="The key is sk-ant-api03-" + "aB3" * 30, text="old", facts='["one", "two_three"]',
        concepts=["a", "b"], files_read='["src/app.py"]',
    )  # fmt: skip
    done = prepared(piece(RowKind.OBSERVATION, row, observation_row(None, created_at_epoch="never")))
    assert len(done.piece.rows) == 2  # what cannot be imported is told when it is
    assert all(line == analysis.line(text) for text, line in done.lines.items())
    assert {"getUserById 用户", "one\ntwo_three", "a\nb", "src/app.py"} <= done.lines.keys()
    assert not any("aB3aB3" in told for told in (*done.lines, *done.lines.values(), str(done.piece.rows)))
    others = prepared(piece(RowKind.PROMPT, prompt_row("ask"))), prepared(piece(RowKind.SUMMARY, summary_row()))
    assert "ask" in others[0].lines and others[1].lines
    assert prepared(piece(RowKind.SESSION, session_row())).lines == {}
