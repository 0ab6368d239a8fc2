import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.observer.parse import Answer, answer
from worker.store.drafts import Draft, SummaryDraft

WHOLE = """<observation>
  <type>bugfix</type>
  <title>Token expiry is checked</title>
  <subtitle>It was not</subtitle>
  <facts><fact>one</fact><fact>two</fact></facts>
  <narrative>It compared seconds with milliseconds.</narrative>
  <concepts><concept>gotcha</concept><concept>problem-solution: how</concept><concept>bugfix</concept></concepts>
  <files_read><file>a.py</file></files_read>
  <files_modified><file>b.py</file><file>c.py</file></files_modified>
</observation>"""


def read(text: str) -> Answer:
    found = answer(text)
    assert found is not None
    return found


def only(text: str) -> Draft:
    (draft,) = read(text).observations
    return draft


def test_every_field_is_read() -> None:
    assert only(WHOLE) == Draft(
        type="bugfix",
        title="Token expiry is checked",
        subtitle="It was not",
        narrative="It compared seconds with milliseconds.",
        facts=("one", "two"),
        concepts=("gotcha", "problem-solution"),
        files_read=("a.py",),
        files_modified=("b.py", "c.py"),
    )


@pytest.mark.parametrize(
    "dressed",
    [
        f"```xml\n{WHOLE}\n```",
        f"```\n{WHOLE}```",
        f"Here it is:\n\n{WHOLE}\n\nHope this helps.",
        WHOLE.replace("observation>", "OBSERVATION>").replace("title>", "Title>"),
        WHOLE.replace("<observation>", '<observation id="1" kind="x">').replace("<title>", "<title lang='en' >"),
        WHOLE.replace("</observation>", ""),
        WHOLE.replace("It was not", "<![CDATA[It was not]]>"),
        WHOLE.replace("<fact>one</fact><fact>two</fact>", "\n- one\n- two\n"),
        WHOLE.replace("<title>Token expiry is checked</title>", "<title>[**Title**: Token expiry is checked]</title>"),
        WHOLE.replace("</subtitle>", ""),
        "<observations>" + WHOLE + "</observations>",
    ],
)
def test_dress_does_not_matter(dressed: str) -> None:
    assert only(dressed) == only(WHOLE)


@pytest.mark.parametrize(
    "narrative",
    [
        "has <b>bold</b> words",
        "the parser stops at </facts> too early",
        "stops at </narrative> too early",
        "closes </observation> itself",
        "opens <facts> and <title> and never closes them",
        "says <fact>x</fact> inside",
        "a < b && c > d",
        "for x in <List<String>>",
        "```python\nprint('</title>')\n```",
    ],
)
def test_whole_text_of_a_field_is_kept(narrative: str) -> None:
    """R170."""
    draft = only(WHOLE.replace("It compared seconds with milliseconds.", narrative))
    assert draft.narrative == narrative
    assert (draft.title, draft.facts, draft.files_modified) == (
        "Token expiry is checked",
        ("one", "two"),
        ("b.py", "c.py"),
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a &lt;b&gt; &amp; c", "a <b> & c"),
        ("<![CDATA[</narrative> & &lt;]]> then", "</narrative> & &lt; then"),
        ("&#233;t&eacute;", "été"),
    ],
)
def test_entities_and_cdata_are_opened_once(written: str, meant: str) -> None:
    assert only(WHOLE.replace("It compared seconds with milliseconds.", written)).narrative == meant


@pytest.mark.parametrize(
    ("raw", "kind", "kept"),
    [
        ("bugfix", "bugfix", ()),
        (" BugFix ", "bugfix", ()),
        ("bug-fix", "bugfix", ()),
        ("security_alert", "security_alert", ()),
        ("verification", "discovery", (("raw_type", "verification"),)),
        ("", "discovery", (("raw_type", ""),)),
    ],
)
def test_unknown_type_is_neutral_and_the_raw_one_stays(raw: str, kind: str, kept: object) -> None:
    """R168."""
    draft = only(WHOLE.replace("<type>bugfix</type>", f"<type>{raw}</type>"))
    assert (draft.type, draft.metadata) == (kind, kept)


