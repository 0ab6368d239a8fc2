"""Which memories a session is given, and in which order they go."""

import random
from dataclasses import replace

import msgspec
import pytest

from tests.factories import HOUR, MINUTE, NOON, make_observation, make_summary
from worker.contract.context_settings import ContextSettings
from worker.contract.records import Observation
from worker.present import choosing
from worker.present.choosing import Offer, Part

SETTINGS = ContextSettings()


def told(count: int, **over: object) -> list[Observation]:
    """Newest first, ids from ``count`` down to 1."""
    return [
        make_observation(**{"id": number, "title": f"finding {number} of its own kind {number * 7}",
                            "created_at_epoch": NOON + number * MINUTE} | over)
        for number in range(count, 0, -1)
    ]  # fmt: skip


def rows(choice: choosing.Choice) -> list[int]:
    return [step.key.id for step in choice.steps if step.part is Part.ROW]


def offer(choice: choosing.Choice, number: int) -> Offer:
    return next(each for each in choice.offers if each.record.id == number)


def test_newest_come_first_and_all_that_is_alike_fades_with_age() -> None:
    """R138."""
    assert rows(choosing.choose(told(200), [], SETTINGS)) == list(range(200, 150, -1))


def test_decisions_stay_where_changes_fade() -> None:
    observations = told(60, type="change")
    old = make_observation(id=500, type="decision", title="keep sixty seconds of skew", created_at_epoch=NOON)
    choice = choosing.choose([*observations[:58], old, *observations[58:]], [], SETTINGS)
    chosen = rows(choice)
    assert len(chosen) == 50 and 500 in chosen


def test_sub_agents_do_not_crowd_decisions_out() -> None:
    """R142: 100 rows of sub-agents after 5 decisions; a context of 20 has the decisions."""
    decisions = [
        make_observation(id=number, type="decision", title=f"decision {number} {number * 31}",
                         created_at_epoch=NOON + number)
        for number in range(5, 0, -1)
    ]  # fmt: skip
    noise = [
        make_observation(id=number, title=f"step {number} {number * 13}", agent_id="a", agent_type="Explore",
                         created_at_epoch=NOON + HOUR + number)
        for number in range(105, 5, -1)
    ]  # fmt: skip
    choice = choosing.choose([*noise, *decisions], [], ContextSettings(observations=20))
    assert rows(choice)[:5] == [5, 4, 3, 2, 1] and len(rows(choice)) == 20
    assert not {step.key.id for step in choice.steps if step.part is Part.FULL} & set(range(6, 106))


def test_repetitions_are_given_once() -> None:
    """R166: sixty times the same says it once, and the newest of them."""
    choice = choosing.choose(told(60, title="Ran tests, all pass"), [], SETTINGS)
    assert rows(choice) == [60]
    assert offer(choice, 1).dropped == "much like #60"


@pytest.mark.parametrize(("one", "other", "alike"), [
    ("Ran tests, all pass", "ran tests: all pass!", True),
    ("Ran tests, all pass", "Ran 12 tests, 3 fail", False),
    ("修复身份验证缓存失效", "修复身份验证缓存失效", True),
    ("", "", False),
])  # fmt: skip
def test_titles_that_are_alike(one: str, other: str, alike: bool) -> None:
    choice = choosing.choose(
        [make_observation(id=2, title=one, narrative=""), make_observation(id=1, title=other, narrative="")],
        [],
        SETTINGS,
    )
    assert (len(rows(choice)) == 1) is alike


def test_what_is_superseded_or_muted_goes_and_says_why() -> None:
    newer = make_observation(id=3, title="third way", metadata='{"supersedes": [1]}')
    choice = choosing.choose(
        [newer, make_observation(id=2, title="second way"), make_observation(id=1, title="first thought")],
        [], SETTINGS, muted={2},
    )  # fmt: skip
    assert rows(choice) == [3]
    assert (offer(choice, 2).dropped, offer(choice, 1).dropped) == ("muted", "superseded by #3")


@pytest.mark.parametrize(
    "metadata", ["", "{", "[]", "7", '{"supersedes": "x"}', '{"supersedes": [null, "1", {}]}', "\ud800"]
)
def test_metadata_of_any_form_breaks_nothing(metadata: str) -> None:
    assert rows(choosing.choose([make_observation(id=1, metadata=metadata)], [], SETTINGS)) == [1]


