"""Pure: a row of the tree of sessions, and what the preview says of it."""

from collections.abc import Iterator

from tui.cells import fit, look
from tui.cells.clean import one_line, safe
from tui.cells.glyphs import ASCII, Glyphs
from tui.cells.look import Look
from tui.cells.marks import compact, grouped, mark, read_badge, work_badge, worth
from tui.cells.sizes import lasted
from tui.state.model import Link, ViewState
from tui.state.session_tree import EntryNode, Node, ProjectNode, SessionNode, Tree
from worker.contract.sessions import SessionLine

Piece = tuple[str, str]
Line = list[Piece]
ROLES = ("gutter", "key", "title", "head", "tokens", "blank", "project", "group", "text")
_FIELDS = (
    ("Asked", "request"),
    ("Investigated", "investigated"),
    ("Learned", "learned"),
    ("Completed", "completed"),
    ("Next steps", "next_steps"),
)


def row(tree: Tree, node: Node, room: int, lk: Look, *, here: bool) -> Line:
    """One line of the tree in just ``room`` cells or fewer."""
    glyphs = lk.glyphs
    gutter: Piece = ("gutter", glyphs.cursor) if here else ("key", " ")
    match node:
        case ProjectNode(project, total, open_now):
            count = f"{grouped(total)} session{'' if total == 1 else 's'}" if total is not None else ""
            name = one_line(project) or "(no project)"
            return [
                gutter,
                ("project", f"{_fold(glyphs, open_now)} "),
                *_ends("project", name, count, room - 3, glyphs),
            ]
        case SessionNode(project, _, None):
            failed = tree.branch(project).failed
            said = (
                f"not told: {one_line(failed)}; {lk.key('fold', 'h')}, then {lk.key('unfold', 'Space')}, asks again"
                if failed
                else glyphs.ellipsis
            )
            if tree.branch(project).total == 0:
                said = "no sessions"
            return [gutter, ("blank", fit.cut(f"    {said}", room - 1, glyphs.ellipsis))]
        case SessionNode(_, _, line, open_now) if line is not None:
            return [gutter, *_session(line, open_now, room - 1, lk)]
        case EntryNode(project, session, None):
            waits = tree.branch(project).held.get(session.id) is None
            return [gutter, ("blank", f"        {glyphs.ellipsis if waits else 'nothing in it'}")]
        case EntryNode(_, _, entry) if entry is not None:
            known = mark(entry.type, glyphs)
            deep = 6 if known.letter == "P" else 8
            when = f"{look.clock(lk, entry.created_at_epoch)} " if room >= 50 else ""
            tokens = f" {fit.right(read_badge(entry.read_tokens), 6)} " if room >= 40 else ""
            free = max(room - 1 - deep - len(when) - 2 - len(tokens), 4)
            title = fit.left(one_line(entry.title), free, glyphs.ellipsis)
            return [
                gutter,
                ("key", " " * deep + when),
                (known.role, f"{known.letter} "),
                ("title", title),
                ("tokens", tokens),
            ]
    return [gutter]


def _session(line: SessionLine, open_now: bool, room: int, lk: Look) -> Line:
    glyphs = lk.glyphs
    when = fit.left(look.short(lk, line.started_at_epoch), 6)
    title = one_line(line.title) or "(nothing said yet)"
    held = line.prompts + line.observations + line.summaries
    figures = f" {fit.right(grouped(held), 4)}" if room >= 44 else ""
    figures += f" {fit.right(read_badge(line.read_tokens), 6)}" if room >= 60 else ""
    figures += f" {fit.right(work_badge(line.work_tokens), 6)}" if room >= 60 else ""
    running = f"{glyphs.live} " if line.ended_at_epoch is None and line.status == "active" else ""
    free = max(room - 4 - 7 - len(running) - len(figures) - 1, 4)
    return [
        ("key", f"  {_fold(glyphs, open_now)} {when} "),
        *([("mark", running)] if running else []),
        ("title", fit.left(title, free, glyphs.ellipsis)),
        ("tokens", figures + " "),
    ]


def head(tree: Tree, room: int, glyphs: Glyphs) -> Line:
    """The line above the rows."""
    count = len(tree.projects or ())
    said = f"of {grouped(count)} project{'' if count == 1 else 's'}" if count else ""
    asking = f"asking{glyphs.ellipsis}" if tree.waiting else said
    figures = fit.right("recs", 5) if room >= 45 else ""
    figures += fit.right("~Read", 7) + fit.right("Work", 7) if room >= 61 else ""
    free = max(room - len(figures) - 1 - len(" SESSIONS  "), 4)
    return [("heading", " SESSIONS  "), ("head", fit.left(asking, free, glyphs.ellipsis) + figures + " ")]


