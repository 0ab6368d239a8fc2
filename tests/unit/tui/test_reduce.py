"""(state, fact) → state, and what is asked for then."""

import pytest
from msgspec.structs import replace

from tests.tui.memory import entry_of, many, observation
from tui.state import basket, facts, live, reading, scrub
from tui.state.model import PAGE, PAGES_KEPT, Ask, Counts, Link, Rows, Track, View, ViewState
from tui.state.needs import NeedList, NeedPages, NeedRecord, NeedTrack, missing_pages, needs
from tui.state.reduce import reduce
from tui.state.sought import Sought, WentBack
from tui.state.store import Store
from worker.contract.lanes import Lanes
from worker.contract.search import Entry, Hit, Order, SearchPage, Timeline

ENTRIES = tuple(entry_of(record) for record in reversed(many(300)))


def _page(total: int, first: int = 0) -> SearchPage:
    hits = tuple(
        Hit(kind=entry.kind, id=entry.id, type=entry.type, title=entry.title, project=entry.project,
            created_at_epoch=entry.created_at_epoch, read_tokens=entry.read_tokens)
        for entry in ENTRIES[first : first + PAGE]
    )  # fmt: skip
    return SearchPage(hits=hits, total=total, strategy="filter", took_ms=2.0)


def _listed(state: ViewState, *, focus: int | None = None, total: int = 300) -> ViewState:
    page = _page(total)
    return reduce(state, facts.Listed(state.seq, page, {0: page.hits}, focus))


CONNECTED = reduce(ViewState(), facts.Connected())
SHOWN = _listed(CONNECTED)


def test_connecting_asks_for_the_list() -> None:
    assert (CONNECTED.seq, CONNECTED.waiting) == (1, True)
    assert needs(ViewState(), CONNECTED) == [NeedList(1, Ask(), None, None, typed=False)]


def test_late_answers_change_nothing() -> None:
    typed = reduce(SHOWN, facts.Typed("auth"))
    page = _page(3)
    assert reduce(typed, facts.Listed(SHOWN.seq, page, {0: page.hits}, None)) is typed
    assert reduce(typed, facts.ListFailed(SHOWN.seq, "late")) is typed
    assert reduce(typed, facts.Paged(SHOWN.seq, 1, page.hits, 300)) is typed
    assert reduce(typed, facts.StillWaiting(SHOWN.seq)) is typed


def test_a_word_stays_through_answers_that_come_late() -> None:
    """Found in tmux: what was copied was said for 30 ms, until the lanes of the timeline came."""
    said = reduce(SHOWN, facts.Said("1 id copied"))
    for late in (scrub.Laned(Lanes(buckets=(), bucket_ms=1)), reading.Related(ENTRIES[0].key, None, (), ())):
        assert reduce(said, late).notice == "1 id copied"


def test_typing_waits_and_the_same_text_asks_nothing() -> None:
    typed = reduce(SHOWN, facts.Typed("auth"))
    assert [need.typed for need in needs(SHOWN, typed) if isinstance(need, NeedList)] == [True]
    assert reduce(typed, facts.Typed("auth")) is typed


@pytest.mark.parametrize(
    ("fact", "row"),
    [
        (facts.Moved(by=1), 1),
        (facts.Moved(by=-1), 0),
        (facts.Moved(by=1000), 299),
        (facts.Moved(to=-1), 299),
        (facts.Moved(to=42), 42),
    ],
)
def test_moves_stay_on_the_list(fact: facts.Moved, row: int) -> None:
    assert reduce(SHOWN, fact).cursor == row


def test_a_chosen_record_is_held_through_other_answers() -> None:
    chosen = reduce(SHOWN, facts.Moved(to=7))
    typed = reduce(chosen, facts.Typed("nothing like it"))
    found = reduce(typed, facts.Listed(typed.seq, SearchPage(hits=(), total=0), {0: ()}, None))
    assert (found.cursor, found.entry) == (0, None)
    cleared = reduce(found, facts.Typed(""))
    asked = [need for need in needs(found, cleared) if isinstance(need, NeedList)]
    assert [need.focus and need.focus.key for need in asked] == [ENTRIES[7].key]
    assert _listed(cleared, focus=7).cursor == 7


def test_without_a_choice_typing_goes_to_the_best_hit() -> None:
    typed = reduce(SHOWN, facts.Typed("auth"))
    assert _listed(typed).cursor == 0


