"""Pure: the characters that draw, in Unicode and in ASCII."""

import msgspec


class Glyphs(msgspec.Struct, frozen=True):
    """Each one cell wide. bars: from the lowest to the highest, without the empty one.

    brush: the left end of a span, what is between, the right end. lane: of what was made, decided, found out.
    """

    bars: str
    ellipsis: str
    cursor: str
    anchor: str
    here: str
    live: str
    away: str
    new: str
    dot: str
    bullet: str
    prompt: str
    enter: str
    discovery: str
    times: str
    full: str
    mark: str
    spent: str
    unspent: str
    gap: str
    line: str
    brush: str
    lane: str
    summary: str


UNICODE = Glyphs(
    bars="▁▂▃▄▅▆▇█", ellipsis="…", cursor="▌", anchor="◆", here="▲", live="●", away="○", new="▲", dot="·",
    bullet="•", prompt="❯", enter="↵", discovery="○", times="×", full="▇", mark="*", spent="▓", unspent="░",
    gap="┄", line="│", brush="└─┘", lane="█▓░", summary="S",
)  # fmt: skip
ASCII = Glyphs(
    bars="._-=#", ellipsis="~", cursor=">", anchor="*", here="^", live="*", away="o", new="^", dot="-",
    bullet="*", prompt="/", enter="Enter", discovery="o", times="x", full="=", mark="+", spent="#", unspent=".",
    gap="~", line="|", brush="[=]", lane="#+.", summary="S",
)  # fmt: skip
