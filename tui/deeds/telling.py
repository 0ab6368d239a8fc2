"""The memory as a whole, asked for in a letter and told as lines."""

from msgspec.structs import replace

from tui.cells import survey_lines
from tui.cells.clean import one_line
from tui.cells.look import Look
from tui.gateway.corpora import Corpora
from tui.gateway.surveys import Surveys
from tui.state import corpora, costs, health, next_start, scopes, session_tree
from tui.state.costs import Part
from tui.state.health import Healthing
from tui.state.model import Link, ViewState
from tui.state.next_start import Preparing
from worker.contract.search import Entry


async def told(name: str, surveys: Surveys, state: ViewState, look: Look, here: Entry | None) -> list[str]:
    """What a letter asks for: `c` costs, `l` sessions, `p` the next start, `w` how everything is.

    here: a record of the last list, whose project is meant where none is chosen.
    """
    project = state.ask.project
    match name:
        case "c":
            spent = await surveys.costs(replace(state.costs, part=Part(project)), None, state.ask.as_of_ms)
            if isinstance(spent, costs.Answered):
                return list(survey_lines.costs(spent.costs, project))
        case "l":
            page = await surveys.sessions(0, project or "", 0, state.ask.as_of_ms)
            if isinstance(page, session_tree.PageRead):
                return list(survey_lines.sessions(page.sessions, page.total, look))
        case "p":
            whose = scopes.single(project) or (here and here.project) or state.home
            return list(survey_lines.next_start(await _plan(surveys, whose)))
        case _:
            looked = health.after(Healthing(), health.Begun())
            fact = await surveys.overview(looked.seq, look.now_ms)
            looked = health.after(looked, fact) if isinstance(fact, health.HealthFact) else looked
            live = state.link is Link.LIVE
            return list(survey_lines.state(looked, look, live=live, queued=state.queued, file_only=state.file_only))
    return ["That cannot be told now; r reads the list anew, q quits."]


async def consulted(gateway: Corpora, number: int | None, question: str, look: Look) -> list[str]:
    """The corpora by number; one of them, or what it answers."""
    listed = await gateway.listed(0)
    if not isinstance(listed, corpora.Listed):
        failed = listed.reason if isinstance(listed, corpora.ListFailed) else ""
        return [f"The corpora cannot be told now: {one_line(failed)}"]
    if number is None:
        return list(survey_lines.corpora(listed.lines, look))
    if not 0 < number <= len(listed.lines):
        return [f"There is no corpus {number}; k lists them."]
    line = listed.lines[number - 1]
    if not question:
        return list(survey_lines.corpus(line, look))
    asked = corpora.Doing(0, corpora.Deed.ASK, question)
    return list(survey_lines.outcome((await gateway.done(line.name, asked)).outcome))


async def _plan(surveys: Surveys, project: str | None) -> Preparing:
    start = next_start.after(Preparing(), next_start.Begun(project))
    if start.project is None:
        return start
    fact = await surveys.plan(start.seq, start.project)
    return next_start.after(start, fact) if isinstance(fact, next_start.StartFact) else start
