"""Pure: where the focus can be, which decides what a key means."""

BOX, LIST, PREVIEW, RECORD, GUIDE = "box", "list", "preview", "record", "guide"
GUIDE_BOX = "box of the help"
SHEET, FILTERS, BASKET, PALETTE = "sheet", "filters", "basket", "palette"
COSTS, SESSIONS, NEXT_START, HEALTH = "costs", "sessions", "next_start", "health"
CORPORA, CORPUS, ASK_BOX = "corpora", "corpus", "box of the corpora"
"""The list of corpora, what is told of one of them, and where a question or a name is typed."""
SURVEYS = (COSTS, SESSIONS, NEXT_START, HEALTH, CORPORA, CORPUS)
"""The memory as a whole, a screen each."""
SETTINGS_BOX = "box of the settings"
BOXES = (BOX, PALETTE, GUIDE_BOX, ASK_BOX, SETTINGS_BOX)
"""Where letters are typed."""
PAGES = (LIST, PREVIEW, RECORD, GUIDE, SHEET, FILTERS, BASKET, *SURVEYS)
"""Where there are lines to go up and down."""
