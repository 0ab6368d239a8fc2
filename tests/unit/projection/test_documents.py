"""Records as documents, and back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import make_observation, make_prompt, make_summary
from worker.contract.records import Record, RecordKey, RecordKind
from worker.projection.documents import document_id, documents, metadata, number_of, parse_id
from worker.store import search_index

TEXT = st.none() | st.text(max_size=60)


@pytest.mark.parametrize(
    ("record", "found"),
    [
        pytest.param(
            make_observation(title="T", narrative="N", facts='["a", "b"]'),
            [("whole", "T\nN\na\nb"), ("title", "T"), ("narrative", "N"), ("fact_0", "a"), ("fact_1", "b")],
            id="observation",
        ),
        pytest.param(
            make_observation(text="old words"),
            [("whole", "old words"), ("text", "old words")],
            id="of the original's first days",
        ),
        pytest.param(make_observation(title="T"), [("whole", "T"), ("title", "T")], id="title alone"),
        pytest.param(make_observation(title=" \n", narrative="", facts="[]"), [], id="nothing in it"),
        pytest.param(
            make_observation(facts='["", " ", "b"]'),
            [("whole", "b"), ("fact_1", "b")],
            id="empty facts have no document",
        ),
        pytest.param(make_observation(facts="no list"), [("whole", "no list"), ("fact_0", "no list")], id="no JSON"),
        pytest.param(
            make_summary(request="R", learned="L", next_steps="X"),
            [("whole", "R\nL\nX"), ("request", "R"), ("learned", "L"), ("next_steps", "X")],
            id="summary",
        ),
        pytest.param(make_summary(), [], id="empty summary"),
        pytest.param(make_prompt(prompt_text="why?"), [("", "why?")], id="prompt"),
        pytest.param(make_prompt(prompt_text=" "), [], id="empty prompt"),
        pytest.param(
            make_observation(title="修正 🎉"), [("whole", "修正 🎉"), ("title", "修正 🎉")], id="CJK and emoji"
        ),
    ],
)
def test_documents_of_a_record(record: Record, found: list[tuple[str, str]]) -> None:
    assert documents(record) == found


def test_a_text_of_megabytes_costs_no_more_than_a_page() -> None:
    record = make_observation(
        title=" " * 5_000_000 + "t" * 5_000_000, narrative="n" * 10_000_000,
        facts=json.dumps(["fact " * 9_000] * 5_000), project="p" * 5_000_000,
    )  # fmt: skip
    found = documents(record)
    assert len(found) == 103
    assert sum(len(text) for _, text in found) < 500_000
    assert all(len(value) <= 2_000 for value in metadata(record, "whole").values() if isinstance(value, str))


@given(title=TEXT, narrative=TEXT, text=TEXT, facts=TEXT | st.lists(st.text(max_size=20), max_size=120).map(json.dumps))
def test_whatever_a_record_says_its_documents_have_text_and_one_name_each(**said: Any) -> None:
    found = documents(make_observation(**said))
    suffixes = [suffix for suffix, _ in found]
    assert len(set(suffixes)) == len(suffixes)
    assert all(text.strip() and text.encode() and "\0" not in text for _, text in found)
    assert not found or found[0][0] == "whole"
    for suffix in suffixes:
        key = RecordKey(RecordKind.OBSERVATION, 118)
        assert parse_id(document_id(key, suffix)) == (key, suffix)


@given(
    kind=st.sampled_from(list(RecordKind)),
    number=st.integers(1, 10**18 - 1),
    suffix=st.sampled_from(["whole", "title", "narrative", "text", "fact_0", "fact_99", "request", "next_steps", ""]),
)
def test_an_id_leads_back_to_its_record_or_is_none_of_ours(kind: RecordKind, number: int, suffix: str) -> None:
    key = RecordKey(kind, number)
    found = parse_id(document_id(key, suffix))
    assert found in {None, (key, suffix)}
    assert number_of(document_id(key, suffix)) == (None if found is None else search_index.docid(key))


@pytest.mark.parametrize(
    "text",
    [
        "", "obs", "obs_", "obs_1", "obs_x_title", "obs_0_title", "obs_01_title", "obs_-1_title", "obs_1_fact_",
        "obs_1_fact_01", "obs_1_title\n", " obs_1_title", "OBS_1_title", "obs_1_request", "summary_1",
        "summary_1_title", "prompt_1_whole", "prompt_", "prompt_1 ", "obs_1_title_2", "obs_٣_title",
        "obs_9999999999999999999_title", "cm__claude-mem",
    ],
)  # fmt: skip
def test_an_id_that_is_not_of_our_form_is_refused(text: str) -> None:
    assert parse_id(text) is None
    assert number_of(text) is None


def test_metadata_of_an_observation_names_it_and_says_nothing_of_what_is_in_it() -> None:
    record = make_observation(
        title="T", subtitle="S", concepts='["a","b"]', files_read='["x.py"]', files_modified="[]",
        merged_into_project="shop-2", platform_source="codex", prompt_number=7,
    )  # fmt: skip
    told = {
        "sqlite_id": 118, "doc_type": "observation", "memory_session_id": "m-1", "project": "shop",
        "platform_source": "codex", "created_at_epoch": record.created_at_epoch, "merged_into_project": "shop-2",
        "type": "bugfix",
    }  # fmt: skip
    assert metadata(record, "narrative") == told | {"field_type": "narrative"}
    assert metadata(record, "fact_3") == told | {"field_type": "fact", "fact_index": 3}


def test_metadata_of_the_others_is_the_original_s() -> None:
    summary, prompt = make_summary(request="R"), make_prompt(project="shop", memory_session_id=None)
    assert metadata(summary, "request") == {
        "sqlite_id": 14, "doc_type": "session_summary", "memory_session_id": "m-1", "project": "shop",
        "platform_source": "claude", "created_at_epoch": summary.created_at_epoch, "prompt_number": 0,
        "field_type": "request",
    }  # fmt: skip
    assert metadata(prompt, "") == {
        "sqlite_id": 40, "doc_type": "user_prompt", "project": "shop", "platform_source": "claude",
        "created_at_epoch": prompt.created_at_epoch, "prompt_number": 1,
    }  # fmt: skip


def test_nothing_empty_is_told() -> None:
    told = metadata(make_observation(type="", merged_into_project=""), "whole")
    assert not {"type", "merged_into_project", "prompt_number"} & told.keys()
