"""Records deleted or edited elsewhere, in all that shows them; and what is asked for then."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tui.memory import entry_of, many, observation
from tui.state import basket, facts, live, reading, session_tree
from tui.state.basket import Basket
from tui.state.changes import Changed, Deleted, Edited, gone, shown
from tui.state.model import PAGE, Ask, Left, Link, Rows, Track, View, ViewState
from tui.state.needs import NeedLanes, NeedOffer, NeedPages, NeedRecord, NeedStrip, missing_pages, needs
from tui.state.reduce import reduce
from tui.state.session_tree import EntryNode, Tree
from tui.state.wishes import fulfilled
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Entry, Facets, Hit, Snippet
from worker.contract.sessions import SessionLine

ENTRIES = tuple(entry_of(record) for record in reversed(many(300)))
KNOWN = replace(
    ViewState(), link=Link.LIVE, answered=Ask(), rows=Rows(300, {0: ENTRIES[:PAGE], 1: ENTRIES[PAGE : 2 * PAGE]}),
    viewed=(0, 20),
)  # fmt: skip


def deleted(state: ViewState, *rows: int) -> ViewState:
    return reduce(state, Deleted(frozenset(ENTRIES[row].key for row in rows)))


def listed(state: ViewState) -> list[Entry | None]:
    return [state.rows.at(row) for row in range(state.rows.total)]


def moved(state: ViewState, row: int) -> ViewState:
    return reduce(state, facts.Moved(to=row))


def test_a_row_leaves_and_those_below_move_up_over_the_edge_of_a_page() -> None:
    state = deleted(KNOWN, 3)
    assert state.rows.total == 299
    assert listed(state)[: 2 * PAGE - 1] == [entry for entry in ENTRIES[: 2 * PAGE] if entry != ENTRIES[3]]
    assert state.rows.torn == {1} and state.rows.begun(1) == PAGE - 1 and state.rows.begun(0) == 0


def test_what_is_missing_at_the_end_of_a_page_is_asked_for_once_and_put_there() -> None:
    state = replace(deleted(KNOWN, 3), viewed=(150, 170))
    assert missing_pages(state) == [1, 2]
    tail = reduce(state, facts.Paged(state.seq, 1, ENTRIES[200:201], 299, start=PAGE - 1))
    assert listed(tail)[:200] == [entry for entry in ENTRIES[:201] if entry != ENTRIES[3]]
    assert missing_pages(tail) == [2]
    nothing = reduce(state, facts.Paged(state.seq, 1, (), 299, start=PAGE - 1))
    assert missing_pages(nothing) == [2], "an answer that has no more is not asked for again and again"


def test_the_end_of_a_page_that_was_cut_once_more_meanwhile_is_asked_for_again() -> None:
    state = deleted(replace(deleted(KNOWN, 3), viewed=(150, 170)), 4)
    late = reduce(state, facts.Paged(state.seq, 1, ENTRIES[200:201], 299, start=PAGE - 1))
    assert late is state and state.rows.begun(1) == PAGE - 2


def test_a_page_whose_beginning_moved_to_one_that_is_not_here_starts_with_its_own_first_row() -> None:
    apart = replace(KNOWN, rows=Rows(300, {0: ENTRIES[:PAGE], 2: ENTRIES[2 * PAGE :]}))
    state = deleted(apart, 0)
    assert set(state.rows.pages) == {0, 2}
    assert state.rows.at(200) == ENTRIES[201] and state.rows.at(298) == ENTRIES[299] and state.rows.at(199) is None
    assert state.rows.torn == {0}


@pytest.mark.parametrize(
    ("cursor", "cut", "on"),
    [
        (5, (3,), ENTRIES[5]),
        (5, (9,), ENTRIES[5]),
        (5, (5,), ENTRIES[6]),
        (5, (3, 4, 5, 6), ENTRIES[7]),
        (0, (0,), ENTRIES[1]),
    ],
)
def test_the_cursor_stays_on_its_record_or_goes_to_the_next(cursor: int, cut: tuple[int, ...], on: Entry) -> None:
    state = deleted(moved(KNOWN, cursor), *cut)
    assert state.entry == on == state.held


def test_the_last_row_gives_the_cursor_to_the_one_before_it_and_the_only_one_to_none() -> None:
    few = replace(KNOWN, rows=Rows(3, {0: ENTRIES[:3]}))
    assert deleted(moved(few, 2), 2).entry == ENTRIES[1]
    none = deleted(moved(few, 2), 0, 1, 2)
    assert none.entry is None and none.rows.total == 0 and none.cursor == 0 and none.notice == "3 records deleted"


@given(st.sets(st.integers(0, 199), min_size=1), st.integers(0, 199))
def test_whatever_goes_the_rest_keeps_its_order_and_the_cursor_its_record(cut: set[int], cursor: int) -> None:
    state = deleted(moved(KNOWN, cursor), *cut)
    left = [entry for row, entry in enumerate(ENTRIES[:200]) if row not in cut]
    assert listed(state)[: len(left)] == left
    assert state.rows.total == 300 - len(cut)
    if cursor not in cut:
        assert state.entry == ENTRIES[cursor]
    elif any(row > cursor for row in range(cursor, 200) if row not in cut):
        assert state.entry == next(entry for row, entry in enumerate(ENTRIES) if row > cursor and row not in cut)


def test_a_record_that_nothing_shows_is_not_told_of_but_the_strip_is_asked_for() -> None:
    state = deleted(KNOWN, 250)
    assert state.rows is KNOWN.rows and state.notice == ""
    assert [type(need) for need in needs(KNOWN, state)] == [NeedStrip]


def test_the_strip_tells_that_the_list_is_shorter_below_what_is_loaded_of_it() -> None:
    listed = replace(KNOWN, strategy="filter")

    def told(state: ViewState, total: int) -> int:
        facets = Facets(
            total=total, kinds=(), types=(), projects=(), buckets=(), bucket_ms=1, first_epoch_ms=0, last_epoch_ms=1
        )
        return reduce(state, facts.Faceted(state.seq, facets)).rows.total

    assert told(listed, 298) == 298
    assert told(listed, 301) == 300, "what came meanwhile waits"
    assert told(listed, 150) == 300, "more is here than that: the list has to be read anew"
    assert told(replace(listed, strategy="hybrid"), 298) == 300
    apart = replace(listed, rows=Rows(300, {0: ENTRIES[:PAGE], 2: ENTRIES[2 * PAGE :]}))
    assert told(apart, 299) == 300, "it may have been before what is loaded"


def test_a_word_is_said_quietly_and_not_over_another() -> None:
    assert deleted(KNOWN, 1).notice == "1 record deleted"
    assert deleted(deleted(KNOWN, 1), 2, 3).notice == "2 records deleted"
    assert deleted(reduce(KNOWN, facts.Said("3 ids copied")), 1).notice == "3 ids copied"


def test_the_preview_follows_and_shows_no_deleted_text_meanwhile() -> None:
    record = many(300)[-6]
    read = reduce(moved(KNOWN, 5), facts.Opened(ENTRIES[5].key, record, ENTRIES[5]))
    state = deleted(read, 5)
    assert (state.shown, state.shown_key, state.shown_failed) == (None, None, "")
    asked = [need for need in needs(read, state) if isinstance(need, NeedRecord)]
    assert [need.entry for need in asked] == [ENTRIES[6]]
    assert deleted(read, 4).shown == record


def test_a_record_that_fills_the_screen_is_said_to_be_gone_and_gives_way_to_none() -> None:
    read = reduce(moved(KNOWN, 5), facts.Opened(ENTRIES[5].key, many(300)[-6], ENTRIES[5]))
    state = deleted(reduce(read, reading.Begun()), 5)
    assert state.subject == ENTRIES[5] and state.shown is None and state.shown_failed == gone(ENTRIES[5].key)
    assert not [need for need in needs(read, state) if isinstance(need, NeedRecord)]
    assert fulfilled(state, "mark", whole_record=True) == facts.Said(gone(ENTRIES[5].key))
    assert reduce(state, reading.Ended()).subject == ENTRIES[6]
    assert reduce(state, facts.Moved(by=1)).subject == ENTRIES[7]


def test_no_way_leads_to_a_deleted_record() -> None:
    way = reading.Reading(
        open=True, entry=ENTRIES[9], back=ENTRIES[:2], on=ENTRIES[2:4], related_to=ENTRIES[9].key, prompt=ENTRIES[4],
        session=ENTRIES[5:7], files=ENTRIES[7:9],
    )  # fmt: skip
    state = deleted(replace(KNOWN, reading=way), 1, 2, 4, 5, 8)
    assert state.reading.entries == (ENTRIES[9], ENTRIES[0], ENTRIES[3], ENTRIES[6], ENTRIES[7])
    assert state.reading.prompt is None
    assert deleted(replace(KNOWN, reading=way), 100).reading is way


def test_basket_sums_and_what_could_be_restored_follow() -> None:
    marks = Basket(entries=ENTRIES[:3], dropped=ENTRIES[:4], span_from=ENTRIES[1].key, awaited=(ENTRIES[1].key,))
    state = deleted(replace(KNOWN, basket=marks), 1)
    assert state.basket.entries == (ENTRIES[0], ENTRIES[2])
    assert state.basket.read_tokens == ENTRIES[0].read_tokens + ENTRIES[2].read_tokens
    assert state.basket.span_from is None and state.basket.awaited == ()
    assert ENTRIES[1] not in reduce(state, basket.Restored()).basket.entries
    assert deleted(replace(KNOWN, basket=marks), 100).basket is marks


def test_the_timeline_follows_and_ends_with_its_last_entry() -> None:
    track = Track(anchor=ENTRIES[2].key, entries=ENTRIES[:4], cursor=2)
    shown = replace(KNOWN, view=View.TIMELINE, track=track)
    state = deleted(shown, 0, 2)
    assert state.track is not None and state.track.entries == (ENTRIES[1], ENTRIES[3])
    assert state.entry == ENTRIES[3] and state.track.anchor == ENTRIES[3].key
    assert [type(need) for need in needs(shown, state)].count(NeedLanes) == 1
    none = deleted(shown, 0, 1, 2, 3)
    assert none.view is View.LIST and none.track is None and none.entry == ENTRIES[4]
    kept = deleted(shown, 100)
    assert kept.track is track


def test_where_it_was_gone_from_is_no_longer_a_deleted_record() -> None:
    left = Left(Ask(), ENTRIES[1], "x", None)
    state = deleted(replace(KNOWN, left=left), 1)
    assert state.left is not None and state.left.entry is None


def test_what_filters_leave_is_counted_anew() -> None:
    choosing = replace(KNOWN, choosing=replace(KNOWN.choosing, open=True))
    assert NeedOffer(KNOWN.ask) in needs(choosing, deleted(choosing, 250))


def test_while_paused_nothing_leaves_and_all_of_it_after_that() -> None:
    paused = reduce(KNOWN, live.Paused(True))
    waits = deleted(deleted(paused, 1), 2)
    assert waits.rows is KNOWN.rows and waits.notice == paused.notice
    on = reduce(waits, live.Paused(False))
    assert on.rows.total == 298 and on.live == live.Live() and on.notice == "on again" and not on.waiting
    edited = reduce(paused, Changed(frozenset({ENTRIES[1].key})))
    assert edited.rows is KNOWN.rows and reduce(edited, live.Paused(False)).waiting
    assert reduce(KNOWN, Changed(frozenset({ENTRIES[1].key}))) == replace(KNOWN, doubts=KNOWN.doubts + 1)


def _now(row: int, title: str) -> Entry:
    return replace(ENTRIES[row], title=title, read_tokens=7)


def test_an_edited_record_is_renewed_in_its_place_everywhere() -> None:
    full = replace(
        moved(KNOWN, 5),
        track=Track(anchor=ENTRIES[2].key, entries=ENTRIES[:8]),
        basket=Basket(entries=ENTRIES[4:6]),
        reading=reading.Reading(back=ENTRIES[5:6]),
    )
    state = reduce(full, Edited((_now(5, "New title"),)))
    assert state.track is not None
    for held in (state.rows.at(5), state.held, state.track.entries[5], state.basket.entries[1], state.reading.back[0]):
        assert held == _now(5, "New title")
    assert (state.cursor, state.rows.total, state.cuts, state.notice) == (5, 300, full.cuts, "")
    same = reduce(full, Edited((ENTRIES[5],)))
    assert same == full and same.rows is full.rows and same.track is full.track and same.basket is full.basket


def test_a_hit_keeps_its_place_and_score_and_loses_what_was_found_in_the_old_text() -> None:
    names = Entry.__struct_fields__
    hit = Hit(
        **{name: getattr(ENTRIES[0], name) for name in names}, score=0.5, keyword_rank=1, title_matches=((0, 3),),
        snippet=Snippet("old", ((0, 3),)),
    )  # fmt: skip
    state = reduce(replace(KNOWN, rows=Rows(1, {0: (hit,)})), Edited((_now(0, "New"),)))
    renewed = state.rows.at(0)
    assert isinstance(renewed, Hit) and (renewed.title, renewed.score, renewed.keyword_rank) == ("New", 0.5, 1)
    assert renewed.title_matches == () and renewed.snippet == Snippet("")


# The tree of sessions


def _line(number: int) -> SessionLine:
    return SessionLine(
        id=number, content_session_id=f"c{number}", memory_session_id=f"m{number}", project="a",
        platform_source="claude", status="completed", title=f"session {number}", started_at_epoch=number,
        ended_at_epoch=None, last_at_epoch=number, observations=3,
    )  # fmt: skip


def _tree() -> Tree:
    """Two sessions of a project, open, of three records each: rows 2-4 and 6-8."""
    branch = session_tree.Branch(
        open=True, total=3, pages={0: (_line(1), _line(2), _line(3))}, at={1: 0, 2: 1},
        held={1: ENTRIES[:3], 2: ENTRIES[3:6]},
    )  # fmt: skip
    return Tree(open=True, projects=("a",), branches={"a": branch}, viewed=(0, 20))


@pytest.mark.parametrize(
    ("cursor", "cut", "on"),
    [
        (2, (0,), ENTRIES[1]),
        (4, (2,), ENTRIES[1]),
        (4, (0,), ENTRIES[2]),
        (7, (0, 1), ENTRIES[4]),
        (4, (5,), ENTRIES[2]),
    ],
)
def test_the_tree_s_cursor_stays_on_its_record_or_goes_to_the_next(
    cursor: int, cut: tuple[int, ...], on: Entry
) -> None:
    state = deleted(replace(KNOWN, sessions=replace(_tree(), cursor=cursor)), *cut)
    node = state.sessions.node
    assert isinstance(node, EntryNode) and node.entry == on
    assert state.sessions.total == 1 + 3 + 6 - len(cut)


def test_a_session_that_holds_nothing_any_more_says_so_under_the_cursor() -> None:
    state = deleted(replace(KNOWN, sessions=replace(_tree(), cursor=3)), 0, 1, 2)
    node = state.sessions.node
    assert isinstance(node, EntryNode) and node.entry is None and node.session.id == 1


def test_what_sessions_come_to_is_read_anew_and_shown_until_then() -> None:
    state = deleted(replace(KNOWN, sessions=_tree()), 0)
    tree = state.sessions
    assert list(session_tree.missing(tree)) == [("a", 0)] and tree.at(1) is not None
    lines = (replace(_line(1), observations=2), _line(2), _line(3))
    read = session_tree.after(tree, session_tree.PageRead(0, "a", 0, lines, 3))
    assert list(session_tree.missing(read)) == [] and read.branch("a").line(0) == lines[0]
    assert read.branch("a").held[1] == ENTRIES[1:3]


def test_a_session_that_came_meanwhile_shifts_the_open_ones_with_what_they_hold() -> None:
    tree = replace(_tree(), cursor=7)
    lines = (_line(9), _line(1), _line(2), _line(3))
    read = session_tree.after(tree, session_tree.PageRead(0, "a", 0, lines, 4))
    assert read.branch("a").at == {1: 1, 2: 2}
    assert isinstance(read.node, EntryNode) and read.node.entry == ENTRIES[4]
    gone_now = session_tree.after(read, session_tree.PageRead(0, "a", 0, (_line(9), _line(1), _line(3)), 3))
    assert gone_now.branch("a").at == {1: 1} and set(gone_now.branch("a").held) == {1}


def test_after_events_were_lost_the_tree_is_read_anew_and_stays_until_then() -> None:
    state = reduce(replace(KNOWN, sessions=replace(_tree(), cursor=7)), facts.Resync())
    tree = state.sessions
    assert tree.total == _tree().total and isinstance(tree.node, EntryNode) and tree.node.entry == ENTRIES[4]
    assert sorted(session_tree.old_held(tree)) == [("a", 1), ("a", 2)] and list(session_tree.missing(tree))
    for row_id, held in ((1, ENTRIES[:2]), (2, ENTRIES[4:6])):
        tree = session_tree.after(tree, session_tree.RecordsRead("a", row_id, held))
    assert not list(session_tree.old_held(tree))
    assert isinstance(tree.node, EntryNode) and tree.node.entry == ENTRIES[4]


def test_a_session_that_was_renamed_is_read_anew_also_after_a_pause() -> None:
    tree = reduce(replace(KNOWN, sessions=_tree()), session_tree.Renamed()).sessions
    assert list(session_tree.missing(tree)) == [("a", 0)] and not list(session_tree.old_held(tree))
    paused = reduce(replace(KNOWN, sessions=_tree()), live.Paused(True))
    on = reduce(reduce(paused, Changed(frozenset())), live.Paused(False))
    assert list(session_tree.missing(on.sessions)) == [("a", 0)] and list(session_tree.old_held(on.sessions))


def test_an_edited_record_is_renewed_in_its_session_and_a_shut_tree_stays_as_it_is() -> None:
    state = reduce(replace(KNOWN, sessions=_tree()), Edited((_now(1, "New"),)))
    assert state.sessions.branch("a").held[1] == (ENTRIES[0], _now(1, "New"), ENTRIES[2])
    shut = replace(_tree(), open=False)
    assert deleted(replace(KNOWN, sessions=shut), 0).sessions is shut


def test_all_that_is_shown_or_put_aside_is_known() -> None:
    one = entry_of(observation(9001, "Aside"))
    state = replace(KNOWN, basket=Basket(entries=(one,)), sessions=_tree())
    assert one.key in shown(state) and ENTRIES[5].key in shown(state) and ENTRIES[250].key not in shown(state)
    assert RecordKey(RecordKind.SUMMARY, 9001) not in shown(state)


def test_pages_are_asked_for_where_a_cut_brings_what_is_not_here() -> None:
    near = replace(KNOWN, viewed=(190, 199), rows=replace(KNOWN.rows, pages={1: ENTRIES[PAGE : 2 * PAGE]}))
    assert NeedPages() in needs(near, deleted(near, 150))
