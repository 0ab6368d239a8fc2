"""Pure: records as cells: cleaned, measured, cut, coloured by role.

In: what the worker answered. Out: pieces of (role, text) that a widget paints.
May import: ``worker.contract``, ``rich.cells``, ``tui.state``; never textual.
"""
