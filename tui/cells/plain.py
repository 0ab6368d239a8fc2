"""Pure: a record in full as Markdown, to be pasted elsewhere."""

from collections.abc import Iterator

from worker.contract.records import Observation, Prompt, Record, Summary, items, key_of
from worker.contract.when import iso_utc


def whole(record: Record) -> str:
    """Title, where and when, then every field that has something in it."""
    return "\n".join(_lines(record)).rstrip()


def _lines(record: Record) -> Iterator[str]:
    match record:
        case Observation():
            title, kind = record.title or record.subtitle or "untitled", record.type
        case Summary():
            title, kind = record.request or "session summary", "session"
        case Prompt():
            title, kind = f"prompt {record.prompt_number}", "prompt"
    yield f"## #{key_of(record)} {' '.join(title.split())}"
    yield f"{kind.replace('_', ' ')}, {record.project or 'no project'}, {iso_utc(record.created_at_epoch)}"
    match record:
        case Observation():
            yield from _text("", record.subtitle)
            yield from _text("", record.narrative or record.text)
            yield from _items("Facts", record.facts)
            yield from _items("Concepts", record.concepts)
            yield from _items("Changed", record.files_modified)
            yield from _items("Read", record.files_read)
        case Summary():
            yield from _text("Investigated", record.investigated)
            yield from _text("Learned", record.learned)
            yield from _text("Completed", record.completed)
            yield from _text("Next steps", record.next_steps)
            yield from _text("Notes", record.notes)
            yield from _items("Changed", record.files_edited)
            yield from _items("Read", record.files_read)
        case Prompt():
            yield from _text("", record.prompt_text)


def _text(label: str, text: str | None) -> Iterator[str]:
    if text and text.strip():
        yield ""
        if label:
            yield f"**{label}**"
        yield text.strip("\n")


def _items(label: str, column: str | None) -> Iterator[str]:
    listed = items(column)
    if listed:
        yield ""
        yield f"**{label}**"
        yield from (f"- {' '.join(item.split())}" for item in listed)
