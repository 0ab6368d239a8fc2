"""Answers as text that an agent reads, in the MCP content shape that the original uses."""

import msgspec


class TextItem(msgspec.Struct, frozen=True):
    """One piece of text."""

    type: str
    text: str


class Text(msgspec.Struct, frozen=True, omit_defaults=True):
    """``{"content":[{"type":"text","text":…}]}``, with ``isError`` when the question could not be answered."""

    content: tuple[TextItem, ...]
    isError: bool = False

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(item.text for item in self.content)


def text(value: str, *, error: bool = False) -> Text:
    """A one-piece text answer."""
    return Text((TextItem("text", value),), error)
