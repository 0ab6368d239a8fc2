"""What is near enough to a prompt to be said unasked."""

import pytest

from tests.factories import make_hit, make_observation
from worker.present import prompt_block

TOKEN = "Expired token accepted: the validator compared local time"
MEMBERS = "中文成员搜索为空：to_tsvector 不切分汉字"
LINKS = "リンク検査がフォントの読み込みを待つ"
CLOCK = "监控时钟偏移与证书剩余天数"


@pytest.mark.parametrize(
    ("said", "prompt", "cosine", "near"),
    [
        (TOKEN, "is a token refused once its time is over?", 0.55, True),
        (TOKEN, "is a token refused once its time is over?", 0.40, False),
        (TOKEN, "why was an expired token accepted?", None, True),
        (TOKEN, "write me a poem about time and the sea", None, False),
        # The default model knows little of these scripts: to it, all is near that it does not know.
        (CLOCK, "今天天气怎么样？适合出去跑步吗？帮我安排一下", 0.72, False),
        (CLOCK, "帮我写一首关于秋天的诗，要押韵，谢谢", 0.72, False),
        (MEMBERS, "成员按中文名字搜索搜不到，怎么办", 0.67, True),
        (MEMBERS, "成员按中文名字搜索搜不到，怎么办", 0.40, False),
        (LINKS, "日本語のフォントが大きすぎてページの読み込みが遅い", 0.70, True),
        (MEMBERS, "中文成员搜索怎么为空", None, True),
        (MEMBERS, "中文报表金额列错位，请检查宽度", None, False),
        (MEMBERS, "为什么 to_tsvector 在中文里没有用", None, False),
        (MEMBERS, "to_tsvector 不切分中文", None, True),
    ],
)
def test_what_is_near_enough(said: str, prompt: str, cosine: float | None, near: bool) -> None:
    assert prompt_block.is_near(make_hit(cosine=cosine), make_observation(title=said), prompt) is near


@pytest.mark.parametrize(
    ("prompt", "near"),
    [
        ("why was an expired token accepted?", True),
        ("is a token refused once its moment is over?", False),
        ("write me a poem about the sea and its colours", False),
    ],
)
def test_how_near_another_model_is_nobody_knows(prompt: str, near: bool) -> None:
    hit, record = make_hit(cosine=0.85), make_observation(title=TOKEN)
    assert prompt_block.is_near(hit, record, prompt, measured=False) is near
    assert prompt_block.is_near(hit, record, prompt)
    assert bool(prompt_block.chosen([(hit, record)], prompt, known=(), most=3, measured=False)) is near


@pytest.mark.parametrize("prompt", ["", "？？", "\ud800", "ーー", "の" * 40, "가나다", "x" * 40 + "中"])
def test_no_prompt_breaks_it(prompt: str) -> None:
    for cosine in (None, 0.9):
        prompt_block.is_near(make_hit(cosine=cosine), make_observation(title=None, narrative=None), prompt)
    assert prompt_block.as_words(prompt) == prompt


def test_a_block_holds_whole_records_and_no_more_than_the_budget() -> None:
    records = [make_observation(id=n, title=f"thing {n}", narrative="word " * 100 * n) for n in (3, 1, 2)]
    text, given = prompt_block.block(records, 350, None)
    assert [record.id for record in given] == [1] and text.endswith("</claude-mem-context>")
    assert prompt_block.block(records, 10, None) == ("", [])
