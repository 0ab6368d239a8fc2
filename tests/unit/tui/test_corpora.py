"""What is known of corpora after each fact, and how it is written."""

import datetime as dt

import pytest
from msgspec.structs import replace

from tui.cells import corpora as cells
from tui.cells.fit import width
from tui.cells.glyphs import ASCII, UNICODE
from tui.cells.look import Look
from tui.state import corpora
from tui.state.corpora import Corpora, Deed, Doing, Outcome, after
from tui.state.model import Ask, ViewState
from tui.state.reasons import why_not
from worker.contract.corpus import CorpusAnswer, CorpusFilter, CorpusInfo, CorpusLine, CorpusStats, DateRange
from worker.contract.when import iso_utc

NOW_MS = 1_795_618_800_000
LOOK = Look(UNICODE, lambda: NOW_MS, dt.UTC)
STATS = CorpusStats(
    observation_count=12,
    token_estimate=4800,
    date_range=DateRange(earliest=iso_utc(NOW_MS - 9 * 86_400_000), latest=iso_utc(NOW_MS)),
    type_breakdown={"bugfix": 9, "security_alert": 3},
)


def _line(name: str, **over: object) -> CorpusLine:
    known: dict[str, object] = {"description": "", "stats": STATS, "session_id": None, "updated_at": iso_utc(NOW_MS)}
    return CorpusLine(name=name, **{**known, **over})  # type: ignore[arg-type]


def _info(name: str) -> CorpusInfo:
    return CorpusInfo(
        version=1, name=name, description="", created_at="", updated_at=iso_utc(NOW_MS), filter=CorpusFilter(query="q"),
        stats=STATS, system_prompt="", session_id=None,
    )  # fmt: skip


def _known(*names: str) -> Corpora:
    begun = after(Corpora(), corpora.Begun())
    return after(begun, corpora.Listed(begun.seq, tuple(map(_line, names))))


def _lines(known: Corpora, room: int = 60, **over: object) -> list[str]:
    state = ViewState(corpora=known, **over)  # type: ignore[arg-type]
    page, _ = cells.page(state, room, LOOK)
    return ["".join(text for _, text in line) for line in page]


def _rows(known: Corpora, room: int = 60, **over: object) -> list[str]:
    state = ViewState(corpora=known, **over)  # type: ignore[arg-type]
    return ["".join(text for _, text in line) for line in cells.rows(state, room, LOOK)[0]]


def test_the_first_is_chosen_and_a_late_list_is_left_alone() -> None:
    known = _known("auth", "bills")
    assert (known.at, known.waiting) == ("auth", False)
    again = after(known, corpora.Again())
    assert after(again, corpora.Listed(known.seq, ())) == again
    assert after(again, corpora.ListFailed(known.seq, "no")) == again


def test_a_deed_goes_on_when_nobody_looks_and_is_kept_until_it_was_seen() -> None:
    doing = Doing(1, Deed.ASK, "why?")
    known = after(after(_known("auth"), corpora.DeedBegun("auth", doing)), corpora.Ended())
    assert known.doing == {"auth": doing}
    answer = CorpusAnswer(answer="So.", session_id=None)
    told = after(known, corpora.DeedEnded("auth", 1, Outcome(Deed.ASK, "why?", answer)))
    assert not told.doing and told.outcome is not None and told.outcome.answer == answer
    opened = after(told, corpora.Begun())
    assert opened.outcomes["auth"].fresh
    assert not after(opened, corpora.OutcomeRead("auth")).outcomes["auth"].fresh


def test_an_answer_from_another_memory_is_left_alone() -> None:
    known = after(_known("auth"), corpora.DeedBegun("auth", Doing(7, Deed.ASK)))
    for job, state in ((6, known), (7, _known("auth"))):
        assert after(state, corpora.DeedEnded("auth", job, Outcome(Deed.ASK, failed="late"))) == state


def test_one_that_is_being_built_stands_in_the_list_and_takes_its_place() -> None:
    known = after(_known("auth", "zoo"), corpora.DeedBegun("mid", Doing(1, Deed.BUILD)))
    assert (known.names, known.at) == (("auth", "zoo", "mid"), "mid")
    assert "building" in _rows(known)[3]
    built = after(known, corpora.DeedEnded("mid", 1, Outcome(Deed.BUILD), _info("mid")))
    assert (built.names, built.at) == (("auth", "mid", "zoo"), "mid")
    failed = after(known, corpora.DeedEnded("mid", 1, Outcome(Deed.BUILD, failed="no room")))
    assert failed.names == ("auth", "zoo", "mid") and "failed" in _rows(failed)[3]
    assert any("Not built: no room" in line for line in _lines(failed))
    seen = after(failed, corpora.OutcomeRead("mid"))
    assert after(seen, corpora.Begun()).outcomes == {}


