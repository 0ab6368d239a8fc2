import pytest
from msgspec.structs import replace

from tests.unit.tui.test_wishes import LIST
from tui.cells import words
from tui.state import facts
from tui.state.model import Ask, ViewState
from tui.state.reduce import reduce
from tui.state.saved import begun, of
from tui.state.scopes import Scope, following, here, kind, line, ring, told
from tui.state.wishes import fulfilled
from worker.contract.records import RecordKind
from worker.contract.search import Entry

SESSION = "9f2c41d0-6b1e"


def standing(entry: Entry | None, ask: Ask = Ask(), *projects: str) -> ViewState:  # noqa: B008 - frozen
    rows = replace(LIST.rows, pages={0: (entry,) * 3}, total=3) if entry is not None else ViewState().rows
    return replace(LIST, rows=rows, cursor=0, ask=ask, projects=projects)


def entry(project: str, session: str | None = SESSION) -> Entry:
    return Entry(
        kind=RecordKind.OBSERVATION, id=1, type="bugfix", title="x", project=project, created_at_epoch=1, read_tokens=1,
        session=session,
    )  # fmt: skip


def round_trip(state: ViewState, presses: int) -> list[str]:
    """What the key leads to, one press after the other."""
    said = []
    for _ in range(presses):
        fact = fulfilled(state, "scope", whole_record=False)
        assert fact is not None
        state = reduce(state, fact)
        said.append(words.scope(state))
    return said


def test_the_key_goes_round_through_all_four() -> None:
    state = standing(entry("shop"), Ask(project="shop"), "mall", "shop", "shop/fix", "shop2")
    assert round_trip(state, 4) == ["shop and worktrees", "all projects", "session 9f2c41d0", "shop"]


def test_from_a_worktree_too() -> None:
    state = standing(entry("shop/fix"), Ask(project="shop/fix"), "shop/fix", "shop")
    assert round_trip(state, 4) == ["shop and worktrees", "all projects", "session 9f2c41d0", "shop/fix"]


@pytest.mark.parametrize(
    ("found", "projects", "steps"),
    [
        (entry("shop"), ("shop", "shop2", "mall"), [Scope("shop"), Scope(), Scope(session=SESSION)]),
        (entry("shop", None), ("shop", "shop/fix"), [Scope("shop"), Scope("shop/*"), Scope()]),
        (entry("shop", ""), ("shop",), [Scope("shop"), Scope()]),
        (entry("shop/fix", None), ("shop/fix",), [Scope("shop/fix"), Scope()]),
        (entry("", None), ("shop",), [Scope()]),
        (None, ("shop",), [Scope()]),
    ],
)
def test_what_makes_no_difference_is_passed_over(
    found: Entry | None, projects: tuple[str, ...], steps: list[Scope]
) -> None:
    assert ring(standing(found, Ask(), *projects)) == steps


def test_where_there_is_no_other_the_key_says_so() -> None:
    state = standing(None, Ask(), "shop")
    assert following(state) == here(state.ask)
    assert isinstance(fulfilled(state, "scope", whole_record=False), facts.Said)


def test_from_a_family_the_key_comes_back_to_its_own_project() -> None:
    far = standing(entry("mall"), Ask(project="shop/*"), "shop", "shop/fix", "mall")
    assert ring(far)[0] == Scope("shop")
    near = standing(entry("shop/fix"), Ask(project="shop/*"), "shop", "shop/fix", "mall")
    assert ring(near)[0] == Scope("shop/fix")


def test_words_for_each() -> None:
    scopes = (Scope("shop"), Scope("shop/*"), Scope(), Scope(session=SESSION))
    assert [kind(scope) for scope in scopes] == ["project", "worktrees", "all", "session"]
    assert [told(scope) for scope in scopes] == ["shop", "shop and worktrees", "all projects", "session 9f2c41d0"]


@pytest.mark.parametrize("ask", [Ask(project="shop/*"), Ask(session=SESSION), Ask(project="shop")])
def test_it_is_there_again_at_the_next_start_unless_a_project_is_named(ask: Ask) -> None:
    saved = of(replace(LIST, ask=ask), "")
    again = begun(ViewState(), saved)
    assert here(again.ask) == here(ask)
    named = begun(replace(ViewState(), ask=Ask(project="mall")), saved)
    assert here(named.ask) == Scope("mall")


def test_a_session_is_a_filter_where_a_line_alone_is_kept() -> None:
    assert line(Ask(text=" lease ", session=SESSION)) == f"session:{SESSION} lease"
    assert line(Ask(text="lease", project="shop/*")) == "lease"
