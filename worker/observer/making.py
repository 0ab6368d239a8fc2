"""Records out of what was captured: by rules of our own, or by asking a model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from worker.contract.tokens import estimate_tokens
from worker.llm import telling
from worker.llm.provider import Completion, Failure, Prompt, Provider, ProviderFailed
from worker.observer import acts, events, local, parse, prompts, wrapup
from worker.observer.events import Event
from worker.observer.identity import shared
from worker.observer.parse import Answer
from worker.store.drafts import Draft, Past, SummaryDraft
from worker.store.pending import Kind, Queued

LOCAL = "local"
_A_COMPLAINT = 1_000
"""Characters: what is longer and no answer is no complaint either."""
_MOST_FILES = 60


@dataclass(frozen=True, slots=True)
class Part:
    """What is worked on as one: events of one turn, or its end. past: what is known of the session before it.

    files: of the turn, read and modified, for its end. said: the agent's last words of the turn, where they are known.
    """

    items: tuple[Queued, ...]
    past: Past = Past()
    files: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    said: str = ""

    @property
    def ids(self) -> tuple[int, ...]:
        """Of the queue."""
        return tuple(item.id for item in self.items)

    @property
    def request(self) -> str:
        """What was asked in this turn; empty if nobody knows."""
        return self.past.prompts.get(self.items[0].prompt_number, "")


@dataclass(frozen=True, slots=True)
class Made:
    """The records. model: what wrote them. tokens: what the answer cost, None where none was asked for."""

    observations: tuple[Draft, ...] = ()
    summary: SummaryDraft | None = None
    model: str = LOCAL
    tokens: int | None = None


def parts(batch: Sequence[Queued], *, by_agent: bool) -> list[tuple[Queued, ...]]:
    """A batch by turns, the ends of turns apart; in their order. by_agent: and each agent's events apart."""
    found: dict[tuple[object, ...], list[Queued]] = {}
    for item in batch:
        if item.kind is Kind.SUMMARY:
            found[(item.id,)] = [item]
        else:
            found.setdefault((item.prompt_number, item.project, item.agent_id if by_agent else None), []).append(item)
    return [tuple(items) for items in found.values()]


def last_words(batch: Sequence[Queued], items: Sequence[Queued]) -> str:
    """What the agent said at the end of the turn of some items, if that is in the batch; nothing for a sub-agent's."""
    first = items[0]
    ends = (one for one in batch if one.kind is Kind.SUMMARY and one.prompt_number == first.prompt_number)
    end = next(ends, None)
    return "" if end is None or first.agent_id else end.last_assistant_message or ""


async def by_rules(part: Part) -> Made:
    """Without a model; on a thread, for a tool may have said much."""
    return await asyncio.to_thread(_by_rules, part)


async def by_model(part: Part, provider: Provider, *, shrink: int = 0) -> Made:
    """By asking. shrink: how often the same was too long for the model. Errors: ``ProviderFailed``."""
    ends = part.items[0].kind is Kind.SUMMARY
    opened = () if ends else await asyncio.to_thread(lambda: tuple(events.event(item) for item in part.items))
    asked = _question(part, opened, shrink)
    completion = _counted(asked, await provider.complete(asked))
    found = _answer(completion)
    if ends and found.summary is None and not found.skipped:
        raise _bad(completion, "the model wrote no summary")
    return _made(part, opened, found, completion)


def _by_rules(part: Part) -> Made:
    if part.items[0].kind is Kind.SUMMARY:
        return Made(summary=_summed(part))
    opened = [events.event(item) for item in part.items]
    return Made(observations=local.observations(opened, local.Turn(_asked(part.past), part.said)))


def _asked(past: Past) -> tuple[str, ...]:
    return tuple(past.prompts[number] for number in sorted(past.prompts, reverse=True))


