"""Pure: what can be done, as lines."""

from collections.abc import Sequence

from tui.cells import fit
from tui.cells.clean import one_line
from tui.cells.glyphs import Glyphs
from tui.cells.look import Look
from tui.state.palette import Item

_LABEL, _KEYS, _KEY, _ROOMY = 18, 14, 7, 50
"""Where there is little room, of the keys of a command the first alone is shown."""
_KIND = {
    "key": "", "project": "project ", "theme": "theme ", "search": "search ", "scope": "scope ", "session": "scope "
}  # fmt: skip


def lines(items: Sequence[Item], room: int, lk: Look) -> list[list[tuple[str, str]]]:
    """A line each: name, what it does or why not now, keys."""
    if not items:
        return [[("quiet", f"  nothing is called so; {lk.key('leave', 'Esc')} closes")]]
    return [_line(item, room, lk.glyphs) for item in items]


def _line(item: Item, room: int, glyphs: Glyphs) -> list[tuple[str, str]]:
    name = _KIND[item.kind] + one_line(item.label)
    label = max(_LABEL, min(fit.width(name), room // 2))
    pressed = item.keys if room >= _ROOMY else item.keys.split(" ")[0]
    keys = (_KEYS if room >= _ROOMY else _KEY) if pressed else 0  # with a blank before them
    said = item.reason or item.help
    rest = max(room - 2 - label - 2 - keys, 0)
    return [
        ("text", "  "),
        ("quiet" if item.reason else "text", fit.left(name, label, glyphs.ellipsis)),
        ("match" if item.reason else "quiet", "  " + fit.left(one_line(said), rest, glyphs.ellipsis)),
        *([("figure", " " + fit.right(pressed, keys - 1, glyphs.ellipsis))] if keys else []),
    ]
