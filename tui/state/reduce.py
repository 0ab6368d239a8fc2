"""Pure: (state, fact) → state. Late answers leave it as it is."""

from typing import assert_never

from msgspec.structs import replace

from tui.state import (
    basket,
    changes,
    corpora,
    costs,
    facts,
    filters,
    health,
    live,
    next_start,
    reading,
    scrub,
    session_tree,
    sought,
)
from tui.state.facts import Fact, SurveyFact
from tui.state.model import PAGE, PAGES_KEPT, SPLITS, Ask, Link, Rows, Track, View, ViewState
from worker.contract.records import RecordKey
from worker.contract.search import Degraded, Entry, Facets


def reduce(state: ViewState, fact: Fact) -> ViewState:
    """The state after a fact. New records are followed for as long as the list stands at its newest."""
    after = _reduced(state, fact)
    if after.live.on and not after.at_newest:
        word = "no longer following: new records wait again"
        said = after.notice if after.notice != state.notice else ""
        return replace(after, live=replace(after.live, on=False), notice=said or word)
    return after


def _reduced(state: ViewState, fact: Fact) -> ViewState:
    if isinstance(fact, SurveyFact):
        return _surveyed(state, fact)
    match fact:
        case facts.Typed() | facts.Scoped() | facts.Sorted() | facts.Ordered() | facts.Refreshed():
            return _asked(state, fact)
        case facts.Moved() | facts.Viewed() | facts.ListChosen() | facts.Said() | facts.Switched() | facts.Remembered():
            return _stood(state, fact)
        case facts.Listed() | facts.Paged() | facts.ListFailed() | facts.StillWaiting() | facts.Faceted():
            return _answered(state, fact) if fact.seq == state.seq else state
        case facts.Opened() | facts.OpenFailed() | facts.Tracked() | facts.TrackFailed():
            return _looked(state, fact)
        case filters.ChoosingBegun() | filters.Offered() | filters.OfferFailed():
            return replace(state, choosing=filters.after(state.choosing, fact))
        case scrub.Zoomed() | scrub.GapsTurned() | scrub.FineTurned() | scrub.Laned():
            return replace(state, scrub=scrub.after(state.scrub, fact), notice=_word(state, fact))
        case facts.Found(entry):
            return replace(state, held=entry if state.held is None else state.held, awaited=None)
        case facts.Split(by):
            return replace(state, split=max(SPLITS[0], min(state.split + by, SPLITS[-1])), notice="")
        case (
            basket.Marked()
            | basket.Refilled()
            | basket.SpanBegun()
            | basket.SpanMarked()
            | basket.Emptied()
            | basket.Restored()
            | basket.Budgeted()
        ):
            return replace(state, basket=basket.after(state.basket, fact))
        case (
            reading.Opened()
            | reading.Begun()
            | reading.Ended()
            | reading.Jumped()
            | reading.WentBack()
            | reading.WentOn()
            | reading.Related()
        ):
            return replace(state, reading=reading.after(state.reading, fact), notice=_word(state, fact))
        case _:
            return _linked(state, fact)


def _surveyed(state: ViewState, fact: SurveyFact) -> ViewState:
    """What is known of the memory as a whole, topic by topic."""
    if isinstance(fact, costs.CostFact):
        return replace(state, costs=costs.after(state.costs, fact))
    if isinstance(fact, session_tree.TreeFact):
        notice = "" if isinstance(fact, session_tree.Stepped) else state.notice
        return replace(state, sessions=session_tree.after(state.sessions, fact), notice=notice)
    if isinstance(fact, next_start.StartFact):
        return replace(state, next_start=next_start.after(state.next_start, fact))
    if isinstance(fact, health.HealthFact):
        return replace(state, health=health.after(state.health, fact))
    if isinstance(fact, corpora.CorpusFact):
        return replace(state, corpora=corpora.after(state.corpora, fact))
    return sought.after(state, fact)


def _word(state: ViewState, fact: Fact) -> str:
    """What was said goes with the next thing a person does, not with an answer that comes late."""
    return state.notice if isinstance(fact, scrub.Laned | reading.Related) else ""