def _summed(part: Part) -> SummaryDraft | None:
    (item,) = part.items
    read, edited = part.files
    done = wrapup.Done(
        prompt=part.request,
        last_message=item.last_assistant_message or "",
        titles=part.past.titles,
        files_read=read[:_MOST_FILES],
        files_edited=edited[:_MOST_FILES],
        cwd=item.cwd or "",
    )
    return wrapup.summary(done)


def _question(part: Part, opened: Sequence[Event], shrink: int) -> Prompt:
    if part.items[0].kind is Kind.SUMMARY:
        last = part.items[0].last_assistant_message or ""
        return prompts.of_turn(part.request, last[: len(last) >> shrink], part.past.titles)
    return prompts.of_events(opened, part.request, most_field=prompts.MOST_FIELD >> (2 * shrink))


def _counted(asked: Prompt, completion: Completion) -> Completion:
    """An answer with its cost; an estimate from a server that does not count, or no budget would ever be spent."""
    if completion.tokens:
        return completion
    return replace(completion, tokens=sum(map(estimate_tokens, (asked.system, asked.user, completion.text))))


def _answer(completion: Completion) -> Answer:
    found = parse.answer(completion.text)
    if found is not None:
        return found
    if not completion.text.strip():
        raise _bad(completion, "the model gave an empty answer")
    kind = telling.of_words(completion.text) if len(completion.text) <= _A_COMPLAINT else None
    if kind is None:
        raise _bad(completion, "the model answered what is no observation")
    told = f"{completion.model} instead of an answer: {telling.sentence(kind)}"
    raise ProviderFailed(kind, told, tokens=completion.tokens, model=completion.model)


def _bad(completion: Completion, told: str) -> ProviderFailed:
    return ProviderFailed(Failure.BAD_ANSWER, told, tokens=completion.tokens, model=completion.model)


def _made(part: Part, opened: Sequence[Event], found: Answer, completion: Completion) -> Made:
    drafts = _with_files(found.observations, opened)
    ids = tuple(event.tool_use_id for event in opened if event.tool_use_id)
    drafts = tuple(replace(draft, tool_use_ids=ids if at == 0 else ()) for at, draft in enumerate(drafts))
    summary = found.summary
    if summary is not None:
        read, edited = part.files
        summary = replace(summary, files_read=read[:_MOST_FILES], files_edited=edited[:_MOST_FILES])
    costs = shared(completion.tokens, len(drafts) + (summary is not None))
    drafts = tuple(replace(draft, tokens=cost) for draft, cost in zip(drafts, costs, strict=False))
    if summary is not None:
        summary = replace(summary, tokens=costs[-1])
    return Made(drafts, summary, completion.model, completion.tokens)


def _with_files(drafts: Sequence[Draft], opened: Sequence[Event]) -> tuple[Draft, ...]:
    """Drafts with the files that the tools' own inputs prove.

    Of several, each has those that it names itself, and the first those that none names.
    """
    proven = [acts.proven(event) for event in opened]
    read, modified = (tuple(dict.fromkeys(path for each in proven for path in each[at])) for at in (0, 1))
    if not drafts:
        return ()
    claimed = [tuple(path for path in modified if _names(draft.files_modified, path)) for draft in drafts]
    rest = tuple(path for path in modified if not any(path in paths for paths in claimed))
    claimed[0] += rest
    reads = [draft.files_read if at else _united(read, draft.files_read) for at, draft in enumerate(drafts)]
    return tuple(
        replace(draft, files_modified=paths[:_MOST_FILES], files_read=looked[:_MOST_FILES], trifle=not paths)
        for draft, paths, looked in zip(drafts, claimed, reads, strict=True)
    )


def _names(listed: Sequence[str], path: str) -> bool:
    """Whether a path is in a list, be it by its end alone."""
    return any(path == other or path.endswith("/" + other.lstrip("./")) for other in listed if other)


def _united(proven: Sequence[str], listed: Sequence[str]) -> tuple[str, ...]:
    """Paths that were read, then those that a model names beside them."""
    others = [path for path in listed if path and not any(_names((path,), known) for known in proven)]
    return tuple(dict.fromkeys((*proven, *others)))
