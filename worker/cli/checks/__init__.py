"""What `claude-mem doctor` looks at, a small function each.

In: a ``Case``. Out: a ``Finding``. May import: ``worker.contract``.
"""
