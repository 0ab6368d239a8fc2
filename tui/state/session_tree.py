"""Pure: projects, their sessions, and what these hold, as rows of which some are open.

Of a project only the pages of sessions that were on the screen are here; what is not yet, still has its rows.
"""

from collections.abc import Callable, Iterator, Mapping, Set

from msgspec import Struct, field
from msgspec.structs import replace

from worker.contract.records import RecordKey
from worker.contract.search import Entry
from worker.contract.sessions import SessionLine

PAGE = 50
"""Sessions in one request."""
PAGES_KEPT = 12
"""Pages of a project held at once; those farthest from the cursor go first."""


class ProjectNode(Struct, frozen=True):
    """A project. total: its sessions, None while that is not known. open: they are shown."""

    project: str
    total: int | None
    open: bool


class SessionNode(Struct, frozen=True):
    """A session. line: None while it is not here. open: its records are shown."""

    project: str
    index: int
    line: SessionLine | None
    open: bool = False


class EntryNode(Struct, frozen=True):
    """A record of a session. entry: None while it is not here, or there is none."""

    project: str
    session: SessionLine
    entry: Entry | None


Node = ProjectNode | SessionNode | EntryNode


class Branch(Struct, frozen=True):
    """Sessions of a project. pages: by number. held: records of those that are open, by row id; None: on their way.

    at: the row id of an open session → its place among the sessions. old_pages, old_held: what may read otherwise by
    now, and is shown until it is read anew.
    """

    open: bool = False
    total: int | None = None
    pages: Mapping[int, tuple[SessionLine, ...]] = field(default_factory=dict)
    at: Mapping[int, int] = field(default_factory=dict)
    held: Mapping[int, tuple[Entry, ...] | None] = field(default_factory=dict)
    old_pages: frozenset[int] = frozenset()
    old_held: frozenset[int] = frozenset()
    failed: str = ""

    def line(self, index: int) -> SessionLine | None:
        """The session in this place, if it is here."""
        page = self.pages.get(index // PAGE, ())
        return page[index % PAGE] if index % PAGE < len(page) else None

    def below(self, row_id: int) -> int:
        """Rows that an open session has below it: at least one, which says that there is nothing, or not yet."""
        return max(1, len(self.held.get(row_id) or ()))

    @property
    def rows(self) -> int:
        """Rows below the project."""
        if not self.open:
            return 0
        if self.total is None:
            return 1
        return self.total + sum(self.below(row_id) for row_id in self.at)


_SHUT = Branch()


class Tree(Struct, frozen=True):
    """projects: most recently used first; None while nobody told. cursor: a row. viewed: first and last on screen."""

    open: bool = False
    seq: int = 0
    waiting: bool = False
    projects: tuple[str, ...] | None = None
    branches: Mapping[str, Branch] = field(default_factory=dict)
    cursor: int = 0
    viewed: tuple[int, int] = (0, 0)
    failed: str = ""

    @property
    def total(self) -> int:
        """Rows in all."""
        here = self.projects or ()
        return len(here) + sum(branch.rows for name, branch in self.branches.items() if branch.open and name in here)

    def branch(self, project: str) -> Branch:
        """What is known of a project's sessions."""
        return self.branches.get(project, _SHUT)

    @property
    def node(self) -> Node | None:
        """What the cursor is on."""
        return self.at(self.cursor)

    def at(self, row: int) -> Node | None:
        """What is in a row."""
        if row < 0:
            return None
        for project in self.projects or ():
            branch = self.branches.get(project, _SHUT)
            if row == 0:
                return ProjectNode(project, branch.total, branch.open)
            rows = branch.rows if branch.open else 0
            if row <= rows:
                return _in_branch(project, branch, row - 1)
            row -= 1 + rows
        return None

    def row_of(self, project: str, index: int | None = None) -> int:
        """The row of a project, or of one of its sessions."""
        row = 0
        for known in self.projects or ():
            branch = self.branch(known)
            if known == project:
                if index is None:
                    return row
                return row + 1 + index + sum(branch.below(key) for key, place in branch.at.items() if place < index)
            row += 1 + branch.rows
        return 0

    def parent(self, row: int) -> int:
        """The row of what a row is below of; its own, where it is below of nothing."""
        match self.at(row):
            case SessionNode(project=project):
                return self.row_of(project)
            case EntryNode(project, session):
                return self.row_of(project, self.branch(project).at.get(session.id))
        return row


def _in_branch(project: str, branch: Branch, row: int) -> Node:
    """What is in a row below a project, counted from 0."""
    for row_id, place in sorted(branch.at.items(), key=lambda item: item[1]):
        if row <= place:
            break
        below = branch.below(row_id)
        if row <= place + below:
            line = branch.line(place)
            held = branch.held.get(row_id) or ()
            offset = row - place - 1
            if line is None or line.id != row_id:
                return SessionNode(project, place, None, open=True)
            return EntryNode(project, line, held[offset] if offset < len(held) else None)
        row -= below
    line = branch.line(row)
    return SessionNode(project, row, line, open=line is not None and line.id in branch.at)


class Begun(Struct, frozen=True):
    """Somebody looks at sessions. project: opened at once, the cursor on it."""

    project: str | None


class Ended(Struct, frozen=True):
    """Nobody looks any more."""


class Again(Struct, frozen=True):
    """Read all anew; what is open stays open."""


class ProjectsRead(Struct, frozen=True):
    """The projects there are."""

    seq: int
    projects: tuple[str, ...]


class ReadFailed(Struct, frozen=True):
    """They cannot be told."""

    seq: int
    reason: str


class PageRead(Struct, frozen=True):
    """Sessions of a project. number: of the page."""

    seq: int
    project: str
    number: int
    sessions: tuple[SessionLine, ...]
    total: int


class PageFailed(Struct, frozen=True):
    """They cannot be told."""

    seq: int
    project: str
    reason: str


class RecordsRead(Struct, frozen=True):
    """What a session holds, oldest first."""

    project: str
    row_id: int
    entries: tuple[Entry, ...]


class RecordsFailed(Struct, frozen=True):
    """That cannot be told: the session is shut again."""

    project: str
    row_id: int


class Renamed(Struct, frozen=True):
    """A session says something else of itself now."""


class Opened(Struct, frozen=True):
    """What is below the cursor is shown (or no longer)."""

    open: bool


class Stepped(Struct, frozen=True):
    """The cursor goes by so many rows, or to one (-1: the last)."""

    by: int = 0
    to: int | None = None


class Seen(Struct, frozen=True):
    """These rows are on the screen."""

    first: int
    last: int


TreeFact = (
    Begun
    | Ended
    | Again
    | ProjectsRead
    | ReadFailed
    | PageRead
    | PageFailed
    | RecordsRead
    | RecordsFailed
    | Renamed
    | Opened
    | Stepped
    | Seen
)


def after(tree: Tree, fact: TreeFact) -> Tree:
    """The tree after a fact."""
    match fact:
        case Begun(project):
            return _begun(tree, project)
        case Ended():
            return replace(tree, open=False, waiting=False)
        case Again():
            shut = {name: Branch(open=branch.open) for name, branch in tree.branches.items()}
            return replace(tree, seq=tree.seq + 1, waiting=True, failed="", branches=shut)
        case Renamed():
            return renewed(tree, lambda entry: entry)
        case Opened(open_now):
            return _opened(tree, open_now)
        case Stepped(by, to):
            wanted = tree.cursor + by if to is None else (tree.total - 1 if to < 0 else to)
            return replace(tree, cursor=max(0, min(wanted, tree.total - 1)))
        case Seen(first, last):
            return replace(tree, viewed=(first, last))
        case RecordsRead(project, row_id, entries):
            branch = tree.branch(project)
            if row_id not in branch.at:
                return tree
            held = {**branch.held, row_id: entries}
            read = replace(branch, held=held, old_held=branch.old_held - {row_id})
            return _steady(tree, _put(tree, project, read))
        case RecordsFailed(project, row_id):
            return _steady(tree, _put(tree, project, _shut(tree.branch(project), row_id)))
        case ProjectsRead() | ReadFailed() | PageRead() | PageFailed():
            return _read(tree, fact) if fact.seq == tree.seq else tree
    return tree


def _begun(tree: Tree, project: str | None) -> Tree:
    """Anew, but for what was open; the cursor comes to the project once the projects are known."""
    open_now = {name: Branch(open=branch.open) for name, branch in tree.branches.items()}
    if project is not None:
        open_now = {project: Branch(open=True)}
    begun = replace(tree, open=True, seq=tree.seq + 1, waiting=True, failed="", branches=open_now, cursor=0)
    return begun


def _read(tree: Tree, fact: ProjectsRead | ReadFailed | PageRead | PageFailed) -> Tree:
    match fact:
        case ProjectsRead(_, projects):
            known = replace(tree, projects=projects, waiting=False)
            if len(projects) == 1 and projects[0] not in tree.branches:
                known = _put(known, projects[0], Branch(open=True))
            first = next((name for name in projects if known.branch(name).open), None)
            at_top = tree.cursor == 0 and first is not None
            return replace(known, cursor=known.row_of(first) if at_top and first is not None else _within(known))
        case ReadFailed(_, reason):
            return replace(tree, waiting=False, failed=reason)
        case PageRead(_, project, number, sessions, total):
            branch = tree.branch(project)
            pages = {**branch.pages, number: sessions}
            near = max(tree.cursor - tree.row_of(project), 0) // PAGE
            kept = sorted(pages, key=lambda known: abs(known - near))[:PAGES_KEPT]
            places = {line.id: number * PAGE + offset for offset, line in enumerate(sessions)}
            lost = {known for known, place in branch.at.items() if place // PAGE == number and known not in places}
            grown = replace(
                branch, total=total, pages={known: pages[known] for known in kept}, failed="",
                at={row_id: places.get(row_id, place) for row_id, place in branch.at.items() if row_id not in lost},
                held={row_id: entries for row_id, entries in branch.held.items() if row_id not in lost},
                old_pages=branch.old_pages - {number},
            )  # fmt: skip
            return _steady(tree, _put(tree, project, grown))
        case PageFailed(_, project, reason):
            return _put(tree, project, replace(tree.branch(project), failed=reason))


def _opened(tree: Tree, open_now: bool) -> Tree:
    match tree.node:
        case ProjectNode(project, _, was) if was is not open_now:
            return _put(tree, project, replace(tree.branch(project), open=open_now, failed=""))
        case SessionNode(project, index, line, was) if line is not None and was is not open_now:
            branch = tree.branch(project)
            if open_now:
                grown = replace(branch, at={**branch.at, line.id: index}, held={**branch.held, line.id: None})
                return _put(tree, project, grown)
            return _put(tree, project, _shut(branch, line.id))
        case ProjectNode() | SessionNode() | EntryNode() if not open_now:
            return replace(tree, cursor=tree.parent(tree.cursor))
    return tree


def _shut(branch: Branch, row_id: int) -> Branch:
    at = {known: place for known, place in branch.at.items() if known != row_id}
    held = {known: entries for known, entries in branch.held.items() if known != row_id}
    return replace(branch, at=at, held=held, old_held=branch.old_held - {row_id})


def _put(tree: Tree, project: str, branch: Branch) -> Tree:
    return replace(tree, branches={**tree.branches, project: branch})


def _steady(before: Tree, tree: Tree) -> Tree:
    """The cursor stays on what it was on, though rows above it came or went."""
    match before.node:
        case ProjectNode(project):
            return replace(tree, cursor=tree.row_of(project))
        case SessionNode(project, index, line) if tree.branch(project).total is not None:
            index = _place(tree.branch(project), line, index)
            last = (tree.branch(project).total or 1) - 1
            return replace(tree, cursor=tree.row_of(project, min(index, last)) if last >= 0 else tree.row_of(project))
        case EntryNode(project, session, entry):
            place = tree.branch(project).at.get(session.id)
            offset = before.cursor - before.parent(before.cursor)
            if place is not None:
                held = tree.branch(project).held.get(session.id) or ()
                offset = next((at for at, known in enumerate(held, 1) if entry and known.key == entry.key), offset)
                offset = min(offset, tree.branch(project).below(session.id))
                return replace(tree, cursor=_within(replace(tree, cursor=tree.row_of(project, place) + offset)))
    return replace(tree, cursor=_within(tree))


def _place(branch: Branch, line: SessionLine | None, index: int) -> int:
    """Where a session is by now."""
    if line is None:
        return index
    found = (
        number * PAGE + offset
        for number, page in branch.pages.items()
        for offset, known in enumerate(page)
        if known.id == line.id
    )
    return next(found, index)


def _within(tree: Tree) -> int:
    return max(0, min(tree.cursor, tree.total - 1))


def missing(tree: Tree) -> Iterator[tuple[str, int]]:
    """(project, page) of what is on the screen, or at the cursor, and not here yet, or old."""
    asked: set[tuple[str, int]] = set()
    for row in (tree.cursor, *range(max(tree.viewed[0], 0), min(tree.viewed[1], tree.total - 1) + 1)):
        match tree.at(row):
            case SessionNode(project, index):
                place: int | None = index
            case EntryNode(project, session):
                place = tree.branch(project).at.get(session.id)
            case _:
                continue
        branch = tree.branch(project)
        if place is None or branch.failed:
            continue
        want = (project, place // PAGE)
        if want not in asked and (want[1] not in branch.pages or want[1] in branch.old_pages):
            asked.add(want)
            yield want


def old_held(tree: Tree) -> Iterator[tuple[str, int]]:
    """(project, row id) of open sessions that may hold something else by now."""
    for project, branch in tree.branches.items():
        for row_id in branch.old_held:
            yield project, row_id


def entries(tree: Tree) -> Iterator[Entry]:
    """The records of the sessions that are open."""
    for branch in tree.branches.values():
        for held in branch.held.values():
            yield from held or ()


def without(tree: Tree, keys: Set[RecordKey]) -> Tree:
    """The tree without these records; what its sessions come to is read anew."""
    if not tree.open:
        return tree
    left = _each(tree, lambda held: tuple(entry for entry in held if entry.key not in keys))
    match tree.node:
        case EntryNode(project, session, entry) if entry is not None and entry.key in keys:
            place = left.branch(project).at[session.id]
            held = tree.branch(project).held.get(session.id) or ()
            above = sum(known.key not in keys for known in held[: tree.cursor - tree.parent(tree.cursor) - 1])
            offset = min(above + 1, left.branch(project).below(session.id))
            return replace(left, cursor=left.row_of(project, place) + offset)
    return _steady(tree, left)


def renewed(tree: Tree, now: Callable[[Entry], Entry]) -> Tree:
    """The tree with its records as they are now; what its sessions come to is read anew."""
    return _each(tree, lambda held: tuple(map(now, held)))


def doubted(tree: Tree) -> Tree:
    """All that is shown of sessions may be another by now: it is read anew, and stays until then."""
    if not tree.open:
        return tree
    doubtful = {
        name: replace(
            branch,
            old_pages=frozenset(branch.pages),
            old_held=frozenset(row_id for row_id, held in branch.held.items() if held is not None),
        )
        for name, branch in tree.branches.items()
    }
    return replace(tree, branches=doubtful)


def _each(tree: Tree, now: Callable[[tuple[Entry, ...]], tuple[Entry, ...]]) -> Tree:
    if not tree.open:
        return tree
    branches = {
        name: replace(
            branch,
            held={row_id: now(held) if held is not None else None for row_id, held in branch.held.items()},
            old_pages=frozenset(branch.pages),
        )
        for name, branch in tree.branches.items()
    }
    return replace(tree, branches=branches)
