import datetime as dt
import re
from collections import Counter
from itertools import pairwise
from zoneinfo import ZoneInfo

import msgspec
import pytest

from worker.contract.records import items
from worker.contract.transfer import ImportBatch
from worker.contract.when import at_ms, iso_utc
from worker.demo.load import QUIET_MINUTES, projects, records

TYPES = {"bugfix", "feature", "refactor", "change", "discovery", "decision", "security_note", "security_alert"}
CONCEPTS = {
    "how-it-works",
    "why-it-exists",
    "what-changed",
    "problem-solution",
    "gotcha",
    "pattern",
    "trade-off",
}
JSON_COLUMNS = ("facts", "concepts", "files_read", "files_modified")
SECRETS = re.compile(
    r"sk-[A-Za-z0-9]{8}|AKIA[A-Z0-9]{8}|gh[pousr]_\w{8}|xox[bap]-|eyJ[\w-]{8}|-----BEGIN|\b[0-9a-fA-F]{24,}\b"
    r"|(?i:password|secret|token)\s*[=:]\s*['\"]?\w{6,}"
)
ADDRESS = re.compile(r"https?://(?!(?:\w+\.)*example\.com)|\b[\w.]+@[\w.]+\.\w+")
KANA = re.compile(r"[\u3040-\u30ff]")
HAN = re.compile(r"[\u4e00-\u9fff]")
ZONE = ZoneInfo("Europe/Berlin")
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


def epoch(text: str, zone: str = "Europe/Berlin") -> int:
    return int(dt.datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)


NOW = epoch("2026-03-13T17:30")


@pytest.fixture(scope="module")
def batch() -> ImportBatch:
    return records(NOW, ZONE)


def test_there_is_enough_to_search_and_scroll(batch: ImportBatch) -> None:
    assert len(batch.observations) >= 300
    assert len(batch.sessions) >= 70
    assert len(batch.summaries) == len(batch.sessions)
    assert len(batch.prompts) >= 150
    assert len({row["project"] for row in batch.sessions}) == 6


def test_file_name_is_the_project() -> None:
    names = [project.project for project in projects()]
    assert names == sorted(set(names))


def test_no_two_records_are_alike(batch: ImportBatch) -> None:
    titles = Counter((row["project"], row["title"]) for row in batch.observations)
    assert titles.most_common(1)[0][1] == 1
    for rows, column in (
        (batch.observations, "narrative"),
        (batch.observations, "subtitle"),
        (batch.summaries, "learned"),
        (batch.prompts, "prompt_text"),
    ):
        texts = Counter(row[column] for row in rows)
        assert texts.most_common(1)[0][1] == 1, texts.most_common(1)


def test_types_and_concepts_are_the_known_ones_and_all_occur(batch: ImportBatch) -> None:
    assert {row["type"] for row in batch.observations} == TYPES
    seen = [set(items(row["concepts"])) for row in batch.observations]
    assert all(seen)
    assert set.union(*seen) == CONCEPTS


def test_observations_are_whole(batch: ImportBatch) -> None:
    for row in batch.observations:
        title = row["title"]
        assert row["subtitle"] and len(row["narrative"]) >= 40, title
        assert HAN.search(title) or KANA.search(title) or 4 <= len(title.split()) <= 12, title
        assert 2 <= len(items(row["facts"])) <= 5, title
        assert items(row["files_read"]) or items(row["files_modified"]), title
        assert 800 <= row["discovery_tokens"] <= 28_000, title


def test_discovery_tokens_vary(batch: ImportBatch) -> None:
    spent = sorted(row["discovery_tokens"] for row in batch.observations)
    assert spent[0] < 1_500
    assert spent[-1] > 20_000
    assert len(set(spent)) > 60
    assert all(row["discovery_tokens"] > 0 for row in batch.summaries)


def test_json_columns_are_compact_arrays_of_texts(batch: ImportBatch) -> None:
    columns = [row[name] for row in batch.observations for name in JSON_COLUMNS]
    columns += [row[name] for row in batch.summaries for name in ("files_read", "files_edited")]
    for column in columns:
        assert msgspec.json.encode(msgspec.json.decode(column, type=list[str])).decode() == column


def test_chinese_and_japanese_have_their_share(batch: ImportBatch) -> None:
    narratives = [row["narrative"] for row in batch.observations]
    japanese = [text for text in narratives if len(KANA.findall(text)) > 20]
    chinese = [text for text in narratives if len(HAN.findall(text)) > 20 and not KANA.search(text)]
    assert 0.10 <= len(chinese) / len(narratives) <= 0.15
    assert 0.06 <= len(japanese) / len(narratives) <= 0.11


