"""Pure: what makes two observations the same; how a cost is shared out."""

import re

from worker.store.drafts import Draft

_FIGURES = re.compile(r"(?<![\w./-])\d+(?:[.,:]\d+)*(?: ?(?:ms|s|min|h|%|x|[kmg]?b))?(?![\w/])")
"""Counts and durations; not the numbers in names, as of files and versions, which tell things apart."""
_BETWEEN = re.compile(r"[^\w#]+|_+")


def likeness(title: str | None, narrative: str | None) -> str:
    """What is left of texts without figures, case and marks: near copies give the same (R166).

    What is equal to the letter is found by ``worker.store.observations.content_hash``, for every writer.
    """
    return "\n".join(
        _BETWEEN.sub(" ", _FIGURES.sub("#", (text or "").casefold())).strip() for text in (title, narrative)
    )


def shared(tokens: int, count: int) -> tuple[int, ...]:
    """A cost in parts as equal as whole numbers can be; their sum is the cost."""
    if count < 1:
        return ()
    part, rest = divmod(max(tokens, 0), count)
    return tuple(part + (at < rest) for at in range(count))


def is_empty(draft: Draft) -> bool:
    """Whether an observation says nothing at all."""
    return not (draft.title or draft.narrative or draft.facts or draft.concepts)