_Linked = (
    facts.Starting
    | facts.Connected
    | facts.Failed
    | facts.StreamOpen
    | facts.StreamLost
    | facts.Silence
    | facts.Resync
    | facts.News
    | facts.Counted
    | live.LiveFact
    | changes.ChangeFact
)


def _linked(state: ViewState, fact: _Linked) -> ViewState:
    match fact:
        case facts.Starting():
            return replace(state, link=Link.STARTING, trouble="", failed="", silent=False)
        case facts.Connected(file_only):
            return _again(replace(state, trouble="", meaning_off=False, file_only=file_only))
        case facts.Failed(reason):
            return replace(state, link=Link.FAILED, trouble=reason, waiting=False)
        case facts.StreamOpen():
            known = replace(state, link=Link.LIVE, trouble="", silent=False)
            return _old(known) if state.link is Link.LOST else known
        case facts.StreamLost(reason):
            return replace(state, link=Link.LOST, trouble=reason, silent=False)
        case facts.Silenced() | facts.Answering():
            return _silenced(state, fact)
        case facts.Resync():
            return _old(state)
        case facts.News(count, queued) if state.live.paused:
            kept = replace(state.live, queued=state.live.queued if queued is None else queued)
            return replace(state, fresh=state.fresh + count, live=kept)
        case facts.News(count, queued):
            return replace(state, fresh=state.fresh + count, queued=state.queued if queued is None else queued)
        case live.Followed() | live.Paused() | changes.Deleted() | changes.Changed() | changes.Edited():
            return _lived(state, fact)
        case facts.Counted(counts, projects):
            return replace(state, counts=counts, projects=projects or state.projects)
        case _:
            assert_never(fact)


def _silenced(state: ViewState, fact: facts.Silence) -> ViewState:
    """A stream that broke is mended by the stream alone."""
    if isinstance(fact, facts.Silenced):
        return replace(state, link=Link.LOST, silent=True) if state.link is Link.LIVE else state
    return _old(replace(state, link=Link.LIVE, silent=False)) if state.silent else state


def _lived(state: ViewState, fact: live.LiveFact | changes.ChangeFact) -> ViewState:
    match fact:
        case changes.Deleted() | changes.Changed() | changes.Edited():
            return changes.after(state, fact)
        case live.Followed() if fact.on:
            top = replace(state, live=live.Live(on=True), cursor=0, held=None, awaited=None, fresh=0)
            said = replace(top, notice="following: new records come in by themselves, until you move")
            return _again(said) if state.fresh or state.live.missed else said
        case live.Followed():
            return replace(state, live=replace(state.live, on=False), notice="no longer following")
        case live.Paused() if fact.on:
            word = "paused: what comes is counted and not shown, until the same key again"
            return replace(state, live=replace(state.live, paused=True), notice=word)
        case live.Paused():
            queued = state.queued if state.live.queued is None else state.live.queued
            known = changes.without(state, state.live.gone)
            on = replace(known, live=live.Live(on=state.live.on), queued=queued, fresh=0, notice="on again")
            return _old(on) if state.fresh or state.live.missed else on
        case _:
            assert_never(fact)


def _old(state: ViewState) -> ViewState:
    """What is shown may be old: it is read anew, while it is paused as soon as it goes on."""
    if state.live.paused:
        return replace(state, live=replace(state.live, missed=True))
    return _again(replace(state, sessions=session_tree.doubted(state.sessions), doubts=state.doubts + 1))


def _again(state: ViewState) -> ViewState:
    """The same question once more; the cursor stays on its record, or on the newest where that is followed."""
    held = None if state.live.on else state.rows.at(state.cursor) or state.held
    return replace(state, seq=state.seq + 1, waiting=True, merging=False, slow=False, failed="", held=held)


_Asked = facts.Typed | facts.Scoped | facts.Sorted | facts.Ordered | facts.Refreshed


