"""Pure: where the focus can be, which decides what a key means."""

BOX, LIST, PREVIEW, RECORD, GUIDE = "box", "list", "preview", "record", "guide"
SHEET, FILTERS, BASKET, PALETTE = "sheet", "filters", "basket", "palette"
COSTS, SESSIONS, NEXT_START, HEALTH = "costs", "sessions", "next_start", "health"
SURVEYS = (COSTS, SESSIONS, NEXT_START, HEALTH)
"""The memory as a whole, a screen each."""
PAGES = (LIST, PREVIEW, RECORD, GUIDE, SHEET, FILTERS, BASKET, *SURVEYS)
"""Where there are lines to go up and down."""
