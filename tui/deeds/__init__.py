"""What the app does beyond its state: actions of the keymap, questions to the worker, what is kept for the next start.

In: what the state needs, and actions of the keymap. Out: facts, and screens. Knows the app only as a ``Desk``, never
Textual. A new screen is a class here whose ``deeds`` say which actions it does, and a line in ``app``.
May import: ``tui.screens``, ``tui.keymap``, ``tui.gateway``, ``tui.clipboard``, ``tui.cells``, ``tui.state``,
``worker.contract``.
"""
