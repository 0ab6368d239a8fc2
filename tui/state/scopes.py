"""Pure: of whom the list is: a project, its worktrees too, all, one session; and which of these comes next."""

from msgspec import Struct

from tui.state.chips import Chip
from tui.state.model import Ask, ViewState
from worker.contract.project_name import head, with_worktrees


class Scope(Struct, frozen=True):
    """project: None for all; `shop/*` for its worktrees too. session: this one alone, by its memory id."""

    project: str | None = None
    session: str = ""


def here(ask: Ask) -> Scope:
    """The scope of a question."""
    return Scope(ask.project, ask.session)


def ring(state: ViewState) -> list[Scope]:
    """The scopes that differ, in the order of their key: project, worktrees too, all, the session of the cursor."""
    project, session = _project(state), _session(state)
    found = [Scope(project)] if project else []
    if project and (family := with_worktrees(project)) and _has_worktrees(state, project, family):
        found.append(Scope(family))
    found.append(Scope())
    return [*found, Scope(session=session)] if session else found


def following(state: ViewState) -> Scope:
    """The next one; the same where there is no other."""
    scopes, now = ring(state), here(state.ask)
    return scopes[(scopes.index(now) + 1) % len(scopes)] if now in scopes else scopes[0]


def told(scope: Scope) -> str:
    """`shop`, `shop and worktrees`, `all projects`, `session 9f2c41d0`."""
    if scope.session:
        return f"session {scope.session[:8]}"
    if scope.project is None:
        return "all projects"
    main = head(scope.project)
    return f"{main} and worktrees" if main is not None else scope.project


def kind(scope: Scope) -> str:
    """What it is in the order of the key: `project`, `worktrees`, `all`, `session`."""
    if scope.session:
        return "session"
    if scope.project is None:
        return "all"
    return "worktrees" if head(scope.project) is not None else "project"


def single(project: str | None) -> str | None:
    """The one project where only one can be meant: of a project with its worktrees, the project."""
    return (head(project) or project) if project is not None else None


def line(ask: Ask) -> str:
    """The query line that finds the same in the project, where a session can be told in no other way."""
    chip = Chip("session", ask.session)
    return f"{chip} {ask.text.strip()}".rstrip() if ask.session and chip.fits else ask.text.strip()


def _project(state: ViewState) -> str | None:
    """The project that the key begins with: that of the list, of the cursor's record, of where the app was started."""
    asked = state.ask.project
    near = (state.entry.project if state.entry is not None else None) or state.home
    if asked is None:
        return near
    main = head(asked)
    if main is None:
        return asked
    return near if near is not None and with_worktrees(near) == asked else main


def _session(state: ViewState) -> str:
    if state.ask.session:
        return state.ask.session
    return (state.entry.session or "") if state.entry is not None else ""


def _has_worktrees(state: ViewState, project: str, family: str) -> bool:
    """Whether more is found with the worktrees than without."""
    if state.ask.project == family:
        return True
    return any(with_worktrees(name) == family and name != project for name in state.projects)
