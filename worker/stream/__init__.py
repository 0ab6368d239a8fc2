"""Live events to whoever listens.

In: committed changes. Out: server-sent events, for each listener a bounded queue.
May import: ``worker.store.changes``, ``worker.contract``.
"""
