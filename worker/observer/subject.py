"""Pure: what a prompt is about, in a few words, and what kind of work it asks for."""

import re
from dataclasses import dataclass, replace

from worker.observer import outcomes
from worker.observer.wording import one_line, upper_first

_MOST = 84
_LOOKED_AT = 2_000
_TELLING = 12


@dataclass(frozen=True, slots=True)
class Subject:
    """text: what is asked, short; empty where a prompt says nothing of its own (`continue`, `yes`, `/init`).

    intents: types of work that its words name, in their order. question: something is to be found out. error: that is
    quoted in it. borrowed: the latest prompt said nothing of its own, and this is of one before it.
    """

    text: str = ""
    intents: tuple[str, ...] = ()
    question: bool = False
    error: str = ""
    borrowed: bool = False


_COURTESY = re.compile(
    r"(?i)^(?:(?:hi|hey|hello|ok(?:ay)?|so|now|then|and|also|next|thanks?|thank you|great|good|perfect|yes|no|well"
    r"|right|sure)"
    r"[,.!:;]*\s+|please[,]?\s+|(?:can|could|would|will) you\s+(?:please\s+)?|i(?:'d| would) like (?:you )?to\s+"
    r"|i want (?:you )?to\s+|i need (?:you )?to\s+|we (?:need|have|want) to\s+|let'?s\s+|help me (?:to )?\s*"
    r"|go ahead and\s+"
    r"|bitte\s+|kannst du\s+|peux-tu\s+|por favor[,]?\s+|请|請|麻烦)"
)
_WEAK = re.compile(
    r"(?i)(?:/[\w:-]{1,60}|y|yes|yep|no|ok|okay|sure|go|go on|go ahead|continue|proceed|resume|next"
    r"|(?:yes[,]? |ok[,]? |and )?(?:please )?do (?:it|that|this|so|both|all|all of (?:it|them|that))"
    r"(?: too| as well| also| now| then| please)?"
    r"|thanks?|thank you"
    r"|great|perfect|good|nice|done|please|try again|again|retry|keep going|carry on|looks good|lgtm|sounds good"
    r"|commit|commit (?:it|this|that|everything|the changes?)|push|push it|commit and push|run (?:it|the tests|tests)"
    r"|weiter|ja|oui|si|sí|continua|continue please|\[media prompt\]"
    r"|继续|好的|好|是|提交|続けて|はい|お願いします|계속|네)[\s.!,。！]*"
)
_AFTERWARDS = re.compile(
    r"(?i)[,;]?\s+(?:and|then|and then)\s+(?:commit|push)(?:\s+(?:it|this|everything|and push))?[\s.!]*$"
)
_ASIDE = re.compile(
    r"(?i)[,;.]\s*(?:and )?(?:(?:can|could|would|will) you |please |pls )?(?:please )?"
    r"(?:(?:have|take) a look(?: at (?:it|this))?"
    r"|look into (?:it|this|that)|check (?:it|this|that)|fix (?:it|this|that)|find out why"
    r"|figure (?:it|this) out|(?:can|could|would) you\b.*|what(?:'s| is) (?:wrong|going on|happening))[\s.!?]*$"
)
"""What is asked for after it was told what is wrong."""
_MARK = re.compile(r"^(?:[#*\-•\s]+|\d{1,2}[.)]\s+)+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_QUESTION = re.compile(
    r"(?i)^(?:why|how|what|where|when|which|who|is|are|does|do|did|can|should|explain|show|find|list|tell|describe|look"
    r"|investigate|understand|analy[sz]e|check|review|warum|wie|was|wo|pourquoi|comment|为什么|怎么|什么|如何|なぜ|どう|어떻게|왜)"
    r"(?:\b|(?<=[^\x00-\x7f]))"
)
_WORDS = {
    "bugfix": (
        r"fix(?:es|ed|ing)?|bugs?|broken|fail(?:s|ed|ing|ure)?|crash(?:es|ed|ing)?|errors?|exceptions?|regressions?|wrong"
        r"|repairs?|debug|hangs?|leaks?|traceback|doesn'?t work|not working|fehler|corrige\w*|bogue",
        "修复|修正|错误|报错|崩溃|バグ|直し|直す|エラー|不具合|오류|버그|고쳐",
    ),
    "refactor": (
        r"refactor\w*|renam(?:e|ing)|clean ?up|extract|move|simplif(?:y|ies)|restructure|reorgani[sz]e|split|dedup\w*"
        r"|tidy",
        "重构|重命名|リファクタ|整理|리팩터|리팩토링",
    ),
    "feature": (
        r"add(?:s|ing)?|implement\w*|creat(?:e|ing)|build|support|introduce|new|write|enable|allow|feature|ajoute\w*"
        r"|hinzufügen",
        "追加|实现|新增|添加|增加|創建|创建|実装|作って|作成|추가|구현|만들",
    ),
    "change": (
        r"updat(?:e|ing)|upgrad(?:e|ing)|bump|configure?|chang(?:e|ing)|set|docs?|document|readme|remove|delete|drop"
        r"|format|release|faster|speed ?up|optimi[sz]e|migrat(?:e|ion)|install|commit|merge|deploy",
        "更新|变更|修改|删除|升级|変更|削除|업데이트|삭제|변경",
    ),
    "decision": (
        r"decid(?:e|ing)|choose|should we|trade-?offs?|compare|which (?:is|one)|plan|design|propos(?:e|al)"
        r"|architecture",
        "决定|选择|设计|方案|設計|決め|比較|결정|설계",
    ),
    "discovery": (
        r"why|how|what|where|explain|find|look|investigate|understand|show|list|review|check|read|analy[sz]e",
        "为什么|怎么|什么|如何|解释|なぜ|どう|どこ|説明|調べ|왜|어떻게|설명",
    ),
}
_INTENTS = {name: re.compile(rf"(?i)\b(?:{words})\b|(?:{others})") for name, (words, others) in _WORDS.items()}