def _asked(state: ViewState, fact: _Asked) -> ViewState:
    match fact:
        case facts.Typed(text, final, as_of_ms):
            ask = replace(state.ask, text=text, final=final, as_of_ms=as_of_ms)
            if final and ask == state.ask:
                return state if state.ask.final else _again(replace(state, ask=ask))
        case facts.Scoped(project, session):
            ask = replace(state.ask, project=project, session=session)
        case facts.Sorted(kinds):
            ask = replace(state.ask, kinds=kinds)
        case facts.Ordered(order):
            ask = replace(state.ask, order=order)
        case facts.Refreshed(top):
            again = _again(replace(state, fresh=0, view=View.LIST if top else state.view))
            return replace(again, held=None, cursor=0) if top else again
        case _:
            assert_never(fact)
    if ask == state.ask:
        return state
    if state.live.on:
        state = replace(state, held=None, cursor=0)  # the newest of those asked for now
    return replace(
        state, ask=ask, seq=state.seq + 1, waiting=True, merging=False, slow=False, failed="", notice="",
        view=View.LIST, fresh=0, scrub=replace(state.scrub, lanes=None),
    )  # fmt: skip


def _answered(
    state: ViewState, fact: facts.Listed | facts.Paged | facts.ListFailed | facts.StillWaiting | facts.Faceted
) -> ViewState:
    match fact:
        case facts.Listed(page=page):
            return _listed(state, fact, Rows(page.total, dict(fact.pages)))
        case facts.Paged(words_only=words_only) if words_only != state.merging:
            return state  # of the other half of the answer: its rows are in another order
        case facts.Paged(number=number, start=start) if start and state.rows.begun(number) != start:
            return state  # more of it went meanwhile: what follows is asked for again
        case facts.Paged(number=number, hits=hits, total=total, start=start):
            pages = {**state.rows.pages, number: (*state.rows.pages[number], *hits) if start else hits}
            near = state.viewed[0] // PAGE
            kept = sorted(pages, key=lambda known: abs(known - near))[:PAGES_KEPT]
            torn = state.rows.torn - {number}
            return replace(state, rows=Rows(total, {known: pages[known] for known in kept}, torn))
        case facts.ListFailed(reason=reason) if state.merging:
            return replace(state, merging=False, slow=False, degraded=f"words only: {reason}")
        case facts.ListFailed(reason=reason, misread=misread):
            return replace(state, waiting=False, slow=False, failed=reason, misread=misread)
        case facts.StillWaiting():
            return replace(state, slow=state.waiting and not state.merging)
        case facts.Faceted(facets=facets):
            return _faceted(state, facets)
        case _:
            assert_never(fact)


def _faceted(state: ViewState, facets: Facets) -> ViewState:
    if state.scrub.width_ms not in (0, facets.bucket_ms):
        return state  # of a level that was left meanwhile
    scrubbed = state.scrub if state.scrub.width_ms else replace(state.scrub, auto_ms=facets.bucket_ms)
    return replace(state, facets=facets, scrub=scrubbed, rows=_shorter(state, facets.total))


def _shorter(state: ViewState, total: int) -> Rows:
    """The list, without what was deleted below all that is loaded of it: of those records nothing else tells."""
    pages = state.rows.pages
    loaded, from_top = sum(map(len, pages.values())), sorted(pages) == [*range(len(pages))]
    fewer = state.strategy == "filter" and from_top and loaded <= total < state.rows.total
    return replace(state.rows, total=total) if fewer else state.rows


def _listed(state: ViewState, fact: facts.Listed, rows: Rows) -> ViewState:
    same = state.answered == state.ask
    focus = fact.focus
    if state.merging and state.entry is not None and (row := rows.find(state.entry.key)) is not None:
        focus = row  # the cursor may have moved since the question was put
    cursor = focus if focus is not None else (state.cursor if same else 0)
    listed = replace(
        state,
        rows=rows,
        answered=state.ask,
        waiting=False,
        merging=fact.words_only,
        meaning_off=state.meaning_off or fact.page.degraded is Degraded.INDEX_OFF,
        slow=False,
        failed="",
        strategy=fact.page.strategy,
        degraded=str(fact.page.degraded or "") if fact.page.degraded is not Degraded.INDEX_OFF else "",
        took_ms=fact.page.took_ms,
        notes=fact.page.notes,
        cursor=max(0, min(cursor, rows.total - 1)),
    )
    before = state.entry if state.reading.open and state.reading.entry is None else None
    if before is not None and (listed.entry is None or listed.entry.key != before.key):
        # What fills the screen stays, whatever became of it: reading it anew tells.
        return replace(listed, reading=replace(state.reading, entry=before))
    return listed


