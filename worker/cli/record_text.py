"""Pure: a record in full, as text for a person."""

from datetime import tzinfo

from worker.contract import when
from worker.contract.records import Observation, Prompt, Record, Summary, items, key_of


def record_text(record: Record, zone: tzinfo | None = None) -> str:
    """Title, a line about it, then what it says; fields that are empty are left out. zone: of the time shown."""
    match record:
        case Observation():
            parts = _observation(record)
        case Summary():
            parts = _summary(record)
        case Prompt():
            parts = [f"Prompt {record.prompt_number}", _about(record, zone), record.prompt_text]
            return "\n".join(parts[:2]) + f"\n\n{parts[2].strip()}"
    title, *sections = parts
    return "\n\n".join([f"{title}\n{_about(record, zone)}", *(section for section in sections if section)])


def title_of(record: Observation | Summary) -> str:
    """What it is called."""
    match record:
        case Observation():
            return (record.title or "").strip() or "Untitled"
        case Summary():
            return (record.request or "").strip() or "Session summary"


def facts_of(record: Record, zone: tzinfo | None = None) -> list[str]:
    """Key, kind, project and time of a record, as they are shown; what is empty is left out."""
    match record:
        case Observation():
            kind = record.type
        case Summary():
            kind = "session"
        case Prompt():
            kind = "prompt"
    moment = when.at_ms(record.created_at_epoch, zone).strftime("%Y-%m-%d %H:%M")
    return [fact for fact in (f"#{key_of(record)}", kind, record.project or "", moment) if fact]


def _observation(record: Observation) -> list[str]:
    body = [record.subtitle, record.narrative, record.text]
    tail = (
        ("Concepts", record.concepts),
        ("Files read", record.files_read),
        ("Files modified", record.files_modified),
    )
    return [
        title_of(record),
        *(text.strip() for text in body if text),
        _bullets("Facts", record.facts),
        "\n".join(f"{name}: {', '.join(items(column))}" for name, column in tail if items(column)),
    ]


def _summary(record: Summary) -> list[str]:
    told = (
        ("Investigated", record.investigated),
        ("Learned", record.learned),
        ("Completed", record.completed),
        ("Next steps", record.next_steps),
        ("Notes", record.notes),
    )
    files = (("Files read", record.files_read), ("Files edited", record.files_edited))
    return [
        title_of(record),
        *(f"{name}:\n{text.strip()}" for name, text in told if text and text.strip()),
        "\n".join(f"{name}: {', '.join(items(column))}" for name, column in files if items(column)),
    ]


def _bullets(name: str, column: str | None) -> str:
    return "\n".join([f"{name}:", *(f"  - {item}" for item in items(column))]) if items(column) else ""


def _about(record: Record, zone: tzinfo | None) -> str:
    facts = facts_of(record, zone)
    if not isinstance(record, Prompt) and record.discovery_tokens:
        facts.append(f"took {record.discovery_tokens:,} tokens to find out")
    return " | ".join(facts)
