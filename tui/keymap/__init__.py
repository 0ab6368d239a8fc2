"""Keys as tables: action → keys, label, help. Bindings, footer and help screen are all made from them.

A new action is a line in the table of its topic and a name in ``guide``; a new topic is a line in ``table``.
Letters, digits, arrows, Tab: nothing essential is on Ctrl or Alt, which tmux and terminals take for themselves, and
whatever Esc does, a plain key does too, since Esc is late over ssh.
May import: ``tui.state``.
"""