def test_what_is_pinned_comes_before_all_however_old() -> None:
    choice = choosing.choose(told(100), [], SETTINGS, pinned={1})
    assert rows(choice)[0] == 1 and len(rows(choice)) == 50
    assert offer(choice, 1).reasons == ("pinned",)


def test_files_that_are_being_worked_on_speak_for_a_record() -> None:
    observations = told(70)
    observations[0] = msgspec.structs.replace(observations[0], files_modified='["src/api.py"]')
    observations[55] = msgspec.structs.replace(observations[55], files_modified='["src/api.py"]')
    choice = choosing.choose(observations, [], SETTINGS)
    assert observations[55].id in rows(choice)
    assert "touched api.py" in offer(choice, observations[55].id).reasons


def test_the_newest_are_in_full_but_no_essay() -> None:
    observations = told(10, narrative="short")
    observations[1] = msgspec.structs.replace(observations[1], narrative="word " * 2_000)
    choice = choosing.choose(observations, [], SETTINGS)
    assert [step.key.id for step in choice.steps if step.part is Part.FULL] == [10, 8, 7, 6]


@pytest.mark.parametrize(("field", "said"), [("narrative", ["the story"]), ("facts", ["one", "two"])])
def test_in_full_is_narrative_or_facts_and_the_other_where_it_is_missing(field: str, said: list[str]) -> None:
    both = make_observation(narrative="the story", facts='["one", "two"]')
    assert choosing.detail(both, field) == said
    assert choosing.detail(make_observation(facts='["one"]'), field) == ["one"]
    assert choosing.detail(make_observation(narrative="n", facts="not json"), "narrative") == ["n"]
    assert choosing.detail(make_observation(), field) == []


def test_last_summary_is_told_only_while_nothing_came_after() -> None:
    summary = make_summary(learned="skew", created_at_epoch=NOON + HOUR)
    for epoch, there in ((NOON, True), (NOON + 2 * HOUR, False)):
        choice = choosing.choose([make_observation(created_at_epoch=epoch)], [summary], SETTINGS)
        assert (Part.LAST_SUMMARY in {step.part for step in choice.steps}) is there


def test_a_session_stands_where_it_began() -> None:
    summaries = [make_summary(id=number, created_at_epoch=NOON + number * HOUR) for number in (4, 3, 2, 1)]
    choice = choosing.choose([], summaries, SETTINGS)
    assert [summary.id for summary in choice.sessions] == [4, 3, 2]
    assert choice.began == {4: NOON + 4 * HOUR, 3: NOON + 2 * HOUR, 2: NOON + HOUR, 1: NOON + HOUR}


def test_work_is_counted_once_an_answer() -> None:
    answer = [make_observation(id=number, discovery_tokens=900) for number in (1, 2, 3)]
    later = make_observation(id=4, discovery_tokens=900, created_at_epoch=NOON + 1)
    assert choosing.work_once([*answer, later]) == 1_800
    assert choosing.work_once([*answer, later], shared={1, 2, 3}) == 3_600


def test_order_of_what_is_chosen_depends_on_nothing_else() -> None:
    observations = told(80)
    first = choosing.choose(observations, [], SETTINGS).steps
    random.Random(7).random()
    assert choosing.choose(list(observations), [], SETTINGS).steps == first


def test_each_row_says_how_new_it_is() -> None:
    choice = choosing.choose(told(25), [], SETTINGS)
    said = {each.record.id: each.reasons[0] for each in choice.offers}
    assert [said[number] for number in (25, 21, 20, 15, 5, 4, 3, 2)] == [
        "recent", "recent", "6th newest", "11th newest", "21st newest", "22nd newest", "23rd newest", "24th newest",
    ]  # fmt: skip


def test_last_sessions_are_told_with_what_they_came_to() -> None:
    summaries = [make_summary(id=n, request=f"wish {n}", learned="skew it was", created_at_epoch=NOON - n)
                 for n in (1, 2, 3, 4)]  # fmt: skip
    found = choosing.choose(told(3), summaries, SETTINGS)
    assert [step.key.id for step in found.steps if step.part is choosing.Part.TOLD] == [1, 2, 3]
    long = [make_summary(id=9, learned="much " * 400, created_at_epoch=NOON - 9)]
    assert choosing.Part.TOLD not in {step.part for step in choosing.choose(told(3), long, SETTINGS).steps}
    none = choosing.choose(told(3), summaries, replace(SETTINGS, last_summary=False))
    assert choosing.Part.TOLD not in {step.part for step in none.steps}