def test_refresh_keeps_the_record_even_if_it_was_not_chosen() -> None:
    fresh = reduce(reduce(SHOWN, facts.News(3)), facts.Refreshed())
    assert fresh.fresh == 0
    assert fresh.held is not None
    assert fresh.held.key == ENTRIES[0].key
    top = reduce(SHOWN, facts.Refreshed(top=True))
    assert (top.held, top.cursor) == (None, 0)


def test_a_lost_stream_is_said_and_the_list_read_again_when_it_is_back() -> None:
    lost = reduce(SHOWN, facts.StreamLost("gone"))
    assert (lost.link, lost.trouble, lost.rows) == (Link.LOST, "gone", SHOWN.rows)
    back = reduce(lost, facts.StreamOpen())
    assert (back.link, back.trouble, back.seq) == (Link.LIVE, "", SHOWN.seq + 1)
    assert reduce(reduce(SHOWN, facts.StreamOpen()), facts.StreamOpen()).seq == SHOWN.seq


def test_failures_keep_what_was_typed_and_shown() -> None:
    typed = reduce(SHOWN, facts.Typed("auth"))
    failed = reduce(typed, facts.ListFailed(typed.seq, "no answer"))
    assert (failed.ask.text, failed.rows, failed.failed) == ("auth", SHOWN.rows, "no answer")
    assert reduce(typed, facts.ListFailed(typed.seq, "no date", misread=True)).misread
    dead = reduce(typed, facts.Failed("port taken"))
    assert (dead.link, dead.ask.text, dead.waiting) == (Link.FAILED, "auth", False)


def test_pages_far_away_are_given_up() -> None:
    state = replace(SHOWN, rows=Rows(100_000, SHOWN.rows.pages), viewed=(50_000, 50_010))
    for number in range(490, 490 + 2 * PAGES_KEPT):
        state = reduce(state, facts.Paged(state.seq, number, ENTRIES[:PAGE], 100_000))
    assert len(state.rows.pages) == PAGES_KEPT
    assert 500 in state.rows.pages
    assert 0 not in state.rows.pages


def test_only_pages_near_the_screen_are_asked_for() -> None:
    state = replace(SHOWN, rows=Rows(100_000, SHOWN.rows.pages))
    far = reduce(state, facts.Viewed(50_000, 50_010))
    assert missing_pages(far) == [500, 499]
    assert NeedPages() in needs(state, far)
    assert missing_pages(reduce(far, facts.Typed("x"))) == []


def test_the_preview_follows_the_cursor() -> None:
    moved = reduce(SHOWN, facts.Moved(to=5))
    need = next(need for need in needs(SHOWN, moved) if isinstance(need, NeedRecord))
    assert need.entry.key == ENTRIES[5].key
    assert [key.id for key in need.neighbours] == [ENTRIES[row].id for row in (6, 4, 7, 3, 8, 2)]
    late = facts.Opened(ENTRIES[9].key, observation(ENTRIES[9].id, "late"), None)
    assert reduce(moved, late) is moved


def _tracked(state: ViewState, middle: int, depth: int = 20) -> ViewState:
    oldest = ENTRIES[::-1]
    at = len(oldest) - 1 - middle
    entries: tuple[Entry, ...] = oldest[max(0, at - depth) : at + depth + 1]
    key = ENTRIES[middle].key
    return reduce(state, facts.Tracked(key, key, Timeline(entries=entries, anchor=str(key), anchor_index=None), depth))


def test_timeline_around_and_back() -> None:
    track = _tracked(SHOWN, 50)
    assert track.view is View.TIMELINE
    assert track.entry is not None
    assert track.entry.key == ENTRIES[50].key
    later = reduce(track, facts.Moved(by=2))
    assert later.entry is not None
    assert later.entry.key == ENTRIES[48].key
    back = reduce(later, facts.ListChosen(48, later.entry))
    assert (back.view, back.cursor, back.held) == (View.LIST, 48, later.entry)
    lost = reduce(later, facts.ListChosen(None, later.entry))
    assert (lost.view, lost.cursor) == (View.LIST, SHOWN.cursor)


