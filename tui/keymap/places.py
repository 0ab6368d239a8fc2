"""Pure: where the focus can be, which decides what a key means."""

BOX, LIST, PREVIEW, RECORD, GUIDE = "box", "list", "preview", "record", "guide"
SHEET, FILTERS, BASKET, PALETTE = "sheet", "filters", "basket", "palette"
PAGES = (LIST, PREVIEW, RECORD, GUIDE, SHEET, FILTERS, BASKET)
"""Where there are lines to go up and down."""
