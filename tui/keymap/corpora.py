"""Pure: Corpora: built, read by a model, asked."""

from tui.keymap.action import Action
from tui.keymap.places import ASK_BOX, CORPORA, CORPUS, LIST, PREVIEW, SURVEYS

_HERE = (CORPORA, CORPUS)

ACTIONS = (
    Action("corpora", ("A",), (LIST, PREVIEW, *SURVEYS), "corpora", "chosen records that can be asked a question"),
    Action("ask_corpus", ("a",), _HERE, "ask", "in the corpora: ask this one a question"),
    Action("build_corpus", ("b",), _HERE, "build", "in the corpora: a new one from the search in the workspace"),
    Action("prime_corpus", ("P",), _HERE, "prime", "in the corpora: have a model read it, or read it anew"),
    Action("rebuild_corpus", ("B",), _HERE, "rebuild", "in the corpora: fill it anew from its own search"),
    Action("delete_corpus", ("X",), _HERE, "delete", "in the corpora: delete it; its records stay in memory"),
    Action("read_corpus", ("enter", "o", "tab", "l", "right"), (CORPORA,), "read", "in the corpora: to its answer"),
    Action("cited", ("enter", "o"), (CORPUS,), "open", "in an answer: open the record that the line cites"),
    Action("next_cited", ("n",), (CORPUS,), "next cited", "in an answer: to the next record that it cites"),
    Action("last_cited", ("N",), (CORPUS,), "cited before", "in an answer: to the one before"),
    Action("to_corpora", ("tab", "h", "left", "q", "escape", "backspace"), (CORPUS,), "back", "back to the corpora"),
    Action("send_line", ("enter",), (ASK_BOX,), "do it", "in the line: ask this, or build under this name"),
    Action("drop_line", ("escape", "tab"), (ASK_BOX,), "leave it", "in the line: leave it, and do nothing"),
)  # fmt: skip
