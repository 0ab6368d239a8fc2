"""Markdown by project and day: what was stored is shown and does nothing."""

import datetime as dt
import os
from pathlib import Path

import msgspec
import pytest

from tests.factories import DAY, NOON, Row, observation_row, prompt_row, summary_row
from tests.fakes import machine_zone
from worker.cli.day_text import Entry, day_text
from worker.cli.days import folder_name, spool
from worker.contract.transfer import RowKind

UTC = dt.UTC


def entry(kind: RowKind, row: Row, number: int = 1) -> Entry:
    return Entry(kind, {"id": number, **row})


def test_a_day_reads_from_question_to_outcome() -> None:
    text = day_text(
        "shop",
        "2026-03-04",
        [
            entry(RowKind.PROMPT, prompt_row()),
            entry(
                RowKind.OBSERVATION,
                observation_row(subtitle="Clock skew", narrative="Too early.\n\nBy a minute.", facts='["a","b\\nc"]'),
                118,
            ),
            entry(RowKind.SUMMARY, summary_row(learned="Skew matters", files_edited='["src/a.py"]'), 14),
        ],
        UTC,
    )
    assert text == (
        "# shop, 2026-03-04\n\n"
        "## 11:59 prompt 1 (#P1)\n\n> why does the token still work?\n\n"
        "## 12:00 bugfix: Expired token accepted (#118)\n\n> Clock skew\n\n> Too early.\n>\n> By a minute.\n\n"
        "- a\n- b c\n\n"
        "## 13:00 session: Fix token expiry (#S14)\n\n**Learned**\n\n> Skew matters\n\n- Files edited: src/a.py\n"
    )


@pytest.mark.parametrize(
    "hostile",
    [
        "# heading", "```\nunclosed", "<script>alert(1)</script>", "![x](http://tracker/)", "\x1b]0;owned\x07\x9b31m",
        "a\n## 12:00 forged: entry (#9)", "---\n", "\\<script>", "\u2028## forged",
    ],
)  # fmt: skip
def test_stored_text_does_nothing(hostile: str) -> None:
    row = observation_row(hostile, narrative=hostile, facts=msgspec.json.encode([hostile]).decode(), subtitle=hostile)
    text = day_text(
        hostile, "2026-03-04", [entry(RowKind.OBSERVATION, row), entry(RowKind.PROMPT, prompt_row(hostile))]
    )
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert len(heads) == 3
    assert "<script" not in text and "![" not in text and "\x1b" not in text and "\x9b" not in text
    assert not any(line.startswith(("```", "---")) for line in text.splitlines())


def test_empty_and_odd_values_are_shown_as_nothing() -> None:
    row: Row = {"created_at_epoch": None, "title": None, "type": 5, "facts": "no list", "project": None}
    text = day_text("", "1970-01-01", [entry(RowKind.OBSERVATION, row)], UTC)
    assert text == "# (no project), 1970-01-01\n\n## 00:00 5: Untitled (#1)\n\n- no list\n"


def test_a_folder_for_a_project_and_a_file_for_a_local_day(tmp_path: Path) -> None:
    late = NOON + 11 * 3_600_000
    rows = [observation_row("noon", project="a/b"), observation_row("late", project="a/b", created_at_epoch=late)]
    rows += [observation_row("first", project="a/b", created_at_epoch=NOON - 1)]
    raws = [msgspec.Raw(msgspec.json.encode({"id": at, **row})) for at, row in enumerate(rows, 1)]
    with machine_zone("Europe/Berlin"), spool() as days:
        days.take([(RowKind.SESSION, raws), (RowKind.OBSERVATION, raws)])
        days.write_folder(tmp_path / "out")
    (folder,) = (tmp_path / "out").iterdir()
    assert folder.name.startswith("a_b-")
    assert sorted(file.name for file in folder.iterdir()) == ["2026-03-04.md", "2026-03-05.md"]
    text = (folder / "2026-03-04.md").read_text()
    assert text.index("first") < text.index("noon") and "late" not in text
    assert os.stat(folder / "2026-03-04.md").st_mode & 0o777 == 0o600


def test_stored_days_are_written_anew_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name in ("2026-03-04.md", "2020-01-01.md", "mine.txt"):
        (tmp_path / "shop" / name).write_text("old")
    with machine_zone("UTC"), spool() as days:
        days.take([(RowKind.OBSERVATION, [msgspec.Raw(msgspec.json.encode({"id": 1, **observation_row()}))])])
        days.write_folder(tmp_path)
    assert sorted(file.name for file in tmp_path.rglob("*") if file.is_file() and file.read_text() == "old") == [
        "2020-01-01.md", "mine.txt",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "project",
    ["..", ".", "", "../../etc", "/etc/passwd", "a\\b", "C:evil", "nul", "CON.txt", "x" * 500, "a\x00b", " ", "-rf",
     ".hidden", "trailing. ", "日本語/プロジェクト", "a\n# b"],
)  # fmt: skip
def test_folder_names_lead_nowhere_else(tmp_path: Path, project: str) -> None:
    name = folder_name(project, {})
    place = tmp_path / name
    place.mkdir()
    assert place.resolve().parent == tmp_path.resolve() and len(name) < 80 and not name.startswith((".", "-"))


def test_no_two_projects_share_a_folder() -> None:
    names: dict[str, str] = {}
    projects = ["Shop", "shop", "a/b", "a_b", "a:b", "shop", "", "no-project", "DAY", str(DAY)]
    given = {project: folder_name(project, names) for project in projects}
    assert len({name.casefold() for name in given.values()}) == len(set(projects))
    assert given["Shop"] == "Shop" and given["shop"] == folder_name("shop", names)
