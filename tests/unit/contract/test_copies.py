"""Which of several equal rows of a source a row is."""

from typing import Any

from tests.factories import Row, observation_row, prompt_row, session_row, summary_row
from worker.contract.copies import Copies
from worker.contract.transfer import NTH, RowKind


def test_equal_rows_are_numbered_by_their_ids() -> None:
    copies = Copies()

    def nth(kind: RowKind, row: Row) -> Any:
        copies.mark(kind, row)
        return row.get(NTH)

    seen = [nth(RowKind.PROMPT, prompt_row(id=number)) for number in (5, 9, -2, 9)]
    assert seen == [None, 2, 3, 2]
    assert nth(RowKind.PROMPT, prompt_row("another", id=10)) is None
    assert nth(RowKind.PROMPT, prompt_row(id=11) | {NTH: 7}) == 7
    assert [nth(RowKind.OBSERVATION, observation_row(id=at, metadata=str(at))) for at in (1, 2)] == [None, 2]
    assert [nth(RowKind.SUMMARY, summary_row()) for _ in range(2)] == [None, None]
    assert [nth(RowKind.SESSION, session_row(id=number)) for number in (1, 2)] == [None, None]
