"""Pure: stored text that cannot pass for a host's or a model's own tags."""

import re

# Names that a host or a model may take for its own: those of several words, and a few plain ones. `List<int>` stays.
_TAG = re.compile(
    r"<(?=[ \t]{0,4}[/!?]?[ \t]{0,4}(?:[a-z]\w{0,60}[-_:.]\w|"
    r"(?:private|system|user|assistant|human|instructions?|tools?|functions?|invoke|parameters?|context|memory)\b))",
    re.IGNORECASE,
)


def harmless(text: str) -> str:
    """The text with `<` of every tag that could be somebody's order made harmless."""
    return _TAG.sub("&lt;", text)
