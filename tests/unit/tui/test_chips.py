"""Filters in a query line, and what the worker makes of the same line."""

import pytest

from tests.tui.memory import NOW_MS
from tui.state.chips import Chip, added, chips, last, removed, shortened, spans, toggled, without
from tui.state.filters import Choosing, Offer, groups
from worker.contract.query import parse
from worker.contract.search import Count

LINES = [
    "", "auth", "auth type:bugfix", "type:bugfix,decision auth", 'project:"my shop" x', "-type:bugfix",
    'concept:gotcha "exact phrase" -word', "file://host/x", "types:bugfix projects:shop", "since:7d session:S14",
    'type:"a b", c', "TYPE:Bugfix", "type:", "foo type:bugfix",
    "since:last week auth", "(type:bugfix) auth", 'type:"a","b c"; auth', "type：a，b", "at:2026-10-29 10:00 auth",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_chips_are_what_the_worker_reads_as_filters(line: str) -> None:
    said = parse(line, now_epoch_ms=NOW_MS)
    assert tuple(chip.value for chip in chips(line) if chip.field == "type") == said.types
    assert tuple(chip.value for chip in chips(line) if chip.field == "project") == said.projects
    assert tuple(chip.value for chip in chips(line) if chip.field == "session") == said.sessions


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(
    "chip", [Chip("type", "feature"), Chip("project", "two words"), Chip("concept", "how-it-works")]
)
def test_a_chip_goes_in_and_out_and_leaves_the_rest(line: str, chip: Chip) -> None:
    with_it = added(line, chip)
    before, after = (parse(text, now_epoch_ms=NOW_MS) for text in (line, with_it))
    assert (after.text, after.phrases, after.excluded) == (before.text, before.phrases, before.excluded)
    assert chip.value in {"type": after.types, "project": after.projects, "concept": after.concepts}[chip.field]
    assert added(with_it, chip) == with_it
    again = parse(removed(with_it, chip), now_epoch_ms=NOW_MS)
    assert (again.types, again.projects, again.concepts) == (before.types, before.projects, before.concepts)
    assert again.text == before.text


def test_a_chip_fits_if_a_line_can_say_its_value() -> None:
    assert all(Chip("project", value).fits for value in ("shop", "my shop", "yahoo!", "app (old)", "a/*", "[x]]", "."))
    assert not any(Chip("type", value).fits for value in ("", " ", 'a"b', "a,b", "a，b"))


def test_values_of_a_field_stand_together_and_a_date_replaces_the_last() -> None:
    line = added("type:bugfix auth", Chip("type", "decision"))
    assert line == "type:bugfix,decision auth"
    assert toggled(line, Chip("type", "bugfix")) == "type:decision auth"
    assert added("since:7d auth", Chip("at", "yesterday")) == "at:yesterday auth"
    assert without("type:a x type:b", "type") == "x"
    assert shortened("type:a concept:b x") == "type:a x"
    assert shortened("x") == "x"
    assert last("type:a concept:b x") == Chip("concept", "b")
    assert last("x") is None
    assert without("at:last week auth", "since") == "auth"
    assert spans("x type:a y") == [(2, 8)]


def test_what_is_on_is_offered_even_where_nothing_would_be_left() -> None:
    offer = Offer({"type": (Count("bugfix", 4), Count("a,b", 1))}, {"since:today": 2})
    found = dict(groups("type:feature since:2026-03-01 file:x", Choosing(True, offer)))
    assert [(choice.label, choice.count, choice.on) for choice in found["Type"]] == [
        ("bugfix", 4, False), ("feature", None, True)
    ]  # fmt: skip
    assert [choice.label for choice in found["In the query"]] == ["file:x"]
    assert (found["Date"][0].count, found["Date"][-1].label) == (2, "since:2026-03-01")
