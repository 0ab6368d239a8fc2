"""Records in full, as a person reads them."""

import datetime as dt

import pytest

from worker.cli.record_line import record_line
from worker.cli.record_text import record_text
from worker.contract.records import Observation, Prompt, Record, Summary

AT = {"created_at": "2026-03-04T14:15:00.000Z", "created_at_epoch": 1772633700000}


def observation(**over: object) -> Observation:
    return Observation(**{"id": 118, "memory_session_id": "m", "project": "shop", "type": "bugfix"} | AT | over)  # type: ignore[arg-type]


def summary(**over: object) -> Summary:
    return Summary(**{"id": 14, "memory_session_id": "m", "project": "shop"} | AT | over)  # type: ignore[arg-type]


def prompt(**over: object) -> Prompt:
    return Prompt(**{"id": 40, "content_session_id": "c", "prompt_number": 3, "prompt_text": "why?"} | AT | over)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (
            observation(
                title="Expired token",
                subtitle="Skew",
                narrative="It came early.\n",
                facts='["one","two"]',
                concepts='["gotcha"]',
                files_read='["a.py","b.py"]',
                discovery_tokens=12345,
            ),
            "Expired token\n#118 | bugfix | shop | 2026-03-04 14:15 | took 12,345 tokens to find out\n\n"
            "Skew\n\nIt came early.\n\nFacts:\n  - one\n  - two\n\nConcepts: gotcha\nFiles read: a.py, b.py",
        ),
        (observation(), "Untitled\n#118 | bugfix | shop | 2026-03-04 14:15"),
        (
            observation(title=" ", facts="no JSON"),
            "Untitled\n#118 | bugfix | shop | 2026-03-04 14:15\n\nFacts:\n  - no JSON",
        ),
        (
            summary(request="Fix expiry", learned="Skew matters", next_steps=" ", files_edited='["a.py"]'),
            "Fix expiry\n#S14 | session | shop | 2026-03-04 14:15\n\nLearned:\nSkew matters\n\nFiles edited: a.py",
        ),
        (summary(), "Session summary\n#S14 | session | shop | 2026-03-04 14:15"),
        (prompt(), "Prompt 3\n#P40 | prompt | 2026-03-04 14:15\n\nwhy?"),
        (prompt(project="shop"), "Prompt 3\n#P40 | prompt | shop | 2026-03-04 14:15\n\nwhy?"),
    ],
)
def test_what_is_shown(record: Record, text: str) -> None:
    """R046: each record shows some text."""
    assert record_text(record, dt.UTC) == text


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (
            observation(title="Expired token", discovery_tokens=9),
            "#118 | bugfix | shop | 2026-03-04 14:15 | Expired token",
        ),
        (observation(title=" "), "#118 | bugfix | shop | 2026-03-04 14:15 | Untitled"),
        (observation(title="a\n#7", project="b\n#8"), "#118 | bugfix | b #8 | 2026-03-04 14:15 | a #7"),
        (summary(request="Fix\u2028expiry"), "#S14 | session | shop | 2026-03-04 14:15 | Fix expiry"),
        (prompt(), "#P40 | prompt | 2026-03-04 14:15 | why?"),
        (prompt(prompt_text="x" * 100), f"#P40 | prompt | 2026-03-04 14:15 | {'x' * 100}"),
        (prompt(prompt_text="x" * 101), f"#P40 | prompt | 2026-03-04 14:15 | {'x' * 99}…"),
        (prompt(prompt_text=f"use ghp_{'a1B2' * 9} now"), "#P40 | prompt | 2026-03-04 14:15 | use **** now"),
    ],
)
def test_on_one_line(record: Record, line: str) -> None:
    """None is two records to whoever reads it, and none shows a secret."""
    assert record_line(record, dt.UTC) == line
