"""Pure: the settings as lines."""

from collections.abc import Sequence

from tui.cells import fit
from tui.cells.clean import one_line
from tui.cells.glyphs import Glyphs
from tui.cells.look import Look
from tui.state.adjusting import Setting

Line = list[tuple[str, str]]


def lines(settings: Sequence[Setting], room: int, lk: Look) -> tuple[list[Line], list[int]]:
    """The lines, and which of them are settings: name, value, and what else is to be known of it."""
    glyphs = lk.glyphs
    made: list[Line] = []
    places: list[int] = []
    group = ""
    for setting in settings:
        if setting.group != group:
            made += [[]] if made else []
            made.append([("heading", fit.cut(f" {setting.group}", room, glyphs.ellipsis))])
            group = setting.group
        places.append(len(made))
        made.append(_line(setting, room, glyphs))
    return made or [[("quiet", f"  no setting is called so; {lk.key('leave_settings', 'Esc')} closes")]], places


def _line(setting: Setting, room: int, glyphs: Glyphs) -> Line:
    # Names begin alike: where there is little room they get what they need to be told apart.
    name = min(38, max(room // 2 - 2, room - 16 if room >= 44 else room - 14, 12))
    aside = _aside(setting) if room >= 72 else ""
    value = one_line(setting.value) or "(empty)"
    rest = max(room - 2 - name - 2 - (len(aside) + 2 if aside else 0), 0)
    own = setting.known and setting.value != setting.default and setting.default != ""
    return [
        ("text", "  "),
        ("text" if setting.known else "quiet", fit.left(one_line(setting.name), name, glyphs.ellipsis)),
        ("figure" if own else "quiet", "  " + fit.left(value, rest, glyphs.ellipsis)),
        *([("quiet", f"  {aside}")] if aside else []),
    ]


def _aside(setting: Setting) -> str:
    """`default 50 · restart`, as far as that is so and short."""
    parts = [f"default {setting.default}"] if setting.default and setting.value != setting.default else []
    parts += ["restart"] if setting.restart else []
    said = ", ".join(parts)
    return said if len(said) <= 30 else "not the default" + (", restart" if setting.restart else "")


def head(setting: Setting | None, failed: str, room: int, glyphs: Glyphs) -> list[Line]:
    """Above the box: what is typed in it, and what was wrong with the last value."""
    if setting is None:
        return []
    asked = f" {one_line(setting.key)}"
    if setting.secret:
        asked += "  (a secret: type the whole new value; nothing leaves it as it is)"
    elif setting.default:
        asked += f"  (default {one_line(setting.default)})"
    if setting.restart:
        asked += "; the worker has to be started anew for it"
    made: list[Line] = [[("text", part)] for part in [*fit.wrap(asked, room - 1)][:3]]
    return [*made, *([("over", f" {part}")] for part in [*fit.wrap(one_line(failed), room - 2)][:4] if failed)]
