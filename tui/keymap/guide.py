"""Pure: the help screen's order."""

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
            ("kinds",),
            ("order",),
            ("score",),
        ),
    ),
    ("Move", (("down", "up"), ("page_down", "page_up"), ("top",), ("bottom",), ("pane", "pane_back"))),
    ("Read", (("open",), ("swap",), ("earlier", "later"), ("next_hit", "last_hit"), ("jump",), ("go_back", "go_on"))),
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
        "Rest",
        (
            ("refresh",),
            ("demo",),
            ("wider", "slimmer"),
            ("theme",),
            ("palette",),
            ("choose",),
            ("last_item", "next_item"),
            ("leave",),
            ("guide",),
            ("back",),
            ("undo",),
            ("quit",),
        ),
    ),
)
"""The help screen's order; actions side by side share a line."""