def test_timeline_is_read_on_near_its_open_end_only() -> None:
    track = _tracked(SHOWN, 50)
    assert isinstance(track.track, Track)
    assert (track.track.at_start, track.track.at_end) == (False, False)
    near = reduce(track, facts.Moved(by=-15))
    assert [need.middle for need in needs(track, near) if isinstance(need, NeedTrack)] == [ENTRIES[65].key]
    newest = _tracked(SHOWN, 3)
    assert newest.track is not None
    assert newest.track.at_end
    moved = reduce(newest, facts.Moved(by=1))
    assert not [need for need in needs(newest, moved) if isinstance(need, NeedTrack)]


def test_reading_on_keeps_the_cursor_where_it_went_meanwhile() -> None:
    track = reduce(_tracked(SHOWN, 50), facts.Moved(by=-15))
    meanwhile = reduce(track, facts.Moved(by=-1))
    key = ENTRIES[65].key
    entries = ENTRIES[::-1][100:260]
    read = reduce(
        meanwhile, facts.Tracked(ENTRIES[50].key, key, Timeline(entries=entries, anchor="", anchor_index=0), 60)
    )
    assert read.entry is not None
    assert read.entry.key == ENTRIES[66].key


def test_another_memory_forgets_everything() -> None:
    other = reduce(reduce(SHOWN, facts.Counted(Counts(1, 2, 3))), facts.Switched("/demo", demo=True))
    assert other == ViewState(place="/demo", demo=True, visiting=True, seq=SHOWN.seq + 1)


def test_subscribers_hear_of_changes_only() -> None:
    store = Store(SHOWN)
    heard: list[ViewState] = []
    store.subscribe(lambda before, after: heard.append(after))
    store.tell(facts.Said(""))
    store.tell(facts.Said("word"))
    assert [state.notice for state in heard] == ["word"]


@pytest.mark.parametrize(
    ("fact", "on"),
    [
        (facts.Moved(to=0), True),
        (facts.News(1), True),
        (facts.Resync(), True),
        (facts.Scoped("shop"), True),
        (facts.Moved(by=1), False),
        (facts.Ordered(Order.DATE_ASC), False),
        (facts.Typed("auth"), False),
        (facts.Typed("until:2020", as_of_ms=1), False),
        (basket.SpanBegun(ENTRIES[0].key), False),
    ],
)
def test_new_records_are_followed_while_the_list_stands_at_its_newest(fact: facts.Fact, on: bool) -> None:
    followed = reduce(reduce(SHOWN, facts.Moved(by=9)), live.Followed(True))
    assert (followed.cursor, followed.held, followed.follows) == (0, None, True)
    after = reduce(followed, fact)
    assert after.follows is on
    assert ("no longer following" in after.notice) is not on
    if on:  # whatever is answered next, the cursor is on the newest of it
        assert all(need.focus is None for need in needs(followed, after) if isinstance(need, NeedList))


def test_what_is_paused_asks_nothing_until_it_goes_on() -> None:
    paused = reduce(SHOWN, live.Paused(True))
    for fact in (facts.News(2, 7), facts.Resync(), facts.StreamLost("gone"), facts.StreamOpen(), facts.News(1)):
        came = reduce(paused, fact)
        assert (needs(paused, came), came.rows, came.queued) == ([], SHOWN.rows, SHOWN.queued)
        paused = came
    on = reduce(paused, live.Paused(False))
    assert (paused.fresh, on.fresh, on.queued, on.live) == (3, 0, 7, live.Live())
    asked = [need for need in needs(paused, on) if isinstance(need, NeedList)]
    assert [need.focus and need.focus.key for need in asked] == [ENTRIES[0].key]
    nothing_came = reduce(reduce(SHOWN, live.Paused(True)), live.Paused(False))
    assert needs(SHOWN, nothing_came) == []


def test_the_way_back_is_there_until_something_else_is_asked() -> None:
    before = reduce(ViewState(), facts.Typed("token"))
    there = reduce(before, Sought("session:S14", "shop"))
    on = reduce(there, Sought("session:S15", "shop"))
    assert on.way_back is not None and on.way_back.ask == before.ask
    back = reduce(on, WentBack())
    assert (back.ask, back.way_back) == (before.ask, None)
    assert not back.ask.final  # the last word may be the beginning of one, as it was
    assert reduce(on, facts.Typed("other words")).way_back is None
    assert reduce(back, WentBack()) == back