def test_rows_name_their_session(batch: ImportBatch) -> None:
    content = {row["content_session_id"]: row for row in batch.sessions}
    memory = {row["memory_session_id"]: row for row in batch.sessions}
    assert len(content) == len(memory) == len(batch.sessions)
    assert "demo-farm-api-03" in content
    assert Counter(row["memory_session_id"] for row in batch.summaries) == Counter(dict.fromkeys(memory, 1))
    asked: Counter[str] = Counter()
    for row in batch.prompts:
        asked[row["content_session_id"]] += 1
        assert row["prompt_number"] == asked[row["content_session_id"]]
        if row["prompt_number"] == 1:
            assert content[row["content_session_id"]]["user_prompt"] == row["prompt_text"]
    assert asked.keys() == content.keys()
    for row in (*batch.observations, *batch.summaries):
        session = memory[row["memory_session_id"]]
        assert row["project"] == session["project"]
        assert 1 <= row["prompt_number"] <= asked[session["content_session_id"]]
        assert session["started_at_epoch"] <= row["created_at_epoch"] <= session["completed_at_epoch"]


def test_an_observation_follows_its_prompt_and_precedes_the_next(batch: ImportBatch) -> None:
    content_of = {row["memory_session_id"]: row["content_session_id"] for row in batch.sessions}
    asked = {(row["content_session_id"], row["prompt_number"]): row["created_at_epoch"] for row in batch.prompts}
    for row in batch.observations:
        content, number = content_of[row["memory_session_id"]], row["prompt_number"]
        assert asked[content, number] < row["created_at_epoch"] < asked.get((content, number + 1), NOW), row["title"]


def test_texts_and_epochs_say_the_same(batch: ImportBatch) -> None:
    for row in (*batch.observations, *batch.summaries, *batch.prompts):
        assert row["created_at"] == iso_utc(row["created_at_epoch"])
    for row in batch.sessions:
        assert row["started_at"] == iso_utc(row["started_at_epoch"])
        assert row["completed_at"] == iso_utc(row["completed_at_epoch"])
        assert row["status"] == "completed"


def test_platforms_are_mostly_claude(batch: ImportBatch) -> None:
    platforms = Counter(row["platform_source"] for row in batch.sessions)
    assert platforms.keys() == {"claude", "codex", "cursor"}
    assert platforms["claude"] > 0.8 * len(batch.sessions)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles", "Pacific/Chatham", "Europe/Berlin"])
@pytest.mark.parametrize(
    "now",
    [
        "2026-03-13T17:30",
        "2026-03-29T03:30",
        "2026-10-25T02:30",
        "2027-01-01T00:05",
        "2028-02-29T06:00",
        "2026-06-17T09:40",
        "2026-06-20T23:59",
    ],
)
def test_nothing_lies_in_the_future_and_sessions_do_not_overlap(now: str, zone: str) -> None:
    moment = epoch(now, zone)
    batch = records(moment, ZoneInfo(zone))
    for rows, column in (
        (batch.sessions, "completed_at_epoch"),
        (batch.summaries, "created_at_epoch"),
        (batch.observations, "created_at_epoch"),
        (batch.prompts, "created_at_epoch"),
    ):
        assert max(row[column] for row in rows) <= moment - QUIET_MINUTES * MINUTE_MS
    for before, after in pairwise(batch.sessions):
        assert before["completed_at_epoch"] < after["started_at_epoch"], after["content_session_id"]
    newest = max(row["created_at_epoch"] for row in batch.observations)
    assert moment - newest < DAY_MS
    recent = {row["project"] for row in batch.observations if row["created_at_epoch"] > moment - 2 * DAY_MS}
    assert len(recent) >= 3


def test_rows_are_in_time_order(batch: ImportBatch) -> None:
    for rows, column in (
        (batch.sessions, "started_at_epoch"),
        (batch.summaries, "created_at_epoch"),
        (batch.observations, "created_at_epoch"),
        (batch.prompts, "created_at_epoch"),
    ):
        epochs = [row[column] for row in rows]
        assert epochs == sorted(epochs)


def test_same_moment_gives_the_same_memory() -> None:
    assert records(NOW, ZONE) == records(NOW, ZONE)


def test_the_machine_zone_is_the_default() -> None:
    assert len(records(NOW).observations) >= 300


@pytest.mark.parametrize("day", range(9, 16))
def test_four_months_of_mostly_working_days_denser_at_the_end(day: int) -> None:
    now = epoch(f"2026-03-{day:02}T18:00")
    starts = [row["started_at_epoch"] for row in records(now, ZONE).sessions]
    days = [at_ms(start, ZONE).weekday() for start in starts]
    assert sum(weekday < 5 for weekday in days) > 0.8 * len(days)
    assert 110 * DAY_MS < now - min(starts) < 125 * DAY_MS
    recent = sum(start > now - 25 * DAY_MS for start in starts)
    assert recent / 25 > 1.5 * (len(starts) - recent) / 95


def test_nothing_looks_like_a_secret_or_a_real_address(batch: ImportBatch) -> None:
    for row in (*batch.sessions, *batch.summaries, *batch.observations, *batch.prompts):
        for value in row.values():
            if isinstance(value, str):
                assert not SECRETS.search(value), value
                assert not ADDRESS.search(value), value
