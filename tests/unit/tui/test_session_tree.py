"""The tree of sessions: rows of what is open, and a cursor that stays where it is."""

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tui.state import session_tree as tree
from tui.state.session_tree import (
    PAGE,
    Branch,
    EntryNode,
    Node,
    Opened,
    PageRead,
    ProjectNode,
    ProjectsRead,
    RecordsRead,
    SessionNode,
    Stepped,
    Tree,
    after,
)
from worker.contract.records import RecordKind
from worker.contract.search import Entry
from worker.contract.sessions import SessionLine


def line(number: int, project: str = "a") -> SessionLine:
    return SessionLine(
        id=number, content_session_id=f"c{number}", memory_session_id=f"m{number}", project=project,
        platform_source="claude", status="completed", title=f"session {number}", started_at_epoch=number,
        ended_at_epoch=None, last_at_epoch=number,
    )  # fmt: skip


def entry(number: int) -> Entry:
    return Entry(
        kind=RecordKind.OBSERVATION, id=number, type="bugfix", title=f"record {number}", project="a",
        created_at_epoch=number, read_tokens=1, discovery_tokens=1,
    )  # fmt: skip


def begun(*projects: str) -> Tree:
    return after(after(Tree(), tree.Begun(None)), ProjectsRead(1, projects))


def with_sessions(shown: Tree, project: str, count: int) -> Tree:
    shown = replace(shown, cursor=shown.row_of(project))
    shown = after(shown, Opened(True))
    for number in range(0, max((count - 1) // PAGE, 0) + 1):
        first = number * PAGE
        lines = tuple(line(at + 1, project) for at in range(first, min(first + PAGE, count)))
        shown = after(shown, PageRead(1, project, number, lines, count))
    return shown


def naive(shown: Tree) -> Iterator[Node]:
    """The rows, one after the other."""
    for project in shown.projects or ():
        branch = shown.branch(project)
        yield ProjectNode(project, branch.total, branch.open)
        if not branch.open:
            continue
        for index in range(branch.total if branch.total is not None else 1):
            known = branch.line(index)
            opened = known is not None and known.id in branch.at
            yield SessionNode(project, index, known, open=opened)
            if known is not None and opened:
                held = branch.held.get(known.id) or (None,)
                yield from (EntryNode(project, known, one) for one in held)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(0, 120), min_size=1, max_size=4),
    opened=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 119), st.integers(0, 4)), max_size=6),
)
def test_each_row_is_what_a_walk_from_the_top_comes_to(counts: list[int], opened: list[tuple[int, int, int]]) -> None:
    names = [f"p{number}" for number in range(len(counts))]
    shown = begun(*names)
    for name, count in zip(names, counts, strict=True):
        shown = with_sessions(shown, name, count)
    for which, index, records in opened:
        name = names[which % len(names)]
        branch = shown.branch(name)
        if index >= (branch.total or 0):
            continue
        shown = after(replace(shown, cursor=shown.row_of(name, index)), Opened(True))
        shown = after(shown, RecordsRead(name, index + 1, tuple(entry(number) for number in range(records))))
    rows = list(naive(shown))
    assert shown.total == len(rows)
    assert [shown.at(row) for row in range(len(rows))] == rows
    assert shown.at(len(rows)) is None
    for row, node in enumerate(rows):
        match node:
            case ProjectNode(project):
                assert shown.row_of(project) == row
            case SessionNode(project, index):
                assert shown.row_of(project, index) == row
                assert isinstance(shown.at(shown.parent(row)), ProjectNode)
            case EntryNode(_, session):
                above = shown.at(shown.parent(row))
                assert isinstance(above, SessionNode) and above.line == session


def test_the_cursor_stays_on_its_session_when_one_above_it_gets_its_records() -> None:
    shown = with_sessions(begun("a"), "a", 10)
    shown = after(after(shown, Stepped(to=shown.row_of("a", 2))), Opened(True))
    shown = after(shown, Stepped(to=shown.row_of("a", 7)))
    before = shown.node
    shown = after(shown, RecordsRead("a", 3, tuple(map(entry, range(5)))))
    assert shown.node == before
    assert shown.cursor == 1 + 7 + 5


def test_fold_shuts_what_is_open_and_goes_up_from_what_is_not() -> None:
    shown = with_sessions(begun("a", "b"), "a", 3)
    shown = after(after(shown, Stepped(to=2)), Opened(True))
    shown = after(shown, RecordsRead("a", 2, (entry(1), entry(2))))
    shown = after(shown, Stepped(to=4))
    assert isinstance(shown.node, EntryNode)
    shown = after(shown, Opened(False))
    assert isinstance(shown.node, SessionNode) and shown.node.open
    shown = after(shown, Opened(False))
    assert isinstance(shown.node, SessionNode) and not shown.node.open
    shown = after(shown, Opened(False))
    assert isinstance(shown.node, ProjectNode) and shown.node.open
    shown = after(shown, Opened(False))
    assert shown.total == 2


def test_only_the_pages_on_the_screen_are_asked_for_and_those_far_away_are_let_go() -> None:
    shown = after(begun("a"), Opened(True))
    assert list(tree.missing(replace(shown, viewed=(0, 20)))) == [("a", 0)]
    shown = after(shown, PageRead(1, "a", 0, tuple(line(number) for number in range(PAGE)), 5000))
    shown = after(shown, tree.Seen(2000, 2030))
    assert list(tree.missing(shown)) == [("a", 39), ("a", 40)]
    shown = after(shown, Stepped(to=2000))
    for number in range(20, 45):
        shown = after(shown, PageRead(1, "a", number, (line(1),) * PAGE, 5000))
    assert len(shown.branch("a").pages) == tree.PAGES_KEPT
    assert 0 not in shown.branch("a").pages


def test_an_answer_to_what_was_asked_before_is_late() -> None:
    shown = with_sessions(begun("a"), "a", 3)
    again = after(shown, tree.Again())
    assert after(again, PageRead(1, "a", 0, (), 0)) == again
    assert again.branch("a").open and again.branch("a").total is None
    assert after(again, RecordsRead("a", 1, ())) == again


def test_the_project_of_the_workspace_is_open_at_once_and_has_the_cursor() -> None:
    shown = after(after(Tree(), tree.Begun("b")), ProjectsRead(1, ("a", "b", "c")))
    assert shown.node == ProjectNode("b", None, open=True)
    assert list(tree.missing(replace(shown, viewed=(0, 9)))) == [("b", 0)]
    assert after(after(Tree(), tree.Begun(None)), ProjectsRead(1, ("only",))).branch("only").open


def test_what_cannot_be_told_is_not_asked_for_without_end() -> None:
    shown = after(begun("a"), Opened(True))
    failed = after(shown, tree.PageFailed(1, "a", "gone"))
    assert list(tree.missing(replace(failed, viewed=(0, 9)))) == []
    assert after(after(failed, Opened(False)), Opened(True)).branch("a") == Branch(open=True)