@pytest.mark.parametrize(("gone", "next_one"), [("a", "b"), ("b", "c"), ("c", "b")])
def test_after_a_deletion_the_next_one_is_chosen(gone: str, next_one: str) -> None:
    known = after(after(_known("a", "b", "c"), corpora.Chosen(gone)), corpora.DeedBegun(gone, Doing(1, Deed.DELETE)))
    left = after(known, corpora.DeedEnded(gone, 1, Outcome(Deed.DELETE)))
    assert gone not in left.names and left.at == next_one


def test_the_last_one_deleted_leaves_none() -> None:
    known = after(_known("a"), corpora.DeedBegun("a", Doing(1, Deed.DELETE)))
    left = after(known, corpora.DeedEnded("a", 1, Outcome(Deed.DELETE)))
    assert (left.names, left.at) == ((), None)


@pytest.mark.parametrize(
    "fact",
    [corpora.Chosen("b"), corpora.Again(), corpora.Writing(None), corpora.Ended(), corpora.Begun()],
    ids=lambda fact: type(fact).__name__,
)
def test_what_was_asked_for_once_is_forgotten_by_anything_else(fact: corpora.CorpusFact) -> None:
    sure = after(_known("a", "b"), corpora.Doubted(Deed.DELETE, "a"))
    assert sure.sure == (Deed.DELETE, "a")
    assert after(sure, fact).sure is None


def test_states_in_a_word_the_most_urgent_first() -> None:
    known = replace(
        _known(),
        lines=(_line("a", session_id="s", stale=True), _line("b", session_id="s"), _line("c")),
    )
    assert [row.split()[3] for row in _rows(known)[1:]] == ["stale", "primed", "not"]
    answered = replace(known, outcomes={"a": Outcome(Deed.ASK, answer=CorpusAnswer(answer="x", session_id=None))})
    assert "answered" in _rows(answered)[1]
    assert "asking" in _rows(replace(answered, doing={"a": Doing(1, Deed.ASK)}))[1]


def test_an_answer_is_safe_and_its_citations_are_found() -> None:
    text = "\x1b[2JBecause of #12 and\x07 #13.\n\nNot of #99, \u202eand again #12"
    outcome = Outcome(
        Deed.ASK, "why \x1b]0;x\x07?", CorpusAnswer(answer=text, session_id="s", model="h", cited=(12, 13))
    )
    state = ViewState(corpora=replace(_known("a"), outcomes={"a": outcome}))
    page, cites = cells.page(state, 60, LOOK)
    said = ["".join(part for _, part in line) for line in page]
    assert not any(char in "".join(said) for char in "\x1b\x07\u202e")
    assert list(cites.values()) == [(12, 13), (12,)]
    assert all(f"#{found[0]}" in said[at] for at, found in cites.items())
    marked = [text for line in page for role, text in line if role == "chosen"]
    assert marked == ["#12", "#13", "#12"]


def test_one_that_was_never_primed_says_which_key_helps() -> None:
    failed = Outcome(Deed.ASK, "why?", failed='Corpus "a" has no session — call prime first')
    said = "\n".join(_lines(replace(_known("a"), outcomes={"a": failed})))
    assert "Not answered" in said and "P  has a model read it" in said


@pytest.mark.parametrize("room", [24, 50, 58, 100])
def test_no_line_is_longer_than_its_room(room: int) -> None:
    known = replace(
        _known(),
        lines=(_line("x" * 100, description="修复 " * 60, stale=True, missing=3), _line("b", updated_at="?" * 30)),
        at="x" * 100,
        shown={"x" * 100: _info("x" * 100)},
    )
    assert room < 40 or all(width(line) <= room for line in _rows(known, room))
    assert all(width(line) <= room for line in _lines(known, room))


def test_why_keys_do_nothing() -> None:
    nothing = ViewState(corpora=_known())
    assert why_not(nothing, "ask_corpus") == "there is no corpus yet; {build_corpus} builds one"
    assert why_not(nothing, "build_corpus") == ""
    busy = ViewState(corpora=after(_known("a"), corpora.DeedBegun("a", Doing(1, Deed.ASK))))
    assert "busy" in why_not(busy, "prime_corpus")
    assert why_not(replace(busy, guarded=True), "build_corpus") == "started with --read-only"


def test_the_line_says_what_would_be_built() -> None:
    writing = after(_known(), corpora.Writing(Deed.BUILD))
    state = ViewState(corpora=writing, ask=Ask("auth type:bugfix", "farm"))
    said = " ".join(text for line in cells.asked_for(state, 80, Look(ASCII, LOOK.now_ms)) for _, text in line)
    assert "what auth type:bugfix finds in farm" in said
    refused = after(writing, corpora.Writing(Deed.BUILD, "a corpus name is made of letters"))
    lines = cells.asked_for(replace(state, corpora=refused), 80, LOOK)
    assert [text for line in lines for role, text in line if role == "over"] == [" a corpus name is made of letters"]
