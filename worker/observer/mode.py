"""Pure: the kinds of observation and the concepts of the mode `code`.

Source: contract/schema.md, section 6.
"""

TYPES = (
    "bugfix", "feature", "refactor", "change", "discovery", "decision", "security_alert", "security_note", "sensitive",
)  # fmt: skip
NEUTRAL = "discovery"
"""What an observation is whose writer did not say so, or said what nobody knows."""
CONCEPTS = ("how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off")


def known_type(raw: str) -> str | None:
    """The type that a writer means: `Bug-Fix` is `bugfix`. None for what is none."""
    bare = "".join(char for char in raw.lower() if char.isalnum())
    return next((name for name in TYPES if name.replace("_", "") == bare), None)
