"""Pure: the memory as a whole as lines to be read out: costs, sessions, the next start, health."""

from collections.abc import Iterator, Sequence

from tui.cells import health
from tui.cells.clean import one_line, safe
from tui.cells.corpora import moment
from tui.cells.look import Look, full
from tui.cells.marks import grouped
from tui.cells.sizes import percent
from tui.state.corpora import Outcome
from tui.state.health import Healthing
from tui.state.next_start import Preparing
from worker.contract.corpus import CorpusLine
from worker.contract.costs import CostLine, Costs, SessionCost
from worker.contract.sessions import SessionLine

_MOST = 10
_STATES = {"ok": "ok", "warn": "to look at", "fail": "wrong"}


def costs(told: Costs, project: str | None) -> Iterator[str]:
    """What memory costs and gives back."""
    total = told.total
    of = f"project {one_line(project)}" if project is not None else "all projects"
    sessions = f"{grouped(told.session_count)} sessions"
    tokens = _tokens(total.work_tokens, total.read_tokens)
    yield f"Costs of {of}: {grouped(total.records)} records, {sessions}, {tokens}."
    if total.read_back:
        yield f"Read back: {grouped(total.read_back)} records for {grouped(total.read_back_tokens)} tokens."
    never = f"{grouped(total.never)} records, {grouped(total.never_work_tokens)} tokens of work"
    if told.counting_since_epoch_ms is not None:
        yield f"Never came back: {never}, {percent(total.never_work_tokens, total.work_tokens)}."
    groups: tuple[tuple[str, Sequence[CostLine | SessionCost]], ...] = (
        ("Project", told.projects if project is None else ()), ("Type", told.types), ("Session", told.sessions),
    )  # fmt: skip
    for name, lines in groups:
        for line in lines[:_MOST]:
            called = line.value if isinstance(line, CostLine) else line.title or line.session
            share = percent(line.spent.work_tokens, total.work_tokens)
            spent = _tokens(line.spent.work_tokens, line.spent.read_tokens)
            yield f"{name} {one_line(called)}: {share}, {grouped(line.spent.records)} records, {spent}."


def _tokens(work: int, read: int) -> str:
    return f"{grouped(work)} tokens of work, {grouped(read)} to read"


def sessions(told: Sequence[SessionLine], total: int, look: Look) -> Iterator[str]:
    """The latest sessions, each with what it came to."""
    yield f"{grouped(total)} sessions, the latest first."
    for line in told[:_MOST]:
        held = f"{grouped(line.prompts + line.observations + line.summaries)} records"
        place = f"{full(look, line.started_at_epoch)}, {one_line(line.project)}, {held}"
        yield f"{place}: {one_line(line.title) or 'nothing said yet'}"
        for name, text in (("Learned", line.learned), ("Next steps", line.next_steps)):
            if text and one_line(text):
                yield f"{name}: {one_line(text)}"


def next_start(start: Preparing) -> Iterator[str]:
    """What the next session is given, and why."""
    if start.project is None:
        yield "It is not clear whose session; s 3 chooses the project of the third record."
    elif start.silent:
        yield "This worker does not tell yet what it will give."
    elif start.plan is None:
        yield f"What it is given cannot be told now: {one_line(start.failed)}"
    else:
        plan = start.plan
        limit = f" of {grouped(plan.budget_tokens)}" if plan.budget_tokens else ""
        kept = [row for row in plan.rows if row.kept]
        rest = len(plan.rows) - len(kept) + plan.left_out
        whose = f"The next session of {one_line(plan.project)}"
        yield f"{whose} is given {len(kept)} records, {grouped(plan.used_tokens)}{limit} tokens; {rest} are not given."
        for row in start.rows:
            given = "" if row.kept else "not given, "
            signs = ("pinned, " if row.pinned else "") + ("muted, " if row.muted else "")
            change = {"new": "new, ", "gone": "given last time, ", "same": ""}[row.change]
            kind, cost = one_line(row.type).replace("_", " "), f"{grouped(row.read_tokens)} tokens"
            yield f"{given}{change}{signs}{kind} {row.key}, {cost}, {one_line(row.reason)}: {one_line(row.title)}"


def state(told: Healthing, look: Look, *, live: bool, queued: int, file_only: str = "") -> Iterator[str]:
    """How everything is, what is wrong first. file_only: why there is no worker."""
    if told.overview is None:
        yield f"The worker does not tell how it is: {one_line(told.failed)}"
        return
    found = health.parts(
        told.overview, look, live=live, queued=queued, at_epoch_ms=told.at_epoch_ms, file_only=file_only
    )
    wrong = [part for part in found if part.told.state != "ok"]
    yield f"{len(wrong)} things to look at." if wrong else "All is well."
    for part in [*wrong, *(part for part in found if part not in wrong)]:
        yield f"{part.name}, {_STATES[part.told.state]}: {one_line(part.told.message)}"
        if part.told.advice:
            yield f"Advice: {one_line(part.told.advice)}"


def corpora(told: Sequence[CorpusLine], look: Look) -> Iterator[str]:
    """The corpora, each by its number."""
    if not told:
        yield "No corpus yet; `claude-mem corpus build` makes one."
        return
    count = "1 corpus" if len(told) == 1 else f"{len(told)} corpora"
    yield f"{count}. k 1 tells of the first, k 1 and a question asks it."
    for number, line in enumerate(told, 1):
        yield f"{number}. {_corpus(line, look)}"


def corpus(line: CorpusLine, look: Look) -> Iterator[str]:
    """One of them."""
    yield f"{_corpus(line, look)}."
    if line.stats.type_breakdown:
        yield ", ".join(f"{grouped(count)} {one_line(kind)}" for kind, count in line.stats.type_breakdown.items())
    if line.description:
        yield one_line(line.description)
    if line.stale:
        yield f"Stale: {grouped(line.missing)} of its records were deleted since it was built."


def outcome(told: Outcome) -> Iterator[str]:
    """What it answered."""
    if told.failed or told.answer is None:
        yield f"Not answered: {one_line(told.failed)}"
        return
    if told.answer.model:
        yield f"Answered by {one_line(told.answer.model)}."
    yield from safe(told.answer.answer).strip().split("\n")


def _corpus(line: CorpusLine, look: Look) -> str:
    stats = line.stats
    state = ("primed" if line.session_id else "not primed") + (", stale" if line.stale else "")
    when = moment(line.updated_at)
    built = f", built {full(look, when)}" if when is not None else ""
    count, tokens = grouped(stats.observation_count), grouped(stats.token_estimate)
    return f"{one_line(line.name)}, {count} records, {tokens} tokens, {state}{built}"