def _fold(glyphs: Glyphs, open_now: bool) -> str:
    if glyphs is ASCII:
        return "-" if open_now else "+"
    return "▾" if open_now else "▸"


def _ends(role: str, left: str, right: str, room: int, glyphs: Glyphs) -> Line:
    free = max(room - fit.width(right) - 2, 4)
    return [(role, fit.left(left, free, glyphs.ellipsis)), ("tokens", f" {right} " if right else "  ")]


def note(state: ViewState, lk: Look) -> list[Piece]:
    """What stands in place of an empty tree: why it is empty, and the key that helps."""
    tree = state.sessions
    if tree.total:
        return []
    if tree.failed:
        return [
            ("strong", "The sessions are not told"),
            ("text", one_line(tree.failed)),
            ("text", ""),
            ("key", lk.hint("again", "r", "asks again")),
        ]
    if state.link in (Link.FAILED, Link.LOST):
        return [("strong", "There is no worker to ask"), ("text", ""), ("key", lk.hint("again", "r", "tries again"))]
    if tree.projects is None or tree.waiting:
        return [("text", f"asking for the projects{lk.glyphs.ellipsis}")]
    return [
        ("strong", "No sessions yet"),
        ("text", "They come with the first prompt to an agent that has claude-mem."),
        ("text", ""),
        ("key", lk.hint("again", "r", "looks again")),
        ("key", lk.hint("back", "q", "goes back")),
    ]


def preview(node: Node | None, room: int, lk: Look) -> list[Line]:
    """What the row under the cursor is, in full."""
    match node:
        case ProjectNode(project, total, open_now):
            lines: list[Line] = [[("heading", fit.cut(one_line(project) or "(no project)", room, lk.glyphs.ellipsis))]]
            if total is not None:
                lines.append([("quiet", f"{grouped(total)} session{'' if total == 1 else 's'}")])
            unfold, visit = lk.key("unfold", "Space"), lk.key("visit", "Enter")
            said = (
                f"{unfold} shuts it, {visit} shows its records."
                if open_now
                else f"{unfold} shows its sessions, {visit} its records."
            )
            return [*lines, [], *_said("quiet", said, room)]
        case SessionNode(_, _, line) if line is not None:
            return list(_whole(line, room, lk))
        case EntryNode(_, session, entry) if entry is not None:
            known = mark(entry.type, lk.glyphs)
            title = list(fit.wrap(one_line(entry.title), max(room - 2, 8)))
            lines = [[(known.role, f"{known.letter} "), ("heading", title[0] if title else "")]]
            lines += [[("heading", f"  {text}")] for text in title[1:]]
            figures = worth(entry.read_tokens, entry.discovery_tokens, lk.glyphs)
            lines += list(_said("quiet", f"#{entry.key}, {look.full(lk, entry.created_at_epoch)}, {figures}", room))
            lines += [[], *_said("quiet", f"{lk.key('visit', 'Enter')} goes to it in the workspace.", room)]
            name = one_line(session.title)
            return [*lines, [], *_said("quiet", f"In the session: {name}", room)] if name else lines
    return [[("quiet", lk.glyphs.ellipsis)]] if node is not None else []


def _whole(line: SessionLine, room: int, lk: Look) -> Iterator[Line]:
    for text in fit.wrap(one_line(line.title) or "(nothing said yet)", room):
        yield [("heading", text)]
    until = (
        "open"
        if line.ended_at_epoch is None
        else f"took {lasted((line.ended_at_epoch - line.started_at_epoch) / 1000)}"
    )
    span = f"{look.full(lk, line.started_at_epoch)}, {until}, {one_line(line.platform_source) or 'agent not told'}"
    yield from _said("quiet", span, room)
    held = ", ".join(
        f"{grouped(count)} {noun}{'' if count == 1 else 's'}"
        for count, noun in ((line.prompts, "prompt"), (line.observations, "observation"))
    )  # fmt: skip
    tokens = f"read {read_badge(line.read_tokens)}"
    tokens += f", found for {compact(line.work_tokens)}" if line.work_tokens else ""
    yield from _said("quiet", f"{held}; {tokens}", room)
    told = False
    for name, field in _FIELDS:
        text = safe(getattr(line, field) or "").strip()
        if not text:
            continue
        told = True
        yield []
        yield [("group", name)]
        for part in fit.wrap(text, room):
            yield [("text", part)]
    if not told:
        yield []
        said = f"No summary was written of it. {lk.key('unfold', 'Space')} shows its prompts and records."
        yield from _said("quiet", said, room)


def _said(role: str, text: str, room: int) -> Iterator[Line]:
    for part in fit.wrap(text, room):
        yield [(role, part)]