def test_missing_type_is_neutral() -> None:
    """R168."""
    draft = only(WHOLE.replace("<type>bugfix</type>", ""))
    assert (draft.type, draft.metadata) == ("discovery", (("raw_type", ""),))


def test_several_blocks_and_both_kinds() -> None:
    second = WHOLE.replace("Token expiry is checked", "Second")
    summed = "<summary><request>Fix it</request><learned>that</learned></summary>"
    for text in (
        f"{WHOLE}\nand\n{second}\n{summed}",
        f"{summed}{WHOLE}{second}",
        f"{WHOLE.replace('</observation>', '')}{second}{summed}",
    ):
        found = read(text)
        assert [draft.title for draft in found.observations] == ["Token expiry is checked", "Second"]
        assert found.summary == SummaryDraft(request="Fix it", learned="that")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "<observation><title> </title><narrative>First this. Then that.</narrative></observation>",
            "First this. Then that.",
        ),
        ("<observation><facts><fact>only a fact</fact></facts></observation>", "only a fact"),
        ("<observation>free words, no fields</observation>", "free words, no fields"),
    ],
)
def test_an_empty_title_is_made_of_what_is_said(text: str, title: str) -> None:
    assert only(text).title == title


@pytest.mark.parametrize(
    "text",
    ["", " \n", "Not logged in · Please run /login", "Prompt is too long", "```\n```", "<observation></observation>",
     "<observation><title/></observation>", "<summary></summary>", "I have nothing to add.", "{}", "<observation"],
)  # fmt: skip
def test_what_is_no_answer_is_told_apart(text: str) -> None:
    """R172."""
    assert answer(text) is None


@pytest.mark.parametrize(
    "text", ['<skip reason="noise" />', "<skip/>", '<skip_summary reason="noise" />', "```xml\n<SKIP />\n```"]
)
def test_nothing_to_say_is_an_answer(text: str) -> None:
    assert answer(text) == Answer(skipped=True)


NAMES = ("observation", "summary", "title", "facts", "fact", "narrative", "type")
ODD = (
    "<![CDATA[",
    "]]>",
    "```",
    "\n",
    "words ",
    "&lt;",
    "&#x110000;",
    "\ue0000\ue001",
    "<skip/>",
    "<fact a='<'>",
    "\x00",
)
PIECES = st.lists(
    st.sampled_from([*(f"<{name}>" for name in NAMES), *(f"</{name}>" for name in NAMES), *ODD]), max_size=60
).map("".join)


@given(PIECES | st.text())
def test_any_text_gives_something(text: str) -> None:
    found = answer(text)
    if found is not None:
        assert found.skipped or found.observations or found.summary
        assert all(draft.title and draft.type != "bugfix" or "bugfix" in text for draft in found.observations)


@pytest.mark.parametrize(
    "piece",
    ["<observation>", "<fact>", "</fact>", "<observation><facts>", "<![CDATA[", "<narrative></narrative>", "<title "],
)
def test_work_grows_with_the_text(piece: str) -> None:
    """Hundreds of thousands of characters; what grew with their square would not end."""
    answer("<observation><narrative>" + piece * (300_000 // len(piece)))


def test_what_a_model_thinks_aloud_before_it_answers_is_no_answer() -> None:
    """As models do that people run themselves; without an end it may be the answer after all."""
    draft = "<observation><title>a first try</title></observation>"
    found = answer(f"<think>\nMaybe {draft}?\n</think>\n\n```xml\n{WHOLE}\n```")
    assert found is not None and [one.title for one in found.observations] == ["Token expiry is checked"]
    assert answer(f"<thinking>{draft}</thinking>") is None
    cut_off = answer(f"<think>{draft}")
    assert cut_off is not None and len(cut_off.observations) == 1
