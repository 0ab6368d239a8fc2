"""Pure: what a text costs an agent to read."""


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, the unit in which the original measures: an emoji counts 2."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for char in text if char > "\uffff")


def estimate_tokens(text: str) -> int:
    """Tokens of a text, as shown in every `Read` column: UTF-16 length / 4, rounded half up.

    A rule of thumb for English prose and code; Chinese and Japanese cost up to four times more.
    Source: ``estimateTokens`` of the original (``timeline-formatting.ts``).
    """
    return (utf16_length(text) + 2) // 4


def shown_tokens(tokens: int) -> str:
    """An estimate as every table shows it: `~61`."""
    return f"~{tokens}"