def subject(prompt: str) -> Subject:
    """What a prompt is about. Total: any text has one, a poor one at worst."""
    line = _first_line(prompt[:_LOOKED_AT])
    if not line or _WEAK.fullmatch(line.strip()):
        return Subject()
    bare = line.strip()
    for _ in range(4):
        shorter = _COURTESY.sub("", bare, count=1)
        if shorter == bare or not shorter.strip():
            break
        bare = shorter.strip()
    sentences = [part.strip() for part in _SENTENCE.split(bare) if part.strip()]
    said = sentences[0] if sentences else bare
    if len(said) < 12 and len(sentences) > 1:
        said = f"{said} {sentences[1]}"
    if _WEAK.fullmatch(said):
        return Subject()
    said = _AFTERWARDS.sub("", said) or said
    told = _ASIDE.sub("", said)
    is_told = len(told) >= _TELLING and told != said
    # `Can you add it?` is a request, and so is `It is broken, can you fix it?`.
    asks = bare == line.strip() and said.endswith(("?", "？")) and not is_told
    said = told if is_told else said
    question = bool(_QUESTION.match(said)) or asks
    text = upper_first(one_line(said, _MOST).rstrip(" .!?。！？:：,;"))
    return Subject(text, _intents(f"{said} {bare}"[:600]), question, outcomes.error_in(prompt[:_LOOKED_AT]))


def best(prompts: tuple[str, ...]) -> Subject:
    """Of prompts, the latest first, what the first is about that says anything of its own."""
    for at, found in enumerate(map(subject, prompts)):
        if found.text:
            return replace(found, borrowed=at > 0)
    return Subject()


def _first_line(text: str) -> str:
    """The first line of a person's own words: not one of a pasted block, a quotation or a heading's marks."""
    fenced = False
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
        elif bare and not fenced and not bare.startswith((">", "|", "at ", "Traceback")):
            return _MARK.sub("", bare) or bare
    return ""


def _intents(text: str) -> tuple[str, ...]:
    found = ((match.start(), name) for name, pattern in _INTENTS.items() if (match := pattern.search(text)))
    return tuple(name for _, name in sorted(found))
