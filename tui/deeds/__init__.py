"""What the app does beyond its state: questions to the worker, copies, what is kept for the next start.

In: what the state needs, and actions of the keymap. Out: facts. Knows the app only as a ``Desk``, never Textual.
May import: ``tui.gateway``, ``tui.clipboard``, ``tui.cells``, ``tui.state``, ``worker.contract``.
"""
