"""Rows from elsewhere are cleaned and stay what they were."""

import json

from worker.capture.rows import clean_batch
from worker.contract.transfer import ImportBatch


def test_lists_in_json_text_stay_lists() -> None:
    row = {
        "facts": '["a <private>x", "b"]', "concepts": '["plain",  "c"]', "narrative": "[see <private>x</private>]",
        "metadata": '{"password": "hunter2"}', "memory_session_id": "<private>m", "created_at_epoch": 5, "title": None,
        "text": '["broken',
    }  # fmt: skip
    batch, _ = clean_batch(ImportBatch(observations=(row,)))
    (kept,) = batch.observations
    assert json.loads(kept["facts"]) == ["a", "b"]
    assert kept == row | {"facts": '["a","b"]', "narrative": "[see ]", "metadata": '{"password":"****"}'}


def test_prompts_of_which_all_was_private_are_left_out_and_empty_ones_are_not() -> None:
    rows = tuple(
        {"prompt_text": text, "prompt_number": 1} for text in ("<private>x</private>", "a <private>x", "", None)
    )
    batch, places = clean_batch(ImportBatch(prompts=rows))
    assert [row["prompt_text"] for row in batch.prompts] == ["a", "", None]
    assert places == [1, 2, 3]
