"""Pure: the help screen's order, and what may be typed into the search box."""

from tui.keymap.places import BASKET, CORPORA, CORPUS, COSTS, HEALTH, NEXT_START, PREVIEW, RECORD, SESSIONS

GROUPS = (
    (
        "Find",
        (
            ("search",),
            ("leave_box",),
            ("clear",),
            ("filters", "unfilter"),
            ("take",),
            ("scope",),
            ("remember",),
            ("kinds",),
            ("order",),
            ("score",),
        ),
    ),
    ("Move", (("down", "up"), ("page_down", "page_up"), ("top",), ("bottom",), ("pane", "pane_back"))),
    (
        "Go along time",
        (
            ("swap",),
            ("earlier", "later"),
            ("session_back", "session_on"),
            ("day_back", "day_on"),
            ("week_back", "week_on"),
            ("midnight",),
            ("finer", "coarser"),
            ("gaps",),
            ("braille",),
            ("as_of",),
            ("follow",),
            ("pause",),
        ),
    ),
    ("Read", (("open",), ("next_hit", "last_hit"), ("jump",), ("go_back", "go_on"))),
    (
        "Mark and copy",
        (
            ("mark",),
            ("span",),
            ("last_mark", "next_mark"),
            ("basket",),
            ("call",),
            ("drop",),
            ("empty",),
            ("restore",),
            ("more", "less"),
            ("copy_ids", "copy_text"),
        ),
    ),
    (
        "The memory as a whole",
        (("costs",), ("sessions",), ("next_start",), ("health",), ("corpora",), ("again",)),
    ),
    ("Costs", (("zoom_in", "zoom_out"), ("less_time", "more_time"), ("group",), ("close",))),
    ("Sessions", (("unfold", "fold"), ("visit",))),
    ("Next start", (("pin", "mute"), ("raw",), ("changes",), ("copy_start",), ("plan_again",))),
    ("Health", (("index_rest", "index_mend"),)),
    (
        "Corpora",
        (
            ("ask_corpus",),
            ("read_corpus",),
            ("send_line", "drop_line"),
            ("cited",),
            ("next_cited", "last_cited"),
            ("build_corpus",),
            ("prime_corpus",),
            ("rebuild_corpus",),
            ("delete_corpus",),
            ("to_corpora",),
        ),
    ),
    (
        "Rest",
        (
            ("refresh",),
            ("demo",),
            ("wider", "slimmer"),
            ("theme",),
            ("settings",),
            ("change_setting", "leave_settings"),
            ("last_setting", "next_setting"),
            ("page_of_settings", "page_before"),
            ("palette",),
            ("choose",),
            ("last_item", "next_item"),
            ("leave",),
            ("guide",),
            ("find_key", "found_key"),
            ("next_key", "last_key"),
            ("page_of_keys", "page_of_keys_before"),
            ("drop_find",),
            ("back",),
            ("undo",),
            ("suspend",),
            ("quit",),
        ),
    ),
)
"""The help screen's order; actions side by side share a line."""

ASKED_IN = {
    PREVIEW: "Read", RECORD: "Read", BASKET: "Mark and copy", COSTS: "Costs", SESSIONS: "Sessions",
    NEXT_START: "Next start", HEALTH: "Health", CORPORA: "Corpora", CORPUS: "Corpora",
}  # fmt: skip
"""The group that tells of a place, where the help is opened when it is asked for there; elsewhere at its top."""
IN_TIME = "Go along time"
"""The group of the timeline."""

TYPED_AFTER = "Find"
TYPED_TITLE = "In the search box"
TYPED = (
    ('"token refresh"', "these words next to each other"),
    ("-cache", "leave out what has this word"),
    ("type:bugfix,decision", "only these types; project: concept: file: session: alike"),
    ("is:prompt", "only prompts; is:observation and is:summary, too"),
    ("since:3d until:monday", 'from then, until then: 2026-03-10, yesterday, "last week"'),
    ("at:thursday", "that day; at:14:30 or at:3d shows what was known then"),
)
"""What narrows a search when it is typed, and how; no setting changes it, unlike the keys."""