def _looked(state: ViewState, fact: facts.Opened | facts.OpenFailed | facts.Tracked | facts.TrackFailed) -> ViewState:
    match fact:
        case facts.Opened(key, record, entry):
            if state.subject is not None and state.subject.key != key:
                return state
            return replace(state, shown=record, shown_key=key, shown_entry=entry, shown_failed="")
        case facts.OpenFailed(key, reason):
            return replace(state, shown=None, shown_key=key, shown_entry=None, shown_failed=reason)
        case facts.Tracked():
            return _tracked(state, fact)
        case facts.TrackFailed(reason):
            return replace(state, notice=f"no timeline: {reason}")
        case _:
            assert_never(fact)


def _tracked(state: ViewState, fact: facts.Tracked) -> ViewState:
    entries = fact.timeline.entries
    stays = state.view is View.TIMELINE and not fact.landed
    standing = state.entry.key if stays and state.entry else fact.middle
    middle = _index(entries, fact.middle)
    if middle is None:
        return replace(state, notice=f"{fact.middle} has no timeline")
    cursor = _index(entries, standing)
    track = Track(
        anchor=fact.anchor,
        entries=entries,
        cursor=middle if cursor is None else cursor,
        at_start=middle < fact.depth,
        at_end=len(entries) - 1 - middle < fact.depth,
    )
    return replace(state, view=View.TIMELINE, track=track)


def _index(entries: tuple[Entry, ...], key: RecordKey) -> int | None:
    return next((index for index, entry in enumerate(entries) if entry.key == key), None)


def _stood(
    state: ViewState,
    fact: facts.Moved | facts.Viewed | facts.ListChosen | facts.Said | facts.Switched | facts.Remembered,
) -> ViewState:
    match fact:
        case facts.Moved():
            return _moved(state, fact)
        case facts.Viewed(first, last):
            return replace(state, viewed=(first, last))
        case facts.ListChosen(None):
            return replace(state, view=View.LIST, track=None)
        case facts.ListChosen(index, entry):
            cursor = max(0, min(index or 0, state.rows.total - 1))
            return replace(state, view=View.LIST, track=None, cursor=cursor, held=entry)
        case facts.Remembered(text, project):
            rest = tuple(kept for kept in state.searches if kept != (text, project))
            if len(rest) < len(state.searches):
                return replace(state, searches=rest, notice="this search is no longer kept")
            return replace(
                state, searches=((text, project), *rest), notice="kept: among the commands ({palette}) as a search"
            )
        case facts.Said(text):
            return replace(state, notice=text)
        case facts.Switched(place, demo):
            kept = basket.Basket(budget_tokens=state.basket.budget_tokens)
            return ViewState(
                place=place,
                program=state.program,
                demo=demo,
                visiting=demo,
                guarded=state.guarded,
                searches=state.searches,
                keys=state.keys,
                key_notes=state.key_notes,
                ask=Ask(),
                seq=state.seq + 1,
                basket=kept,
            )
        case _:
            assert_never(fact)


def _moved(state: ViewState, fact: facts.Moved) -> ViewState:
    timeline = state.track if state.view is View.TIMELINE else None
    count = state.rows.total if timeline is None else len(timeline.entries)
    here = state.cursor if timeline is None else timeline.cursor
    wanted = here + fact.by if fact.to is None else (count - 1 if fact.to < 0 else fact.to)
    there = max(0, min(wanted, count - 1))
    if timeline is not None:
        state = replace(state, track=replace(timeline, cursor=there))
    else:
        state = replace(state, cursor=there, held=state.rows.at(there), awaited=None)
    return replace(state, reading=reading.stepped(state.reading), notice="")
